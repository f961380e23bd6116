package main

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	"github.com/mayfly-run/mayfly/internal/store"
)

// accounts ends the server and compares its journal of effects with what the
// service was asked for: nothing twice, nothing that is not in the journal, and
// nothing that a caller was told of and that did not happen.
func (s *soaked) accounts(ctx context.Context) error {
	if err := s.stop(); err != nil {
		s.say("%v", err)
		s.must("the server ended in an orderly way", "", 0, 1, false)
	}
	db, err := store.Open(filepath.Join(s.harness, ".mayfly", "store.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	s.service.mu.Lock()
	paid := maps.Clone(s.service.paid)
	s.service.mu.Unlock()
	runs := maps.Clone(s.counts.confirmed)
	for key := range paid {
		run, _, _ := strings.Cut(key, ":")
		runs[run] = runs[run] || false
	}
	journal := make(map[string]store.EffectState)
	for run := range runs {
		effects, err := db.Effects(ctx, store.EffectFilter{RunID: run, Limit: store.MaxLimit})
		if err != nil {
			return err
		}
		confirmed := false
		for _, e := range effects {
			journal[e.Key] = e.State
			confirmed = confirmed || e.State == store.EffectConfirmed
		}
		if runs[run] && !confirmed {
			journal[run+":?"] = store.EffectConfirmed // a caller was told so, and nobody paid
		}
	}
	d := settle(paid, journal)
	for _, e := range d.examples {
		s.say("accounts: %s", e)
	}
	ambiguous := 0
	for _, state := range journal {
		if state == store.EffectAmbiguous {
			ambiguous++
		}
	}
	s.figure("effects in the journal", "", float64(len(journal)))
	s.figure("of them ambiguous", "", float64(ambiguous))
	s.must("effects that were lost, done twice, or not in the journal", "", float64(d.n), 0, d.n == 0)
	return nil
}

// settle compares what was paid, by idempotency key, with the journal.
func settle(paid map[string]int, journal map[string]store.EffectState) (d differences) {
	for key, n := range paid {
		state, ok := journal[key]
		switch {
		case n != 1:
			d.add("%s was paid %d times", key, n)
		case !ok:
			d.add("%s was paid and is not in the journal", key)
		case state == store.EffectFailed:
			d.add("%s was paid, and the journal says that it did not happen", key)
		}
	}
	for key, state := range journal {
		switch {
		case state == store.EffectConfirmed && paid[key] == 0:
			d.add("%s is confirmed and was not paid", key)
		case state == store.EffectBegun:
			d.add("%s has begun and has no end, though the server has ended", key)
		}
	}
	return d
}
