//go:build linux && (amd64 || arm64)

package process

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// number runs an act that answers with how far it came.
func number(t *testing.T, spec Spec, args ...string) int {
	t.Helper()
	if spec.Limits.Timeout == 0 {
		spec.Limits.Timeout = time.Minute
	}
	r := run(t, spec, args...)
	if r.Status != sandbox.StatusOK {
		t.Fatalf("status %s: %+v\n%s", r.Status, r.Error, r.Stderr)
	}
	n, err := strconv.Atoi(string(r.Value))
	if err != nil {
		t.Fatalf("value %s", r.Value)
	}
	return n
}

func TestLimits(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		dir := openDir(t)
		grant := Spec{Namespaces: mode, Read: []string{dir}, Write: []string{dir}}

		spec := grant
		spec.Limits.MaxDescriptors = 40
		if n := number(t, spec, "descriptors"); n >= 40 || n < 20 {
			t.Errorf("made %d descriptors under a limit of 40", n)
		}

		spec = grant
		spec.Limits.MaxFileBytes = 1 << 20
		if n := number(t, spec, "file size", dir); n != 1<<20 {
			t.Errorf("wrote %d bytes under a limit of %d", n, 1<<20)
		}

		for size, want := range map[int]bool{64 << 20: true, 512 << 20: false} {
			spec = grant
			spec.Limits.MaxMemory, spec.Limits.Timeout = 256<<20, time.Minute
			r := run(t, spec, "memory", strconv.Itoa(size))
			if o := readOutcome(t, r.Value); o.Worked != want {
				t.Errorf("mapped %d bytes under a limit of %d: %v (%s)", size, 256<<20, o.Worked, o.Detail)
			}
		}

		if mode == NamespacesOff && os.Geteuid() != 0 {
			return // refused: see TestRefusals
		}
		spec = grant
		spec.Process, spec.Limits.MaxProcesses = true, 60
		if n := number(t, spec, "processes"); n < 1 || n >= 60 {
			t.Errorf("started %d processes under a limit of 60", n)
		}
	})
}

// The private /tmp is bounded and starts empty for each call.
func TestTemp(t *testing.T) {
	const limit = 4 << 20
	for range 2 {
		if n := number(t, Spec{Limits: Limits{MaxTempBytes: limit}}, "files", "/tmp"); n < limit/2 || n > limit {
			t.Errorf("wrote %d bytes into a /tmp of %d", n, limit)
		}
	}
}

// A call that asks for a bound that its host cannot hold is refused.
func TestUnholdableBounds(t *testing.T) {
	specs := []Spec{{Limits: Limits{MaxTempBytes: 1 << 20}}}
	if os.Geteuid() != 0 {
		specs = append(specs, Spec{Limits: Limits{MaxProcesses: 50}})
	}
	for _, spec := range specs {
		spec.Command, spec.Args, spec.Namespaces = victim, []string{"prints"}, NamespacesOff
		if r, err := Run(t.Context(), spec); err == nil {
			t.Errorf("%+v ran: %s %s", spec.Limits, r.Status, r.Stdout)
		}
	}
}
