package mcp_test

import (
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

// TestList: what a run may call is offered as it is checked, and nothing else.
func TestList(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			_, c := connect(t, newHarness(t, "").open(t), mcp.Config{PageSize: 2}, version, nil)
			var names []string
			hints := make(map[string][4]bool)
			for tool, err := range c.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name)
				a := tool.Annotations
				hints[tool.Name] = [4]bool{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}
				if tool.Name != "find_order" {
					continue
				}
				schema := object{
					"type": "object", "properties": object{"id": object{"type": "string"}}, "required": []any{"id"}, "additionalProperties": false,
				}
				if diff := cmp.Diff(schema, tool.InputSchema); diff != "" {
					t.Error(diff)
				}
				if tool.Title != "Find order" || tool.Description != "Look an order up." || tool.OutputSchema != nil {
					t.Errorf("find_order is %+v", tool)
				}
				about, _ := tool.Meta["mayfly.run/tool"].(object)
				if digest, _ := about["definition_digest"].(string); !strings.HasPrefix(digest, "sha256:") {
					t.Errorf("about %v", about)
				}
			}
			// closed is disabled, changed is not what was pinned, north_only is
			// another tenant's.
			if diff := cmp.Diff([]string{"find_order", "note", "python", "refund", "wipe"}, names); diff != "" {
				t.Error(diff)
			}
			want := map[string][4]bool{
				"find_order": {true, false, true, false},
				"note":       {false, false, false, false},
				"python":     {true, false, true, false},
				"refund":     {false, true, false, true}, // its risk is high
				"wipe":       {false, true, false, false},
			}
			if diff := cmp.Diff(want, hints); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCall: a client branches on how a call ended, and is told nothing of what
// the host knows.
func TestCall(t *testing.T) {
	h := newHarness(t, "  budgets: { max_tool_calls: 100 }\n")
	h.config.Funcs["note"] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
		switch {
		case strings.Contains(string(c.Args), "fail"):
			return nil, errors.New("the password is hunter2")
		case strings.Contains(string(c.Args), "lost"):
			return nil, errors.Join(runtime.ErrAmbiguous, errors.New("hunter2"))
		case strings.Contains(string(c.Args), "list"):
			return sandbox.RawJSON(`[1,2]`), nil
		}
		return sandbox.RawJSON("null"), nil
	}
	rt := h.open(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s, c := connect(t, rt, mcp.Config{Run: runtime.RunConfig{Principal: "agent"}}, version, nil)
			tests := []struct {
				name, tool string
				args       any
				text       string // a part of the text
				structured any    // of a call that is fine
				outcome    string // of one that is not
				code       string
				retryable  bool
			}{
				{
					name: "an object", tool: "find_order", args: object{"id": "A-1"}, text: `{"tool":"find_order","args":{"id":"A-1"}}`,
					structured: object{"tool": "find_order", "args": object{"id": "A-1"}},
				},
				{name: "no object", tool: "note", args: object{"do": "list"}, text: `[1,2]`},
				{name: "code", tool: "python", args: object{"code": "x"}, text: `{"value":"x","stdout":""}`, structured: object{"value": "x", "stdout": ""}},
				{name: "code that raises", tool: "python", args: object{"code": "raise"}, text: "ValueError", outcome: "tool_error"},
				{name: "bad arguments", tool: "find_order", args: object{"id": 1}, text: "/id", outcome: "invalid_arguments", code: "schema_invalid"},
				{name: "no arguments", tool: "find_order", text: "invalid_arguments", outcome: "invalid_arguments", code: "schema_invalid"},
				{name: "no such tool", tool: "nowhere", text: "denied", outcome: "denied", code: "tool_unknown"},
				{name: "disabled", tool: "closed", text: "denied", outcome: "denied", code: "tool_disabled"},
				{name: "another tenant's", tool: "north_only", text: "denied", outcome: "denied", code: "tool_not_enabled"},
				{name: "changed", tool: "changed", text: "denied", outcome: "denied", code: "digest_mismatch"},
				{name: "a failure", tool: "note", args: object{"do": "fail"}, text: "tool_error: *errors.errorString", outcome: "tool_error"},
				{name: "who knows", tool: "note", args: object{"do": "lost"}, text: "do not repeat the call", outcome: "effect_ambiguous"},
				{name: "approval", tool: "refund", args: object{"id": "A", "usd": 500}, text: "finance", outcome: "approval_required", code: "manifest_approval", retryable: true},
			}
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					r := call(t, c, tt.tool, tt.args)
					var texts []string
					for _, part := range r.Content {
						texts = append(texts, part.(*sdk.TextContent).Text)
					}
					all := strings.Join(texts, "\n")
					if !strings.Contains(all, tt.text) {
						t.Errorf("text %q, want %q in it", all, tt.text)
					}
					if strings.Contains(all, "hunter2") {
						t.Errorf("the client was told an error's text: %q", all)
					}
					about, _ := r.Meta["mayfly.run/call"].(object)
					if about["run"] != s.Run() {
						t.Errorf("about the call: %v", about)
					}
					if r.IsError != (tt.outcome != "") {
						t.Fatalf("isError %v: %s", r.IsError, all)
					}
					if !r.IsError {
						if diff := cmp.Diff(tt.structured, r.StructuredContent); diff != "" {
							t.Error(diff)
						}
						return
					}
					got := [3]any{field(r, "outcome"), field(r, "code"), field(r, "retryable")}
					var code any
					if tt.code != "" {
						code = tt.code
					}
					if diff := cmp.Diff([3]any{tt.outcome, code, tt.retryable}, got); diff != "" {
						t.Errorf("%s\n%v", diff, r.StructuredContent)
					}
					if next, _ := field(r, "next").(string); next == "" {
						t.Error("it does not say what is safe next")
					}
				})
			}
		})
	}
}

