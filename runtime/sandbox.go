package runtime

import (
	"context"
	"fmt"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// SandboxConfig says which guest to host and how much of the machine its calls
// may take together. The zero value is a Python sandbox with the defaults of
// [wasm.Config].
type SandboxConfig struct {
	// Guest is the interpreter's name, see [guests.All]. Default "python".
	Guest string
	// CacheDir keeps compiled code between starts; see [wasm.Config]. Empty:
	// every start compiles, which takes seconds.
	CacheDir string
	// MaxConcurrent, MaxQueue and MaxMemory bound all calls together; see
	// [wasm.Config] for meaning and defaults.
	MaxConcurrent, MaxQueue int
	MaxMemory               uint64
	// Progress is told what a slow start is doing.
	Progress func(line string)
}

// OpenSandbox makes a guest ready for calls. The first time on a machine that
// takes some seconds, later (with a CacheDir) a fraction of one. Close it to
// free its memory.
//
// It fails with [guests.ErrMissing] in the chain if the program was built
// without the guest.
func OpenSandbox(ctx context.Context, config SandboxConfig) (*wasm.Engine, error) {
	if config.Guest == "" {
		config.Guest = "python"
	}
	guest, err := guests.ByName(config.Guest)
	if err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	engine, err := wasm.New(ctx, wasm.Config{
		Guest:         guest,
		CacheDir:      config.CacheDir,
		MaxConcurrent: config.MaxConcurrent,
		MaxQueue:      config.MaxQueue,
		MaxMemory:     config.MaxMemory,
		Progress:      config.Progress,
	})
	if err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	return engine, nil
}

var _ sandbox.Sandbox = (*wasm.Engine)(nil)
