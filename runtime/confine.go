package runtime

import (
	"context"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// underRule gives a program the way to be confined that the operator chose.
func underRule(h *manifests.Harness, spec process.Spec) process.Spec {
	if h.Tools.Namespaces == manifests.NamespacesPreferred {
		spec.Namespaces = process.NamespacesPreferred
	}
	return spec
}

// layerNames are the layers that a host lacked, for the trace.
func layerNames(layers []process.Layer) []string {
	var names []string
	for _, l := range layers {
		names = append(names, string(l))
	}
	return names
}

// RunConfined runs a program once, confined as the handler of a tool with these
// grants is, to see what it can do there. No governor is asked, and secrets are not
// handed over. Relative paths are from dir; the program starts in "/" unless the
// handler says where. Its standard output is kept as text.
func RunConfined(ctx context.Context, h *manifests.Handler, dir string, g manifests.Grants) (process.Result, error) {
	spec, err := handlerSpec(h, dir, "")
	if err != nil {
		return process.Result{}, err
	}
	give(&spec, g)
	if g.Network {
		spec.Network = process.NetworkAll
	}
	spec.Env, spec.Output = nil, process.OutputDescriptor
	if h.Cwd == "" {
		spec.Dir = "/"
	}
	r, err := process.Run(ctx, spec)
	if r.Status == sandbox.StatusInvalid && r.Error != nil {
		// The place in its Spec says nothing to who gave the paths.
		r.Error = &sandbox.Error{Type: r.Error.Type, Message: refusal(spec, r.Error)}
	}
	return r, err
}
