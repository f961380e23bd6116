package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/mayfly-run/mayfly/sandbox"
)

// exitCode is how the process ends. A verb returns one as its error when it
// has said everything already.
type exitCode int

const (
	exitOK       exitCode = 0
	exitRaised   exitCode = 1
	exitUsage    exitCode = 2
	exitLimit    exitCode = 3
	exitInternal exitCode = 4
	// Of calls that the governor decides.
	exitBlocked   exitCode = 5
	exitApproval  exitCode = 6
	exitAmbiguous exitCode = 7
	// exitSignal plus the signal's number is what shells give too.
	exitSignal exitCode = 128
)

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// statusExit is the exit code of a call that ended with this status.
func statusExit(s sandbox.Status) exitCode {
	switch s {
	case sandbox.StatusOK:
		return exitOK
	case sandbox.StatusError:
		return exitRaised
	case sandbox.StatusInvalid:
		return exitUsage
	case sandbox.StatusTimeout, sandbox.StatusMemoryLimit, sandbox.StatusOutputLimit,
		sandbox.StatusFuelLimit, sandbox.StatusStackLimit, sandbox.StatusCallLimit:
		return exitLimit
	}
	return exitInternal
}

// usageError is a mistake in the command or in the input it names.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// fail says on standard error what went wrong, if that was not said yet, and
// gives the exit code.
func (p *process) fail(err error) int {
	if err == nil {
		return int(exitOK)
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if s, ok := errors.AsType[signalError](err); ok {
		return int(exitSignal) + int(s.signal)
	}
	if we, ok := errors.AsType[*writeError](err); ok && errors.Is(we, syscall.EPIPE) {
		return int(exitOK) // whoever reads has seen enough
	}
	p.stderr.note("%v", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return int(exitUsage)
	}
	return int(exitInternal)
}
