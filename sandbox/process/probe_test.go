//go:build linux && (amd64 || arm64)

package process

import (
	"os"
	"testing"
)

// On a machine that has everything, everything that is tried holds, in both ways;
// nothing is left behind. As an ordinary user too: see TestOrdinaryUser.
func TestProbe(t *testing.T) {
	dir := openDir(t)
	t.Setenv("TMPDIR", dir)
	r, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || r.Root != (os.Geteuid() == 0) || len(r.Tiers) != 2 {
		t.Errorf("root %v, %d tiers, all right %v", r.Root, len(r.Tiers), r.OK())
	}
	for _, tier := range r.Tiers {
		if !tier.Holds() || len(tier.Checks) < 45 {
			t.Errorf("%s: %s, %d checks", tier.Name, tier.Problem, len(tier.Checks))
		}
		for _, c := range tier.Checks {
			switch {
			case c.Verdict == Fails:
				t.Errorf("%s: %+v", tier.Name, c)
			case c.Verdict != Holds:
				t.Logf("%s: %s %s: %s", tier.Name, c.Verdict, c.Name, c.Seen)
			}
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
