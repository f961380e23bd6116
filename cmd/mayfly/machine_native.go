package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
	confined "github.com/mayfly-run/mayfly/sandbox/process"
)

// nativeHealth says whether native tools can run here. It is what the probe
// found, by trying.
type nativeHealth struct {
	OK bool `json:"ok"`
	// Problem says why not, Remedy what to do.
	Problem string `json:"problem,omitzero"`
	Remedy  string `json:"remedy,omitzero"`
	// Without: not with namespaces, which are not here, but under all the other
	// layers, if the harness prefers namespaces only.
	Without bool `json:"without_namespaces,omitzero"`
}

// allows reports whether native tools of a harness can run.
func (n nativeHealth) allows(h *manifests.Harness) bool {
	return n.OK || n.Without && h.Tools.Namespaces == manifests.NamespacesPreferred
}

// layerHealth is one of the layers that native tools are confined by.
type layerHealth struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"`
	// Used says whether this version of Mayfly makes use of it.
	Used bool `json:"used"`
}

// prober finds out whether native tools can run here; tests remember it.
type prober func(context.Context) (nativeHealth, []layerHealth)

// examineNative runs the probe.
func examineNative(ctx context.Context) (nativeHealth, []layerHealth) {
	r, err := confined.Probe(ctx)
	if err != nil {
		return nativeHealth{Problem: "it could not be tried: " + err.Error()}, []layerHealth{}
	}
	n, layers := nativeHealth{OK: r.OK()}, []layerHealth{}
	for _, t := range newProbe(r).Tiers {
		if !t.Required {
			lacks := len(layers) > 0 && !n.OK && (layers[0].Name == string(confined.LayerNamespaces) || layers[0].Name == string(confined.LayerFileSystem))
			n.Without = lacks && t.Verdict == confined.Holds
			continue
		}
		if t.Problem != "" {
			n.Problem, n.Remedy = t.Problem, t.Remedy
			if t.Missing != "" {
				layers = append(layers, layerHealth{Name: string(t.Missing), Detail: words(confined.Absent) + ": " + t.Problem, Used: true})
			}
		}
		for _, l := range t.Layers {
			h := layerHealth{Name: string(l.Layer), Available: l.Verdict == confined.Holds, Detail: words(l.Verdict), Used: true}
			if l.Verdict != confined.Holds {
				h.Detail += ": " + t.how(l)
			}
			if l.Verdict == confined.Fails && n.Problem == "" {
				n.Problem = fmt.Sprintf("the layer %s does not hold: %s", l.Layer, t.how(l))
			}
			layers = append(layers, h)
		}
	}
	return n, layers
}

// text is the lines for people.
func (n nativeHealth) text(layers []layerHealth, line func(label, text string)) {
	if !n.OK {
		text := "tools are refused here: " + n.Problem
		if n.Remedy != "" {
			text += "; " + n.Remedy
		}
		if n.Without {
			text += ", or set tools.namespaces: preferred in the harness, for all other layers hold"
		}
		line("native", text+" (mayfly probe says more)")
	} else {
		var hold []string
		for _, l := range layers {
			if l.Available {
				hold = append(hold, l.Name)
			}
		}
		line("native", "tools can run here, confined by "+strings.Join(hold, ", "))
	}
	for _, l := range layers {
		if !l.Available && n.OK {
			line("", l.Name+" "+l.Detail)
		}
	}
}
