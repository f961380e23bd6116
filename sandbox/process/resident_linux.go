//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resident is this process's spawner.
var resident host

// host starts spawners: the first one when it is needed, another one when that
// has ended, or when this process has become another user.
type host struct {
	mu    sync.Mutex
	now   *spawner
	words string // of the one before
}

// spawner is the process that starts keepers. It ends when socket is closed,
// which is when this process ends, at the latest.
type spawner struct {
	process  *os.Process
	socket   *os.File
	words    *os.File // what it writes when it crashes
	uid, gid int
}

// request hands a call's descriptors to the spawner, in the order that
// requestControl and the others say. If it returns no error, the other end of
// the call's socket answers, or is closed.
func (h *host) request(files []*os.File) (*spawner, error) {
	fds := make([]int, len(files))
	for i, f := range files {
		fd, err := descriptor(f)
		if err != nil {
			return nil, err
		}
		fds[i] = fd
	}
	for range 3 {
		s, err := h.spawner()
		if err != nil {
			return nil, err
		}
		err = s.send(fds)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
			return nil, fmt.Errorf("ask the spawner: %w", err)
		}
		h.drop(s) // it was gone before it had the request
	}
	return nil, errors.New("the spawner ends as soon as it is started" + h.lastWords())
}

// descriptor is a file's descriptor, which stays as it is: Fd would make it block.
func descriptor(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	return fd, raw.Control(func(n uintptr) { fd = int(n) })
}

// spawner gives the one that runs.
func (h *host) spawner() (*spawner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.now; s != nil {
		if s.uid == os.Geteuid() && s.gid == os.Getegid() {
			return s, nil
		}
		s.end()
		closeAll(s.words)
		h.now = nil
	}
	s, err := newSpawner()
	if err != nil {
		return nil, fmt.Errorf("start the spawner: %w", err)
	}
	h.now = s
	return s, nil
}

func newSpawner() (s *spawner, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer closeAll(null)
	words, err := unix.MemfdCreate("last words", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s = &spawner{words: os.NewFile(uintptr(words), "last words"), uid: os.Geteuid(), gid: os.Getegid()}
	var theirs *os.File
	if s.socket, theirs, err = packets(); err == nil {
		defer closeAll(theirs)
		// A session of its own: what a terminal sends to this process's group is
		// not meant for calls.
		s.process, err = os.StartProcess("/proc/self/exe", []string{spawnerName}, &os.ProcAttr{
			Dir: "/", Env: spawnerEnv(), Files: []*os.File{null, null, s.words, theirs}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
	}
	if err != nil {
		closeAll(s.socket, s.words)
		return nil, err
	}
	return s, nil
}

// spawnerEnv is the spawner's own environment: as many processors as this
// process uses. A program built with the race detector sleeps for a second when
// it ends, unless told not to.
func spawnerEnv() []string {
	return []string{"GOMAXPROCS=" + strconv.Itoa(runtime.GOMAXPROCS(0)), "GORACE=atexit_sleep_ms=0"}
}

// send gives the spawner a request. One that has not taken it after the grace
// counts as dead.
func (s *spawner) send(fds []int) error {
	var inner error
	err := s.socket.SetWriteDeadline(time.Now().Add(grace))
	if err == nil {
		var raw syscall.RawConn
		if raw, err = s.socket.SyscallConn(); err == nil {
			err = raw.Write(func(fd uintptr) bool {
				inner = sendPacket(int(fd), []byte{0}, fds...)
				return inner != unix.EAGAIN
			})
		}
	}
	if err != nil { // it takes nothing, or another call has dropped it meanwhile
		return errors.Join(os.ErrClosed, err)
	}
	return inner
}

// end ends the spawner. Calls that run go on: they have keepers.
func (s *spawner) end() {
	closeAll(s.socket)
	_ = s.process.Kill()    // or it has ended already
	_, _ = s.process.Wait() // nobody else waits for it
}

// drop forgets a spawner that does not answer.
func (h *host) drop(s *spawner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == s {
		h.now = nil
		s.end()
		h.words = s.said()
		closeAll(s.words)
	}
}

// lastWords is what a spawner wrote before it crashed, if it did.
func (h *host) lastWords() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	words := h.words
	if h.now != nil {
		if now := h.now.said(); now != "" {
			words = now
		}
	}
	if words == "" {
		return ""
	}
	return "; its spawner said: " + words
}

func (s *spawner) said() string {
	text := make([]byte, 512)
	n, _ := s.words.ReadAt(text, 0) // most have said nothing
	return strings.TrimSpace(strings.ReplaceAll(string(text[:n]), "\n", " "))
}
