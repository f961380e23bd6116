package main

import (
	"context"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// openConfig is what a verb says of the sandbox it wants.
type openConfig struct {
	guest      string
	cacheDir   string // empty: nothing is kept
	maxMemory  uint64 // the most a call will ask for; 0 means the default
	concurrent int    // calls at once; 0 means one
	progress   func(line string)
}

// opened is a sandbox and what is in it.
type opened struct {
	sandbox.Sandbox
	guestDigest, imageDigest, engineVersion string
	imageBytes                              uint64
}

// opener opens a sandbox; tests have others than openSandbox.
type opener func(context.Context, openConfig) (opened, error)

// openSandbox opens the real sandbox.
func openSandbox(ctx context.Context, config openConfig) (opened, error) {
	engine, err := runtime.OpenSandbox(ctx, runtime.SandboxConfig{
		Guest:         config.guest,
		CacheDir:      config.cacheDir,
		MaxConcurrent: max(1, config.concurrent),
		MaxMemory:     config.maxMemory,
		Progress:      config.progress,
	})
	if err != nil {
		return opened{}, err
	}
	info := engine.Info()
	return opened{
		Sandbox:       engine,
		guestDigest:   info.GuestDigest,
		imageDigest:   info.ImageDigest,
		engineVersion: info.EngineVersion,
		imageBytes:    info.ImageSize,
	}, nil
}
