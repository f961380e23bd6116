package main

import (
	"fmt"
	"io"

	"github.com/mayfly-run/mayfly/sandbox"
)

// output is one of the standard streams.
type output struct {
	w        io.Writer
	terminal bool
}

func (o output) Write(p []byte) (int, error) { return o.w.Write(p) }

// writeError is a failure to write to a standard stream.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write output: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// guest writes bytes of a guest's choosing: as they are into a file or pipe,
// made harmless onto a terminal.
func (o output) guest(p []byte) error {
	if o.terminal {
		p = visible(p)
	}
	return o.all(p)
}

// json writes JSON text and a line end.
func (o output) json(p []byte) error {
	if o.terminal {
		p = visibleJSON(p)
	}
	return o.all(append(p, '\n'))
}

func (o output) all(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := o.w.Write(p); err != nil {
		return &writeError{err}
	}
	return nil
}

// note writes a line of mayfly's own. It is advice: where it cannot be written
// there is nobody to tell.
func (o output) note(format string, args ...any) {
	line := fmt.Appendf(nil, "mayfly: "+format, args...)
	if o.terminal {
		line = visible(line)
	}
	_, _ = o.w.Write(append(line, '\n'))
}

// limitFlags names the flag that moves a limit.
var limitFlags = map[sandbox.Status]string{
	sandbox.StatusTimeout:     "--timeout",
	sandbox.StatusMemoryLimit: "--memory-mb",
	sandbox.StatusOutputLimit: "--max-output-bytes",
	sandbox.StatusFuelLimit:   "--max-fuel",
}
