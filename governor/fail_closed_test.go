package governor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// brokenStore fails, or panics, in one of its methods.
type brokenStore struct {
	store.Store
	method string
	panics bool
	broke  int
}

var errDisk = errors.New("disk /var/lib/secret-place is gone")

func (s *brokenStore) fail(method string) error {
	if s.method != method {
		return nil
	}
	s.broke++
	if s.panics {
		panic(errDisk)
	}
	return errDisk
}

func (s *brokenStore) Run(ctx context.Context, id string) (store.Run, error) {
	if err := s.fail("Run"); err != nil {
		return store.Run{}, err
	}
	return s.Store.Run(ctx, id)
}

func (s *brokenStore) TakeCall(ctx context.Context, id string, limit int64) (int64, bool, error) {
	if err := s.fail("TakeCall"); err != nil {
		return 0, true, err
	}
	return s.Store.TakeCall(ctx, id, limit)
}

func (s *brokenStore) GrantOf(ctx context.Context, run, tool string) (store.Grant, error) {
	if err := s.fail("GrantOf"); err != nil {
		return store.Grant{}, err
	}
	return s.Store.GrantOf(ctx, run, tool)
}

func (s *brokenStore) Reserve(ctx context.Context, r store.Reservation, now time.Time) (store.Refusal, error) {
	if err := s.fail("Reserve"); err != nil {
		return store.Refusal{}, err
	}
	return s.Store.Reserve(ctx, r, now)
}

func (s *brokenStore) AddLabels(ctx context.Context, id string, l store.Labels) error {
	if err := s.fail("AddLabels"); err != nil {
		return err
	}
	return s.Store.AddLabels(ctx, id, l)
}

func (s *brokenStore) Approvals(ctx context.Context, f store.ApprovalFilter) ([]store.Approval, error) {
	if err := s.fail("Approvals"); err != nil {
		return nil, err
	}
	return s.Store.Approvals(ctx, f)
}

func (s *brokenStore) Approval(ctx context.Context, id string, now time.Time) (store.Approval, error) {
	if err := s.fail("Approval"); err != nil {
		return store.Approval{}, err
	}
	return s.Store.Approval(ctx, id, now)
}

func (s *brokenStore) CreateApproval(ctx context.Context, a store.Approval) (store.Approval, error) {
	if err := s.fail("CreateApproval"); err != nil {
		return store.Approval{State: store.Approved}, err
	}
	return s.Store.CreateApproval(ctx, a)
}

func (s *brokenStore) Consume(ctx context.Context, hash, run string, now time.Time) (store.Approval, error) {
	if err := s.fail("Consume"); err != nil {
		return store.Approval{State: store.Used}, err
	}
	return s.Store.Consume(ctx, hash, run, now)
}

const brokenTools = `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: plain }
spec: { handler: "app:f", rate_limit: { per_principal: 1000/s } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: asks }
spec: { handler: "app:f", rate_limit: { per_principal: 1000/s }, approval: { when: "true" } }
`

// TestBrokenStore: whatever breaks, the call is blocked, keeps no place, and the
// reason does not tell what the store said.
func TestBrokenStore(t *testing.T) {
	set := newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\n", brokenTools)
	tests := []struct{ method, tool, approval string }{
		{"Run", "plain", ""},
		{"TakeCall", "plain", ""},
		{"GrantOf", "plain", ""},
		{"Reserve", "plain", ""},
		{"AddLabels", "plain", ""},
		{"Approvals", "asks", ""},
		{"CreateApproval", "asks", "none"},
		{"Approval", "asks", "given"},
		{"Consume", "asks", "given"},
		{"AddLabels", "asks", "given"},
	}
	for _, tt := range tests {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%s/panics=%v", tt.method, tt.tool, panics), func(t *testing.T) {
				inner := &watchedStore{Store: store.NewMemory(), places: map[string]bool{}}
				s := &brokenStore{Store: inner, panics: panics}
				g := newGovernor(t, set, s)
				for _, err := range []error{
					s.CreateRun(t.Context(), store.Run{ID: "r", Principal: "ada", Created: start}),
					s.Grant(t.Context(), store.Grant{RunID: "r", Tool: "plain", Granted: start}),
					s.Grant(t.Context(), store.Grant{RunID: "r", Tool: "asks", Granted: start}),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				call := governor.Call{Run: "r", Tool: tt.tool, Args: governor.ParseArguments([]byte("{}"))}
				if tt.approval == "given" {
					call.Approval = g.Decide(t.Context(), call).ApprovalID
					if a := g.Approve(t.Context(), call.Approval, governor.Approver{Name: "eve"}, ""); !a.Accepted {
						t.Fatal(a.Code)
					}
				}
				s.method = tt.method
				d := g.Decide(t.Context(), call)
				if s.broke == 0 {
					t.Fatal("the method was not called")
				}
				if d.Outcome != governor.Block || d.Code != governor.CodeInternal {
					t.Errorf("%v %s", d.Outcome, d.Code)
				}
				if strings.Contains(d.Reason, "secret-place") {
					t.Errorf("the reason tells: %s", d.Reason)
				}
				if len(inner.places) != 0 {
					t.Errorf("%d places are kept", len(inner.places))
				}
				s.method = ""
				if again := g.Decide(t.Context(), call); again.Code == governor.CodeInternal {
					t.Errorf("and afterwards: %s", again.Reason)
				}
			})
		}
	}
}