// TestRepeatedWrite: the same call takes effect once in a session.
func TestRepeatedWrite(t *testing.T) {
	h := newHarness(t, "")
	ran := 0
	h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		ran++
		return sandbox.RawJSON("null"), nil
	}
	_, c := connect(t, h.open(t), mcp.Config{}, "", nil)
	call(t, c, "note", object{"n": 1})
	if r := call(t, c, "note", object{"n": 1}); r.IsError || ran != 1 {
		t.Errorf("ran %d times; %+v", ran, r)
	}
}

// TestLabelsAreTheSessions: what one call has seen holds for the next, and not
// for another client's.
func TestLabelsAreTheSessions(t *testing.T) {
	h := newHarness(t, "  budgets: { max_tool_calls: 3 }\n")
	rt := h.open(t)
	a, ca := connect(t, rt, mcp.Config{Run: runtime.RunConfig{Labels: runtime.Labels{PrivateSeen: true}}}, "", nil)
	b, cb := connect(t, rt, mcp.Config{}, "", nil)
	if a.Run() == b.Run() {
		t.Fatal("two clients share a run")
	}
	refund := object{"id": "A", "usd": 5}
	if r := call(t, ca, "refund", refund); r.IsError {
		t.Fatalf("before anything was seen: %v", r.StructuredContent)
	}
	call(t, ca, "python", object{"code": "x"}) // somebody else's words
	if r := call(t, ca, "refund", object{"id": "B", "usd": 5}); field(r, "code") != "trifecta" {
		t.Errorf("after it: %v", r.StructuredContent)
	}
	if r := call(t, ca, "find_order", object{"id": "A"}); field(r, "code") != "budget_exceeded" {
		t.Errorf("the fourth call: %v", r.StructuredContent)
	}
	if r := call(t, cb, "refund", refund); r.IsError {
		t.Errorf("another client's: %v", r.StructuredContent)
	}
}

// TestRevoked: a tool that is taken from the run disappears, and a call of it is
// decided all the same.
func TestRevoked(t *testing.T) {
	rt := newHarness(t, "").open(t)
	changed := make(chan struct{}, 10)
	s, c := connect(t, rt, mcp.Config{}, "2025-06-18", &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
	})
	if err := rt.Revoke(t.Context(), s.Run(), "note"); err != nil {
		t.Fatal(err)
	}
	if r := call(t, c, "note", nil); field(r, "code") != "grant_revoked" {
		t.Errorf("result %v", r.StructuredContent)
	}
	<-changed
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil || tool.Name == "note" {
			t.Errorf("listed %v, %v", tool, err)
		}
	}
	if r := call(t, c, "note", nil); field(r, "code") != "grant_revoked" {
		t.Errorf("once it is not listed any more: %v", r.StructuredContent)
	}
}

// TestTask: a session gets what its task gives.
func TestTask(t *testing.T) {
	rt := newHarness(t, "  tasks: { help: { tools: [find_order] } }\n").open(t)
	_, c := connect(t, rt, mcp.Config{Run: runtime.RunConfig{Task: "help"}}, "", nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("tools %+v, %v", list, err)
	}
	if r := call(t, c, "note", nil); field(r, "code") != "tool_not_granted" {
		t.Errorf("result %v", r.StructuredContent)
	}
	if _, err := mcp.New(t.Context(), rt, mcp.Config{Run: runtime.RunConfig{Task: "unheard"}}); err == nil {
		t.Error("a task that does not exist was admitted")
	}
}

// TestConfigIsChecked: what cannot be meant is refused.
func TestConfigIsChecked(t *testing.T) {
	rt := newHarness(t, "").open(t)
	for name, config := range map[string]mcp.Config{
		"own approver":   {Run: runtime.RunConfig{Principal: "ann"}, Approver: &runtime.Approver{Name: "ann"}},
		"nobody answers": {Approver: &runtime.Approver{}},
		"surface":        {Surface: "round"},
		"progress":       {Progress: 1},
		"page":           {PageSize: -1},
		"run":            {Run: runtime.RunConfig{ID: "X"}},
		"no such run":    {RunID: "X"},
	} {
		if _, err := mcp.New(t.Context(), rt, config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestManifestChanges: a tool whose manifest is edited while a client is
// connected is not the one that the client was told of.
func TestManifestChanges(t *testing.T) {
	h := newHarness(t, "")
	_, c := connect(t, h.open(t), mcp.Config{}, "", nil)
	if r := call(t, c, "find_order", object{"id": "A"}); r.IsError {
		t.Fatalf("before: %v", r.StructuredContent)
	}
	h.write(t, "tools.yaml", tools+"# edited\n")
	if r := call(t, c, "find_order", object{"id": "A"}); field(r, "code") != "digest_mismatch" {
		t.Errorf("after: %v", r.StructuredContent)
	}
}
