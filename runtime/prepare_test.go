package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

const hasty = `{"apiVersion": "harnessweaver/v1", "kind": "Tool", "metadata": {"name": "hasty"}, "spec": {
	"transport": "code", "sandbox": "python", "timeout": "1ms", "side_effect": "write_external",
	"input_schema": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
	"rate_limit": {"per_principal": "1/d"}}}`

// Opening a guest is not on the tool's time, and a call whose guest cannot be
// opened leaves nothing behind: no effect that nobody knows of, no place taken.
func TestOpeningIsNotTheCall(t *testing.T) {
	docs, err := manifests.Parse("hasty.json", []byte(hasty))
	if err != nil {
		t.Fatal(err)
	}
	var opened context.Context
	r, err := runtime.Open(t.Context(), runtime.Config{
		Tools: docs.Tools,
		OpenSandbox: func(ctx context.Context, _ string) (sandbox.Sandbox, error) {
			opened = ctx
			return nil, errors.New("no guest in this program")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run, err := r.StartRun(t.Context(), runtime.RunConfig{Principal: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	call := runtime.Call{RunID: run.ID, Tool: "hasty", Args: sandbox.RawJSON(`{"code":"1"}`)}
	for range 2 {
		result, err := r.Call(t.Context(), call)
		if err != nil || result.Outcome != runtime.Unavailable {
			t.Fatalf("outcome %q, %v; decision %s", result.Outcome, err, result.Decision.Reason)
		}
	}
	if opened == nil {
		t.Fatal("no guest was opened")
	}
	if _, has := opened.Deadline(); has {
		t.Error("the guest was opened on the tool's time")
	}
	effects, err := r.Effects(t.Context(), runtime.EffectFilter{})
	if err != nil || len(effects) != 0 {
		t.Errorf("effects %v, %v", effects, err)
	}

	gone, cancel := context.WithCancel(t.Context())
	r2, err := runtime.Open(t.Context(), runtime.Config{
		Tools: docs.Tools,
		OpenSandbox: func(ctx context.Context, _ string) (sandbox.Sandbox, error) {
			cancel()
			return nil, ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r2.Close()
	if run, err = r2.StartRun(t.Context(), runtime.RunConfig{}); err != nil {
		t.Fatal(err)
	}
	call.RunID = run.ID
	result, err := r2.Call(gone, call)
	if err != nil || result.Outcome != runtime.Cancelled {
		t.Errorf("given up while opening: outcome %q, %v", result.Outcome, err)
	}
}
