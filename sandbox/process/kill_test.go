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

// Whatever a call left running is gone when Run returns, whether it is ended in
// the middle or comes to a good end.
func TestTreeDies(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		for _, then := range []string{"hang", "return"} {
			for _, kind := range append([]string{"all"}, kinds...) {
				t.Run(then+"/"+kind, func(t *testing.T) {
					mark, which := newMark(t), []string{kind}
					if kind == "all" {
						which = kinds
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					want := sandbox.StatusOK
					if then == "hang" {
						want = sandbox.StatusCancelled
						go func() {
							if eventually(func() bool { return len(marked(t, mark)) >= 1+len(which) }) {
								cancel()
							}
						}()
					}
					r, err := Run(ctx, Spec{
						Command: victim, Args: append([]string{"tree", mark, then}, which...),
						Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Minute},
					})
					if err != nil || r.Status != want {
						t.Errorf("status %s (%+v), error %v, want %s\n%s", r.Status, r.Error, err, want, r.Stderr)
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
