package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// start is when the tests begin.
var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// each runs a test on every kind of store, which must not differ in anything.
func each(t *testing.T, test func(t *testing.T, s Store)) {
	t.Helper()
	kinds := map[string]func(t *testing.T) Store{
		"memory": func(*testing.T) Store { return NewMemory() },
		"sqlite": func(t *testing.T) Store { return openTest(t, filepath.Join(t.TempDir(), "store.db")) },
	}
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func openTest(t testing.TB, path string) Store {
	t.Helper()
	s, err := Open(path)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("a store on disk needs Linux: %v", err)
	}
	ok(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func TestRuns(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		// A time zone and a monotonic clock do not come back.
		elsewhere := start.In(time.FixedZone("", 7200))
		a := Run{ID: "a", Principal: "p", Tenant: "t", Task: "k", Created: elsewhere, Expires: start.Add(time.Hour + 1)}
		ok(t, s.CreateRun(ctx, a))
		fails(t, s.CreateRun(ctx, a), ErrExists)
		got, err := s.Run(ctx, "a")
		ok(t, err)
		a.Created = start
		if got != a { // == also tells zones apart
			t.Errorf("Run = %v, want %v", got, a)
		}
		_, err = s.Run(ctx, "A")
		fails(t, err, ErrNotFound)

		b := Run{ID: "b", Principal: "p", Created: start, Labels: Labels{PrivateSeen: true}, Calls: 3}
		c := Run{ID: "c", Tenant: "t", Created: start.Add(-time.Second)}
		ok(t, s.CreateRun(ctx, b))
		ok(t, s.CreateRun(ctx, c))
		for _, tt := range []struct {
			f    RunFilter
			want []Run
		}{
			{RunFilter{}, []Run{b, a, c}}, // the newest first, then the last that came
			{RunFilter{Limit: 2}, []Run{b, a}},
			{RunFilter{Principal: "p"}, []Run{b, a}},
			{RunFilter{Tenant: "t"}, []Run{a, c}},
			{RunFilter{Principal: "p", Tenant: "t", Task: "k"}, []Run{a}},
			{RunFilter{Task: "none"}, nil},
		} {
			got, err := s.Runs(ctx, tt.f)
			ok(t, err)
			equal(t, fmt.Sprintf("Runs(%+v)", tt.f), got, tt.want)
		}
	})
}

func TestLabelsAreSticky(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ok(t, s.CreateRun(ctx, Run{ID: "a", Created: start}))
		ok(t, s.CreateRun(ctx, Run{ID: "b", Created: start}))
		for _, tt := range []struct{ add, want Labels }{
			{Labels{}, Labels{}},
			{Labels{UntrustedSeen: true}, Labels{UntrustedSeen: true}},
			{Labels{}, Labels{UntrustedSeen: true}},
			{Labels{PrivateSeen: true}, Labels{UntrustedSeen: true, PrivateSeen: true}},
			{Labels{UntrustedSeen: true}, Labels{UntrustedSeen: true, PrivateSeen: true}},
		} {
			ok(t, s.AddLabels(ctx, "a", tt.add))
			r, err := s.Run(ctx, "a")
			ok(t, err)
			equal(t, "labels", r.Labels, tt.want)
		}
		r, err := s.Run(ctx, "b")
		ok(t, err)
		equal(t, "labels of the other run", r.Labels, Labels{})
		fails(t, s.AddLabels(ctx, "none", Labels{PrivateSeen: true}), ErrNotFound)
	})
}

func TestTakeCall(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ok(t, s.CreateRun(ctx, Run{ID: "a", Created: start}))
		type taken struct {
			N  int64
			OK bool
		}
		for _, tt := range []struct {
			max  int64
			want taken
		}{
			{0, taken{1, true}}, {2, taken{2, true}}, {2, taken{2, false}}, {1, taken{2, false}},
			{0, taken{3, true}}, {4, taken{4, true}}, {4, taken{4, false}},
		} {
			n, took, err := s.TakeCall(ctx, "a", tt.max)
			ok(t, err)
			equal(t, fmt.Sprintf("TakeCall(max %d)", tt.max), taken{n, took}, tt.want)
		}
		_, _, err := s.TakeCall(ctx, "none", 1)
		fails(t, err, ErrNotFound)
		_, _, err = s.TakeCall(ctx, "a", -1)
		fails(t, err, ErrInvalid)
	})
}

