package governor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPipelineOrder is the order of the steps written down a second time, so
// that nobody changes it without noticing.
func TestPipelineOrder(t *testing.T) {
	want := []Step{
		StepRun,
		StepRegistry, StepSchema, StepPolicy, StepTrifecta, StepLimits, StepJudge, StepApproval, StepExecute, StepOutput,
	}
	var got, after []Step
	for _, p := range pipeline {
		got = append(got, p.step)
		if p.decide == nil {
			after = append(after, p.step)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	if !slices.Equal(after, []Step{StepExecute, StepOutput}) {
		t.Errorf("taken after the decision: %v", after)
	}
}

func TestZeroValuesBlock(t *testing.T) {
	if (Decision{}).Outcome != Block || (verdict{}).outcome != Block || Outcome(0).String() != "block" || Outcome(9).String() != "block" {
		t.Error("a zero value does not block")
	}
}
