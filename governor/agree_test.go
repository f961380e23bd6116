package governor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

// watchedStore counts what is written, and knows which places are taken.
type watchedStore struct {
	store.Store
	writes int
	places map[string]bool
}

func (s *watchedStore) TakeCall(ctx context.Context, id string, limit int64) (int64, bool, error) {
	s.writes++
	return s.Store.TakeCall(ctx, id, limit)
}

func (s *watchedStore) AddLabels(ctx context.Context, id string, l store.Labels) error {
	s.writes++
	return s.Store.AddLabels(ctx, id, l)
}

func (s *watchedStore) CreateApproval(ctx context.Context, a store.Approval) (store.Approval, error) {
	s.writes++
	return s.Store.CreateApproval(ctx, a)
}

func (s *watchedStore) Consume(ctx context.Context, hash, run string, now time.Time) (store.Approval, error) {
	s.writes++
	return s.Store.Consume(ctx, hash, run, now)
}

func (s *watchedStore) Decide(ctx context.Context, id string, d store.Decision) (store.Approval, error) {
	s.writes++
	return s.Store.Decide(ctx, id, d)
}

func (s *watchedStore) Reserve(ctx context.Context, r store.Reservation, now time.Time) (store.Refusal, error) {
	refusal, err := s.Store.Reserve(ctx, r, now)
	if err == nil && refusal.Admitted() {
		s.places[r.ID] = true
	}
	return refusal, err
}

func (s *watchedStore) Release(ctx context.Context, id string) error {
	delete(s.places, id)
	return s.Store.Release(ctx, id)
}

// seen is what can be seen of a store.
type seen struct {
	Runs      []store.Run
	Approvals []store.Approval
	Grants    [][]store.Grant
	Places    int
}

