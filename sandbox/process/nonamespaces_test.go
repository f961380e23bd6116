//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// withoutVariable marks a process that cannot make namespaces.
const withoutVariable = "MAYFLY_TEST_NO_NAMESPACES"

// A host that gives no namespaces, such as a container, is one where the call
// is refused, or runs with what there is if the call allows it.
func TestHostWithoutNamespaces(t *testing.T) {
	if os.Getenv(withoutVariable) == "" {
		if os.Geteuid() != 0 {
			t.Skip("needs root, to give up the right to make them")
		}
		again(t)
		return
	}
	if err := unix.Unshare(unix.CLONE_NEWIPC); err != unix.EPERM {
		t.Fatalf("unshare: %v, want that it is not permitted", err)
	}
	spec := Spec{Command: victim, Args: []string{"prints"}, Limits: Limits{Timeout: time.Minute}}
	r, err := Run(t.Context(), spec)
	var missing *UnavailableError
	if !errors.As(err, &missing) || missing.Layer != LayerNamespaces || missing.Remedy == "" || !errors.Is(err, unix.EPERM) {
		t.Errorf("error %v, want that namespaces are not available", err)
	}
	if len(r.Stdout) != 0 {
		t.Errorf("the program ran: %q", r.Stdout)
	}
	spec.Namespaces = NamespacesPreferred
	r, err = Run(t.Context(), spec)
	if err != nil || r.Status != sandbox.StatusOK {
		t.Fatalf("status %s, error %v, %+v", r.Status, err, r.Error)
	}
	for _, layer := range []Layer{LayerNamespaces, LayerFileSystem, LayerProc} {
		if !slices.Contains(r.Enforced.Missing, layer) || slices.Contains(r.Enforced.Layers, layer) {
			t.Errorf("%s: enforced %v, missing %v", layer, r.Enforced.Layers, r.Enforced.Missing)
		}
	}
}

// again starts this test once more, without the capability that it takes.
func again(t *testing.T) {
	done := make(chan error)
	var out []byte
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread goes with the goroutine
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil {
			done <- err
			return
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestHostWithoutNamespaces$", "-test.v")
		cmd.Env = []string{withoutVariable + "=1", victimVariable + "=" + victim}
		var err error
		out, err = cmd.CombinedOutput()
		done <- err
	}()
	if err := <-done; err != nil || !strings.Contains(string(out), "--- PASS: TestHostWithoutNamespaces") {
		t.Errorf("%v:\n%s", err, out)
	}
}
