package runtime_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
)

// argumentTools are tools whose arguments a span may have: named in the harness,
// but for quiet.
const argumentTools = `---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: search }
spec:
  handler: "host:search"
  side_effect: read
  input_schema:
    type: object
    properties:
      query: { type: string }
      code: { type: string, writeOnly: true }
      nested: { type: object, properties: { inner: { type: string, writeOnly: true }, plain: { type: string } } }
      filter: { type: object }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: marked }
spec:
  handler: "host:marked"
  side_effect: read
  input_schema: { type: object, properties: { a: { $ref: "#/$defs/hidden" }, b: { type: string } }, $defs: { hidden: { writeOnly: true } } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: quiet }
spec: { handler: "host:quiet", side_effect: read }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: picky }
spec: { handler: "host:picky", side_effect: read, approval: { when: "true" }, input_schema: { type: object, properties: { n: { type: integer } } } }
`

// TestSpanArguments: arguments are in the spans of tools that the operator named,
// of calls that were allowed, and nothing in them is marked as secret, named like a
// credential, known to be secret, or personal.
func TestSpanArguments(t *testing.T) {
	opted := func(line string) func(c *runtime.Config) {
		return func(c *runtime.Config) {
			for _, name := range []string{"search", "marked", "quiet", "picky"} {
				c.Funcs[name] = nothing
			}
			dir := strings.TrimSuffix(c.Harness, "harness.yaml")
			for name, change := range map[string]func(string) string{
				"tools.yaml":   func(s string) string { return s + argumentTools },
				"harness.yaml": func(s string) string { return strings.Replace(s, "otlp: { ", "otlp: { "+line, 1) },
			} {
				text, err := os.ReadFile(dir + name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(dir+name, []byte(change(string(text))), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const sentinel = "SENTINEL7c1"
	tests := []struct {
		name, tool, args string
		outcome          runtime.Outcome
		want             string
	}{
		{"plain", "search", `{"query":"red shoes","filter":{"size":9007199254740993,"tags":["a"]}}`, runtime.OK, `{"filter":{"size":9007199254740993,"tags":["a"]},"query":"red shoes"}`},
		{"marked in the schema", "search", `{"code":"` + sentinel + `"}`, runtime.OK, `{"code":"[WITHHELD]"}`},
		{"marked further down", "search", `{"nested":{"inner":"` + sentinel + `","plain":"x"},"query":"q"}`, runtime.OK, `{"nested":"[WITHHELD]","query":"q"}`},
		{"marked elsewhere", "marked", `{"a":"` + sentinel + `","b":"x"}`, runtime.OK, `{"a":"[WITHHELD]","b":"[WITHHELD]"}`},
		{"named like a credential", "search", `{"API-Key":"` + sentinel + `","filter":{"user":"ann","new_password":"` + sentinel + `","list":[{"Authorization":["` + sentinel + `"]}]}}`, runtime.OK,
			`{"API-Key":"[WITHHELD]","filter":{"list":[{"Authorization":"[WITHHELD]"}],"new_password":"[WITHHELD]","user":"ann"}}`},
		{"a secret of the host's", "search", `{"query":"is it sentinel-key?"}`, runtime.OK, `{"query":"is it [SECRET:COLLECTOR_KEY]?"}`},
		{"personal", "search", `{"query":"write to ` + sentinel + `@example.org"}`, runtime.OK, `{"query":"write to [EMAIL]"}`},
		{"too long to look at", "search", `{"query":"` + strings.Repeat(sentinel+" ", 7000) + `"}`, runtime.OK, `[WITHHELD]`},
		{"not named", "quiet", `{"x":"` + sentinel + `"}`, runtime.OK, ""},
		{"blocked", "picky", `{"n":"` + sentinel + `"}`, runtime.InvalidArguments, ""},
		{"not approved yet", "picky", `{"n":4711}`, runtime.ApprovalRequired, ""},
	}
	r, collector, end := openSpans(t, opted("arguments_of: [search, marked, picky, not_there], "))
	run := start(t, r, runtime.RunConfig{Principal: "agent"})
	for _, tt := range tests {
		call(t, r, runtime.Call{RunID: run, ID: tt.name, Tool: tt.tool, Args: []byte(tt.args)}, tt.outcome)
	}
	call(t, r, runtime.Call{RunID: run, ID: "long", Tool: "search", Args: []byte(`{"query":"` + strings.Repeat("ab ", 1000) + `"}`)}, runtime.OK)
	end()
	got := make(map[string]any)
	for _, s := range collector.Spans("") {
		if id, ok := s.Attributes["gen_ai.tool.call.id"].(string); ok {
			got[id] = s.Attributes["gen_ai.tool.call.arguments"]
		}
	}
	for _, tt := range tests {
		text, _ := got[tt.name].(string)
		if diff := cmp.Diff(tt.want, text); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if text, _ := got["long"].(string); len(text) > 1024 || !strings.HasPrefix(text, `{"query":"ab ab`) || json.Valid([]byte(text)) || !strings.HasSuffix(text, "bytes]") {
		t.Errorf("long arguments are %q", text)
	}
	for _, hidden := range []string{sentinel, "sentinel-key", "4711"} {
		if strings.Contains(collector.Bytes(), hidden) {
			t.Errorf("%s left the host", hidden)
		}
	}

	// Without the setting, which is the default, nothing of it leaves.
	r, collector, end = openSpans(t, opted(""))
	call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "search", Args: []byte(`{"query":"red shoes"}`)}, runtime.OK)
	end()
	if strings.Contains(collector.Bytes(), "red shoes") || strings.Contains(collector.Bytes(), "gen_ai.tool.call.arguments") || len(collector.Spans("execute_tool search")) != 1 {
		t.Error("arguments are in a span that nobody asked for")
	}
}
