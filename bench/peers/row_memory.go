package main

import (
	"fmt"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

const mib = 1 << 20

// rowMemory is what one more sandbox costs.
const rowMemory = "private memory of each further sandbox"

// memory weighs sandboxes that are alive and have given a result.
func memory(b *bench) error {
	// A host's own memory goes up and down by as much as some sandboxes have.
	rounds := 5
	if b.quick {
		rounds = 1
	}
	weights := make(map[string][]*weight)
	for range rounds {
		for _, p := range b.peers {
			b.say("  %s", p.name)
			w, err := b.weigh(p)
			if err != nil {
				return fmt.Errorf("memory of %s: %w", p.name, err)
			}
			weights[p.name] = append(weights[p.name], w)
		}
	}
	for _, r := range []struct {
		name string
		of   func(w *weight) float64
	}{
		{fmt.Sprintf("private memory per sandbox, host included, %d alive", held), func(w *weight) float64 { return float64(w.full.PrivateDirty) / held }},
		{rowMemory, func(w *weight) float64 {
			return (float64(w.full.PrivateDirty) - float64(w.empty.PrivateDirty)) / held
		}},
		{fmt.Sprintf("all memory per sandbox, shared pages in parts, %d alive", held), func(w *weight) float64 { return float64(w.full.Proportional) / held }},
	} {
		next := make(map[string]int)
		_, err := b.alternate(row{Name: r.name, Unit: "MiB", Best: "least"}, b.peers, sampling{rounds, rounds, time.Hour}, func(p *peer) (float64, error) {
			next[p.name]++
			return r.of(weights[p.name][next[p.name]-1]) / mib, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// weight is a host's memory without and with sandboxes.
type weight struct{ empty, full measure.Memory }

// weigh takes a driver that has done nothing yet but make one sandbox, so that
// what the first one loads belongs to the host.
func (b *bench) weigh(p *peer) (*weight, error) {
	b.stop(p)
	defer b.stop(p)
	if _, err := b.ask(p, request{Op: "start"}); err != nil {
		return nil, err
	}
	d, err := b.driver(p)
	if err != nil {
		return nil, err
	}
	w := &weight{}
	if w.empty, err = measure.TreeMemory(d.cmd.Process.Pid); err != nil {
		return nil, err
	}
	if _, err := b.ask(p, request{Op: "hold", Count: held}); err != nil {
		return nil, err
	}
	if w.full, err = measure.TreeMemory(d.cmd.Process.Pid); err != nil {
		return nil, err
	}
	_, err = b.ask(p, request{Op: "drop"})
	return w, err
}
