//go:build linux && (amd64 || arm64)

package process

import (
	"testing"
)

func TestProbe(t *testing.T) {
	r, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range r.Tiers {
		t.Logf("%s: %v %s", tier.Name, tier.Holds(), tier.Problem)
		for _, c := range tier.Checks {
			if c.Verdict == Fails {
				t.Errorf("%+v", c)
			}

		}
	}
}
