package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// storeHealth is what waits in a harness's store.
type storeHealth struct {
	File string `json:"file"` // memory, when nothing is kept
	// Exists is false before the first run.
	Exists  bool   `json:"exists"`
	Problem string `json:"problem,omitzero"`
	// Pending calls wait for a person; of Ambiguous effects nobody knows whether
	// they happened. Both stop counting at store.MaxLimit.
	Pending   int `json:"pending_approvals"`
	Ambiguous int `json:"ambiguous_effects"`
}

// examineStore looks into the store, if there is one.
func examineStore(ctx context.Context, h *manifests.Harness) *storeHealth {
	s := &storeHealth{File: storePath(h)}
	if s.File == "" {
		s.File = manifests.StoreMemory
		return s
	}
	if _, err := os.Stat(s.File); errors.Is(err, fs.ErrNotExist) {
		return s
	}
	s.Exists = true
	if err := s.count(ctx); err != nil {
		s.Problem = err.Error()
	}
	return s
}

func (s *storeHealth) count(ctx context.Context) error {
	db, err := store.Open(s.File)
	if err != nil {
		return err
	}
	defer db.Close()
	pending, err := db.Approvals(ctx, store.ApprovalFilter{Now: time.Now(), State: store.Pending, Limit: store.MaxLimit})
	if err != nil {
		return err
	}
	ambiguous, err := db.Effects(ctx, store.EffectFilter{State: store.EffectAmbiguous, Limit: store.MaxLimit})
	if err != nil {
		return err
	}
	s.Pending, s.Ambiguous = len(pending), len(ambiguous)
	return nil
}

// text is the line for people.
func (s *storeHealth) text() string {
	switch {
	case s.Problem != "":
		return "failure: " + s.Problem
	case s.File == manifests.StoreMemory:
		return "in memory; nothing is kept"
	case !s.Exists:
		return s.File + ", not there yet"
	}
	text := s.File
	if s.Pending > 0 {
		text += fmt.Sprintf("; %s to be answered (mayfly approvals list)", count(s.Pending, "approval"))
	}
	if s.Ambiguous > 0 {
		text += fmt.Sprintf("; %s that nobody knows the end of (mayfly effects list --state ambiguous)", count(s.Ambiguous, "effect"))
	}
	return text
}
