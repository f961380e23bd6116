package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/wasiguard"
)

// The host module "mayfly": what a guest can ask of the host besides WASI.
const hostModule = "mayfly"

// callKey finds the running call in the context of a guest's function.
type callKey struct{}

// Value implements context.Context: a call is the context of its own guest.
func (c *call) Value(key any) any {
	switch key.(type) {
	case callKey:
		return c
	case wasiguard.Key:
		return c.inst.world
	}
	return c.Context.Value(key)
}

// callOf gives the call that ctx belongs to; nil while a guest boots.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func instantiateHost(ctx context.Context, r wazero.Runtime) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	b := r.NewHostModuleBuilder(hostModule)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(refuel), nil, nil).Export("refuel")
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(hostCall), []api.ValueType{i32, i32}, []api.ValueType{i64}).Export("host_call")
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(hostRead), []api.ValueType{i32}, nil).Export("host_read")
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("make host module %s: %w", hostModule, err)
	}
	return nil
}

func refuel(ctx context.Context, m api.Module, _ []uint64) {
	if c := callOf(ctx); c != nil {
		c.refuel()
		return
	}
	bootRefuel(ctx, m)
}

// maxHostMessage bounds what a guest may send to a host tool in one call.
const maxHostMessage = 8 << 20

// hostCall answers mayfly.host_call. Its time is the call's own.
func hostCall(ctx context.Context, m api.Module, stack []uint64) {
	ptr, size := api.DecodeU32(stack[0]), api.DecodeU32(stack[1])
	c := callOf(ctx)
	if c == nil || c.spec.HostCall == nil {
		stack[0] = c.answer(false, "host tools are not granted to this code")
		return
	}
	if c.hostCalls >= c.spec.Limits.MaxHostCalls {
		panic(&stop{sandbox.StatusCallLimit, fmt.Sprintf("the code called host tools more than %d times", c.spec.Limits.MaxHostCalls)})
	}
	c.hostCalls++
	if size > maxHostMessage {
		stack[0] = c.answer(false, fmt.Sprintf("the request has %d bytes, at most %d are taken", size, maxHostMessage))
		return
	}
	view, ok := m.Memory().Read(ptr, size)
	if !ok {
		stack[0] = c.answer(false, "the request lies outside of the guest's memory")
		return
	}
	tool, args, err := decodeHostCall(view, c.spec.Limits.MaxDepth)
	if err != nil {
		stack[0] = c.answer(false, "the request is malformed: "+err.Error())
		return
	}
	result, err := c.spec.HostCall(c, tool, args)
	c.checkTime()
	switch {
	case err != nil:
		stack[0] = c.answer(false, cutText(err.Error(), maxMessage))
	case len(result) > maxHostMessage:
		stack[0] = c.answer(false, fmt.Sprintf("the result has %d bytes, at most %d are given to code", len(result), maxHostMessage))
	default:
		stack[0] = c.answer(true, string(result))
	}
}

// answer keeps text for host_read and gives host_call's result.
func (c *call) answer(ok bool, text string) uint64 {
	if c == nil {
		return 0
	}
	c.waiting = text
	r := uint64(len(text))
	if ok {
		r |= 1 << 32
	}
	return r
}

// hostRead answers mayfly.host_read.
func hostRead(ctx context.Context, m api.Module, stack []uint64) {
	c := callOf(ctx)
	if c == nil || c.waiting == "" {
		return
	}
	if !m.Memory().WriteString(api.DecodeU32(stack[0]), c.waiting) {
		panic(&stop{sandbox.StatusCrashed, "the guest read a host tool's result outside of its memory"})
	}
	c.waiting = ""
}
