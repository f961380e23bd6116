package runtime_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// A host program brings a tool of its own, in Go, and calls it under the
// governor.
func ExampleRuntime_Call() {
	docs, err := manifests.Parse("refund.yaml", []byte(`
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec:
  handler: "host:refund"
  description: Refund part or all of a payment.
  input_schema:
    type: object
    properties:
      order: { type: string, pattern: "^A-[0-9]{4}$" }
      usd: { type: number, minimum: 0 }
    required: [order, usd]
    additionalProperties: false
  side_effect: write_external
  approval: { when: args.usd > 100, approver_role: finance }
`))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	r, err := runtime.Open(ctx, runtime.Config{
		Tools: docs.Tools,
		Funcs: map[string]runtime.Func{"refund": func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`"refunded"`), nil // with c.IdempotencyKey, so that a repeat is no second one
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	run, err := r.StartRun(ctx, runtime.RunConfig{Principal: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	for _, args := range []string{`{"order":"A-1001","usd":20}`, `{"order":"A-1001","usd":20}`, `{"order":"A-1001"}`, `{"order":"A-1001","usd":500}`} {
		result, err := r.Call(ctx, runtime.Call{RunID: run.ID, Tool: "refund", Args: sandbox.RawJSON(args)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Outcome, result.Repeated, "-", result.Next)
	}
	// Output:
	// effect_confirmed false - go on; do not repeat the call
	// effect_confirmed true - go on; do not repeat the call
	// invalid_arguments false - correct the arguments and call again
	// approval_required false - wait for the decision, then repeat the same call
}