// TestNewRefuses: every expression that is wrong is reported, with its place.
func TestNewRefuses(t *testing.T) {
	set := newSet(t, `
apiVersion: harnessweaver/v1
kind: Harness
metadata: { name: h }
spec:
  policy:
    rules:
      - { id: one, when: "user == 'x'", effect: deny }
      - { id: two, when: "true", effect: deny }
      - { id: three, when: "labels.untrusted", effect: allow }
`, `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: t }
spec:
  handler: "app:f"
  approval: { when: "args.n >" }
`)
	c := governor.Config{Set: set, Store: store.NewMemory(), Clock: time.Now, Unmanifested: []string{"t"}}
	_, err := governor.New(c)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"harness.yaml:8:26: policy rule one: when: 1:1: undeclared reference to 'user'",
		"harness.yaml:10:28: policy rule three: when: 1:7: labels has no field untrusted",
		"tools.yaml:7:21: tool t: approval: when: 1:9: Syntax error",
		"tool t has a manifest, and was given as one without",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	for name, c := range map[string]governor.Config{
		"nothing": {},
		"store":   {Set: set, Clock: time.Now},
		"clock":   {Set: set, Store: store.NewMemory()},
		"judge":   {Set: newSet(t, judgedHarness, echoTool), Store: store.NewMemory(), Clock: time.Now},
	} {
		if _, err := governor.New(c); err == nil {
			t.Errorf("%s is missing, and nobody says so", name)
		}
	}
}

func TestOutput(t *testing.T) {
	set := newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\nspec: { tools: { require_manifest: false, max_output_bytes: 60 } }\n", `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: t }
spec: { handler: "app:f", output: { sanitize: [pii_redact], label: trusted } }
`)
	g, err := governor.New(governor.Config{Set: set, Store: store.NewMemory(), Clock: time.Now, Unmanifested: []string{"host"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Output("t", []byte(`{"mail": "ada@example.org"}`))
	if err != nil || out.Text != `{"mail":"[EMAIL]"}` || !out.JSON || out.Label != manifests.LabelTrusted || out.Redactions["email"] != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = g.Output("host", []byte(strings.Repeat("ä", 100)))
	if err != nil || !out.Truncated || len(out.Text) > 60 || out.OriginalBytes != 200 || out.Label != manifests.LabelUntrusted {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := g.Output("nowhere", []byte("text")); err == nil || out.Text != "" {
		t.Errorf("a tool that does not exist: %+v, %v", out, err)
	}
}

// TestRelease: a call that did not start after all gives its place back.
func TestRelease(t *testing.T) {
	set := newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\n", strings.ReplaceAll(brokenTools, "1000/s", "1/h"))
	s := store.NewMemory()
	g := newGovernor(t, set, s)
	if err := s.CreateRun(t.Context(), store.Run{ID: "r", Created: start}); err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(t.Context(), store.Grant{RunID: "r", Tool: "plain", Granted: start}); err != nil {
		t.Fatal(err)
	}
	call := governor.Call{Run: "r", Tool: "plain", Args: governor.ParseArguments([]byte("{}"))}
	first, second := g.Decide(t.Context(), call), g.Decide(t.Context(), call)
	if first.Outcome != governor.Allow || second.Code != governor.CodeRateLimited {
		t.Fatalf("%s, %s", first.Code, second.Code)
	}
	for _, d := range []governor.Decision{second, first} {
		if err := g.Release(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	if third := g.Decide(t.Context(), call); third.Outcome != governor.Allow {
		t.Errorf("%s: %s", third.Code, third.Reason)
	}
}

func TestNotes(t *testing.T) {
	set := newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\n", brokenTools)
	now := start
	g, err := governor.New(governor.Config{Set: set, Store: store.NewMemory(), Clock: func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	steps := func(d governor.Decision) string {
		var b strings.Builder
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "%s:%s:%s:%v ", n.Step, n.Outcome, n.Code, n.Duration)
		}
		return strings.TrimSpace(b.String())
	}
	asks := g.Authorize(t.Context(), governor.Call{Tool: "asks", Args: governor.ParseArguments([]byte("{}"))})
	if got, want := steps(asks), "run:allow::1ms registry:allow::1ms schema:allow::1ms policy:require_approval:manifest_approval:1ms trifecta:allow::1ms limits:allow::1ms judge:allow::1ms approval:require_approval:manifest_approval:1ms"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	blocked := g.Authorize(t.Context(), governor.Call{Tool: "asks", Args: governor.ParseArguments([]byte("1"))})
	if got, want := steps(blocked), "run:allow::1ms registry:allow::1ms schema:block:schema_invalid:1ms"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
