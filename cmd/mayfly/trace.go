package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// traceCommand shows what was decided and done.
type traceCommand struct {
	Follow bool   `short:"f" help:"Go on with what is written from now on, until interrupted."`
	RunID  string `name:"run" placeholder:"ID" help:"Only this run."`
	Tool   string `placeholder:"NAME" help:"Only this tool."`
	JSON   bool   `name:"json" help:"Print the lines as they are in the file."`
	harnessFlag
}

func (traceCommand) Help() string {
	return `Every decision of the governor is a line, and so is the end of every call that was let through. Values of arguments are in neither.

Example:

  mayfly trace --follow --run BEP5LRAYKSWDGOFZ3QZSWTDUAU

Exit codes: 0 done, 1 there are lines that are no notes, 2 the command or a manifest is wrong, 4 something of Mayfly's own failed.`
}

// tracePoll is how often a file is looked at for more.
const tracePoll = 200 * time.Millisecond

func (c *traceCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	file, set, err := c.load(p)
	if err != nil {
		return err
	}
	name := traceFile(set.Harness)
	if name == "" {
		return usagef("%s has no trace", file)
	}
	t := tail{name: name, follow: c.Follow}
	bad := 0
	err = t.lines(ctx, func(line []byte, number int) error {
		var n runtime.Note
		if err := json.Unmarshal(line, &n); err != nil {
			bad++
			p.stderr.note("%s:%d: not a note", name, number)
			return nil
		}
		if c.RunID != "" && n.Run != c.RunID || c.Tool != "" && n.Tool != c.Tool {
			return nil
		}
		if c.JSON {
			return p.stdout.json(line)
		}
		return p.stdout.all([]byte(noteLine(n)))
	})
	switch {
	case errors.Is(err, os.ErrNotExist):
		p.stderr.note("there is no trace yet; it will be %s", name)
		return nil
	case err == nil && bad > 0:
		return exitRaised
	}
	return err
}

// traceFile is where a harness's trace is; empty: nowhere.
func traceFile(h *manifests.Harness) string {
	switch {
	case h.Trace.File == "" || filepath.IsAbs(h.Trace.File):
		return h.Trace.File
	}
	return filepath.Join(filepath.Dir(h.Origin.File), h.Trace.File)
}

// noteLine is a note for people.
func noteLine(n runtime.Note) string {
	parts := []string{n.Time.UTC().Format("2006-01-02T15:04:05.000Z"), n.Run, n.Tool, n.Outcome}
	if n.Name == runtime.NoteGovernor {
		parts = append(parts, n.Step+"/"+n.Code)
		if n.Reason != "" {
			parts = append(parts, "("+n.Reason+")")
		}
	} else {
		parts = append(parts, fmt.Sprintf("in %v", time.Duration(n.Took).Round(time.Microsecond)))
		if n.ErrorType != "" {
			parts = append(parts, n.ErrorType)
		}
		if n.Truncated {
			parts = append(parts, "output cut")
		}
	}
	for i := range parts {
		parts[i] = oneLine(parts[i])
	}
	return strings.Join(parts, " ") + "\n"
}

// tail reads the lines of a file that grows.
type tail struct {
	name   string
	follow bool
}

// lines gives each whole line and its number. Following, it waits for more,
// also for the file itself, and starts again when another file takes its place.
func (t tail) lines(ctx context.Context, each func(line []byte, number int) error) error {
	tick := time.NewTicker(tracePoll)
	defer tick.Stop()
	for {
		f, err := t.open()
		if err == nil {
			err = t.one(ctx, f, tick.C, each)
			f.Close()
		} else if t.follow && errors.Is(err, os.ErrNotExist) {
			err = wait(ctx, tick.C)
		}
		if err != nil || !t.follow {
			return err
		}
	}
}

// open opens the file. What is no regular file is not opened: a pipe would be
// waited for.
func (t tail) open() (*os.File, error) {
	info, err := os.Stat(t.name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, usagef("%s is not a regular file", t.name)
	}
	return os.Open(t.name)
}

// one reads one file to its end; following, until another is in its place.
func (t tail) one(ctx context.Context, f *os.File, tick <-chan time.Time, each func([]byte, int) error) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !opened.Mode().IsRegular() {
		return usagef("%s is not a regular file", t.name)
	}
	r := bufio.NewReader(f)
	var line []byte
	for number, read := 1, int64(0); ; {
		part, err := r.ReadBytes('\n')
		read += int64(len(part))
		line = append(line, part...)
		if err == nil {
			if err := each(line[:len(line)-1], number); err != nil {
				return err
			}
			line = line[:0]
			number++
			continue
		}
		if !errors.Is(err, io.EOF) || !t.follow {
			if errors.Is(err, io.EOF) {
				err = nil // a line that is being written is not there yet
			}
			return err
		}
		now, err := os.Stat(t.name)
		if errors.Is(err, os.ErrNotExist) || err == nil && (!os.SameFile(opened, now) || now.Size() < read) {
			return nil
		}
		if err == nil {
			err = wait(ctx, tick)
		}
		if err != nil {
			return err
		}
	}
}

// wait waits for the next tick.
func wait(ctx context.Context, tick <-chan time.Time) error {
	select {
	case <-tick:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