func TestGrants(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ok(t, s.CreateRun(ctx, Run{ID: "a", Created: start}))
		ok(t, s.CreateRun(ctx, Run{ID: "b", Created: start}))
		g := Grant{RunID: "a", Tool: "mail", By: "cli", Granted: start, Expires: start.Add(time.Minute)}
		other := Grant{RunID: "b", Tool: "mail", Granted: start}
		files := Grant{RunID: "a", Tool: "files", Granted: start}
		for _, g := range []Grant{g, other, files} {
			ok(t, s.Grant(ctx, g))
		}
		fails(t, s.Grant(ctx, Grant{RunID: "none", Tool: "mail", Granted: start}), ErrNotFound)
		want := func(what, run string, gs ...Grant) {
			t.Helper()
			got, err := s.Grants(ctx, run)
			ok(t, err)
			equal(t, what, got, gs)
			for _, g := range gs {
				got, err := s.GrantOf(ctx, g.RunID, g.Tool)
				ok(t, err)
				equal(t, what, got, g)
			}
		}
		_, err := s.GrantOf(ctx, "a", "none")
		fails(t, err, ErrNotFound)
		_, err = s.GrantOf(ctx, "none", "mail")
		fails(t, err, ErrNotFound)
		want("grants", "a", files, g)

		at := start.Add(time.Second)
		ok(t, s.Revoke(ctx, "a", "mail", at))
		ok(t, s.Revoke(ctx, "a", "mail", at.Add(time.Second)))
		g.Revoked = at
		want("after revocation", "a", files, g)
		want("of the other run", "b", other)
		if g.Active(start) {
			t.Error("a revoked grant is active again when the clock is set back")
		}

		g = Grant{RunID: "a", Tool: "mail", Granted: at}
		ok(t, s.Grant(ctx, g))
		want("granted again", "a", files, g)

		ok(t, s.Revoke(ctx, "a", "", at))
		g.Revoked, files.Revoked = at, at
		want("all revoked", "a", files, g)
		want("of the other run", "b", other)
		want("of no run", "none")
		fails(t, s.Revoke(ctx, "a", "none", at), ErrNotFound)
		fails(t, s.Revoke(ctx, "none", "", at), ErrNotFound)
	})
}

func TestGrantActive(t *testing.T) {
	g := Grant{Expires: start}
	for at, want := range map[time.Time]bool{start.Add(-1): true, start: false, start.Add(1): false} {
		if got := g.Active(at); got != want {
			t.Errorf("Active(%v) = %v", at, got)
		}
	}
	if !(Grant{}).Active(start) {
		t.Error("a grant that never expires is not active")
	}
}

func TestApproval(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ask := Approval{
			ID: "1", RunID: "r", CallHash: "h", Tool: "mail", Args: `{"a":1}`, Principal: "p", Tenant: "t", Task: "k",
			Role: "finance", Step: "policy", Code: "approval_required", Cause: "over the limit",
			Created: start, Expires: start.Add(time.Hour),
		}
		want := ask
		want.State = Pending
		got, err := s.CreateApproval(ctx, ask)
		ok(t, err)
		equal(t, "CreateApproval", got, want)

		// The same question is not asked twice.
		again := ask
		again.ID, again.Created = "2", start.Add(time.Second)
		got, err = s.CreateApproval(ctx, again)
		ok(t, err)
		equal(t, "asked again", got, want)

		for _, differs := range []Approval{
			{ID: "3", RunID: "r2", CallHash: "h", Tool: "mail", Created: start},
			{ID: "4", RunID: "r", CallHash: "h2", Tool: "mail", Created: start},
		} {
			got, err := s.CreateApproval(ctx, differs)
			ok(t, err)
			differs.State = Pending
			equal(t, "another question", got, differs)
		}
		_, err = s.CreateApproval(ctx, Approval{ID: "1", RunID: "r", CallHash: "h3", Tool: "mail", Created: start})
		fails(t, err, ErrExists)

		_, err = s.Consume(ctx, "h", "r", start)
		fails(t, err, ErrNotFound) // pending

		at := start.Add(time.Minute)
		got, err = s.Decide(ctx, "1", Decision{Approve: true, Approver: "ann", Reason: "fine", At: at})
		ok(t, err)
		want.State, want.Approver, want.Reason, want.Decided, want.GrantedHash = Approved, "ann", "fine", at, "h"
		equal(t, "Decide", got, want)

		got, err = s.Decide(ctx, "1", Decision{Approver: "bob", At: at})
		fails(t, err, ErrDecided)
		equal(t, "decided again", got, want)
		_, err = s.Decide(ctx, "none", Decision{Approver: "bob", At: at})
		fails(t, err, ErrNotFound)

		// Asked again between the decision and the use of it.
		got, err = s.CreateApproval(ctx, again)
		ok(t, err)
		equal(t, "asked again", got, want)

		for _, no := range []struct{ hash, run string }{{"h2", "r"}, {"h", "r2"}, {"", "r"}, {"h", ""}} {
			_, err := s.Consume(ctx, no.hash, no.run, at)
			fails(t, err, ErrNotFound)
		}
		at = at.Add(time.Minute)
		got, err = s.Consume(ctx, "h", "r", at)
		ok(t, err)
		want.State, want.Used = Used, at
		equal(t, "Consume", got, want)
		_, err = s.Consume(ctx, "h", "r", at)
		fails(t, err, ErrNotFound)
		_, err = s.Decide(ctx, "1", Decision{Approver: "bob", At: at})
		fails(t, err, ErrDecided)

		got, err = s.Approval(ctx, "1", at.Add(24*time.Hour))
		ok(t, err)
		equal(t, "used, much later", got, want)
		_, err = s.Approval(ctx, "none", at)
		fails(t, err, ErrNotFound)

		// The next call asks anew.
		got, err = s.CreateApproval(ctx, again)
		ok(t, err)
		equal(t, "ID of the next question", got.ID, "2")
	})
}

