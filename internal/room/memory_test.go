package room

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestMemory: nobody holds more than a share, all together not more than there is,
// and what is given back can be taken.
func TestMemory(t *testing.T) {
	r := New(Config{Bytes: 100, BytesEach: 70})
	a, other, b := r.Of(Caller{"a", ""}).Hold(), r.Of(Caller{"a", ""}).Hold(), r.Of(Caller{"b", ""}).Hold()
	for i, step := range []struct {
		who  *Held
		n    int64
		want bool
	}{
		{a, 50, true}, {other, 20, true}, {a, 1, false}, {other, 0, true}, // a share is all that somebody holds
		{b, 31, false}, {b, 30, true}, {b, 1, false}, // and there is no more
		{a, 1 << 62, false}, {b, 1<<63 - 1, false},
	} {
		if got := step.who.Add(step.n); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	a.Release()
	a.Release() // which changes nothing
	if r.Bytes() != 50 || !b.Add(40) || a.Add(11) || !a.Add(10) {
		t.Errorf("after some was given back %d are held", r.Bytes())
	}
	for _, h := range []*Held{a, other, b} {
		h.Release()
	}
	if r.Bytes() != 0 || len(r.memory.by) != 0 {
		t.Errorf("%d bytes and %d callers are left", r.Bytes(), len(r.memory.by))
	}
}

func TestMemoryHammer(t *testing.T) {
	const most, each = 1000, 700
	r := New(Config{Bytes: most, BytesEach: each})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			h := r.Of(Caller{string(rune('a' + i%3)), ""}).Hold()
			for range 2000 {
				h.Add(random.Int64N(100))
				if held := r.Bytes(); held > most {
					t.Errorf("%d bytes are held", held)
				}
				if random.IntN(3) == 0 {
					h.Release()
				}
			}
			h.Release()
		})
	}
	wg.Wait()
	if r.Bytes() != 0 || len(r.memory.by) != 0 {
		t.Errorf("%d bytes and %d callers are left", r.Bytes(), len(r.memory.by))
	}
}
