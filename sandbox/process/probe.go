package process

import (
	"cmp"
	"slices"
)

// Report is what [Probe] found on this host.
type Report struct {
	// Root says who tried: root, or an ordinary user. What holds can differ.
	Root bool
	// Tiers are the ways in which programs can be confined, the strongest first.
	Tiers []Tier
}

// Tier is one way to confine programs, tried out.
type Tier struct {
	// Name is "namespaces", or "without_namespaces" for what is left on a host that
	// has none to give.
	Name string
	// Required says that the tools of a manifest need it.
	Required bool
	// Problem says why nothing could be run in this way, and Remedy what to do about
	// it; empty if it could. Layer is the one that is missing, if it is one.
	Problem, Remedy string
	Layer           Layer
	// Enforced is what the launcher says it has put in place.
	Enforced Enforced
	// Checks are what was tried.
	Checks []Check
}

// Check is one thing that was tried.
type Check struct {
	Layer Layer
	Name  string
	// Tried says how, Seen what came of it.
	Tried, Seen string
	Verdict     Verdict
}

// Verdict is what a check, or all of a layer's, say.
type Verdict string

// The verdicts.
const (
	// Holds: it was tried, and is as it must be.
	Holds Verdict = "holds"
	// Fails: it was tried, and is not.
	Fails Verdict = "does_not_hold"
	// Absent: this host does not have the layer, or not the part of it that was to
	// be tried.
	Absent Verdict = "not_here"
	// Untried: it could not be tried.
	Untried Verdict = "not_tried"
)

// Holds reports whether programs can be confined in this way: everything that
// was tried holds, and something was.
func (t *Tier) Holds() bool {
	return t.Problem == "" && len(t.Checks) > 0 && !slices.ContainsFunc(t.Checks, func(c Check) bool { return c.Verdict == Fails })
}

// Verdict is what the checks of one layer say together.
func (t *Tier) Verdict(l Layer) Verdict {
	verdict := Untried
	if slices.Contains(t.Enforced.Missing, l) {
		verdict = Absent
	}
	for _, c := range t.Checks {
		switch {
		case c.Layer != l:
		case c.Verdict == Fails:
			return Fails
		case c.Verdict == Holds:
			verdict = Holds
		}
	}
	return verdict
}

// Layers are all layers that checks are about or that are missing, in the order
// in which they are applied.
func (t *Tier) Layers() []Layer {
	var list []Layer
	for _, l := range allLayers {
		if slices.Contains(t.Enforced.Missing, l) || slices.ContainsFunc(t.Checks, func(c Check) bool { return c.Layer == l }) {
			list = append(list, l)
		}
	}
	return list
}

var allLayers = []Layer{
	LayerCgroup, LayerNamespaces, LayerFileSystem, LayerProc, LayerSession, LayerLimits, LayerProcesses,
	LayerUser, LayerNoNewPrivs, LayerLandlock, LayerSeccomp, LayerDescriptors,
}

// OK reports whether what tools require holds here.
func (r *Report) OK() bool {
	return len(r.Tiers) > 0 && !slices.ContainsFunc(r.Tiers, func(t Tier) bool { return t.Required && !t.Holds() })
}

// sortChecks puts checks in the order of their layers.
func sortChecks(list []Check) {
	slices.SortStableFunc(list, func(a, b Check) int {
		return cmp.Compare(slices.Index(allLayers, a.Layer), slices.Index(allLayers, b.Layer))
	})
}
