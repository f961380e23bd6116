package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/mayfly-run/mayfly/sandbox"
)

// call is one request on its way through one instance. It is the context of
// the guest's functions, which is how host functions find it.
type call struct {
	context.Context
	cancel   context.CancelFunc
	spec     sandbox.Spec
	globals  []byte
	deadline time.Time
	inst     *instance
	depth    int // how many calls this one is nested in

	granted   int64  // fuel given so far
	hostCalls int    // host tools called so far
	waiting   string // for host_read
}

// newCall makes a call whose time began at start (nil: now).
func (e *Engine) newCall(ctx context.Context, spec sandbox.Spec, start *time.Time) *call {
	now := time.Now()
	if start != nil {
		now = *start
	}
	c := &call{spec: spec, deadline: now.Add(spec.Limits.Timeout)}
	if d, ok := ctx.Deadline(); ok && d.Before(c.deadline) {
		c.deadline = d
	}
	c.Context, c.cancel = context.WithDeadline(ctx, c.deadline)
	return c
}

// runIn runs the call in a fresh instance. Whatever happens in the guest is in
// the result.
func (c *call) runIn(inst *instance, img *image) sandbox.Result {
	c.inst = inst
	inst.world.begin(c)
	inst.memory.limit = img.size + roundUp(c.spec.Limits.MaxMemory, pageSize)

	// The guest stays on one thread so that its processor time can be told.
	runtime.LockOSThread()
	before := threadCPU()
	msg, err := c.invoke(img)
	cpu := threadCPU() - before
	runtime.UnlockOSThread()

	var r sandbox.Result
	var cut int64
	if err != nil {
		r = c.ended(err)
	} else if r, cut, err = c.response(msg); err != nil {
		r = failed(sandbox.StatusCrashed, "the guest's response is malformed: "+err.Error())
	} else if r.Status == sandbox.StatusOK {
		c.collect(&r)
	}
	out := &inst.world.out
	r.Stdout, r.Stderr = out.stdout.kept, out.stderr.kept
	r.Truncated = out.truncated(cut)
	r.Usage.CPU = cpu
	r.Usage.PeakMemory = inst.memory.size - img.size
	r.Usage.Dirtied = inst.memory.dirtied()
	r.Usage.Stdout, r.Usage.Stderr = out.stdout.written, out.stderr.written
	r.Usage.HostCalls = c.hostCalls
	if inst.fuel != nil {
		r.Usage.Fuel = c.used()
	}
	return r
}

// invoke hands the request to the guest and returns its response, which still
// lies in the guest's memory.
func (c *call) invoke(img *image) ([]byte, error) {
	if c.inst.fuel != nil {
		c.startFuel()
	}
	var options [16]byte
	binary.LittleEndian.PutUint32(options[:], uint32(c.spec.Limits.MaxDepth))
	if c.spec.HostCall != nil {
		binary.LittleEndian.PutUint32(options[4:], optionHostCalls)
	}
	binary.LittleEndian.PutUint64(options[8:], uint64(c.spec.Limits.MaxValue))
	size := sectionSize(len(c.spec.Code)) + sectionSize(len(c.spec.Name)) + sectionSize(len(c.globals)) + sectionSize(len(options))
	if uint64(size) > math.MaxUint32/2 {
		return nil, errNoRoom
	}
	ptr, err := c.inst.place(c, img, uint32(size))
	if err != nil {
		return nil, err
	}
	room, ok := c.inst.mod.Memory().Read(ptr, uint32(size))
	if !ok {
		return nil, errors.New("the guest's room lies outside of its memory")
	}
	b := appendSection(room[:0], requestOptions, options[:]...)
	b = appendSection(b, requestName, []byte(c.spec.Name)...)
	b = appendSection(b, requestCode, []byte(c.spec.Code)...)
	appendSection(b, requestGlobals, c.globals...)
	c.globals = nil

	stack := []uint64{uint64(ptr), uint64(size)}
	if err := c.inst.run.CallWithStack(c, stack); err != nil {
		return nil, err
	}
	return c.inst.message(stack[0], math.MaxUint32)
}

// ended says what it means that the guest did not return.
func (c *call) ended(err error) sandbox.Result {
	if s, ok := errors.AsType[*stop](err); ok {
		return c.stopped(s)
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return sandbox.Result{Status: sandbox.StatusError, Error: &sandbox.Error{
			Type:    "ProcessExit",
			Message: fmt.Sprintf("the code ended the interpreter itself, with exit code %d", exit.ExitCode()),
		}}
	}
	switch {
	case errors.Is(err, errNoRoom):
		return failed(sandbox.StatusMemoryLimit, "the code and its arguments do not fit into the memory limit")
	case c.inst.memory.refused:
		return failed(sandbox.StatusMemoryLimit, "the interpreter gave up for lack of memory")
	case c.stackGone(err):
		return failed(sandbox.StatusStackLimit, "the code used up the interpreter's stack")
	}
	return failed(sandbox.StatusCrashed, "the interpreter crashed: "+firstLine(err.Error()))
}

// stackOverflow is how wazero's error for its own stack begins; it exports
// nothing to compare with.
const stackOverflow = "wasm error: stack overflow"

// stackGone tells a stack overflow from other traps. The guest's own stack lies
// at the start of its memory and grows down, so running out of it is an access
// below zero, with the stack pointer near there.
func (c *call) stackGone(err error) bool {
	if strings.HasPrefix(err.Error(), stackOverflow) {
		return true
	}
	const near = 64 << 10
	sp := c.inst.mod.ExportedGlobal("__stack_pointer")
	return sp != nil && int32(sp.Get()) < near
}

// stopped is the result of a call that the host ended.
func (c *call) stopped(s *stop) sandbox.Result { return failed(s.status, s.message) }

// failed is the result of a call that has only a status to show.
func failed(status sandbox.Status, message string) sandbox.Result {
	return sandbox.Result{Status: status, Error: &sandbox.Error{Type: string(status), Message: message}}
}

// invalid is the result of a Spec that cannot be run.
func invalid(err error) sandbox.Result {
	r := failed(sandbox.StatusInvalid, err.Error())
	if a, ok := errors.AsType[*sandbox.ArgumentError](err); ok {
		r.Error.Path = a.Path
	}
	return r
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
