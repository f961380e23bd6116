package governor_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

// BenchmarkDecide is about the realistic set of 50 tools and 20 rules. median-ns
// is the median of single decisions.
//
// steps is the row of steps alone; parsed with reading the arguments' text;
// memory a real call with a run in a store in memory, durable one with a run in a
// file.
func BenchmarkDecide(b *testing.B) {
	set := realisticSet(b)
	texts := [][]byte{
		[]byte(`{"id":"A-1001","amount":120.5,"note":"two boxes came back","tags":["return","north"],"address":{"city":"Ulm","country":"DE"}}`),
		[]byte(`{"id":"B-2002","amount":80}`),
		[]byte(`{"id":"C-3003","amount":950,"note":"as agreed on the phone"}`),
	}
	var names []string
	for _, t := range set.Tools() {
		names = append(names, t.Metadata.Name)
	}
	subject := governor.Subject{Principal: "ada", Tenant: "north", Task: "support"}

	b.Run("steps", func(b *testing.B) {
		g := newGovernor(b, set, store.NewMemory())
		calls := make([]governor.Call, 0, len(names)*len(texts))
		for _, name := range names {
			for _, text := range texts {
				calls = append(calls, governor.Call{Subject: subject, ID: "c", Tool: name, Args: governor.ParseArguments(text)})
			}
		}
		measure(b, func(i int) governor.Decision { return g.Authorize(b.Context(), calls[i%len(calls)]) })
	})
	b.Run("parsed", func(b *testing.B) {
		g := newGovernor(b, set, store.NewMemory())
		measure(b, func(i int) governor.Decision {
			return g.Authorize(b.Context(), governor.Call{
				Subject: subject, ID: "c", Tool: names[i%len(names)], Args: governor.ParseArguments(texts[i%len(texts)]),
			})
		})
	})
	realCall := func(b *testing.B, s store.Store) {
		g := newGovernor(b, set, s)
		run := store.Run{ID: "r", Principal: subject.Principal, Tenant: subject.Tenant, Task: subject.Task, Created: start}
		if err := s.CreateRun(b.Context(), run); err != nil {
			b.Fatal(err)
		}
		var reads []string
		for _, name := range names {
			if err := s.Grant(b.Context(), store.Grant{RunID: "r", Tool: name, Granted: start}); err != nil {
				b.Fatal(err)
			}
			if t, _ := set.Tool(name); len(t.Spec.Egress) == 0 && t.Spec.RateLimit.PerTenant.Count == 0 {
				reads = append(reads, name)
			}
		}
		args := governor.ParseArguments(texts[0])
		measure(b, func(i int) governor.Decision {
			return g.Decide(b.Context(), governor.Call{Run: "r", ID: "c", Tool: reads[i%len(reads)], Args: args})
		})
	}
	b.Run("memory", func(b *testing.B) { realCall(b, store.NewMemory()) })
	b.Run("durable", func(b *testing.B) {
		s, err := store.Open(filepath.Join(b.TempDir(), "store.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		}()
		realCall(b, s)
	})
}

func measure(b *testing.B, decide func(i int) governor.Decision) {
	outcomes := map[governor.Outcome]int{}
	for i := range 500 {
		d := decide(i)
		if d.Code == governor.CodeInternal {
			b.Fatal(d.Reason)
		}
		outcomes[d.Outcome]++
	}
	if outcomes[governor.Allow] < 100 {
		b.Fatalf("only %d of 500 calls are allowed; nothing would be measured", outcomes[governor.Allow])
	}
	b.ReportAllocs()
	spans := make([]time.Duration, 0, 1<<20)
	i := 0
	for b.Loop() {
		begin := time.Now()
		decide(i)
		if len(spans) < cap(spans) {
			spans = append(spans, time.Since(begin))
		}
		i++
	}
	slices.Sort(spans)
	b.ReportMetric(float64(spans[len(spans)/2].Nanoseconds()), "median-ns")
}
