package room

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// turns are pieces of work, and what became of them, in order.
type turns struct {
	a   *places
	mu  sync.Mutex
	log []string
}

func newPlaces(most, each, queue int) *places {
	return New(Config{Places: most, PlacesEach: each, Queue: queue}).places
}

func (ts *turns) say(what string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.log = append(ts.log, what)
}

// come has somebody's call come, and waits until all is quiet again. leave ends it.
func (ts *turns) come(ctx context.Context, who, call string) (leave func()) {
	over := make(chan struct{})
	go func() {
		leave, ok := ts.a.enter(ctx, Caller{who, ""})
		if !ok {
			ts.say(call + " busy")
			return
		}
		ts.say(call + " runs")
		select {
		case <-over:
		case <-ctx.Done():
		}
		leave()
	}()
	synctest.Wait()
	return func() {
		close(over)
		synctest.Wait()
	}
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		name               string
		calls, each, queue int
		play               func(ctx context.Context, ts *turns)
		want               []string
	}{
		{"one caller: first come, first served", 1, 1, 2, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "1")
			two := ts.come(ctx, "a", "2")
			ts.come(ctx, "a", "3")
			ts.come(ctx, "a", "4")
			leave()
			two()
		}, []string{"1 runs", "4 busy", "2 runs", "3 runs"}},
		{"nobody may wait", 1, 1, 0, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "1")
			ts.come(ctx, "b", "2")
			leave()
			ts.come(ctx, "b", "3")
		}, []string{"1 runs", "2 busy", "3 runs"}},
		{"one caller does not have all places", 4, 3, 9, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "1")
			for i := 2; i <= 5; i++ {
				ts.come(ctx, "a", fmt.Sprint(i))
			}
			ts.come(ctx, "b", "b")
			leave()
		}, []string{"1 runs", "2 runs", "3 runs", "b runs", "4 runs"}},
		{"who has the fewest is next", 2, 2, 9, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "a1")
			ts.come(ctx, "a", "a2")
			ts.come(ctx, "a", "a3")
			ts.come(ctx, "b", "b1")
			leave()
		}, []string{"a1 runs", "a2 runs", "b1 runs"}},
		{"who waits most makes room", 1, 1, 3, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "a1")
			for i := 2; i <= 4; i++ {
				ts.come(ctx, "a", fmt.Sprint("a", i))
			}
			b1 := ts.come(ctx, "b", "b1")
			ts.come(ctx, "b", "b2") // two and one: it is fair already
			ts.come(ctx, "a", "a5")
			leave()
			b1()
		}, []string{"a1 runs", "a4 busy", "b2 busy", "a5 busy", "a2 runs"}},
		{"who has gone is not let in", 1, 1, 3, func(ctx context.Context, ts *turns) {
			leave := ts.come(ctx, "a", "1")
			gone, cancel := context.WithCancel(ctx)
			ts.come(gone, "a", "2")
			ts.come(ctx, "a", "3")
			cancel()
			synctest.Wait()
			leave()
		}, []string{"1 runs", "2 busy", "3 runs"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ts := &turns{a: newPlaces(tt.calls, tt.each, tt.queue)}
				tt.play(ctx, ts)
				if diff := cmp.Diff(tt.want, ts.log); diff != "" {
					t.Error(diff)
				}
				cancel() // and all of them go
			})
		})
	}
}

// TestPlacesHammer: whoever comes and goes, the bounds hold, and in the end
// nothing is left.
func TestPlacesHammer(t *testing.T) {
	const calls, each, queue = 8, 6, 20
	a := newPlaces(calls, each, queue)
	var running [5]atomic.Int64
	var all, let, busy atomic.Int64
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			who := r.IntN(len(running))
			id := Caller{fmt.Sprint(who), ""}
			for range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(4) == 0 {
					go cancel()
				}
				if leave, ok := a.enter(ctx, id); ok {
					let.Add(1)
					if n := running[who].Add(1); n > each {
						t.Errorf("%d calls of one caller run", n)
					}
					if n := all.Add(1); n > calls {
						t.Errorf("%d calls run", n)
					}
					if _, waiting := a.counts(); waiting > queue {
						t.Errorf("%d calls wait", waiting)
					}
					for range r.IntN(20) {
						runtime.Gosched() // others come meanwhile
					}
					all.Add(-1)
					running[who].Add(-1)
					leave()
					leave() // which changes nothing
				} else {
					busy.Add(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if n, m := a.counts(); n != 0 || m != 0 || len(a.callers) != 0 {
		t.Errorf("%d run, %d wait, %d callers are left", n, m, len(a.callers))
	}
	if let.Load() == 0 || busy.Load() == 0 {
		t.Errorf("%d let in, %d refused", let.Load(), busy.Load())
	}
}
