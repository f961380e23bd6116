package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// asking is a session whose client shows questions to ann of finance.
func asking() mcp.Config {
	return mcp.Config{
		Run:      runtime.RunConfig{Principal: "agent", Tenant: "acme"},
		Approver: &runtime.Approver{Name: "ann", Roles: []string{"finance"}},
	}
}

// TestApprovalIsAsked: the client's person sees exactly what will run, and what
// they say counts for this call only.
func TestApprovalIsAsked(t *testing.T) {
	accept := func(decision string) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": decision, "reason": "seen"}}
	}
	tests := []struct {
		name    string
		answer  *sdk.ElicitResult
		err     error
		outcome any // nil: the call was made
		state   string
		again   int // questions after the same call came a second time
	}{
		{"approve", accept("approve"), nil, nil, "used", 2}, // it was for one call
		{"reject", accept("reject"), nil, "approval_rejected", "rejected", 1},
		{"decline", &sdk.ElicitResult{Action: "decline"}, nil, "approval_rejected", "rejected", 1},
		{"dismiss", &sdk.ElicitResult{Action: "cancel"}, nil, "approval_required", "pending", 2},
		{"nothing said", &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, errors.New("no"), "approval_required", "pending", 2},
	}
	for _, version := range versions {
		for _, tt := range tests {
			if tt.err != nil && version == "2026-07-28" {
				continue // there the client itself fails, and nothing is sent
			}
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				h := newHarness(t, "")
				paid := 0
				h.config.Funcs["refund"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
					paid++
					return sandbox.RawJSON(`{"paid":true}`), nil
				}
				rt := h.open(t)
				var questions []string
				_, c := connect(t, rt, asking(), version, &sdk.ClientOptions{
					ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						questions = append(questions, r.Params.Message)
						return tt.answer, tt.err
					},
				})
				args := object{"id": "Zoë\u202e\u200b", "usd": 500.5}
				r := call(t, c, "refund", args)
				if got := field(r, "outcome"); got != tt.outcome || r.IsError != (tt.outcome != nil) {
					t.Fatalf("outcome %v, want %v: %v", got, tt.outcome, r.StructuredContent)
				}
				want := `Let "agent" call refund, once?
It has side effect write_external and risk high.
Arguments: {
  "id": "Zoë\u202e\u200b",
  "usd": 500.5
}
Tenant: "acme"
Why you are asked: the tool's manifest asks for approval of such calls
Who may answer: somebody with the role "finance"; you are taken to be "ann".`
				if diff := cmp.Diff([]string{want}, questions); diff != "" {
					t.Error(diff)
				}
				list, err := rt.Approvals(t.Context(), runtime.ApprovalFilter{})
				if err != nil || len(list) != 1 || string(list[0].State) != tt.state {
					t.Errorf("approvals %+v, %v", list, err)
				}
				if tt.outcome == "approval_required" && field(r, "approval", "id") != list[0].ID {
					t.Errorf("result %v", r.StructuredContent)
				}
				second := call(t, c, "refund", args)
				if len(questions) != tt.again {
					t.Errorf("asked %d times, want %d", len(questions), tt.again)
				}
				if ran := map[bool]int{true: 1}[tt.outcome == nil]; paid != ran || second.IsError != (ran == 0) {
					t.Errorf("paid %d times; the second call: %v", paid, second.StructuredContent)
				}
			})
		}
	}
}

// TestApprovalIsNotAsked: who may not answer is not asked, and the call can be
// resumed once somebody else has.
func TestApprovalIsNotAsked(t *testing.T) {
	asks := &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, nil
	}}
	for _, version := range versions {
		for name, tt := range map[string]struct {
			config  mcp.Config
			options *sdk.ClientOptions
			args    object
		}{
			"the client cannot": {config: asking()},
			"nobody answers":    {config: mcp.Config{Run: asking().Run}, options: asks},
			"another role":      {config: mcp.Config{Run: asking().Run, Approver: &runtime.Approver{Name: "ann", Roles: []string{"ops"}}}, options: asks},
			"nobody's run":      {config: mcp.Config{Approver: asking().Approver}, options: asks},
			"too long to read":  {config: asking(), options: asks, args: object{"id": strings.Repeat("x", 20_000), "usd": 500}},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				rt := newHarness(t, "").open(t)
				_, c := connect(t, rt, tt.config, version, tt.options)
				args := tt.args
				if args == nil {
					args = object{"id": "A", "usd": 500}
				}
				r := call(t, c, "refund", args)
				if field(r, "outcome") != "approval_required" || field(r, "retryable") != true {
					t.Fatalf("result %v", r.StructuredContent)
				}
				id, _ := field(r, "approval", "id").(string)
				if field(r, "approval", "approver_role") != "finance" || field(r, "approval", "resume") == nil {
					t.Errorf("result %v", r.StructuredContent)
				}
				if name == "nobody's run" {
					return // nobody could tell whether they approve their own
				}
				if a := rt.Approve(t.Context(), id, runtime.Approver{Name: "bob", Roles: []string{"finance"}}, ""); !a.Accepted {
					t.Fatalf("not accepted: %s", a.Reason)
				}
				other := call(t, c, "refund", object{"id": strings.Repeat("y", 20_000), "usd": 500})
				if field(other, "outcome") != "approval_required" || field(other, "approval", "id") == id {
					t.Errorf("another call: %v", other.StructuredContent)
				}
				if r := call(t, c, "refund", args); r.IsError {
					t.Errorf("the same call, approved: %v", r.StructuredContent)
				}
			})
		}
	}
}

