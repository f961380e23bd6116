//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// withGroups gives where control groups can be made, or skips the test.
func withGroups(t *testing.T) *groups {
	t.Helper()
	g, err := home()
	if err != nil {
		t.Skipf("this host gives no control groups: %v", err)
	}
	t.Logf("control groups of version %d", g.version)
	return g
}

// All processes of a call together have no more memory than it may have; the
// same call works with more.
func TestTreeMemory(t *testing.T) {
	withGroups(t)
	tests := []struct {
		name         string
		args         []string
		enough, less int64
		value        string
	}{
		{"eight children", []string{"hold", "8", fmt.Sprint(32 << 20)}, 1 << 30, 128 << 20, "8"},
		{"shared memory", []string{"share", fmt.Sprint(256 << 20)}, 1 << 30, 128 << 20, `{"worked":true,"detail":"no error"}`},
		{"one process", []string{"holder", fmt.Sprint(256 << 20)}, 0, 128 << 20, ""},
	}
	forTiers(t, func(t *testing.T, mode Namespaces) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				spec := Spec{Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Minute, MaxTreeMemory: tt.less}}
				r := run(t, spec, tt.args...)
				if r.Status != sandbox.StatusMemoryLimit || r.Error.Type != string(sandbox.StatusMemoryLimit) {
					t.Errorf("status %s, %+v, value %s; want %s", r.Status, r.Error, r.Value, sandbox.StatusMemoryLimit)
				}
				if r.Usage.PeakMemory > uint64(tt.less)+1<<20 { // the kernel counts in batches
					t.Errorf("a peak of %d bytes, the limit is %d", r.Usage.PeakMemory, tt.less)
				}
				if !slices.Contains(r.Enforced.Layers, LayerCgroup) || r.Enforced.Cgroup == 0 {
					t.Errorf("layers %v, control group %d", r.Enforced.Layers, r.Enforced.Cgroup)
				}
				if tt.enough == 0 {
					return
				}
				spec.Limits.MaxTreeMemory = tt.enough
				r = run(t, spec, tt.args...)
				if r.Status != sandbox.StatusOK || string(r.Value) != tt.value {
					t.Errorf("with %d bytes: status %s, %+v, value %s", tt.enough, r.Status, r.Error, r.Value)
				}
				if r.Usage.PeakMemory < 240<<20 {
					t.Errorf("a peak of %d bytes, want that of all processes", r.Usage.PeakMemory)
				}
			})
		}
	})
}

// Processor time is that of all processes together, whoever waits for them.
func TestTreeCPU(t *testing.T) {
	withGroups(t)
	const limit = 500 * time.Millisecond
	forTiers(t, func(t *testing.T, mode Namespaces) {
		r := run(t, Spec{Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Minute, MaxCPU: limit}}, "spin", "8")
		if r.Status != sandbox.StatusTimeout || r.Usage.CPU < limit {
			t.Errorf("status %s, %+v, processor time %v", r.Status, r.Error, r.Usage.CPU)
		}
		// How late it is looked at, on every processor.
		if most := limit + time.Duration(runtime.NumCPU())*time.Second; r.Usage.CPU > most {
			t.Errorf("used %v of processor time, the limit is %v", r.Usage.CPU, limit)
		}
		r = run(t, Spec{Process: true, Namespaces: mode, Limits: Limits{Timeout: time.Minute, MaxCPU: time.Minute}}, "work", "100")
		if r.Status != sandbox.StatusOK || r.Usage.CPU <= 0 {
			t.Errorf("within the limit: status %s, %+v, processor time %v", r.Status, r.Error, r.Usage.CPU)
		}
	})
}

// Without a control group one process, threads included, still has a limit.
func TestOwnCPU(t *testing.T) {
	spec := Spec{Command: victim, Args: []string{"spin threads"}, Limits: Limits{Timeout: time.Minute, MaxCPU: 300 * time.Millisecond}}
	c := &call{spec: &spec, stop: make(chan struct{})}
	spec.Limits = spec.Limits.withDefaults()
	p, done, err := plan(&spec, Limits{}, os.Geteuid() == 0, true)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	c.policy, p.CPUSeconds = p, wholeSeconds(spec.Limits.MaxCPU)
	r, err := c.run(t.Context())
	if err != nil || r.Status != sandbox.StatusTimeout || r.Signal != "SIGKILL" || r.Usage.CPU < spec.Limits.MaxCPU {
		t.Errorf("status %s, %+v, signal %s, processor time %v, error %v", r.Status, r.Error, r.Signal, r.Usage.CPU, err)
	}
}

