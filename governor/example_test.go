package governor_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// A refund over a hundred needs somebody from finance; the approval is good for
// that one call.
func Example() {
	ctx := context.Background()
	docs, err := manifests.Parse("refund.yaml", []byte(`
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec:
  handler: "shop.billing:refund"
  approval: { when: args.amount > 100, approver_role: finance }
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := manifests.NewSet(manifests.NewHarness(), docs.Tools)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := store.NewMemory()
	g, err := governor.New(governor.Config{Set: set, Store: s, Clock: time.Now})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = s.CreateRun(ctx, store.Run{ID: "r1", Principal: "ada", Created: time.Now()})
	_ = s.Grant(ctx, store.Grant{RunID: "r1", Tool: "refund", Granted: time.Now()})

	call := governor.Call{Run: "r1", Tool: "refund", Args: governor.ParseArguments([]byte(`{"amount": 500}`))}
	d := g.Decide(ctx, call)
	fmt.Println(d.Outcome, d.Step, d.Code, d.ApproverRole)

	answer := g.Approve(ctx, d.ApprovalID, governor.Approver{Name: "ada", Roles: []string{"finance"}}, "")
	fmt.Println(answer.Accepted, answer.Code)
	answer = g.Approve(ctx, d.ApprovalID, governor.Approver{Name: "bob", Roles: []string{"finance"}}, "")
	fmt.Println(answer.Accepted)

	call.Approval = d.ApprovalID
	fmt.Println(g.Decide(ctx, call).Outcome)
	d = g.Decide(ctx, call)
	fmt.Println(d.Outcome, d.Code)
	// Output:
	// require_approval policy manifest_approval finance
	// false approver_is_requester
	// true
	// allow
	// block approval_used
}