// TestAnswerToNoQuestion: a client that names an approval it was not asked about
// answers nothing.
func TestAnswerToNoQuestion(t *testing.T) {
	rt := newHarness(t, "").open(t)
	config := asking()
	_, c := connect(t, rt, config, "2026-07-28", &sdk.ClientOptions{
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
	})
	first, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund", Arguments: object{"id": "A", "usd": 500}})
	if err != nil || !first.NeedsInput() {
		t.Fatalf("result %+v, %v", first, err)
	}
	yes := sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}}
	for _, params := range []*sdk.CallToolParams{
		{Name: "refund", Arguments: object{"id": "A", "usd": 500}, RequestState: "X", InputResponses: yes},
		{Name: "refund", Arguments: object{"id": "A", "usd": 500}, InputResponses: yes},
		// Of two calls, the person was asked about the other one.
		{Name: "refund", Arguments: object{"id": "B", "usd": 900}, RequestState: first.RequestState, InputResponses: yes},
	} {
		r, err := c.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if !r.IsError && !r.NeedsInput() {
			t.Errorf("the call went ahead: %+v", r)
		}
	}
}

// TestApprovalOfExactlyThis: an approval is for the call that a person saw. JSON
// that only looks the same is another call.
func TestApprovalOfExactlyThis(t *testing.T) {
	rt := newHarness(t, "").open(t)
	_, in, out := serve(t, rt, mcp.Config{Run: runtime.RunConfig{Principal: "agent"}})
	c := raw{t, in, bufio.NewReader(out)}
	c.send(hello)
	c.answer()
	c.send(ready)
	invoke := func(arguments string) (outcome any, approval string) {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":` + arguments + `}}`)
		result, _ := c.answer()["result"].(object)
		said, _ := result["structuredContent"].(object)
		waits, _ := said["approval"].(object)
		approval, _ = waits["id"].(string)
		return said["outcome"], approval
	}
	_, id := invoke(`{"id":"A","usd":500}`)
	if a := rt.Approve(t.Context(), id, runtime.Approver{Name: "ann", Roles: []string{"finance"}}, ""); !a.Accepted {
		t.Fatalf("not accepted: %s", a.Reason)
	}
	for _, other := range []string{`{"id":"A","usd":500.0}`, `{"id":"A","usd":5e2}`, `{"id":"a","usd":500}`, `{"id":"A ","usd":500}`, `{"id":"A","usd":501}`} {
		if outcome, another := invoke(other); outcome != "approval_required" || another == id {
			t.Errorf("%s: %v, approval %s", other, outcome, another)
		}
	}
	if outcome, _ := invoke(`{ "usd": 500, "\u0069d": "A" }`); outcome != nil {
		t.Errorf("the same call in other words: %v", outcome)
	}
	if outcome, another := invoke(`{"id":"A","usd":500}`); outcome != "approval_required" || another == id {
		t.Errorf("the same call again: %v", outcome)
	}
}

// TestRunGoesOn: a client that comes back goes on with its run, and with what was
// approved meanwhile.
func TestRunGoesOn(t *testing.T) {
	rt := newHarness(t, "").open(t)
	args := object{"id": "A", "usd": 500}
	s, c := connect(t, rt, mcp.Config{Run: runtime.RunConfig{Principal: "agent"}}, "", nil)
	id, _ := field(call(t, c, "refund", args), "approval", "id").(string)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if a := rt.Approve(t.Context(), id, runtime.Approver{Name: "ann", Roles: []string{"finance"}}, ""); !a.Accepted {
		t.Fatalf("not accepted: %s", a.Reason)
	}
	_, other := connect(t, rt, mcp.Config{Run: runtime.RunConfig{Principal: "agent"}}, "", nil)
	if r := call(t, other, "refund", args); field(r, "outcome") != "approval_required" {
		t.Errorf("another run: %v", r.StructuredContent)
	}
	again, c := connect(t, rt, mcp.Config{RunID: s.Run()}, "", nil)
	if r := call(t, c, "refund", args); r.IsError || again.Run() != s.Run() {
		t.Errorf("the same run: %v", r.StructuredContent)
	}
}