func (s *watchedStore) seen(t *testing.T, now time.Time) seen {
	t.Helper()
	runs, err := s.Runs(t.Context(), store.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	approvals, err := s.Approvals(t.Context(), store.ApprovalFilter{Now: now, Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	out := seen{Runs: runs, Approvals: approvals, Places: len(s.places)}
	for _, r := range runs {
		grants, err := s.Grants(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		out.Grants = append(out.Grants, grants)
	}
	return out
}

// corpus makes calls, and what happens between them, from a seed.
type corpus struct {
	t     *testing.T
	rand  *rand.Rand
	store *watchedStore
	g     *governor.Governor
	now   time.Time
	tools []string
	runs  []string
	open  []string // approvals that were asked for
	past  []governor.Call
}

func newCorpus(t *testing.T) *corpus {
	c := &corpus{
		t: t, rand: rand.New(rand.NewPCG(1, 2)), now: start,
		store: &watchedStore{Store: store.NewMemory(), places: map[string]bool{}},
	}
	harness := strings.Replace(realisticHarness, "default_effect: deny", "default_effect: require_approval", 1)
	harness = strings.Replace(harness, "tools: { approval_by_risk", "budgets: { max_tool_calls: 300 }\n  tools: { approval_by_risk", 1)
	set := newSet(t, harness, strings.ReplaceAll(realisticTools(), "1000000/s", "2/h"))
	for _, tool := range set.Tools() {
		c.tools = append(c.tools, tool.Metadata.Name)
	}
	var err error
	c.g, err = governor.New(governor.Config{Set: set, Store: c.store, Clock: func() time.Time { return c.now }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (c *corpus) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *corpus) startRun() {
	id := fmt.Sprintf("run-%d", len(c.runs))
	run := store.Run{
		ID: id, Principal: pick(c.rand, "ada", "bob", "guest-1", "suspended-1", "int-1", ""),
		Tenant: pick(c.rand, "north", "south", ""), Task: pick(c.rand, "", "support", "night", "reports"), Created: c.now,
	}
	if c.rand.IntN(4) == 0 {
		run.Expires = c.now.Add(time.Hour)
	}
	c.must(c.store.CreateRun(c.t.Context(), run))
	for _, tool := range c.tools {
		if c.rand.IntN(10) < 9 {
			c.must(c.store.Grant(c.t.Context(), store.Grant{RunID: id, Tool: tool, Granted: c.now}))
		}
	}
	c.runs = append(c.runs, id)
}

// between is what happens between two calls.
func (c *corpus) between() {
	switch c.rand.IntN(20) {
	case 0, 1, 2:
		c.now = c.now.Add(time.Duration(c.rand.IntN(40)) * time.Second)
	case 3:
		if len(c.runs) < 90 {
			c.startRun()
		}
	case 4:
		c.must(c.store.AddLabels(c.t.Context(), pick(c.rand, c.runs...), store.Labels{UntrustedSeen: true, PrivateSeen: c.rand.IntN(2) == 0}))
	case 5:
		_ = c.store.Revoke(c.t.Context(), pick(c.rand, c.runs...), pick(c.rand, c.tools...), c.now)
	case 6, 7, 8, 9:
		if len(c.open) == 0 {
			return
		}
		by := governor.Approver{Name: pick(c.rand, "eve", "ada"), Roles: []string{"lead", "ops"}}
		if id := pick(c.rand, c.open...); c.rand.IntN(4) == 0 {
			c.g.Reject(c.t.Context(), id, by, "")
		} else {
			c.g.Approve(c.t.Context(), id, by, "")
		}
	}
}

func (c *corpus) arguments() governor.Arguments {
	if c.rand.IntN(40) == 0 {
		return governor.Arguments{}
	}
	if c.rand.IntN(20) == 0 {
		return governor.ParseArguments([]byte(pick(c.rand, `{`, `null`, `[]`, `{"id":"x","amount":1}`, `{"id":"A-1000","amount":1,"amount":2}`, `{"id":"A-1000","amount":-1}`)))
	}
	text := fmt.Sprintf(`{"id":"A-100%d","amount":%s`, c.rand.IntN(10), pick(c.rand, "1", "1.0", "999.5", "1001", "45000", "60000", "95000"))
	if c.rand.IntN(3) == 0 {
		text += pick(c.rand, `,"note":"as agreed"`, `,"note":"-----BEGIN PRIVATE KEY"`, `,"tags":["a","legal-hold"]`, `,"tags":["a"]`)
	}
	if c.rand.IntN(3) == 0 {
		text += `,"address":{"country":"` + pick(c.rand, "DE", "FR", "NL") + `"}`
	}
	return governor.ParseArguments([]byte(text + "}"))
}

func (c *corpus) call() governor.Call {
	if len(c.past) > 0 && c.rand.IntN(3) == 0 {
		call := pick(c.rand, c.past...) // the same again, with or without its approval
		if c.rand.IntN(3) == 0 && len(c.open) > 0 {
			call.Approval = pick(c.rand, c.open...)
		}
		return call
	}
	run := pick(c.rand, c.runs...)
	if c.rand.IntN(100) == 0 {
		run = "nowhere"
	}
	tool := pick(c.rand, c.tools...)
	if c.rand.IntN(50) == 0 {
		tool = "nowhere"
	}
	return governor.Call{Run: run, Tool: tool, Args: c.arguments()}
}

// TestAgree: what a dry run says is what the call gets, and the dry run leaves
// nothing behind.
func TestAgree(t *testing.T) {
	c := newCorpus(t)
	for range 5 {
		c.startRun()
	}
	codes := map[governor.Code]int{}
	for i := range 10_000 {
		c.between()
		call := c.call()
		deep := i%500 == 0
		var before seen
		if deep {
			before = c.store.seen(t, c.now)
		}
		writes, places := c.store.writes, len(c.store.places)

		dry := c.g.Authorize(t.Context(), call)

		if c.store.writes != writes || len(c.store.places) != places {
			t.Fatalf("call %d: a dry run wrote %d times, and kept %d places", i, c.store.writes-writes, len(c.store.places)-places)
		}
		if deep {
			if diff := cmp.Diff(before, c.store.seen(t, c.now)); diff != "" {
				t.Fatalf("call %d: a dry run left a trace:\n%s", i, diff)
			}
		}

		real := c.g.Decide(t.Context(), call)

		codes[real.Code]++
		if a, b := brief(dry), brief(real); a != b {
			t.Fatalf("call %d: Authorize says %s, Decide %s", i, a, b)
		}
		if kept := len(c.store.places) - places; kept > 1 || kept == 1 && real.Outcome != governor.Allow {
			t.Fatalf("call %d: %s keeps %d places", i, brief(real), kept)
		}
		if real.Outcome == governor.RequireApproval {
			c.open, c.past = append(c.open, real.ApprovalID), append(c.past, call)
			call.Approval = real.ApprovalID
			c.past = append(c.past, call)
		}
	}
	t.Logf("codes: %v", codes)
	for _, code := range []governor.Code{
		governor.CodeAllowed, governor.CodeRunUnknown, governor.CodeRunExpired, governor.CodeBudgetExceeded, governor.CodeToolUnknown,
		governor.CodeToolNotGranted, governor.CodeGrantRevoked, governor.CodeSchemaInvalid, governor.CodePolicyDenied,
		governor.CodePolicyApproval, governor.CodeManifestApproval, governor.CodeRiskApproval, governor.CodeTrifecta,
		governor.CodeRateLimited, governor.CodeApprovalRejected, governor.CodeApprovalUsed, governor.CodeApprovalExpired,
		governor.CodeApprovalMismatch, governor.CodeApprovalUnknown,
	} {
		if codes[code] < 3 {
			t.Errorf("the corpus has %d calls that end in %s; it should have more", codes[code], code)
		}
	}
	if codes[governor.CodeInternal] > 0 {
		t.Errorf("%d calls broke", codes[governor.CodeInternal])
	}
}

// brief is what has to be the same.
func brief(d governor.Decision) string {
	return fmt.Sprintf("%v %s %s role=%q retry=%s labels=%v hash=%s: %s", d.Outcome, d.Step, d.Code, d.ApproverRole, d.RetryAt, d.Labels, d.CallHash, d.Reason)
}
