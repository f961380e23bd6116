//go:build linux && (amd64 || arm64)

package process

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Many calls at once, with every processor busy: not one is unconfined. A child
// that runs on the wrong thread of its parent would be.
func TestManyLaunches(t *testing.T) {
	launches := 1000
	if testing.Short() {
		launches = 40
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for ctx.Err() == nil {
				runtime.Gosched()
			}
		}()
	}
	var wg sync.WaitGroup
	var done atomic.Int64
	for worker := range 8 {
		wg.Go(func() {
			mode := tiers[worker%len(tiers)].mode
			for range launches / 8 {
				r, err := Run(ctx, Spec{Command: victim, Args: []string{"confined", victim}, Namespaces: mode, Limits: Limits{Timeout: time.Minute}})
				var got struct{ NoNewPrivs, Filter, Landlock, Root bool }
				if err != nil || json.Unmarshal(r.Value, &got) != nil {
					t.Errorf("status %s, error %v, %+v", r.Status, err, r.Error)
					continue
				}
				if !got.NoNewPrivs || !got.Filter || !got.Landlock || got.Root {
					t.Errorf("a launch is not confined: %+v", got)
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if n := done.Load(); n < int64(launches/8*8) {
		t.Errorf("%d of %d launches", n, launches)
	}
}

// Two hundred trees that time out leave nothing behind.
func TestManyTimeouts(t *testing.T) {
	trees := 200
	if testing.Short() {
		trees = 20
	}
	mark := newMark(t)
	round := func(timeout time.Duration) (seen int) {
		most := watchMarks(t, mark)
		var wg sync.WaitGroup
		for worker := range 10 {
			wg.Go(func() {
				for range trees / 10 {
					args := append([]string{"tree", mark, "hang"}, kinds...)
					r, err := Run(t.Context(), Spec{Command: victim, Args: args, Process: true, Namespaces: tiers[worker%len(tiers)].mode, Limits: Limits{Timeout: timeout}})
					if err != nil || r.Status != sandbox.StatusTimeout {
						t.Errorf("status %s, error %v, %+v", r.Status, err, r.Error)
					}
				}
			})
		}
		wg.Wait()
		return most()
	}
	// On a busy machine it takes longer until there is something to kill.
	timeout := 600 * time.Millisecond
	seen := round(timeout)
	for seen < 2 && timeout < 30*time.Second {
		timeout *= 4
		seen = round(timeout)
	}
	if seen < 2 {
		t.Errorf("saw %d processes while they ran, want at least 2", seen)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("processes %v survive", left)
	}
}

// hostVariable makes TestHost the host of a call that does not end.
const hostVariable = "MAYFLY_TEST_HOST"

// TestHost is started by TestHostDies.
func TestHost(t *testing.T) {
	mark, name, _ := strings.Cut(os.Getenv(hostVariable), " ")
	if mark == "" {
		t.Skip("only as the child of TestHostDies")
	}
	for _, tier := range tiers {
		if tier.name == name {
			run(t, Spec{Process: true, Namespaces: tier.mode, Limits: Limits{Timeout: time.Hour}}, append([]string{"tree", mark, "hang"}, kinds...)...)
		}
	}
}

// A host that is killed takes its calls with it.
func TestHostDies(t *testing.T) {
	for _, tier := range tiers {
		t.Run(tier.name, func(t *testing.T) {
			mark := newMark(t)
			host := exec.Command("/proc/self/exe", "-test.run=^TestHost$")
			host.Env = []string{hostVariable + "=" + strings.ReplaceAll(mark, " ", "_") + " " + tier.name, victimVariable + "=" + victim}
			out, err := host.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			go func() {
				for s := bufio.NewScanner(out); s.Scan(); {
				}
			}()
			if !eventually(func() bool { return len(marked(t, mark)) > 10 }) {
				t.Error("the tree did not grow")
			}
			spawners := childrenOf(t, host.Process.Pid)
			if len(spawners) != 1 {
				t.Errorf("the host has children %v, want one spawner", spawners)
			}
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = host.Wait() // killed
			if !eventually(func() bool {
				for _, pid := range spawners {
					if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
						return false
					}
				}
				return true
			}) {
				t.Errorf("spawners %v survive", spawners)
			}
			if !eventually(func() bool { return len(marked(t, mark)) == 0 }) {
				t.Errorf("processes %v survive", marked(t, mark))
			}
		})
	}
}

// childrenOf gives the processes that have this parent.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for something that happens by itself.
func eventually(done func() bool) bool {
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if done() {
			return true
		}
		<-time.After(20 * time.Millisecond)
	}
	return done()
}
