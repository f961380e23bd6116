package store

import (
	"fmt"
	"testing"
	"time"
)

// reserver makes reservations of one window after another, with IDs of their
// own.
type reserver struct {
	t *testing.T
	s Store
	n int
}

func (r *reserver) do(at time.Time, ws ...Window) (string, Refusal) {
	r.t.Helper()
	r.n++
	id := fmt.Sprint(r.n)
	refusal, err := r.s.Reserve(r.t.Context(), Reservation{ID: id, Windows: ws}, at)
	ok(r.t, err)
	return id, refusal
}

func (r *reserver) admitted(at time.Time, ws ...Window) string {
	r.t.Helper()
	id, refusal := r.do(at, ws...)
	equal(r.t, "refusal", refusal, Refusal{})
	return id
}

func (r *reserver) refused(at, retry time.Time, by Window, ws ...Window) {
	r.t.Helper()
	_, refusal := r.do(at, append(ws, by)...)
	equal(r.t, "refusal", refusal, Refusal{Window: by, RetryAt: retry})
	if refusal.Admitted() {
		r.t.Error("a refusal says that it was admitted")
	}
}

func (r *reserver) release(id string) {
	r.t.Helper()
	ok(r.t, r.s.Release(r.t.Context(), id))
}

func eachReserver(t *testing.T, test func(t *testing.T, r *reserver)) {
	t.Helper()
	each(t, func(t *testing.T, s Store) { test(t, &reserver{t: t, s: s}) })
}

func TestReserveSlides(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		w := Window{"k", 2, time.Minute}
		r.admitted(start, w)
		r.admitted(start.Add(10*time.Second), w)
		end := start.Add(time.Minute)
		r.refused(start.Add(10*time.Second), end, w)
		r.refused(end.Add(-1), end, w)
		r.admitted(end, w) // as old as the window is long: out
		r.refused(end, end.Add(10*time.Second), w)
		r.admitted(end.Add(10*time.Second), w)
		// Another key has places of its own; a refusal took none.
		r.admitted(end, Window{"k2", 1, time.Minute})
	})
}

func TestReserveAllOrNone(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		p, q := Window{"principal", 2, time.Minute}, Window{"tenant", 3, time.Hour}
		r.admitted(start, p, q)
		r.admitted(start, p, q)
		for range 5 {
			r.refused(start, start.Add(time.Minute), p, q) // and must not take the tenant's place
		}
		r.admitted(start, q)
		// Both are full: the one that lasts longer is named, in any order.
		r.refused(start, start.Add(time.Hour), q, p)
		_, refusal := r.do(start, q, p)
		equal(t, "refusal", refusal, Refusal{Window: q, RetryAt: start.Add(time.Hour)})
		// Now the principal has room again, and must not lose it.
		later := start.Add(time.Minute)
		for range 5 {
			r.refused(later, start.Add(time.Hour), q, p)
		}
		r.admitted(later, p)
		r.admitted(later, p)
	})
}

func TestReserveOneKeyTwoWindows(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		fast, slow := Window{"k", 2, time.Second}, Window{"k", 3, time.Hour}
		r.admitted(start, fast, slow)
		r.admitted(start, fast, slow)
		r.refused(start, start.Add(time.Second), fast, slow)
		r.admitted(start.Add(time.Second), fast, slow) // one place, not one for each
		r.refused(start.Add(time.Minute), start.Add(time.Hour), slow, fast)
	})
}

func TestReserveEdges(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		r.admitted(start) // no window, no limit
		none := Window{"none", 0, time.Minute}
		r.refused(start, time.Time{}, none)
		full := Window{"full", 1, time.Minute}
		r.admitted(start, full)
		r.refused(start, time.Time{}, none, full) // never is longer than a minute
		r.admitted(start, Window{"huge", 1 << 62, MaxPer})
	})
}