func TestApprovalEdited(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ask := Approval{ID: "1", RunID: "r", CallHash: "h", Tool: "mail", Args: "{}", Created: start}
		_, err := s.CreateApproval(ctx, ask)
		ok(t, err)
		got, err := s.Decide(ctx, "1", Decision{Approve: true, Approver: "ann", EditedArgs: `{"a":2}`, EditedHash: "e", At: start})
		ok(t, err)
		want := ask
		want.State, want.Approver, want.Decided, want.EditedArgs, want.GrantedHash = Approved, "ann", start, `{"a":2}`, "e"
		equal(t, "Decide", got, want)

		_, err = s.Consume(ctx, "h", "r", start)
		fails(t, err, ErrNotFound) // what was asked for was not approved
		ask.ID = "2"
		got, err = s.CreateApproval(ctx, ask)
		ok(t, err)
		equal(t, "ID of the same question as before the edit", got.ID, "2")
		got, err = s.Consume(ctx, "e", "r", start)
		ok(t, err)
		equal(t, "ID of what was used", got.ID, "1")
	})
}

func TestApprovalExpires(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		end := start.Add(time.Minute)
		create := func(id, hash string) {
			t.Helper()
			got, err := s.CreateApproval(ctx, Approval{ID: id, RunID: "r", CallHash: hash, Tool: "mail", Created: start, Expires: end})
			ok(t, err)
			equal(t, "ID", got.ID, id)
		}
		state := func(id string, at time.Time, want ApprovalState) {
			t.Helper()
			a, err := s.Approval(ctx, id, at)
			ok(t, err)
			equal(t, "state of "+id, a.State, want)
		}
		create("1", "h1")
		create("2", "h2")
		state("1", end.Add(-1), Pending)
		state("1", end, Expired)

		// Too late to decide; and it stays so when the clock is set back.
		got, err := s.Decide(ctx, "1", Decision{Approve: true, Approver: "ann", At: end})
		fails(t, err, ErrExpired)
		equal(t, "state given back", got.State, Expired)
		_, err = s.Decide(ctx, "1", Decision{Approve: true, Approver: "ann", At: start})
		fails(t, err, ErrExpired)
		state("1", start, Expired)

		// In time to decide, too late to use.
		_, err = s.Decide(ctx, "2", Decision{Approve: true, Approver: "ann", At: end.Add(-1)})
		ok(t, err)
		_, err = s.Consume(ctx, "h2", "r", end)
		fails(t, err, ErrExpired)
		_, err = s.Consume(ctx, "h2", "r", start)
		fails(t, err, ErrExpired)
		state("2", start, Expired)

		// An expired one does not answer the next question.
		got, err = s.CreateApproval(ctx, Approval{ID: "3", RunID: "r", CallHash: "h1", Tool: "mail", Created: end})
		ok(t, err)
		equal(t, "ID", got.ID, "3")
		// Nor does a pending one that nobody has noticed to be too old.
		create("4", "h4")
		got, err = s.CreateApproval(ctx, Approval{ID: "5", RunID: "r", CallHash: "h4", Tool: "mail", Created: end})
		ok(t, err)
		equal(t, "ID", got.ID, "5")
	})
}

