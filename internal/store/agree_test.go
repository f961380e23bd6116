package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStoresAgree does the same things at random to both stores, on a clock
// that also goes back, and compares all that they say. For reservations it only
// goes forward: when places that are out are swept away is each store's affair,
// and one that is still there counts again if the clock goes back.
func TestStoresAgree(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 3000
	}
	seen := agree(t, n, 1)
	for _, want := range []string{
		"Reserve: <nil>", "Reserve: already exists", "Decide: <nil>", "Decide: already decided", "Decide: expired",
		"Consume: <nil>", "Consume: expired", "Consume: not found", "BeginEffect: <nil>", "RetryEffect: <nil>",
		"FinishEffect: <nil>", "FinishEffect: already finished", "TakeCall: <nil>", "Revoke: <nil>", "Grant: <nil>",
	} {
		if seen[want] == 0 {
			t.Errorf("never came about: %s", want)
		}
	}
	agree(t, n, rand.Uint64())
}

func agree(t *testing.T, n int, seed uint64) map[string]int {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0))
	a, b := NewMemory(), openTest(t, filepath.Join(t.TempDir(), "store.db"))
	now, forward := start, start
	seen := make(map[string]int)
	for i := range n {
		switch rnd.IntN(20) {
		case 0:
			now = now.Add(-time.Duration(rnd.IntN(100)) * time.Second)
		case 1:
			now = now.Add(time.Duration(rnd.IntN(1000)) * time.Second)
		default:
			now = now.Add(time.Duration(rnd.IntN(3000)) * time.Millisecond)
		}
		if now.After(forward) {
			forward = now
		}
		name, do := randomCall(t, rnd, i, now, forward)
		gotA, errA := do(a)
		gotB, errB := do(b)
		if diff := cmp.Diff(gotA, gotB, ignoreOwner); diff != "" || kind(errA) != kind(errB) {
			t.Fatalf("seed %d, call %d, %s: memory says %v, SQLite says %v (-memory +SQLite):\n%s", seed, i, name, errA, errB, diff)
		}
		seen[fmt.Sprint(name, ": ", kind(errA))]++
	}
	return seen
}

// ignoreOwner leaves out who owns an effect, in which the stores do differ.
var ignoreOwner = cmp.Transformer("owner", func(e Effect) struct {
	Key, RunID, CallID, Tool, Outcome string
	State                             EffectState
	Attempts                          int64
	Begun, Finished                   time.Time
} {
	return struct {
		Key, RunID, CallID, Tool, Outcome string
		State                             EffectState
		Attempts                          int64
		Begun, Finished                   time.Time
	}{e.Key, e.RunID, e.CallID, e.Tool, e.Outcome, e.State, e.Attempts, e.Begun, e.Finished}
})

func kind(err error) error {
	for _, k := range []error{ErrExists, ErrNotFound, ErrInvalid, ErrDecided, ErrExpired, ErrFinished, ErrNotOwner} {
		if errors.Is(err, k) {
			return k
		}
	}
	return err
}

