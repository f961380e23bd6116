package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime/mcp"
)

func verbs() mcp.Config {
	c := asking()
	c.Surface = mcp.SurfaceVerbs
	return c
}

// TestVerbs: three names, behind which are the tools of the flat surface.
func TestVerbs(t *testing.T) {
	_, c := connect(t, newHarness(t, "").open(t), verbs(), "", nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"tool_describe", "tool_invoke", "tool_search"}, names); diff != "" {
		t.Error(diff)
	}
	search := func(args object) (found []string, matches any) {
		t.Helper()
		r := call(t, c, "tool_search", args)
		list, _ := field(r, "tools").([]any)
		for _, one := range list {
			found = append(found, one.(object)["name"].(string))
		}
		return found, field(r, "matches")
	}
	tests := []struct {
		query   string
		limit   any
		want    []string
		matches float64
	}{
		{query: "", want: []string{"find_order", "note", "python", "refund", "wipe"}, matches: 5},
		{query: "", limit: 2, want: []string{"find_order", "note"}, matches: 5},
		{query: "refund payment", want: []string{"refund"}, matches: 1},
		{query: "ORDER", want: []string{"find_order"}, matches: 1},
		{query: "keep note order", want: []string{"note", "find_order"}, matches: 2},
		{query: "closed north_only changed", matches: 0},
		{query: "zebra", matches: 0},
	}
	for _, tt := range tests {
		args := object{"query": tt.query}
		if tt.limit != nil {
			args["limit"] = tt.limit
		}
		for range 3 { // the same every time
			found, matches := search(args)
			if diff := cmp.Diff([]any{tt.want, tt.matches}, []any{found, matches}); diff != "" {
				t.Errorf("%q: %s", tt.query, diff)
			}
		}
	}
	r := call(t, c, "tool_describe", object{"name": "refund"})
	if field(r, "inputSchema", "properties", "usd", "type") != "number" || field(r, "annotations", "destructiveHint") != true {
		t.Errorf("described as %v", r.StructuredContent)
	}
	for name, bad := range map[string]*sdk.CallToolParams{
		"limit":            {Name: "tool_search", Arguments: object{"limit": 51}},
		"query":            {Name: "tool_search", Arguments: object{"query": strings.Repeat("x", 1001)}},
		"member":           {Name: "tool_search", Arguments: object{"q": "x"}},
		"no name":          {Name: "tool_describe"},
		"not offered":      {Name: "tool_describe", Arguments: object{"name": "closed"}},
		"invoke nothing":   {Name: "tool_invoke", Arguments: object{"arguments": object{}}},
		"invoke by number": {Name: "tool_invoke", Arguments: object{"name": 1}},
		"argument":         {Name: "tool_invoke", Arguments: object{"name": "note", "args": object{}}},
		"list":             {Name: "tool_invoke", Arguments: object{"name": "note", "arguments": []any{}}},
	} {
		r, err := c.CallTool(t.Context(), bad)
		if err != nil || !r.IsError || field(r, "outcome") == nil || field(r, "reason") == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "note"}); err == nil {
		t.Errorf("a tool was called by its own name: %+v", r)
	}
}

// TestVerbsAreGovernedByTheTool: what is decided, reviewed and traced is the
// tool that tool_invoke names, with its arguments.
func TestVerbsAreGovernedByTheTool(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			h := newHarness(t, "  policy: { default_effect: allow, rules: [{ id: no_wipe, when: \"tool.name == 'wipe'\", effect: deny }] }\n")
			h.config.Trace = filepath.Join(h.dir, "trace.jsonl")
			var questions []string
			_, c := connect(t, h.open(t), verbs(), version, &sdk.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					questions = append(questions, r.Params.Message)
					return &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, nil
				},
			})
			invoke := func(name string, args any) *sdk.CallToolResult {
				return call(t, c, "tool_invoke", object{"name": name, "arguments": args})
			}
			if r := invoke("find_order", object{"id": "A"}); r.IsError || field(r, "args", "id") != "A" {
				t.Errorf("result %v", r.StructuredContent)
			}
			if r := invoke("wipe", object{}); field(r, "code") != "policy_denied" || field(r, "tool") != "wipe" {
				t.Errorf("a denied tool: %v", r.StructuredContent)
			}
			if r := invoke("find_order", object{"id": 1}); field(r, "code") != "schema_invalid" {
				t.Errorf("bad arguments: %v", r.StructuredContent)
			}
			if r := invoke("nowhere", object{}); field(r, "code") != "tool_unknown" {
				t.Errorf("no such tool: %v", r.StructuredContent)
			}
			// A verb is no tool of the harness.
			if r := invoke("tool_invoke", object{"name": "find_order"}); field(r, "code") != "tool_unknown" {
				t.Errorf("a verb in a verb: %v", r.StructuredContent)
			}
			if r := invoke("refund", object{"id": "A", "usd": 500}); r.IsError {
				t.Errorf("approved: %v", r.StructuredContent)
			}
			if len(questions) != 1 || !strings.Contains(questions[0], "call refund, once") || !strings.Contains(questions[0], `"usd": 500`) {
				t.Errorf("questions %q", questions)
			}
			trace, err := os.ReadFile(h.config.Trace)
			if err != nil || strings.Contains(string(trace), `"tool":"tool_invoke","outcome":"allow"`) || !strings.Contains(string(trace), `"tool":"refund","outcome":"effect_confirmed"`) {
				t.Errorf("%v, trace:\n%s", err, trace)
			}
		})
	}
}