func TestApprovals(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		for i, a := range []Approval{
			{Expires: start.Add(time.Minute)}, // expires while nobody looks
			{Principal: "p"},                  // approved
			{Principal: "p", Tenant: "t"},     // rejected
			{RunID: "other"},                  // used
			{},                                // pending
		} {
			a.ID = fmt.Sprint(i)
			a.CallHash, a.Tool, a.Created = "h"+a.ID, "mail", start.Add(time.Duration(i)*time.Second)
			if a.RunID == "" {
				a.RunID = "r"
			}
			_, err := s.CreateApproval(ctx, a)
			ok(t, err)
		}
		for id, approve := range map[string]bool{"1": true, "2": false, "3": true} {
			_, err := s.Decide(ctx, id, Decision{Approve: approve, Approver: "ann", At: start})
			ok(t, err)
		}
		_, err := s.Consume(ctx, "h3", "other", start)
		ok(t, err)

		now, later := start, start.Add(time.Hour)
		for _, tt := range []struct {
			f    ApprovalFilter
			want string
		}{
			{ApprovalFilter{Now: now}, "4:pending 3:used 2:rejected 1:approved 0:pending"},
			{ApprovalFilter{Now: later}, "4:pending 3:used 2:rejected 1:approved 0:expired"},
			{ApprovalFilter{Now: now, Limit: 2}, "4:pending 3:used"},
			{ApprovalFilter{Now: now, State: Pending}, "4:pending 0:pending"},
			{ApprovalFilter{Now: later, State: Pending}, "4:pending"},
			{ApprovalFilter{Now: later, State: Expired}, "0:expired"},
			{ApprovalFilter{Now: now, State: Expired}, ""},
			{ApprovalFilter{Now: now, State: Approved}, "1:approved"},
			{ApprovalFilter{Now: now, State: Rejected}, "2:rejected"},
			{ApprovalFilter{Now: now, State: Used}, "3:used"},
			{ApprovalFilter{Now: now, RunID: "other"}, "3:used"},
			{ApprovalFilter{Now: now, CallHash: "h1"}, "1:approved"},
			{ApprovalFilter{Now: now, Principal: "p"}, "2:rejected 1:approved"},
			{ApprovalFilter{Now: now, Principal: "p", Tenant: "t"}, "2:rejected"},
		} {
			as, err := s.Approvals(ctx, tt.f)
			ok(t, err)
			var got []string
			for _, a := range as {
				got = append(got, a.ID+":"+string(a.State))
			}
			equal(t, fmt.Sprintf("Approvals(%+v)", tt.f), strings.Join(got, " "), tt.want)
		}
	})
}

// TestArgsWithheld: a list is bounded in bytes, and what it leaves out is not lost.
func TestArgsWithheld(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		long := strings.Repeat("x", MaxText)
		for i, args := range []string{"small", long, long, long, long, long, long, "{}"} {
			id := fmt.Sprint(i)
			_, err := s.CreateApproval(ctx, Approval{ID: id, RunID: "r", CallHash: id, Tool: "t", Args: args, Created: start.Add(time.Duration(i))})
			ok(t, err)
		}
		edit := Decision{Approve: true, Approver: "ann", At: start, EditedArgs: long, EditedHash: "edited"}
		_, err := s.Decide(ctx, "2", edit)
		ok(t, err)
		list := func() (got string) {
			t.Helper()
			as, err := s.Approvals(ctx, ApprovalFilter{Now: start.Add(time.Minute)})
			ok(t, err)
			bytes := 0
			for _, a := range as {
				got += a.ID
				if a.ArgsWithheld {
					got += "-"
				}
				if a.ArgsWithheld != (a.Args == "") {
					t.Errorf("%s: withheld %v, %d bytes of arguments", a.ID, a.ArgsWithheld, len(a.Args))
				}
				bytes += len(a.Args) + len(a.EditedArgs)
			}
			if bytes > MaxArgs {
				t.Errorf("%d bytes of arguments", bytes)
			}
			return got
		}
		// Three of a MiB fit beside {}, and what is small fits always.
		equal(t, "list", list(), "76543-2-1-0")
		for _, id := range []string{"1", "3", "6"} {
			a, err := s.Approval(ctx, id, start)
			ok(t, err)
			equal(t, id, fmt.Sprint(len(a.Args), a.ArgsWithheld), fmt.Sprint(MaxText, false))
		}
		// What is answered or used while a list withholds it keeps everything.
		a, err := s.Consume(ctx, "edited", "r", start)
		ok(t, err)
		equal(t, "used", fmt.Sprint(a.ID, len(a.Args), len(a.EditedArgs)), fmt.Sprint("2", MaxText, MaxText))
		a, err = s.Approval(ctx, "2", start)
		ok(t, err)
		equal(t, "kept", fmt.Sprint(a.State, len(a.Args), len(a.EditedArgs)), fmt.Sprint(Used, MaxText, MaxText))
		fails(t, func() error {
			_, err := s.CreateApproval(ctx, Approval{ID: "new", RunID: "r", CallHash: "new", Tool: "t", Created: start, ArgsWithheld: true})
			return err
		}(), ErrInvalid)
	})
}

