//go:build amd64 || arm64

package process

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// joinGroup makes the call's control group, if the host has any to give. A call
// that cannot do without is refused.
func (c *call) joinGroup(asked Limits) error {
	g, err := home()
	if err == nil {
		limits := c.spec.Limits
		c.group, err = g.open(limits.MaxTreeMemory, limits.MaxProcesses)
	}
	if err == nil {
		return nil
	}
	c.group = nil
	reason := groupNeeded(asked, c.spec.Process)
	if reason == "" {
		c.policy.CPUSeconds = wholeSeconds(asked.MaxCPU)
		return nil
	}
	return &UnavailableError{
		Layer: LayerCgroup, Reason: reason, Err: err,
		Remedy: "give this program a control group of its own with the controllers memory and pids (systemd: Delegate=yes), or leave the limit out",
	}
}

// groupNeeded says why a call cannot do without a control group; empty: it can.
// A single process has limits of its own that hold for its processor time, but
// none for memory that it shares with itself.
func groupNeeded(asked Limits, process bool) string {
	switch {
	case asked.MaxTreeMemory > 0:
		return "only a control group bounds the memory of a whole call, and there is none"
	case asked.MaxCPU > 0 && process:
		return "only a control group bounds the processor time of several processes, and there is none"
	}
	return ""
}

// wholeSeconds rounds up, for a limit that has no smaller unit.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// pollGroup is how often a group is looked at, at least, that has to be looked
// at: version 1 kills one process for lack of memory, and leaves the others.
const pollGroup = 50 * time.Millisecond

// watchGroup ends the call when its processes have used up what they may, until
// done is closed.
func (c *call) watchGroup(done <-chan struct{}) {
	limit := c.spec.Limits.MaxCPU
	if c.group == nil || limit == 0 && c.group.version == 2 {
		return
	}
	for {
		use, err := c.group.use()
		switch {
		case err != nil:
			return // the end is looked at once more
		case use.kills > 0:
			c.end(sandbox.StatusMemoryLimit)
		case limit > 0 && use.cpu >= limit:
			c.end(sandbox.StatusTimeout)
		}
		wait := pollGroup
		if limit > 0 {
			// It cannot be used up before that, with every processor busy that this
			// host has; the call may find more.
			soonest := max((limit-use.cpu)/time.Duration(runtime.NumCPU()), 2*time.Millisecond)
			wait = min(soonest, wait)
		}
		select {
		case <-time.After(wait):
		case <-done:
			return
		}
	}
}

// endGroup sees to it that nothing is left of the call, and notes what it used.
func (c *call) endGroup(r *report) error {
	if c.group == nil {
		return nil
	}
	if err := c.group.end(); err != nil {
		return &SurvivorsError{err.Error()}
	}
	r.gone = true
	use, err := c.group.use()
	if err != nil {
		return err
	}
	r.cpu, r.kills = use.cpu, use.kills
	if use.peak > 0 {
		r.peak = use.peak
	}
	return nil
}

// overLimit is the limit that the call ran into without being ended for it: its
// last process was quicker.
func (c *call) overLimit(r *report) sandbox.Status {
	limit := c.spec.Limits.MaxCPU
	switch {
	case r.kills > 0:
		return sandbox.StatusMemoryLimit
	case limit > 0 && r.cpu >= limit && (c.group != nil || r.signal == unix.SignalName(unix.SIGKILL)):
		return sandbox.StatusTimeout
	}
	return ""
}

func (c *call) leaveGroup() {
	if c.group != nil {
		_ = c.group.close() // what is left is removed by the next host
	}
}
