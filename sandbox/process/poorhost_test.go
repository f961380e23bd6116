//go:build linux && (amd64 || arm64)

package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// poorVariable says what the kernel of a process does not do.
const poorVariable = "MAYFLY_TEST_POOR_HOST"

// pretend is an action after which a system call seems to have worked, and did
// nothing.
var pretend = fail(0)

// poorHosts are kernels that lack something, made by a filter around a process
// that runs the test once more.
var poorHosts = map[string]struct {
	rules []rule
	check func(t *testing.T, r *Report)
}{
	"rich": {nil, func(t *testing.T, r *Report) { // the control: the filter itself is in nobody's way
		for _, tier := range r.Tiers {
			if !tier.Holds() {
				t.Errorf("%s: %s %+v", tier.Name, tier.Problem, failedChecks(tier))
			}
		}
	}},
	"without Landlock": {[]rule{{unix.SYS_LANDLOCK_CREATE_RULESET, nil, fail(uint32(unix.ENOSYS))}}, func(t *testing.T, r *Report) {
		for _, tier := range r.Tiers {
			if tier.Holds() || tier.Layer != LayerLandlock || tier.Remedy == "" || len(tier.Checks) > 0 {
				t.Errorf("%s: holds %v, layer %s, %s", tier.Name, tier.Holds(), tier.Layer, tier.Problem)
			}
		}
		refuses(t, LayerLandlock, NamespacesRequired, NamespacesPreferred, NamespacesOff)
	}},
	"Landlock forbidden": {[]rule{{unix.SYS_LANDLOCK_CREATE_RULESET, nil, fail(uint32(unix.EPERM))}}, func(t *testing.T, r *Report) {
		if r.OK() {
			t.Error("it is said to be all right")
		}
		refuses(t, LayerLandlock, NamespacesRequired, NamespacesPreferred, NamespacesOff)
	}},
	"without namespaces": {[]rule{
		{unix.SYS_CLONE3, nil, fail(uint32(unix.ENOSYS))}, // as in containers: its flags cannot be looked at
		{unix.SYS_CLONE, []test{anyOf(0, newSpaces)}, fail(uint32(unix.EPERM))},
		{unix.SYS_UNSHARE, nil, fail(uint32(unix.EPERM))},
	}, func(t *testing.T, r *Report) {
		if full := r.Tiers[0]; full.Holds() || full.Layer != LayerNamespaces || full.Remedy == "" {
			t.Errorf("holds %v, layer %s: %s", full.Holds(), full.Layer, full.Problem)
		}
		if rest := r.Tiers[1]; !rest.Holds() || rest.Verdict(LayerNamespaces) != Absent || rest.Verdict(LayerLandlock) != Holds {
			t.Errorf("without them: %s %+v", rest.Problem, failedChecks(rest))
		}
		refuses(t, LayerNamespaces, NamespacesRequired)
	}},
	"without filters": {[]rule{{unix.SYS_SECCOMP, nil, fail(uint32(unix.ENOSYS))}}, func(t *testing.T, r *Report) {
		for _, tier := range r.Tiers {
			if tier.Holds() || tier.Layer != LayerSeccomp {
				t.Errorf("%s: holds %v, layer %s, %s", tier.Name, tier.Holds(), tier.Layer, tier.Problem)
			}
		}
		refuses(t, LayerSeccomp, NamespacesRequired, NamespacesPreferred, NamespacesOff)
	}},

	// Kernels that say that they have done it. Who only asks believes them.
	"Landlock does nothing": {[]rule{{unix.SYS_LANDLOCK_RESTRICT_SELF, nil, pretend}}, func(t *testing.T, r *Report) {
		seenThrough(t, r, LayerLandlock, "device_control")
	}},
	"filters do nothing": {[]rule{{unix.SYS_SECCOMP, nil, pretend}}, func(t *testing.T, r *Report) {
		seenThrough(t, r, LayerSeccomp, "sockets", "clone3", "io_uring", "new_namespaces", "mount", "keys")
	}},
	"no_new_privs does nothing": {[]rule{{unix.SYS_PRCTL, []test{is(0, unix.PR_SET_NO_NEW_PRIVS)}, pretend}}, func(t *testing.T, r *Report) {
		if os.Geteuid() != 0 {
			t.Skip("a filter needs the flag itself, unless root asks for it")
		}
		// What the kernel asks the flag for is refused then.
		if tier := r.Tiers[0]; tier.Holds() {
			t.Errorf("it was believed: %+v", tier)
		}
	}},
	"sessions do nothing": {[]rule{{unix.SYS_SETSID, nil, pretend}}, func(t *testing.T, r *Report) {
		seenThrough(t, r, LayerSession, "own_session")
	}},
}

// failedChecks are the checks that do not hold.
func failedChecks(t Tier) (list []Check) {
	for _, c := range t.Checks {
		if c.Verdict == Fails {
			list = append(list, c)
		}
	}
	return list
}

