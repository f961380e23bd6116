package wasiguard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Instantiate makes the module wasi_snapshot_preview1 in r, guarded. It refuses
// a wazero whose functions are not exactly those that the table knows.
func Instantiate(ctx context.Context, r wazero.Runtime) error {
	originals, err := originals(ctx, r)
	if err != nil {
		return fmt.Errorf("guard WASI: %w", err)
	}
	h := &host{advise: originals["fd_advise"].call, tell: originals["fd_tell"].call}
	b := r.NewHostModuleBuilder(wasi.ModuleName)
	for _, name := range slices.Sorted(maps.Keys(originals)) {
		o, g := originals[name], table[name]
		f := func(ctx context.Context, m api.Module, stack []uint64) {
			g(call{host: h, ctx: ctx, mod: m, stack: stack, next: o.call})
		}
		b.NewFunctionBuilder().WithName(name).
			WithGoModuleFunction(api.GoModuleFunc(f), o.params, o.results).
			Export(name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("guard WASI: %w", err)
	}
	return nil
}

// original is one of wazero's functions.
type original struct {
	call            api.GoModuleFunction
	params, results []api.ValueType
}

// originals takes wazero's functions out of a module that is compiled for that
// purpose only.
func originals(ctx context.Context, r wazero.Runtime) (map[string]original, error) {
	b := r.NewHostModuleBuilder(wasi.ModuleName)
	wasi.NewFunctionExporter().ExportFunctions(b)
	compiled, err := b.Compile(ctx)
	if err != nil {
		return nil, err
	}
	defer compiled.Close(ctx)

	all := make(map[string]original)
	var errs []error
	for name, def := range compiled.ExportedFunctions() {
		f, ok := def.GoFunction().(api.GoModuleFunction)
		if !ok {
			errs = append(errs, fmt.Errorf("%s is a %T, want a Go function", name, def.GoFunction()))
		}
		if table[name] == nil {
			errs = append(errs, fmt.Errorf("%s is not in the table of guards: review it and add it", name))
		}
		all[name] = original{call: f, params: def.ParamTypes(), results: def.ResultTypes()}
	}
	for name := range table {
		if _, ok := all[name]; !ok {
			errs = append(errs, fmt.Errorf("wazero has no %s any more: look for what replaces it", name))
		}
	}
	return all, errors.Join(errs...)
}

// host is what guards need of wazero besides the function they guard: two
// functions that change nothing and so can be used to look at a descriptor.
type host struct{ advise, tell api.GoModuleFunction }

// call is one call of a WASI function. The stack holds the arguments, one in
// each element, and takes the result in its first.
type call struct {
	host  *host
	ctx   context.Context
	mod   api.Module
	stack []uint64
	next  api.GoModuleFunction
}

// guard answers a call: by itself, or by forwarding it.
type guard func(call)

// forward lets wazero answer.
func forward(c call) {
	c.next.Call(c.ctx, c.mod, c.stack)
	if c.stack[0] == errIO {
		if w := worldOf(c.ctx); w != nil {
			if errno := w.FileErrno(); errno != 0 {
				c.stack[0] = uint64(errno)
			}
		}
	}
}

// with lets wazero answer to other arguments and gives its error.
func (c call) with(args ...uint64) uint32 {
	c.stack = args
	forward(c)
	return uint32(args[0])
}

func (c call) u32(i int) uint32 { return uint32(c.stack[i]) }

func (c call) answer(errno uint32) { c.stack[0] = uint64(errno) }

// inMemory says whether the guest's memory has size bytes at ptr.
func (c call) inMemory(ptr uint32, size uint64) bool {
	return uint64(ptr)+size <= uint64(c.mod.Memory().Size())
}

// isOpen says whether fd is an open descriptor.
func (c call) isOpen(fd uint32) bool {
	stack := []uint64{uint64(fd), 0, 0, 0}
	c.host.advise.Call(c.ctx, c.mod, stack)
	return stack[0] == 0
}

// isStdio says whether fd is one of the three streams, which wazero treats
// like files in places where they have none of a file's parts. The result
// address lies outside of every memory, so that nothing is written.
func (c call) isStdio(fd uint32) bool {
	stack := []uint64{uint64(fd), 0xffff_ffff}
	c.host.tell.Call(c.ctx, c.mod, stack)
	return stack[0] == errNosys
}

// Errors of preview 1 that guards give or look for.
const (
	errBadf        = 8
	errFault       = 21
	errFbig        = 22
	errInval       = 28
	errIO          = 29
	errNametoolong = 37
	errNoent       = 44
	errNosys       = 52
	errNotsup      = 58
	errSpipe       = 70
)