func TestRelease(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		w, v := Window{"k", 1, time.Minute}, Window{"v", 1, time.Minute}
		id := r.admitted(start, w, v)
		r.refused(start, start.Add(time.Minute), w)
		r.release("none")
		r.refused(start, start.Add(time.Minute), w)
		r.release(id)
		r.release(id)
		id = r.admitted(start, w, v)

		_, err := r.s.Reserve(t.Context(), Reservation{ID: id, Windows: []Window{w}}, start)
		fails(t, err, ErrExists)
		// Once it is out of all windows, nobody can tell that it was there.
		refusal, err := r.s.Reserve(t.Context(), Reservation{ID: id, Windows: []Window{w}}, start.Add(time.Minute))
		ok(t, err)
		equal(t, "refusal", refusal, Refusal{})
	})
}

// TestClockStepsBack: no place is freed by it, and none is kept for ever.
func TestClockStepsBack(t *testing.T) {
	for _, per := range []time.Duration{time.Second, time.Minute, 24 * time.Hour} {
		slack := max(per, skew)
		for _, step := range []time.Duration{1, time.Second, slack, slack + 1, 1000 * slack} {
			t.Run(fmt.Sprint(per, " back ", step), func(t *testing.T) {
				eachReserver(t, func(t *testing.T, r *reserver) {
					w := Window{"k", 2, per}
					r.admitted(start, w)
					back := start.Add(-step)
					r.admitted(back, w)
					_, refusal := r.do(back, w)
					if refusal.Admitted() {
						t.Fatal("a third place of two was given when the clock stepped back")
					}
					if !refusal.RetryAt.After(back) || refusal.RetryAt.After(back.Add(2*slack)) {
						t.Errorf("RetryAt is %v after now, want more than 0 and no more than %v", refusal.RetryAt.Sub(back), 2*slack)
					}
					if _, r := r.do(refusal.RetryAt.Add(-1), w); r.Admitted() {
						t.Error("a place was given before the time to retry")
					}
					r.admitted(refusal.RetryAt, w)
				})
			})
		}
	}
}

// TestLateCaller: a caller reads the clock, and waits for the lock while others
// take places. Its place must count from when it is taken.
func TestLateCaller(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		w := Window{"k", 2, time.Second}
		r.admitted(start.Add(5*time.Second), w)
		r.admitted(start, w)
		r.refused(start.Add(5*time.Second), start.Add(6*time.Second), w)
	})
}

// TestClockJumpsAhead and comes back: what was taken in the future does not
// stay taken until then.
func TestClockJumpsAhead(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		w := Window{"k", 1, time.Minute}
		r.admitted(start.AddDate(50, 0, 0), w)
		r.refused(start, start.Add(time.Minute), w)
		r.admitted(start.Add(time.Minute), w)
	})
}

// TestReserveModel compares with counting by hand, on a clock that only goes
// forward.
func TestReserveModel(t *testing.T) {
	eachReserver(t, func(t *testing.T, r *reserver) {
		type taken struct {
			id, key string
			at      time.Time
		}
		var held []taken
		now := start
		// A small generator, so that every run is the same.
		seed := uint32(1)
		rnd := func(n int) int { seed = seed*1664525 + 1013904223; return int(seed>>8) % n }
		refusals := 0
		for range 2000 {
			now = now.Add(time.Duration(rnd(400)) * time.Millisecond)
			if len(held) > 0 && rnd(8) == 0 {
				id := held[rnd(len(held))].id
				r.release(id)
				kept := held[:0]
				for _, h := range held {
					if h.id != id {
						kept = append(kept, h)
					}
				}
				held = kept
				continue
			}
			ws := []Window{{fmt.Sprint("p", rnd(3)), 4, 2 * time.Second}, {fmt.Sprint("t", rnd(2)), 20, 10 * time.Second}}
			room := true
			for _, w := range ws {
				n := int64(0)
				for _, h := range held {
					if h.key == w.Key && now.Sub(h.at) < w.Per {
						n++
					}
				}
				room = room && n < w.Count
			}
			id, refusal := r.do(now, ws...)
			if refusal.Admitted() != room {
				t.Fatalf("at %v, admitted = %v, want %v", now, refusal.Admitted(), room)
			}
			if !room {
				refusals++
				continue
			}
			for _, w := range ws {
				held = append(held, taken{id, w.Key, now})
			}
		}
		if refusals < 100 || refusals > 1900 {
			t.Errorf("%d of 2000 were refused: the test does not test much", refusals)
		}
	})
}
