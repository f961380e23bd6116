package main

import (
	"fmt"
	"os"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// meteringSet are the workloads that metering is judged by: varied, and not
// only loops. Each guest has all of them.
var meteringSet = []string{"loops", "calls", "classes", "strings", "grouping", "json_re"}

// meteringRounds is how often each pair runs, with and without metering;
// interruptRounds the same for wazero's own way, which is far from it.
const (
	meteringRounds  = 11
	interruptRounds = 2
)

// metering compares a guest that is metered with one that is not, and with
// wazero's own way to interrupt.
func (b *bench) metering(guest, ending, prefix string, target float64) error {
	var engines []*wasm.Engine
	for _, v := range []variant.Variant{{}, {Unmetered: true}, {Unmetered: true, EngineDeadline: true}} {
		e, err := b.guestEngine(guest, v)
		if err != nil {
			return err
		}
		defer e.Close()
		engines = append(engines, e)
	}
	all, err := measure.Workloads(ending)
	if err != nil {
		return err
	}
	var metered, interrupted []paired
	for _, name := range meteringSet {
		w, err := find(all, name)
		if err != nil {
			return err
		}
		run := func(e *wasm.Engine) func() (float64, error) {
			return func() (float64, error) { ms, _, err := inGuest(b, e, w); return ms, err }
		}
		p, err := pairs(meteringRounds*b.rounds, run(engines[0]), run(engines[1]))
		if err != nil {
			return err
		}
		b.pair(prefix+"metered / unmetered: "+name, p, 0)
		metered = append(metered, p)
		fmt.Fprintf(os.Stderr, "metered / unmetered, %s, %s: %.3f (%.3f to %.3f)\n", guest, name, p.ratio, p.low, p.high)
		if p, err = pairs(interruptRounds*b.rounds, run(engines[2]), run(engines[0])); err != nil {
			return err
		}
		interrupted = append(interrupted, p)
	}
	b.pairMean(prefix+"metered / unmetered: geometric mean", metered, target)
	b.pairMean(prefix+"WithCloseOnContextDone / metered: geometric mean (times slower)", interrupted, 0)
	return nil
}

func meteringPython(b *bench) error { return b.metering("python", ".py", "", 1.12) }

func meteringJavaScript(b *bench) error { return b.metering("js", ".js", "JavaScript, ", 1.15) }

func find(all []measure.Workload, name string) (measure.Workload, error) {
	for _, w := range all {
		if w.Name == name {
			return w, nil
		}
	}
	return measure.Workload{}, fmt.Errorf("there is no workload %s", name)
}