func TestEffects(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		begin := func(key string) Effect {
			t.Helper()
			e := Effect{Key: key, RunID: "r", CallID: "c", Tool: "mail", Begun: start}
			prior, err := s.BeginEffect(ctx, e)
			ok(t, err)
			if prior != nil {
				t.Fatalf("BeginEffect(%s) gives %+v", key, *prior)
			}
			prior, err = s.BeginEffect(ctx, e)
			ok(t, err)
			if prior == nil {
				t.Fatalf("BeginEffect(%s) begins it twice", key)
			}
			e.State, e.Attempts, e.Owner = EffectBegun, 1, prior.Owner
			equal(t, "prior", *prior, e)
			if prior.Owner == "" {
				t.Error("effect has no owner")
			}
			return e
		}
		is := func(want Effect) {
			t.Helper()
			prior, err := s.BeginEffect(ctx, Effect{Key: want.Key, Tool: "other", Begun: start})
			ok(t, err)
			equal(t, "effect", *prior, want)
		}
		at := start.Add(time.Second)
		later := at.Add(time.Second)

		done := begin("done")
		ok(t, s.FinishEffect(ctx, "done", EffectConfirmed, "id 7", at))
		done.State, done.Outcome, done.Finished = EffectConfirmed, "id 7", at
		is(done)
		for _, state := range []EffectState{EffectConfirmed, EffectFailed, EffectAmbiguous} {
			fails(t, s.FinishEffect(ctx, "done", state, "", later), ErrFinished)
		}
		_, err := s.RetryEffect(ctx, "done", later)
		fails(t, err, ErrFinished)
		is(done)

		unknown := begin("unknown")
		_, err = s.RetryEffect(ctx, "unknown", later)
		fails(t, err, ErrFinished)
		ok(t, s.FinishEffect(ctx, "unknown", EffectAmbiguous, "timeout", at))
		fails(t, s.FinishEffect(ctx, "unknown", EffectAmbiguous, "", later), ErrFinished)
		_, err = s.RetryEffect(ctx, "unknown", later)
		fails(t, err, ErrFinished)
		ok(t, s.FinishEffect(ctx, "unknown", EffectConfirmed, "looked", later))
		unknown.State, unknown.Outcome, unknown.Finished = EffectConfirmed, "looked", later
		is(unknown)

		again := begin("again")
		ok(t, s.FinishEffect(ctx, "again", EffectFailed, "refused", at))
		got, err := s.RetryEffect(ctx, "again", later)
		ok(t, err)
		again.Attempts, again.Begun = 2, later
		equal(t, "RetryEffect", got, again)
		is(again)
		_, err = s.RetryEffect(ctx, "again", later)
		fails(t, err, ErrFinished)

		fails(t, s.FinishEffect(ctx, "none", EffectFailed, "", at), ErrNotFound)
		_, err = s.RetryEffect(ctx, "none", at)
		fails(t, err, ErrNotFound)

		// What is under way here is not abandoned.
		gone, err := s.Recover(ctx, later)
		ok(t, err)
		equal(t, "Recover", gone, nil)

		for _, tt := range []struct {
			f    EffectFilter
			want []Effect
		}{
			{EffectFilter{}, []Effect{again, unknown, done}},
			{EffectFilter{Limit: 1}, []Effect{again}},
			{EffectFilter{State: EffectBegun}, []Effect{again}},
			{EffectFilter{State: EffectConfirmed, RunID: "r", Tool: "mail"}, []Effect{unknown, done}},
			{EffectFilter{State: EffectAmbiguous}, nil},
			{EffectFilter{RunID: "other"}, nil},
			{EffectFilter{Tool: "other"}, nil},
		} {
			got, err := s.Effects(ctx, tt.f)
			ok(t, err)
			equal(t, fmt.Sprintf("Effects(%+v)", tt.f), got, tt.want)
		}
	})
}

