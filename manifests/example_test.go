package manifests_test

import (
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
)

func Example() {
	set, err := manifests.Load("testdata/examples/shop/harness.yaml", nil)
	if err != nil {
		log.Fatal(err) // every error, one per line
	}
	tool, _ := set.Tool("refund_order")
	fmt.Println(tool.Spec.Handler, tool.Spec.Timeout, tool.Spec.RateLimit.PerPrincipal)

	args, err := canonjson.Parse([]byte(`{"order": "1001", "euros": -5}`), canonjson.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range tool.CheckArguments(args) {
		fmt.Println(v)
	}
	for _, w := range set.Warnings {
		fmt.Println(w)
	}
	// Output:
	// shop.billing:refund_order 30s 10/m
	// /euros must be at least 0
	// /order must match the pattern ^A-[0-9]{4}$
	// testdata/examples/shop/tools/send_mail.yaml:19:11: /spec/egress: names hosts that the operator's limits do not; they cannot be reached (over_limit)
}

func ExampleParse() {
	_, err := manifests.Parse("tool.yaml", []byte(`
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: lookup, version: 2.1 }
spec:
  handlr: "app:lookup"
  timeout: 30
  enabled: yes
`))
	fmt.Println(err)
	// Output:
	// tool.yaml:4:36: /metadata/version: must be a string, not a number; use quotes (wrong_type)
	// tool.yaml:6:3: /spec/handlr: is not a field here; did you mean handler? (unknown_field)
	// tool.yaml:6:3: /spec/handler: is required for native tools (missing_field)
	// tool.yaml:7:12: /spec/timeout: must be a duration such as 500ms, 30s, 2m or 1h30m, from 1ms to 1d; this is a number (wrong_type)
	// tool.yaml:8:12: /spec/enabled: is true or false to some readers of YAML; write true, false, or quotes (ambiguous)
}

func ExamplePin() {
	text := `# Looks things up.
apiVersion: harnessweaver/v1
kind: Tool
metadata: {name: t}
spec:
  # a function of ours
  handler: "app:lookup"
`
	pinned, err := manifests.Pin("tool.yaml", []byte(text), "t")
	fmt.Printf("%s%v\n", pinned, err)
	// Output:
	// # Looks things up.
	// apiVersion: harnessweaver/v1
	// kind: Tool
	// metadata: {name: t}
	// spec:
	//   definition_digest: "sha256:efc2f04bca2276766341c3dfa3b6c5c69edc49c2fd507be7d42bcdd105dbbe19"
	//   # a function of ours
	//   handler: "app:lookup"
	// <nil>
}

// TestExamples loads the example project and looks at what the governor and
// the runtime will ask of it.
func TestExamples(t *testing.T) {
	set, err := manifests.Load("testdata/examples/shop/harness.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string) *manifests.Tool {
		got, ok := set.Tool(name)
		if !ok {
			t.Fatalf("there is no tool %s", name)
		}
		return got
	}
	refund, find, mail, python, ledger := tool("refund_order"), tool("find_order"), tool("send_mail"), tool("python"), tool("ledger.balance")
	for _, one := range set.Tools() {
		if !one.Pinned() || !one.PinMatches() {
			t.Errorf("%s is not pinned to what it is", one.Metadata.Name)
		}
	}
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("private", []bool{refund.Private(), find.Private(), mail.Private(), python.Private()}, []bool{true, true, false, false})
	check("writes", []bool{refund.Spec.SideEffect.Writes(), find.Spec.SideEffect.Writes(), python.Spec.SideEffect.Writes()}, []bool{true, false, false})
	check("enabled", []bool{mail.EnabledFor("north"), mail.EnabledFor("east"), mail.EnabledFor(""), refund.EnabledFor("east"), ledger.EnabledFor("north")},
		[]bool{true, false, false, true, false})
	check("approval by risk", []bool{set.Harness.Tools.Requires(mail.Spec.Risk), set.Harness.Tools.Requires(refund.Spec.Risk)}, []bool{true, false})
	check("default of output.max_bytes", []int64{refund.Spec.Output.MaxBytes, find.Spec.Output.MaxBytes}, []int64{4000, 20_000})
	check("rate", refund.Spec.RateLimit, manifests.RateLimit{
		PerPrincipal: manifests.Rate{Count: 10, Per: time.Minute}, PerTenant: manifests.Rate{Count: 200, Per: time.Hour}})
	check("grants", refund.Spec.Grants, manifests.Grants{NetworkLocal: []string{"/run/payments.sock"}, Secrets: []string{"PAYMENTS_TOKEN"}})
	check("egress for the trifecta", mail.Spec.Egress, []manifests.Host{"mail.example:587", "backup.mail.example"})
	check("egress that is left", mail.Spec.EgressAllowed, []manifests.Host{"mail.example:587"})
	check("sandbox", python.Spec.Sandbox.Guest(), "python")
	want := manifests.DefaultCodeLimits()
	want.Timeout = 2 * time.Second
	check("limits", python.Spec.Limits, want)
	check("policy", []manifests.Effect{set.Harness.Policy.DefaultEffect, set.Harness.Policy.Rules[0].Effect}, []manifests.Effect{manifests.Allow, manifests.Deny})
	check("place of a rule", set.Harness.Policy.Rules[1].When.Position,
		manifests.Position{File: "testdata/examples/shop/harness.yaml", Line: 17, Column: 15})
	check("definition", python.Definition().Description, "Run Python over rows; the value of the last expression comes back.")
}

// TestFormatDefaults holds the defaults against those of the format.
func TestFormatDefaults(t *testing.T) {
	docs, err := manifests.Parse("t.yaml", []byte(`
apiVersion: harnessweaver/v1
kind: Tool
metadata: {name: n}
spec: {handler: "m:f"}
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: {name: c}
spec: {transport: code, sandbox: monty}
---
apiVersion: harnessweaver/v1
kind: Harness
`))
	if err != nil {
		t.Fatal(err)
	}
	want := manifests.ToolSpec{
		Transport:   "native",
		InputSchema: map[string]any{"type": "object"},
		Handler:     &manifests.Handler{Kind: "python", Module: "m", Function: "f"},
		Timeout:     30 * time.Second,
		SideEffect:  "none",
		Risk:        "low",
		Enabled:     true,
		Output:      manifests.OutputPolicy{Label: "untrusted"},
	}
	if diff := cmp.Diff(want, docs.Tools[0].Spec); diff != "" {
		t.Errorf("native (-want +got):\n%s", diff)
	}
	code := docs.Tools[1].Spec
	if code.CodeArg != "code" || code.Limits.Timeout != 5*time.Second || code.Limits.MaxMemoryMB != 64 || code.Limits.MaxOutputBytes != 100_000 {
		t.Errorf("code: %+v", code)
	}
	tools := docs.Harnesses[0].Tools
	if diff := cmp.Diff(manifests.ToolsConfig{RequireManifest: true, Trifecta: "require_approval", MaxOutputBytes: 20_000, Namespaces: "required"}, tools); diff != "" {
		t.Errorf("harness (-want +got):\n%s", diff)
	}
	if docs.Harnesses[0].Policy != nil {
		t.Error("there is a policy by default")
	}
}