// What only a control group holds is refused without one.
func TestGroupNeeded(t *testing.T) {
	tests := []struct {
		limits  Limits
		process bool
		want    bool
	}{
		{Limits{}, true, false},
		{Limits{MaxMemory: 1 << 30, MaxProcesses: 20}, true, false},
		{Limits{MaxTreeMemory: 1 << 30}, false, true},
		{Limits{MaxCPU: time.Second}, false, false},
		{Limits{MaxCPU: time.Second}, true, true},
	}
	for _, tt := range tests {
		if got := groupNeeded(tt.limits, tt.process) != ""; got != tt.want {
			t.Errorf("%+v, children %v: needed %v, want %v", tt.limits, tt.process, got, tt.want)
		}
	}
	if _, err := home(); err == nil {
		return // these calls run here
	}
	for _, limits := range []Limits{{MaxTreeMemory: 1 << 30}, {MaxCPU: time.Second}} {
		r, err := Run(t.Context(), Spec{Command: victim, Args: []string{"prints"}, Process: true, Limits: limits})
		var missing *UnavailableError
		if !errors.As(err, &missing) || missing.Layer != LayerCgroup || missing.Remedy == "" || len(r.Stdout) > 0 {
			t.Errorf("%+v: error %v, output %q; want that %s is missing", limits, err, r.Stdout, LayerCgroup)
		}
	}
	r := run(t, Spec{}, "prints")
	if !slices.Contains(r.Enforced.Missing, LayerCgroup) {
		t.Errorf("missing layers %v do not name %s", r.Enforced.Missing, LayerCgroup)
	}
}

// startIn starts the victim in a group, unconfined.
func startIn(t *testing.T, c *group, args ...string) *exec.Cmd {
	t.Helper()
	words := []string{"-c", `for f in $ENTER; do echo 0 > $f/cgroup.procs || exit 9; done; exec "$0" "$@"`, victim}
	cmd := exec.Command("/bin/sh", append(words, args...)...)
	cmd.Env = []string{"ENTER=" + strings.Join(c.dirs(), " ")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A group can end processes that nothing else confines.
func TestGroupEnds(t *testing.T) {
	g := withGroups(t)
	c, err := g.open(1<<30, 500)
	if err != nil {
		t.Fatal(err)
	}
	mark := newMark(t)
	cmd := startIn(t, c, append([]string{"tree", mark, "hang"}, kinds...)...)
	go func() { _ = cmd.Wait() }() // killed
	if !eventually(func() bool { return len(marked(t, mark)) > 10 }) {
		t.Error("the tree did not grow")
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("processes %v survive", left)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	for _, dir := range c.dirs() {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
}

// What a dead host left behind is ended and removed, and nothing of a living one.
func TestStaleGroups(t *testing.T) {
	g := withGroups(t)
	dead, err := g.open(1<<30, 500)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := g.open(1<<30, 500)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(alive.end(), alive.close()); err != nil {
			t.Error(err)
		}
	}()
	marks := []string{newMark(t) + "-dead", newMark(t) + "-alive"}
	for i, c := range []*group{dead, alive} {
		cmd := startIn(t, c, "tree", marks[i], "hang", "daemon")
		go func() { _ = cmd.Wait() }() // killed
		if !eventually(func() bool { return len(marked(t, marks[i])) > 3 }) {
			t.Fatal("the tree did not grow")
		}
	}
	for _, lock := range dead.locks { // as the kernel does
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	g.removeStale()
	if left := marked(t, marks[0]); len(left) > 0 {
		t.Errorf("processes %v of the dead host survive", left)
	}
	if len(marked(t, marks[1])) == 0 {
		t.Error("the living host's processes are gone")
	}
	for _, dir := range dead.dirs() {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
}

func TestReadPositions(t *testing.T) {
	tests := []struct {
		name, mounts, own string
		want              positions
	}{
		{
			"systemd", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n", "0::/system.slice/m.service\n",
			positions{"": {"/sys/fs/cgroup/system.slice/m.service", false}},
		},
		{
			"container with a namespace", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/\n",
			positions{"": {"/sys/fs/cgroup", true}},
		},
		{
			"container without", "30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/x\n",
			positions{"": {"/sys/fs/cgroup", true}},
		},
		{
			"another container's", "30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/xy\n", positions{},
		},
		{
			"out of the namespace", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/../other\n", positions{},
		},
		{
			"version 1", "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/cpu\\040both rw - cgroup cgroup rw,cpu,cpuacct\n",
			"4:memory:/a\n2:cpu,cpuacct:/\n1:name=systemd:/\n",
			positions{"memory": {"/sys/fs/cgroup/memory/a", false}, "cpu": {"/sys/fs/cgroup/cpu both", true}, "cpuacct": {"/sys/fs/cgroup/cpu both", true}},
		},
		{"nothing", "", "", positions{}},
		{"no line of ours", "x\n- -\n1 2 3 - cgroup2\n", "0\n:\n", positions{}},
	}
	for _, tt := range tests {
		got := readPositions(tt.mounts, tt.own)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(position{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A directory with limits is where calls can go; one that is not delegated is
// somebody else's.
func TestDelegation(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "unit")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, own} {
		if err := os.WriteFile(filepath.Join(d, "cgroup.type"), []byte("domain\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := positions{version2: {own, false}}
	if _, err := p.unified(); !errors.Is(err, errNotDelegated) {
		t.Errorf("error %v, want that it is not delegated", err)
	}
	if _, err := (positions{}).unified(); err == nil {
		t.Error("there is a place without a hierarchy")
	}
	if _, err := (positions{"memory": {dir, false}}).byController(); err == nil {
		t.Error("there is a place without processes and processor time")
	}
}
