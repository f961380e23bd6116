package store

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func eachBench(b *testing.B, bench func(b *testing.B, s Store)) {
	b.Run("store=memory", func(b *testing.B) { bench(b, NewMemory()) })
	b.Run("store=sqlite", func(b *testing.B) { bench(b, openTest(b, filepath.Join(b.TempDir(), "store.db"))) })
}

// BenchmarkDurableCall is what the journal adds to a call with an effect.
func BenchmarkDurableCall(b *testing.B) {
	eachBench(b, func(b *testing.B, s Store) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			key := strconv.Itoa(n)
			if prior, err := s.BeginEffect(b.Context(), Effect{Key: key, RunID: "r", CallID: key, Tool: "mail", Begun: start}); err != nil || prior != nil {
				b.Fatal(prior, err)
			}
			ok(b, s.FinishEffect(b.Context(), key, EffectConfirmed, "", start))
		}
	})
}

// BenchmarkReserve takes a place in two windows, most of which are in use.
func BenchmarkReserve(b *testing.B) {
	eachBench(b, func(b *testing.B, s Store) {
		b.ReportAllocs()
		now := start
		n := 0
		for b.Loop() {
			n++
			now = now.Add(100 * time.Millisecond)
			r, err := s.Reserve(b.Context(), Reservation{ID: strconv.Itoa(n), Windows: []Window{
				{"principal", 700, time.Minute}, {"tenant", 7000, time.Minute},
			}}, now)
			if err != nil || !r.Admitted() {
				b.Fatal(r, err)
			}
		}
	})
}

func BenchmarkReserveRefused(b *testing.B) {
	eachBench(b, func(b *testing.B, s Store) {
		for i := range 200 {
			_, err := s.Reserve(b.Context(), Reservation{ID: strconv.Itoa(i), Windows: []Window{{"k", 200, time.Hour}}}, start)
			ok(b, err)
		}
		b.ReportAllocs()
		for b.Loop() {
			r, err := s.Reserve(b.Context(), Reservation{ID: "next", Windows: []Window{{"k", 200, time.Hour}}}, start)
			if err != nil || r.Admitted() {
				b.Fatal(r, err)
			}
		}
	})
}

func BenchmarkTakeCall(b *testing.B) {
	eachBench(b, func(b *testing.B, s Store) {
		ok(b, s.CreateRun(b.Context(), Run{ID: "r", Created: start}))
		b.ReportAllocs()
		for b.Loop() {
			if _, took, err := s.TakeCall(b.Context(), "r", 0); err != nil || !took {
				b.Fatal(took, err)
			}
		}
	})
}

func BenchmarkApproval(b *testing.B) {
	eachBench(b, func(b *testing.B, s Store) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			id := strconv.Itoa(n)
			_, err := s.CreateApproval(b.Context(), Approval{ID: id, RunID: "r", CallHash: id, Tool: "mail", Args: "{}", Created: start})
			ok(b, err)
			_, err = s.Decide(b.Context(), id, Decision{Approve: true, Approver: "ann", At: start})
			ok(b, err)
			_, err = s.Consume(b.Context(), id, "r", start)
			ok(b, err)
		}
	})
}