// TestInvalid: what is refused changes nothing, and is not repeated in the
// error.
func TestInvalid(t *testing.T) {
	const secret = "s3cret"
	long := secret + strings.Repeat("x", MaxName)
	huge := secret + strings.Repeat("x", MaxText)
	past, future := time.Unix(-1, 0), time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]func(ctx context.Context, s Store) error{
		"run without ID":      func(ctx context.Context, s Store) error { return s.CreateRun(ctx, Run{Created: start}) },
		"run without time":    func(ctx context.Context, s Store) error { return s.CreateRun(ctx, Run{ID: "a"}) },
		"run from the past":   func(ctx context.Context, s Store) error { return s.CreateRun(ctx, Run{ID: "a", Created: past}) },
		"run from the future": func(ctx context.Context, s Store) error { return s.CreateRun(ctx, Run{ID: "a", Created: future}) },
		"run with a long ID":  func(ctx context.Context, s Store) error { return s.CreateRun(ctx, Run{ID: long, Created: start}) },
		"run with a zero byte": func(ctx context.Context, s Store) error {
			return s.CreateRun(ctx, Run{ID: secret + "\x00", Created: start})
		},
		"run that is not UTF-8": func(ctx context.Context, s Store) error {
			return s.CreateRun(ctx, Run{ID: secret + "\xff", Created: start})
		},
		"run with calls owed": func(ctx context.Context, s Store) error {
			return s.CreateRun(ctx, Run{ID: "a", Created: start, Calls: -1})
		},
		"too many runs": func(ctx context.Context, s Store) error {
			_, err := s.Runs(ctx, RunFilter{Limit: MaxLimit + 1})
			return err
		},
		"less than no runs": func(ctx context.Context, s Store) error {
			_, err := s.Runs(ctx, RunFilter{Limit: -1})
			return err
		},
		"grant without tool": func(ctx context.Context, s Store) error { return s.Grant(ctx, Grant{RunID: "r", Granted: start}) },
		"grant that is revoked": func(ctx context.Context, s Store) error {
			return s.Grant(ctx, Grant{RunID: "r", Tool: "t", Granted: start, Revoked: start})
		},
		"revocation without time": func(ctx context.Context, s Store) error { return s.Revoke(ctx, "r", "t", time.Time{}) },
		"approval with huge arguments": func(ctx context.Context, s Store) error {
			_, err := s.CreateApproval(ctx, Approval{ID: "a", RunID: "r", CallHash: "h", Tool: "t", Created: start, Args: huge})
			return err
		},
		"approval without hash": func(ctx context.Context, s Store) error {
			_, err := s.CreateApproval(ctx, Approval{ID: "a", RunID: "r", Tool: "t", Created: start})
			return err
		},
		"approval that is approved": func(ctx context.Context, s Store) error {
			_, err := s.CreateApproval(ctx, Approval{ID: "a", RunID: "r", CallHash: "h", Tool: "t", Created: start, State: Approved})
			return err
		},
		"approval with an answer": func(ctx context.Context, s Store) error {
			_, err := s.CreateApproval(ctx, Approval{ID: "a", RunID: "r", CallHash: "h", Tool: "t", Created: start, GrantedHash: "h"})
			return err
		},
		"approvals at no time": func(ctx context.Context, s Store) error {
			_, err := s.Approvals(ctx, ApprovalFilter{})
			return err
		},
		"approvals of no state": func(ctx context.Context, s Store) error {
			_, err := s.Approvals(ctx, ApprovalFilter{Now: start, State: secret})
			return err
		},
		"decision of nobody": func(ctx context.Context, s Store) error {
			_, err := s.Decide(ctx, "p", Decision{Approve: true, At: start})
			return err
		},
		"decision at no time": func(ctx context.Context, s Store) error {
			_, err := s.Decide(ctx, "p", Decision{Approve: true, Approver: "ann"})
			return err
		},
		"edit without hash": func(ctx context.Context, s Store) error {
			_, err := s.Decide(ctx, "p", Decision{Approve: true, Approver: "ann", At: start, EditedArgs: secret})
			return err
		},
		"edit with a rejection": func(ctx context.Context, s Store) error {
			_, err := s.Decide(ctx, "p", Decision{Approver: "ann", At: start, EditedArgs: secret, EditedHash: secret})
			return err
		},
		"use at no time": func(ctx context.Context, s Store) error {
			_, err := s.Consume(ctx, "h", "r", time.Time{})
			return err
		},
		"effect without key": func(ctx context.Context, s Store) error {
			_, err := s.BeginEffect(ctx, Effect{Tool: "t", Begun: start})
			return err
		},
		"effect that is done": func(ctx context.Context, s Store) error {
			_, err := s.BeginEffect(ctx, Effect{Key: "k", Tool: "t", Begun: start, State: EffectConfirmed})
			return err
		},
		"effect with an outcome": func(ctx context.Context, s Store) error {
			_, err := s.BeginEffect(ctx, Effect{Key: "k", Tool: "t", Begun: start, Outcome: secret})
			return err
		},
		"effect that ends as begun": func(ctx context.Context, s Store) error {
			return s.FinishEffect(ctx, "b", EffectBegun, "", start)
		},
		"effect that ends at no time": func(ctx context.Context, s Store) error {
			return s.FinishEffect(ctx, "b", EffectConfirmed, "", time.Time{})
		},
		"effects of no state": func(ctx context.Context, s Store) error {
			_, err := s.Effects(ctx, EffectFilter{State: secret})
			return err
		},
		"retry at no time":    func(ctx context.Context, s Store) error { _, err := s.RetryEffect(ctx, "b", time.Time{}); return err },
		"recovery at no time": func(ctx context.Context, s Store) error { _, err := s.Recover(ctx, time.Time{}); return err },
		"reservation without ID": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{Windows: []Window{{"k", 1, time.Second}}}, start)
			return err
		},
		"reservation at no time": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{ID: "i"}, time.Time{})
			return err
		},
		"window without key": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{ID: "i", Windows: []Window{{"", 1, time.Second}}}, start)
			return err
		},
		"window of no length": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{ID: "i", Windows: []Window{{"k", 1, 0}}}, start)
			return err
		},
		"window of years": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{ID: "i", Windows: []Window{{"k", 1, MaxPer + 1}}}, start)
			return err
		},
		"window with places owed": func(ctx context.Context, s Store) error {
			_, err := s.Reserve(ctx, Reservation{ID: "i", Windows: []Window{{"k", -1, time.Second}}}, start)
			return err
		},
		"too many windows": func(ctx context.Context, s Store) error {
			w := make([]Window, MaxWindows+1)
			for i := range w {
				w[i] = Window{fmt.Sprint(i), 1, time.Second}
			}
			_, err := s.Reserve(ctx, Reservation{ID: "i", Windows: w}, start)
			return err
		},
	}
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		ok(t, s.CreateRun(ctx, Run{ID: "r", Created: start}))
		_, err := s.CreateApproval(ctx, Approval{ID: "p", RunID: "r", CallHash: "h", Tool: "t", Created: start})
		ok(t, err)
		_, err = s.BeginEffect(ctx, Effect{Key: "b", Tool: "t", Begun: start})
		ok(t, err)
		before := dump(t, s)
		for name, do := range tests {
			err := do(ctx, s)
			fails(t, err, ErrInvalid)
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: error = %.200v", name, err)
			}
		}
		equal(t, "the store", dump(t, s), before)
	})
}

