package wasm

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// refuelInterval is how much fuel a guest gets at a time. Each time it is used
// up the guest comes back into Go, which is the only point where Go's
// collector can stop it and where the deadline is looked at. The interval keeps
// that to a fraction of a millisecond of guest work.
const refuelInterval = 50_000

// stop ends a call from inside a host function: it is the value of a panic
// that wazero turns into the error of the guest's call.
type stop struct {
	status  sandbox.Status
	message string
}

func (s *stop) Error() string { return string(s.status) + ": " + s.message }

// start gives the guest its first fuel.
func (c *call) startFuel() {
	c.granted = 0
	c.inst.fuel.Set(0)
	c.grant()
}

// used is the fuel the call has used so far.
func (c *call) used() int64 { return c.granted - int64(c.inst.fuel.Get()) }

func (c *call) grant() {
	next := int64(refuelInterval)
	if limit := c.spec.Limits.MaxFuel; limit > 0 {
		next = min(next, limit-c.used())
	}
	c.granted += next
	c.inst.fuel.Set(uint64(int64(c.inst.fuel.Get()) + next))
}

// refuel answers mayfly.refuel: the guest has used up its fuel.
func (c *call) refuel() {
	c.checkTime()
	if limit := c.spec.Limits.MaxFuel; limit > 0 && c.used() > limit {
		panic(&stop{sandbox.StatusFuelLimit, "the fuel limit of the call is used up"})
	}
	c.grant()
	// With guests on every core, nothing else would run for as long as Go lets
	// one goroutine have a core.
	runtime.Gosched()
}

// checkTime ends the call when its time is over.
func (c *call) checkTime() {
	if s := c.timeStop(); s != nil {
		panic(s)
	}
}

func (c *call) timeStop() *stop {
	select {
	case <-c.Context.Done():
		if errors.Is(c.Context.Err(), context.DeadlineExceeded) {
			return &stop{sandbox.StatusTimeout, "the call ran into its timeout of " + c.spec.Limits.Timeout.String()}
		}
		return &stop{sandbox.StatusCancelled, "the caller cancelled the call"}
	default:
	}
	// The context's timer may be late on a busy machine; the clock is not.
	if !time.Now().Before(c.deadline) {
		return &stop{sandbox.StatusTimeout, "the call ran into its timeout of " + c.spec.Limits.Timeout.String()}
	}
	return nil
}
