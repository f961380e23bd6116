//go:build amd64 || arm64

package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// streams are what goes into a program and comes out of it, bounded while it
// is read. What is over a bound is read on and dropped, so that the program
// does not hang on a full pipe, until it is too much.
type streams struct {
	call    *call
	wg      sync.WaitGroup // readers
	writing chan struct{}  // closed when the input is written, or nobody reads it

	mu             sync.Mutex
	kept           int64 // bytes of stdout and stderr that are kept
	stdout, stderr stream
	value          stream
}

// stream is one of them: what was kept and how much there was.
type stream struct {
	text  []byte
	total int64
}

func (s *streams) start(program *[fdExtra]*os.File) {
	s.writing = make(chan struct{})
	go func() {
		defer close(s.writing)
		if s.call.spec.Talk != nil {
			s.talk(program)
			return
		}
		_, _ = program[fdStdin].Write(s.call.spec.Input) // a program need not read it
		_ = program[fdStdin].Close()
	}()
	limits := s.call.spec.Limits
	text := func(into *stream) func([]byte) bool {
		return func(b []byte) bool {
			keep := min(int64(len(b)), limits.MaxOutput-s.kept)
			s.kept += keep
			into.text = append(into.text, b[:keep]...)
			into.total += int64(len(b))
			return s.stdout.total+s.stderr.total <= sandbox.FloodFactor*limits.MaxOutput
		}
	}
	value := func(b []byte) bool {
		keep := min(int64(len(b)), limits.MaxValue-int64(len(s.value.text)))
		s.value.text = append(s.value.text, b[:keep]...)
		s.value.total += int64(len(b))
		return s.value.total <= limits.MaxValue
	}
	out := text(&s.stdout)
	if s.call.spec.Output == OutputStdout {
		out = value
	} else {
		s.read(program[fdValue], value)
	}
	if s.call.spec.Talk == nil {
		s.read(program[fdStdout], out)
	}
	s.read(program[fdStderr], text(&s.stderr))
}

// talk has somebody speak with the program.
func (s *streams) talk(program *[fdExtra]*os.File) {
	out := &counted{file: program[fdStdout], over: func() { s.call.end(sandbox.StatusOutputLimit) }}
	out.left.Store(s.call.spec.Limits.MaxValue)
	s.call.spec.Talk(program[fdStdin], out)
	_ = program[fdStdin].Close()
	_, _ = io.Copy(io.Discard, out) // a program must not hang on a full pipe
}

// counted reads a file that must not give more than so many bytes. Who spoke with
// the program may still be reading when the rest is dropped.
type counted struct {
	file *os.File
	left atomic.Int64
	over func()
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	if c.left.Add(-int64(n)) < 0 {
		c.over()
		return 0, errTooMuch
	}
	return n, err
}

var errTooMuch = errors.New("the program wrote more than it may")

// read hands everything that comes to take, which says whether there may be
// more of it.
func (s *streams) read(f *os.File, take func([]byte) bool) {
	s.wg.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := f.Read(buf)
			s.mu.Lock()
			ok := take(buf[:n])
			s.mu.Unlock()
			if !ok {
				s.call.end(sandbox.StatusOutputLimit)
			}
			if err != nil {
				return
			}
		}
	})
}

// finish waits for the readers. All processes of the call are gone.
func (s *streams) finish(program *[fdExtra]*os.File) {
	for _, f := range program {
		_ = f.SetDeadline(time.Now().Add(drain))
	}
	s.wg.Wait()
	<-s.writing
}
