package policytest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor/policytest"
	"github.com/mayfly-run/mayfly/manifests"
)

const harness = `
apiVersion: harnessweaver/v1
kind: Harness
metadata: { name: h }
spec:
  tools: { trifecta: block, judge: { url: "https://judge.example/" } }
  policy:
    default_effect: allow
    rules: [{ id: no-eve, when: principal == "eve", effect: deny }]
`

const tools = `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec:
  handler: "app:refund"
  approval: { when: args.amount > 100, approver_role: finance }
  rate_limit: { per_principal: 1/d }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: send_mail }
spec: { handler: "app:send", egress: [mail.example] }
`

const table = `
# What the shop expects.
{"tool":"refund","args":{"amount":100},"want":"allow"}
{"name":"large refunds","tool":"refund","args":{"amount":101},"want":"require_approval","role":"finance","code":"manifest_approval"}
{"tool":"send_mail","labels":["untrusted_seen","private_seen"],"want":"block","code":"trifecta","step":"trifecta"}
{"tool":"send_mail","labels":["untrusted_seen"],"want":"allow"}

{"tool":"send_mail","principal":"eve","want":"block","code":"policy_denied"}
`

func run(t *testing.T, text string) policytest.Report {
	t.Helper()
	h, err := manifests.Parse("harness.yaml", []byte(harness))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := manifests.Parse("tools.yaml", []byte(tools))
	if err != nil {
		t.Fatal(err)
	}
	set, err := manifests.NewSet(h.Harnesses[0], docs.Tools)
	if err != nil {
		t.Fatal(err)
	}
	g, err := policytest.NewGovernor(set)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := policytest.Parse("policy.jsonl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return policytest.Run(t.Context(), g, parsed)
}

func TestPasses(t *testing.T) {
	r := run(t, table)
	if r.Failed != 0 || len(r.Results) != 5 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff("policy.jsonl: 5 passed\n", r.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDiff(t *testing.T) {
	r := run(t, strings.NewReplacer(`"amount":101`, `"amount":99`, `"principal":"eve"`, `"principal":"eva\u202e","task":"x"`,
		`"step":"trifecta"`, `"step":"policy"`).Replace(table))
	want := `policy.jsonl:4: "large refunds": "refund" {"amount":99}
  - outcome  require_approval
  + outcome  allow
    step     approval
  - code     manifest_approval
  + code     allowed
  - role     finance
  + role     
    reason   every step let the call pass
policy.jsonl:5: "send_mail" {} labels=untrusted_seen,private_seen
    outcome  block
  - step     policy
  + step     trifecta
    code     trifecta
    reason   the tool can send data out, and the run has seen private data and untrusted content
policy.jsonl:8: "send_mail" {} principal="eva\u202e" task="x"
  - outcome  block
  + outcome  allow
    step     approval
  - code     policy_denied
  + code     allowed
    reason   every step let the call pass
policy.jsonl: 3 of 5 failed
`
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "no calls in it",
		"# nothing\n":                          "no calls in it",
		`{"want":"allow"}`:                     "p:1: no tool",
		"\n" + `{"tool":"t"}`:                  "p:2: want is",
		`{"tool":"t","want":"yes"}`:            "want is",
		`{"tool":"t","want":"allow","x":1}`:    "p:1: x is not a field here; there are name, tool,",
		`{"tool":`:                             "p:1: is not one JSON object: unexpected EOF",
		`[]`:                                   "p:1: is not a JSON object",
		`{"tool":1}`:                           "p:1: tool is a string",
		`{"tool":"t","labels":"seen"}`:         "p:1: labels is a list of strings",
		`{"tool":"t","labels":[1]}`:            "p:1: labels is a list of strings",
		`{"tool":"t","tool":"u"}`:              "duplicate",
		`{"tool":"t","want":"allow"} trailing`: "p:1",
		`{"tool":"t","want":"allow","labels":["seen"]}`: "labels are",
	} {
		if _, err := policytest.Parse("p", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}