// dump gives what can be seen of a store.
func dump(t testing.TB, s Store) []any {
	t.Helper()
	ctx := context.Background()
	runs, err := s.Runs(ctx, RunFilter{})
	ok(t, err)
	grants, err := s.Grants(ctx, "r")
	ok(t, err)
	approvals, err := s.Approvals(ctx, ApprovalFilter{Now: start})
	ok(t, err)
	effects, err := s.Effects(ctx, EffectFilter{})
	ok(t, err)
	return []any{runs, grants, approvals, effects}
}

// methods calls every method that takes a context.
func methods(ctx context.Context, s Store) map[string]error {
	m := make(map[string]error)
	m["CreateRun"] = s.CreateRun(ctx, Run{ID: "new", Created: start})
	_, m["Run"] = s.Run(ctx, "r")
	_, m["Runs"] = s.Runs(ctx, RunFilter{})
	m["AddLabels"] = s.AddLabels(ctx, "r", Labels{PrivateSeen: true})
	_, _, m["TakeCall"] = s.TakeCall(ctx, "r", 0)
	_, m["Reserve"] = s.Reserve(ctx, Reservation{ID: "new", Windows: []Window{{"k", 1, time.Minute}}}, start)
	m["Release"] = s.Release(ctx, "new")
	_, m["CreateApproval"] = s.CreateApproval(ctx, Approval{ID: "new", RunID: "r", CallHash: "new", Tool: "t", Created: start})
	_, m["Approval"] = s.Approval(ctx, "p", start)
	_, m["Approvals"] = s.Approvals(ctx, ApprovalFilter{Now: start})
	_, m["Decide"] = s.Decide(ctx, "p", Decision{Approve: true, Approver: "ann", At: start})
	_, m["Consume"] = s.Consume(ctx, "h", "r", start)
	m["Grant"] = s.Grant(ctx, Grant{RunID: "r", Tool: "t", Granted: start})
	m["Revoke"] = s.Revoke(ctx, "r", "t", start)
	_, m["GrantOf"] = s.GrantOf(ctx, "r", "t")
	_, m["Grants"] = s.Grants(ctx, "r")
	_, m["BeginEffect"] = s.BeginEffect(ctx, Effect{Key: "new", Tool: "t", Begun: start})
	m["FinishEffect"] = s.FinishEffect(ctx, "new", EffectFailed, "", start)
	_, m["RetryEffect"] = s.RetryEffect(ctx, "new", start)
	_, m["Effects"] = s.Effects(ctx, EffectFilter{})
	_, m["Recover"] = s.Recover(ctx, start)
	return m
}

