package governor

import (
	"errors"
	"fmt"

	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/manifests"
)

// Output is what is left of a tool's result after step 9.
type Output struct {
	output.Result
	// Label says whether the text may hold somebody else's words. The run was
	// marked when the call was allowed.
	Label manifests.Label
}

// Output is step 9: it sanitizes and cuts the result of a tool, as its manifest
// says. A value that is one JSON value is taken as that, anything else as text.
// With an error nothing of the result may be used.
func (g *Governor) Output(tool string, value []byte) (out Output, err error) {
	p, ok := g.tools[tool]
	if !ok {
		return Output{}, errors.New("step output: there is no tool of this name")
	}
	defer func() {
		if r := recover(); r != nil {
			// What was recovered could quote the result.
			out, err = Output{}, errors.New("BUG(mayfly): step output failed")
		}
	}()
	return Output{Result: p.output.Apply(value), Label: p.manifest.Spec.Output.Label}, nil
}

// planOutput makes step 9 of a tool. A tool that is not of the set has no bound
// of its own yet.
func planOutput(t *manifests.Tool, h *manifests.Harness) (*output.Output, error) {
	policy := output.Policy{MaxBytes: t.Spec.Output.MaxBytes}
	if policy.MaxBytes == 0 {
		policy.MaxBytes = h.Tools.MaxOutputBytes
	}
	for _, s := range t.Spec.Output.Sanitize {
		policy.Sanitizers = append(policy.Sanitizers, string(s))
	}
	o, err := output.New(policy)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Metadata.Name, err)
	}
	return o, nil
}
