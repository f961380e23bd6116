package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// Effect is the journal's entry for a call that changes something.
type Effect = store.Effect

// EffectFilter chooses entries of the journal.
type EffectFilter = store.EffectFilter

// EffectState is how far an effect has come.
type EffectState = store.EffectState

// begin writes down that a call of a tool that changes something starts. It
// reports true, with the result filled in, if the call must not run: it has
// run before, is running, or nobody knows.
func (r *Runtime) begin(ctx context.Context, tool *manifests.Tool, result *Result) (bool, error) {
	if !tool.Spec.SideEffect.Writes() {
		return false, nil
	}
	result.Outcome = Unavailable // nothing has started
	prior, err := r.store.BeginEffect(ctx, store.Effect{
		Key: result.IdempotencyKey, RunID: result.Decision.Run, CallID: result.CallID, Tool: tool.Metadata.Name, Begun: r.now(),
	})
	if err != nil || prior == nil {
		return false, err
	}
	switch prior.State {
	case store.EffectFailed:
		_, err := r.store.RetryEffect(ctx, prior.Key, r.now())
		if errors.Is(err, store.ErrFinished) {
			result.Outcome = Busy // another caller was first
			return true, nil
		}
		return false, err
	case store.EffectConfirmed:
		result.Outcome, result.Repeated = EffectConfirmed, true
	case store.EffectBegun:
		result.Outcome = Busy
	default:
		result.Outcome = EffectAmbiguous
	}
	return true, nil
}

// finish writes down how a call of a tool that changes something ended; started
// is false if the tool certainly did not begin.
func (r *Runtime) finish(ctx context.Context, tool *manifests.Tool, result Result, started bool) error {
	if !tool.Spec.SideEffect.Writes() {
		return nil
	}
	state := store.EffectAmbiguous
	switch {
	case result.Outcome == EffectConfirmed:
		state = store.EffectConfirmed
	case result.Outcome == ToolError, !result.Outcome.ran(), !started:
		// A tool that came to its own end and says that it failed is believed. It
		// can be called again, with the same key.
		state = store.EffectFailed
	}
	if err := r.store.FinishEffect(ctx, result.IdempotencyKey, state, string(result.Outcome), r.now()); err != nil {
		return fmt.Errorf("write down how the call ended: %w", err)
	}
	return nil
}

// Effects gives entries of the journal, the newest first.
func (r *Runtime) Effects(ctx context.Context, f EffectFilter) ([]Effect, error) {
	return r.store.Effects(ctx, f)
}

// Reconcile settles an ambiguous effect: somebody has looked, and it did happen
// or did not. Only then can the run repeat the call, with the same key.
func (r *Runtime) Reconcile(ctx context.Context, key string, happened bool, by string) error {
	state := store.EffectFailed
	if happened {
		state = store.EffectConfirmed
	}
	return r.store.FinishEffect(ctx, key, state, "settled by "+by, r.now())
}