// seenThrough fails the test unless the checks of the strongest tier fail.
func seenThrough(t *testing.T, r *Report, layer Layer, checks ...string) {
	t.Helper()
	tier := r.Tiers[0]
	if r.OK() || tier.Holds() || tier.Verdict(layer) != Fails {
		t.Errorf("%s: %s, and all holds: %v (%s)", layer, tier.Verdict(layer), r.OK(), tier.Problem)
	}
	failed := failedChecks(tier)
	for _, name := range checks {
		if !slices.ContainsFunc(failed, func(c Check) bool { return c.Name == name && c.Layer == layer }) {
			t.Errorf("the check %s does not say so", name)
		}
	}
}

// refuses fails the test unless calls are refused for want of the layer, and
// nothing runs.
func refuses(t *testing.T, layer Layer, modes ...Namespaces) {
	t.Helper()
	for _, mode := range modes {
		r, err := Run(t.Context(), Spec{Command: victim, Args: []string{"prints"}, Namespaces: mode, Limits: Limits{Timeout: time.Minute}})
		missing, ok := errors.AsType[*UnavailableError](err)
		if !ok || missing.Layer != layer {
			t.Errorf("error %v, want that %s is not available", err, layer)
		}
		if len(r.Stdout)+len(r.Value) != 0 || len(r.Enforced.Layers) != 0 {
			t.Errorf("the program ran: %+v", r)
		}
	}
}

// Where something is missing, the probe says what, and calls are refused; where
// the kernel only says that it has done something, the probe finds out.
func TestPoorHost(t *testing.T) {
	if name := os.Getenv(poorVariable); name != "" {
		r, err := Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		poorHosts[name].check(t, r)
		return
	}
	for name, host := range poorHosts {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !slices.Contains([]string{"rich", "without Landlock", "filters do nothing"}, name) {
				t.Skip("three of them do in a hurry")
			}
			out, err := poor(name, host.rules)
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestPoorHost")) && !bytes.Contains(out, []byte("--- SKIP: TestPoorHost")) {
				t.Errorf("%v:\n%s", err, failures(string(out)))
			}
		})
	}
}

// poor runs the test once more under a filter.
func poor(name string, rules []rule) (out []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread goes with the goroutine
		if os.Geteuid() != 0 {
			if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return
			}
		}
		if err = filterThread(assembleOnly(rules)); err != nil {
			return
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestPoorHost$", "-test.v")
		cmd.Env = []string{poorVariable + "=" + name, victimVariable + "=" + victim, "TMPDIR=" + os.TempDir()}
		out, err = cmd.CombinedOutput()
	}()
	<-done
	return out, err
}

// assembleOnly is a filter of these rules and nothing else.
func assembleOnly(rules []rule) []unix.SockFilter {
	var f filter
	for _, r := range rules {
		f.rule(r)
	}
	f.ret(allow)
	return f.code
}

// A report sums its checks up: one that fails counts more than any that holds, and
// a tier in which nothing was tried does not hold.
func TestReport(t *testing.T) {
	check := func(l Layer, v Verdict) Check { return Check{Layer: l, Verdict: v} }
	tier := Tier{Required: true, Enforced: Enforced{Missing: []Layer{LayerProc, LayerCgroup}}, Checks: []Check{
		check(LayerSeccomp, Holds), check(LayerSeccomp, Fails), check(LayerSeccomp, Holds),
		check(LayerUser, Untried), check(LayerUser, Holds), check(LayerLimits, Untried), check(LayerCgroup, Absent),
	}}
	for layer, want := range map[Layer]Verdict{
		LayerSeccomp: Fails, LayerUser: Holds, LayerLimits: Untried, LayerProc: Absent, LayerCgroup: Absent, LayerLandlock: Untried,
	} {
		if got := tier.Verdict(layer); got != want {
			t.Errorf("%s: %s, want %s", layer, got, want)
		}
	}
	if got := tier.Layers(); !slices.Equal(got, []Layer{LayerCgroup, LayerProc, LayerLimits, LayerUser, LayerSeccomp}) {
		t.Errorf("layers %v", got)
	}
	if r := (Report{Tiers: []Tier{tier}}); r.OK() || tier.Holds() {
		t.Error("it holds, though a check fails")
	}
	tier.Checks = tier.Checks[:1]
	if r := (Report{Tiers: []Tier{tier, {Problem: "not needed"}}}); !r.OK() {
		t.Error("it does not hold, though all checks do")
	}
	for _, r := range []Report{{}, {Tiers: []Tier{{Required: true}}}, {Tiers: []Tier{{Required: true, Problem: "x", Checks: tier.Checks}}}} {
		if r.OK() {
			t.Errorf("%+v holds", r)
		}
	}
}

// Every try has a name of its own, says how it is made and whose work it is.
func TestTriesAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, try := range tries {
		if try.name == "" || names[try.name] || try.tried == "" || !slices.Contains(allLayers, try.layer) || (try.do == nil) == (try.nr == nil) {
			t.Errorf("%+v", try)
		}
		if strings.Contains(try.tried, "must work") != (len(try.want) == 0) && try.nr != nil {
			t.Errorf("%s: a system call that may work", try.name)
		}
		names[try.name] = true
	}
	if len(names) < 50 {
		t.Errorf("%d tries only", len(names))
	}
}