func prepare(t testing.TB, s Store) {
	t.Helper()
	ok(t, s.CreateRun(t.Context(), Run{ID: "r", Created: start}))
	_, err := s.CreateApproval(t.Context(), Approval{ID: "p", RunID: "r", CallHash: "h", Tool: "t", Created: start})
	ok(t, err)
}

func TestCancelled(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		prepare(t, s)
		before := dump(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, err := range methods(ctx, s) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s with a context that has ended: %v", name, err)
			}
		}
		equal(t, "the store", dump(t, s), before)
		// And nothing is left behind that stops what comes next.
		for name, err := range methods(t.Context(), s) {
			if err != nil {
				t.Errorf("%s afterwards: %v", name, err)
			}
		}
	})
}

func TestClosed(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		prepare(t, s)
		ok(t, s.Close())
		for name, err := range methods(t.Context(), s) {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		fails(t, s.Close(), ErrClosed)
	})
}

// race runs n functions at once and gives how many did not fail, and the errors
// of those that did.
func race(n int, f func(i int) error) (won int, errs []error) {
	var wg sync.WaitGroup
	all := make([]error, n)
	for i := range n {
		wg.Go(func() { all[i] = f(i) })
	}
	wg.Wait()
	for _, err := range all {
		if err == nil {
			won++
		} else {
			errs = append(errs, err)
		}
	}
	return won, errs
}

func TestRacesHaveOneWinner(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		prepare(t, s)
		ctx := t.Context()
		_, err := s.BeginEffect(ctx, Effect{Key: "failed", Tool: "t", Begun: start})
		ok(t, err)
		ok(t, s.FinishEffect(ctx, "failed", EffectFailed, "", start))
		for _, tt := range []struct {
			name string
			lost error
			do   func(i int) error
		}{
			{"CreateRun", ErrExists, func(int) error { return s.CreateRun(ctx, Run{ID: "raced", Created: start}) }},
			{"Decide", ErrDecided, func(i int) error {
				_, err := s.Decide(ctx, "p", Decision{Approve: true, Approver: fmt.Sprint(i), At: start})
				return err
			}},
			{"Consume", ErrNotFound, func(int) error { _, err := s.Consume(ctx, "h", "r", start); return err }},
			{"BeginEffect", ErrExists, func(int) error {
				prior, err := s.BeginEffect(ctx, Effect{Key: "k", Tool: "t", Begun: start})
				if prior != nil {
					return ErrExists
				}
				return err
			}},
			{"FinishEffect", ErrFinished, func(int) error { return s.FinishEffect(ctx, "k", EffectConfirmed, "", start) }},
			{"RetryEffect", ErrFinished, func(int) error { _, err := s.RetryEffect(ctx, "failed", start); return err }},
			{"Reserve", ErrExists, func(int) error {
				_, err := s.Reserve(ctx, Reservation{ID: "raced", Windows: []Window{{"k", 9, time.Minute}}}, start)
				return err
			}},
		} {
			won, errs := race(20, tt.do)
			if won != 1 {
				t.Errorf("%s: %d of 20 won", tt.name, won)
			}
			for _, err := range errs {
				fails(t, err, tt.lost)
			}
		}
		created := make([]string, 20)
		race(20, func(i int) error {
			a, err := s.CreateApproval(ctx, Approval{ID: fmt.Sprint("raced", i), RunID: "r", CallHash: "raced", Tool: "t", Created: start})
			created[i] = a.ID
			return err
		})
		for _, id := range created {
			equal(t, "ID of the one approval", id, created[0])
		}
		won, _ := race(100, func(int) error {
			_, took, err := s.TakeCall(ctx, "r", 10)
			if err == nil && !took {
				err = ErrNotFound
			}
			return err
		})
		equal(t, "calls taken of a budget of 10", won, 10)
	})
}