// randomCall gives a call of a method, on few enough names that calls meet.
func randomCall(t *testing.T, rnd *rand.Rand, i int, now, forward time.Time) (string, func(s Store) (any, error)) {
	ctx := t.Context()
	pick := func(prefix string, n int) string { return fmt.Sprint(prefix, rnd.IntN(n)) }
	expires := time.Time{}
	if rnd.IntN(2) == 0 {
		expires = now.Add(time.Duration(rnd.IntN(200)-20) * time.Second)
	}
	id, run, tool, hash := pick("i", 200), pick("r", 3), pick("t", 3), pick("h", 8)
	none := func(err error) (any, error) { return nil, err }
	switch rnd.IntN(20) {
	case 0:
		r := Run{ID: pick("r", 5), Principal: pick("p", 2), Created: now, Expires: expires}
		return "CreateRun", func(s Store) (any, error) { return none(s.CreateRun(ctx, r)) }
	case 1:
		f := RunFilter{Limit: 1 + rnd.IntN(5), Principal: pick("p", 2)}
		return "Runs", func(s Store) (any, error) { return s.Runs(ctx, f) }
	case 2:
		l := Labels{rnd.IntN(9) == 0, rnd.IntN(9) == 0}
		return "AddLabels", func(s Store) (any, error) { return none(s.AddLabels(ctx, run, l)) }
	case 3:
		budget := int64(rnd.IntN(50))
		return "TakeCall", func(s Store) (any, error) {
			n, took, err := s.TakeCall(ctx, run, budget)
			return fmt.Sprint(n, took), err
		}
	case 4, 5, 6, 7:
		r := Reservation{ID: id}
		for range rnd.IntN(3) {
			key := rnd.IntN(3)
			r.Windows = append(r.Windows, Window{fmt.Sprint("k", key), int64(rnd.IntN(7)), []time.Duration{1, 10, 90}[key] * time.Second})
		}
		return "Reserve", func(s Store) (any, error) { return s.Reserve(ctx, r, forward) }
	case 8:
		return "Release", func(s Store) (any, error) { return none(s.Release(ctx, id)) }
	case 9, 10:
		a := Approval{ID: fmt.Sprint("a", i%400), RunID: run, CallHash: hash, Tool: tool, Created: now, Expires: expires}
		return "CreateApproval", func(s Store) (any, error) { return s.CreateApproval(ctx, a) }
	case 11:
		f := ApprovalFilter{Now: now, State: []ApprovalState{"", Pending, Approved, Rejected, Expired, Used}[rnd.IntN(6)], Limit: 1 + rnd.IntN(30)}
		if rnd.IntN(2) == 0 {
			f.RunID = run
		}
		if rnd.IntN(3) == 0 {
			f.CallHash = hash
		}
		return "Approvals", func(s Store) (any, error) { return s.Approvals(ctx, f) }
	case 12, 13:
		d := Decision{Approve: rnd.IntN(4) != 0, Approver: "ann", At: now}
		if d.Approve && rnd.IntN(4) == 0 {
			d.EditedArgs, d.EditedHash = "{}", pick("h", 8)
		}
		target := fmt.Sprint("a", max(0, i-rnd.IntN(60))%400)
		return "Decide", func(s Store) (any, error) { return s.Decide(ctx, target, d) }
	case 14:
		return "Consume", func(s Store) (any, error) { return s.Consume(ctx, hash, run, now) }
	case 15:
		g := Grant{RunID: run, Tool: tool, Granted: now, Expires: expires}
		return "Grant", func(s Store) (any, error) { return none(s.Grant(ctx, g)) }
	case 16:
		if rnd.IntN(5) == 0 {
			tool = ""
		}
		return "Revoke", func(s Store) (any, error) {
			err := s.Revoke(ctx, run, tool, now)
			gs, grantsErr := s.Grants(ctx, run)
			ok(t, grantsErr)
			return gs, err
		}
	case 17:
		e := Effect{Key: pick("k", 60), RunID: run, Tool: tool, Begun: now}
		return "BeginEffect", func(s Store) (any, error) { return s.BeginEffect(ctx, e) }
	case 18:
		key, state := pick("k", 60), []EffectState{EffectConfirmed, EffectFailed, EffectAmbiguous}[rnd.IntN(3)]
		if rnd.IntN(3) == 0 {
			return "RetryEffect", func(s Store) (any, error) { return s.RetryEffect(ctx, key, now) }
		}
		return "FinishEffect", func(s Store) (any, error) { return none(s.FinishEffect(ctx, key, state, "o", now)) }
	default:
		f := EffectFilter{Limit: 1 + rnd.IntN(20), State: []EffectState{"", EffectBegun, EffectFailed}[rnd.IntN(3)]}
		return "Effects", func(s Store) (any, error) { return s.Effects(ctx, f) }
	}
}
