//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// kinds of processes that outlive their parents.
var kinds = []string{"daemon", "stopped", "respawn", "group", "reaper"}

func newMark(t *testing.T) string { return fmt.Sprintf("mark-%s-%d", t.Name(), time.Now().UnixNano()) }

// Whatever a call left running is gone when Run returns, at its deadline and
// after a good end alike.
func TestTreeDies(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		for _, then := range []string{"hang", "return"} {
			for _, kind := range append([]string{"all"}, kinds...) {
				t.Run(then+"/"+kind, func(t *testing.T) {
					mark, which := newMark(t), []string{kind}
					if kind == "all" {
						which = kinds
					}
					spec := Spec{Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Second}}
					want := sandbox.StatusTimeout
					if then == "return" {
						want, spec.Limits.Timeout = sandbox.StatusOK, time.Minute
					}
					most := watchMarks(t, mark)
					r := run(t, spec, append([]string{"tree", mark, then}, which...)...)
					if n := most(); then == "hang" && n < 2 {
						t.Errorf("saw %d processes while it ran, want at least 2", n)
					}
					if r.Status != want {
						t.Errorf("status %s (%+v), want %s\n%s", r.Status, r.Error, want, r.Stderr)
					}
					if left := marked(t, mark); len(left) != 0 {
						t.Errorf("processes %v survive", left)
					}
				})
			}
		}
	})
}

// watchMarks counts marked processes until the result is asked for, and gives
// the most that there were at a time.
func watchMarks(t *testing.T, mark string) (most func() int) {
	stop, result := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			n = max(n, len(marked(t, mark)))
			select {
			case <-stop:
				result <- n
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int { close(stop); return <-result }
}

// Positive control: the same tree without a keeper does survive the death of
// its parent and of its parent's group.
func TestTreeSurvivesUnconfined(t *testing.T) {
	mark := newMark(t)
	cmd := exec.Command(victim, append([]string{"tree", mark, "return"}, "daemon", "stopped", "group", "reaper")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nobody may be left in it
	left := marked(t, mark)
	if len(left) < 12 {
		t.Errorf("%d processes survive, want at least 12: the attack does not work", len(left))
	}
	for range 100 {
		for _, pid := range marked(t, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A call whose caller gives up ends as well.
func TestCancel(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		mark := newMark(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(marked(t, mark)) < 2 && ctx.Err() == nil {
				<-time.After(10 * time.Millisecond)
			}
			cancel()
		}()
		r, err := Run(ctx, Spec{Command: victim, Args: []string{"tree", mark, "hang", "daemon"}, Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Minute}})
		if err != nil || r.Status != sandbox.StatusCancelled {
			t.Errorf("status %s, error %v; want %s", r.Status, err, sandbox.StatusCancelled)
		}
		if left := marked(t, mark); len(left) != 0 {
			t.Errorf("processes %v survive", left)
		}
	})
}
