package governor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

// withoutRule is the realistic set without one rule.
type withoutRule struct {
	id, effect string
	g          *governor.Governor
}

// oneFamily is the tools of one family: enough to be about every rule, and quick
// to plan.
func oneFamily() string {
	docs := strings.Split(realisticTools(), "---\n")
	return strings.Join(slices.DeleteFunc(docs, func(d string) bool { return !strings.Contains(d, "owner: billing-team") }), "---\n")
}

func monotone(tb testing.TB) (full *governor.Governor, without []withoutRule) {
	tb.Helper()
	full = newGovernor(tb, newSet(tb, realisticHarness, oneFamily()), store.NewMemory())
	for line := range strings.Lines(realisticHarness) {
		_, rest, ok := strings.Cut(line, "- { id: ")
		if !ok {
			continue
		}
		id, _, _ := strings.Cut(rest, ",")
		_, effect, _ := strings.Cut(rest, "effect: ")
		harness := strings.Replace(realisticHarness, line, "", 1)
		without = append(without, withoutRule{id, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(effect), "}")),
			newGovernor(tb, newSet(tb, harness, oneFamily()), store.NewMemory())})
	}
	if len(without) != 20 {
		tb.Fatalf("found %d rules, want 20", len(without))
	}
	return full, without
}

// FuzzRules: a call gets the same decision twice; a rule that denies never lets
// more through, a rule that allows never less, and one that asks lets nothing
// through by itself, whether it can be evaluated or not. Where no rule matches,
// calls are denied here, so that one that asks can turn a denial into a question.
func FuzzRules(f *testing.F) {
	full, without := monotone(f)
	verbs := []string{"find", "list", "get", "create", "update", "delete", "export", "share", "approve", "archive"}
	for i := range 10 {
		f.Add(uint8(i), "ada", "north", "", i%2 == 0, i%3 == 0, []byte(`{"id":"A-1000","amount":500}`))
		f.Add(uint8(i), "guest-1", "", "night", i%2 == 1, i%3 == 1, []byte(`{"id":"A-1000","amount":95000.5,"tags":["legal-hold"],"note":"x"}`))
		f.Add(uint8(i), "int-1", "south", "support", true, true, []byte(`{"id":"A-1000","amount":1,"address":{"country":"NL"}}`))
	}
	f.Fuzz(func(t *testing.T, tool uint8, principal, tenant, task string, untrusted, private bool, args []byte) {
		call := governor.Call{
			Subject: governor.Subject{Principal: principal, Tenant: tenant, Task: task}, Tool: "billing." + verbs[int(tool)%len(verbs)],
			Labels: store.Labels{UntrustedSeen: untrusted, PrivateSeen: private}, Args: governor.ParseArguments(args),
		}
		d := full.Authorize(t.Context(), call)
		if d.Code == governor.CodeInternal || d.Code == "" {
			t.Fatalf("%v %s: %s", d.Outcome, d.Code, d.Reason)
		}
		if again := full.Authorize(t.Context(), call); brief(again) != brief(d) {
			t.Fatalf("%s, and then %s", brief(d), brief(again))
		}
		for _, w := range without {
			less := w.g.Authorize(t.Context(), call)
			holds := d.Outcome <= less.Outcome
			switch w.effect {
			case "allow":
				holds = less.Outcome <= d.Outcome
			case "require_approval":
				unmatched := less.Reason == "no policy rule allows the call"
				holds = holds || unmatched && d.Outcome == governor.RequireApproval && strings.HasPrefix(d.Reason, "policy rule "+w.id) && strings.HasSuffix(d.Reason, "asks for approval")
			}
			if !holds {
				t.Fatalf("with rule %s (%s): %s; without: %s", w.id, w.effect, brief(d), brief(less))
			}
		}
	})
}

// TestRulesMatter: each of the rules decides something in the corpus of
// FuzzRules's seeds and a little more, or the fuzz target would prove nothing.
func TestRulesMatter(t *testing.T) {
	full, without := monotone(t)
	matters := map[string]bool{}
	for _, principal := range []string{"ada", "guest-1", "suspended-1", "int-1"} {
		for _, tenant := range []string{"", "north", "south"} {
			for _, task := range []string{"", "night", "support", "reports"} {
				for _, verb := range []string{"find", "create", "delete", "export", "share", "approve", "archive"} {
					for _, args := range []string{
						`{"id":"A-1000","amount":5}`, `{"id":"A-1000","amount":1500}`, `{"id":"A-1000","amount":95000}`,
						`{"id":"A-1000","amount":5,"tags":["legal-hold"]}`, `{"id":"A-1000","amount":5,"note":"BEGIN PRIVATE KEY"}`,
						`{"id":"A-1000","amount":5,"address":{"country":"NL"}}`,
						fmt.Sprintf(`{"id":"A-1000","amount":5,"tags":[%s"x"]}`, strings.Repeat(`"x",`, 16)),
					} {
						call := governor.Call{
							Subject: governor.Subject{Principal: principal, Tenant: tenant, Task: task}, Tool: "billing." + verb,
							Labels: store.Labels{UntrustedSeen: verb == "export", PrivateSeen: verb == "share"}, Args: governor.ParseArguments([]byte(args)),
						}
						d := full.Authorize(t.Context(), call)
						for _, w := range without {
							if !matters[w.id] && w.g.Authorize(t.Context(), call).Reason != d.Reason {
								matters[w.id] = true
							}
						}
					}
				}
			}
		}
	}
	// These are about the tools of other families.
	elsewhere := []string{"no-mail-outside", "no-people-for-reports", "support-writes"}
	for _, w := range without {
		if matters[w.id] == slices.Contains(elsewhere, w.id) {
			t.Errorf("rule %s: decides something: %v", w.id, matters[w.id])
		}
	}
}
