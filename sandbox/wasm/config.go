package wasm

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Config says what an [Engine] runs and how much of the machine it may take.
// Only Guest is required.
type Config struct {
	// Guest is the interpreter.
	Guest sandbox.Guest
	// CacheDir keeps compiled code and the image, so that only the first start
	// on a machine compiles. It must belong to this user and be writable by
	// nobody else; what is in it is as trusted as this binary. Empty: nothing
	// is kept, every start compiles.
	CacheDir string
	// MaxConcurrent is how many calls run at once. Default: twice GOMAXPROCS,
	// at least 4.
	MaxConcurrent int
	// MaxQueue is how many calls may wait for a free place, with their timeout
	// running; further ones get [sandbox.StatusBusy]. Default 256; -1 for none.
	MaxQueue int
	// Ready is how many instances are kept made ahead of need. Default:
	// MaxConcurrent, at most 4; -1 for none.
	Ready int
	// MaxMemory is the most that a call's Limits.MaxMemory may ask for, in
	// bytes. Default 1 GiB. Each instance reserves that much address space,
	// not memory.
	MaxMemory uint64
	// Progress is told what a slow start is doing, one short line each. It is
	// also told when CacheDir cannot be used, and why. Default: nobody is.
	Progress func(line string)

	// Variant changes the engine in ways that only a measurement wants; outside
	// of this module it is always zero.
	Variant variant.Variant
}

const (
	defaultMaxQueue           = 256
	defaultMaxMemory   uint64 = 1 << 30
	minMaxMemory       uint64 = 2 << 20
	ceilingMaxMemory   uint64 = 3 << 30
	defaultReadyAtMost        = 4
)

func (c Config) withDefaults() Config {
	if c.MaxConcurrent == 0 {
		c.MaxConcurrent = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if c.MaxQueue == 0 {
		c.MaxQueue = defaultMaxQueue
	}
	if c.Ready == 0 {
		c.Ready = min(c.MaxConcurrent, defaultReadyAtMost)
	}
	if c.MaxMemory == 0 {
		c.MaxMemory = defaultMaxMemory
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Guest.Module) == 0 {
		bad("Guest.Module is empty")
	}
	if c.Guest.EncodeGlobals == nil {
		bad("Guest.EncodeGlobals is missing")
	}
	if c.MaxConcurrent < 1 {
		bad("MaxConcurrent is %d, want at least 1", c.MaxConcurrent)
	}
	if c.MaxQueue < -1 {
		bad("MaxQueue is %d, want -1 or more", c.MaxQueue)
	}
	if c.Ready < -1 {
		bad("Ready is %d, want -1 or more", c.Ready)
	}
	if c.MaxMemory < minMaxMemory || c.MaxMemory > ceilingMaxMemory {
		bad("MaxMemory is %d bytes, want %d to %d", c.MaxMemory, minMaxMemory, ceilingMaxMemory)
	}
	if len(errs) > 0 {
		return fmt.Errorf("wasm.Config: %w", errors.Join(errs...))
	}
	return nil
}
