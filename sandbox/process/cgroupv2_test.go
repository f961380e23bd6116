//go:build linux && (amd64 || arm64)

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// delegatedVariable makes TestDelegatedHost the host of a delegated subtree.
const delegatedVariable = "MAYFLY_TEST_DELEGATED"

// TestDelegatedHost is started by TestDelegatedSubtree.
func TestDelegatedHost(t *testing.T) {
	want := os.Getenv(delegatedVariable)
	if want == "" {
		t.Skip("only as the child of TestDelegatedSubtree")
	}
	g, err := home()
	if want == "none" {
		if err == nil {
			t.Errorf("groups are made in %s, which is not delegated", g.memory)
		}
		return
	}
	if err != nil || g.version != 2 || g.memory != want {
		t.Fatalf("groups are made in %+v (%v), want %s", g, err, want)
	}
	r := run(t, Spec{Process: true, Limits: Limits{Timeout: time.Minute, MaxTreeMemory: 64 << 20}}, "hold", "8", fmt.Sprint(16<<20))
	if r.Status != sandbox.StatusMemoryLimit || r.Enforced.Cgroup != 2 {
		t.Errorf("status %s, %+v, control group %d", r.Status, r.Error, r.Enforced.Cgroup)
	}
	r = run(t, Spec{Process: true, Limits: Limits{Timeout: time.Minute}}, "prints")
	if r.Status != sandbox.StatusOK || !slices.Contains(r.Enforced.Layers, LayerCgroup) {
		t.Errorf("status %s, %+v, layers %v", r.Status, r.Error, r.Enforced.Layers)
	}
}

// A subtree of version 2 that a manager has given away is used, by root and by
// an ordinary user, whether the host stands at its top or in a group of its
// own; one that was not given away is left alone.
func TestDelegatedSubtree(t *testing.T) {
	const root = "/sys/fs/cgroup"
	if os.Geteuid() != 0 || !isKernelRoot(root) {
		t.Skip("needs root, and a hierarchy of version 2 at its usual place")
	}
	if err := enable(root); err != nil {
		t.Skipf("this hierarchy has no limits to give: %v", err)
	}
	tests := []struct {
		name      string
		delegated bool
		below     string // the host's group, below the subtree
		uid       int
	}{
		{"root at the top", true, "", 0},
		{"root in a group", true, "service", 0},
		{"user at the top", true, "", ordinary},
		{"user in a group", true, "service", ordinary},
		{"not delegated", false, "", 0},
		{"not delegated, in a group", false, "service", 0},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := filepath.Join(root, fmt.Sprintf("delegated-%d-%d", os.Getpid(), i))
			own := filepath.Join(top, tt.below)
			if err := os.MkdirAll(own, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				for _, dir := range []string{filepath.Join(top, hostGroup), own, top} {
					// The host's spawner ends after it.
					if !eventually(func() bool { return removeGroup(dir) == nil }) {
						t.Errorf("%s is left", dir)
					}
				}
			})
			if tt.delegated {
				if err := unix.Setxattr(top, "user.delegate", []byte("1"), 0); err != nil {
					t.Fatal(err)
				}
			}
			for _, dir := range []string{top, own} {
				for _, name := range []string{"", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"} {
					if err := os.Chown(filepath.Join(dir, name), tt.uid, tt.uid); err != nil {
						t.Fatal(err)
					}
				}
			}
			f, err := os.Open(own)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := top
			if !tt.delegated {
				want = "none"
			}
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestDelegatedHost$", "-test.v")
			cmd.Dir = "/"
			cmd.Env = []string{delegatedVariable + "=" + want, victimVariable + "=" + victim, "TMPDIR=/tmp"}
			cmd.SysProcAttr = &syscall.SysProcAttr{
				UseCgroupFD: true, CgroupFD: int(f.Fd()), Credential: &syscall.Credential{Uid: uint32(tt.uid), Gid: uint32(tt.uid)},
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestDelegatedHost") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
