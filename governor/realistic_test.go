package governor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// The realistic set: 50 tools of a company and 20 rules about them. Tools of one
// family differ in what they touch; rules are the kinds that operators write.

var families = []string{"orders", "billing", "mail", "files", "people"}

func realisticTools() string {
	var b strings.Builder
	verbs := []string{"find", "list", "get", "create", "update", "delete", "export", "share", "approve", "archive"}
	for _, family := range families {
		for i, verb := range verbs {
			fmt.Fprintf(&b, `---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: %s.%s, version: 1.%d.0, owner: %s-team }
spec:
  handler: "app.%s:%s"
  description: The %s of %s.
  input_schema:
    type: object
    properties:
      id: { type: string, pattern: "^[A-Z]-[0-9]{4}$" }
      amount: { type: number, minimum: 0, maximum: 100000 }
      note: { type: string, maxLength: 500 }
      tags: { type: array, items: { type: string, maxLength: 40 }, maxItems: 20 }
      address: { $ref: "#/$defs/address" }
    required: [id, amount]
    additionalProperties: false
    $defs:
      address:
        type: object
        properties: { city: { type: string }, country: { enum: [DE, FR, NL, PL] } }
        required: [country]
  side_effect: %s
  risk: %s
  scopes: ["%s:%s"]
`, family, verb, i, family, family, verb, verb, family,
				[]string{"read", "write_internal", "write_external"}[min(i/3, 2)], []string{"low", "medium", "high", "critical"}[min(i/3, 3)], family, verb)
			if i%2 == 0 {
				b.WriteString("  data_access: [\"pii:customer\"]\n")
			}
			if i >= 6 {
				fmt.Fprintf(&b, "  egress: [%s.example]\n", family)
			}
			if i%3 == 0 {
				b.WriteString("  rate_limit: { per_principal: 1000000/s, per_tenant: 1000000/s }\n")
			}
			if i >= 3 {
				b.WriteString("  approval: { when: args.amount * 1.19 > 50000, approver_role: lead }\n")
			}
		}
	}
	return b.String()
}

const realisticHarness = `
apiVersion: harnessweaver/v1
kind: Harness
metadata: { name: company }
spec:
  tools: { approval_by_risk: { critical: required } }
  approvals: { approver_role: ops }
  policy:
    default_effect: deny
    rules:
      - { id: no-suspended, when: 'principal.startsWith("suspended-")', effect: deny }
      - { id: no-guests-writing, when: 'principal.startsWith("guest-") && tool.side_effect != "read"', effect: deny }
      - { id: no-export-after-strangers, when: 'labels.untrusted_seen && tool.name.endsWith(".export")', effect: deny }
      - { id: no-mail-outside, when: 'tool.name == "mail.create" && has(args.address) && args.address.country != "DE"', effect: deny }
      - { id: no-huge, when: 'args.amount > 90000', effect: deny }
      - { id: no-secret-notes, when: 'has(args.note) && args.note.contains("BEGIN PRIVATE KEY")', effect: deny }
      - { id: no-deletes-by-night-shift, when: 'task == "night" && tool.name.endsWith(".delete")', effect: deny }
      - { id: no-people-for-reports, when: 'task == "reports" && tool.owner == "people-team"', effect: deny }
      - { id: no-cross-tenant, when: 'tenant == "" && tool.side_effect == "write_external"', effect: deny }
      - { id: no-critical-for-interns, when: 'tool.risk == "critical" && principal in ["int-1", "int-2", "int-3"]', effect: deny }
      - { id: ask-large-billing, when: 'tool.owner == "billing-team" && args.amount > 1000', effect: require_approval }
      - { id: ask-sharing, when: 'tool.name.endsWith(".share") && labels.private_seen', effect: require_approval }
      - { id: ask-many-tags, when: 'has(args.tags) && size(args.tags) > 15', effect: require_approval }
      - { id: ask-tagged, when: 'has(args.tags) && args.tags.exists(t, t == "legal-hold")', effect: require_approval }
      - { id: ask-abroad, when: 'has(args.address) && !(args.address.country in ["DE", "FR"])', effect: require_approval }
      - { id: ask-south, when: 'tenant == "south" && tool.risk == "high"', effect: require_approval }
      - { id: reads, when: 'tool.side_effect == "read"', effect: allow }
      - { id: internal-writes, when: 'tool.side_effect == "write_internal" && args.amount < 50000', effect: allow }
      - { id: support-writes, when: 'task == "support" && tool.owner in ["orders-team", "mail-team"]', effect: allow }
      - { id: billing-by-scope, when: '"billing:approve" in tool.scopes || tenant == "north"', effect: allow }
`

func realisticSet(t testing.TB) *manifests.Set {
	t.Helper()
	return newSet(t, realisticHarness, realisticTools())
}

// newSet makes a set of the texts of a harness and of tools.
func newSet(t testing.TB, harness, tools string) *manifests.Set {
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
	return set
}

// newGovernor makes a governor with a store in memory and a clock that stands
// still.
func newGovernor(t testing.TB, set *manifests.Set, s store.Store) *governor.Governor {
	t.Helper()
	g, err := governor.New(governor.Config{Set: set, Store: s, Clock: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
