package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// fiftyTools writes a project of 50 tools of ordinary size, one file each.
func fiftyTools(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec: {tools: {manifests: ['tool_*.yaml']}}\n")
	for i := range 50 {
		write(fmt.Sprintf("tool_%02d.yaml", i), fmt.Sprintf(`# Tool %[1]d
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: tool_%[1]d, version: 1.0.%[1]d, owner: team }
spec:
  handler: "app.tools:tool_%[1]d"
  description: Does the thing number %[1]d, and does it well.
  input_schema:
    type: object
    properties:
      order: { type: string, pattern: "^A-[0-9]{4}$", description: The order }
      amount: { type: number, minimum: 0, maximum: 5000 }
      mode: { enum: [dry_run, review, execute] }
      lines:
        type: array
        maxItems: 100
        items: { type: object, properties: { sku: { type: string }, count: { type: integer, minimum: 1 } }, required: [sku] }
    required: [order, amount]
    additionalProperties: false
  side_effect: write_external
  risk: high
  data_access: ["pii:customer"]
  egress: [payments.internal]
  rate_limit: { per_principal: 10/m, per_tenant: 200/h }
  approval: { when: "args.amount > 100.0", approver_role: finance }
  output: { max_bytes: 20000, sanitize: [pii_redact, strip_instructions] }
`, i))
	}
	return filepath.Join(dir, "harness.yaml")
}

func BenchmarkLoad50Tools(b *testing.B) {
	harness := fiftyTools(b)
	b.ReportAllocs()
	for b.Loop() {
		set, err := Load(harness, nil)
		if err != nil || len(set.Tools()) != 50 {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile("testdata/examples/shop/tools/refund_order.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("refund_order.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckArguments(b *testing.B) {
	set, err := Load("testdata/examples/shop/harness.yaml", nil)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]any, 10_000)
	for i := range rows {
		rows[i] = map[string]any{"id": int64(i), "name": "x", "value": 1.5}
	}
	for _, bench := range []struct {
		name, tool string
		args       map[string]any
		valid      bool
	}{
		{"small=valid", "refund_order", map[string]any{"order": "A-1001", "euros": 12.5}, true},
		{"small=refused", "refund_order", map[string]any{"order": "B-1001", "euros": -12.5}, false},
		{"rows=10000", "python", map[string]any{"code": "len(rows)", "rows": rows}, true},
	} {
		tool, _ := set.Tool(bench.tool)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := tool.CheckArguments(bench.args); (v == nil) != bench.valid {
					b.Fatal(v)
				}
			}
		})
	}
}

func BenchmarkPin(b *testing.B) {
	text, err := os.ReadFile("testdata/examples/shop/tools/refund_order.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Pin("refund_order.yaml", text, ""); err != nil {
			b.Fatal(err)
		}
	}
}
