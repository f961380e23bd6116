package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/rewrite"
)

// instance is one guest: a module instance with memory and a world of its own.
// It serves one call.
type instance struct {
	mod    api.Module
	memory *linearMemory
	world  *world
	fuel   api.MutableGlobal
	run    api.Function
	rested bool
}

// Guest exports.
const (
	exportInitialize = "_initialize"
	exportInit       = "mayfly_init"
	exportAlloc      = "mayfly_alloc"
	exportRun        = "mayfly_run"
)

// newInstance makes an instance from the image, or an unbooted one with img
// nil. grow is how many bytes its memory may get beyond the image.
func (e *Engine) newInstance(img *image, grow uint64) (*instance, error) {
	memory, err := newLinearMemory(img, grow)
	if err != nil {
		return nil, err
	}
	w := newWorld(0)
	if img != nil {
		w.clock.base, w.tree = img.mono, e.tree
		img.warm(memory)
	}
	ctx := experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(
		func(uint64, uint64) experimental.LinearMemory { return memory }))
	mod, err := e.runtime.InstantiateModule(ctx, e.code, w.moduleConfig())
	if err != nil {
		memory.Free()
		return nil, fmt.Errorf("instantiate the guest: %w", err)
	}
	i := &instance{mod: mod, memory: memory, world: w, run: mod.ExportedFunction(exportRun)}
	if i.run == nil {
		i.close()
		return nil, fmt.Errorf("the guest does not export %s", exportRun)
	}
	if !e.config.Variant.Unmetered {
		var ok bool
		if i.fuel, ok = mod.ExportedGlobal(rewrite.FuelGlobal).(api.MutableGlobal); !ok {
			i.close()
			return nil, fmt.Errorf("the guest does not export %s", rewrite.FuelGlobal)
		}
	}
	if img == nil {
		return i, nil
	}
	for _, g := range img.globals {
		global, ok := mod.ExportedGlobal(g.name).(api.MutableGlobal)
		if !ok {
			i.close()
			return nil, fmt.Errorf("the image has global %s, the guest does not", g.name)
		}
		global.Set(g.value)
	}
	return i, nil
}

// rest does for an instance that waits what saves its call more time.
func (i *instance) rest(img *image) {
	if !i.rested {
		i.rested = true
		img.mapRead(i.memory)
	}
}

// close drops the instance and its memory.
func (i *instance) close() {
	_ = i.mod.Close(context.Background())
	i.memory.Free()
}

// message copies a message that the guest returned as address << 32 | length.
func (i *instance) message(packed uint64, most uint32) ([]byte, error) {
	ptr, size := uint32(packed>>32), uint32(packed)
	if packed == 0 {
		return nil, fmt.Errorf("the guest gave no message")
	}
	if ptr%8 != 0 {
		return nil, fmt.Errorf("the guest's message at %d is not aligned", ptr)
	}
	if size > most {
		return nil, fmt.Errorf("the guest's message has %d bytes, at most %d are read", size, most)
	}
	view, ok := i.mod.Memory().Read(ptr, size)
	if !ok {
		return nil, fmt.Errorf("the guest's message of %d bytes at %d lies outside of its memory", size, ptr)
	}
	return view, nil
}

// place gives size bytes of the guest's memory to write a request to.
func (i *instance) place(ctx context.Context, img *image, size uint32) (uint32, error) {
	if img != nil && size <= img.scratch.size {
		return img.scratch.start, nil
	}
	alloc := i.mod.ExportedFunction(exportAlloc)
	if alloc == nil {
		return 0, fmt.Errorf("the guest does not export %s", exportAlloc)
	}
	stack := []uint64{uint64(size)}
	if err := alloc.CallWithStack(ctx, stack); err != nil {
		return 0, err
	}
	ptr := api.DecodeU32(stack[0])
	if ptr == 0 {
		return 0, errNoRoom
	}
	if ptr%8 != 0 {
		return 0, fmt.Errorf("the guest's room at %d is not aligned", ptr)
	}
	return ptr, nil
}

var errNoRoom = fmt.Errorf("the guest has no room for the request")
