package store

import (
	"fmt"
	"time"
)

// EffectState is how far an effect has come. The zero value is none.
type EffectState string

// The states of an effect.
const (
	// EffectBegun: it may be happening right now.
	EffectBegun EffectState = "begun"
	// EffectConfirmed: it has happened.
	EffectConfirmed EffectState = "confirmed"
	// EffectFailed: it is known not to have happened.
	EffectFailed EffectState = "failed"
	// EffectAmbiguous: it may have happened, and nobody knows. It must not be
	// repeated blindly.
	EffectAmbiguous EffectState = "ambiguous"
)

// Effect is the journal's entry for one change in the world outside.
type Effect struct {
	// Key is the idempotency key of the call. Required, unique.
	Key string
	// RunID, CallID and Tool say which call it was. Tool is required.
	RunID, CallID, Tool string
	// Begun is when it began, the last time. Required.
	Begun time.Time

	// What follows is the store's. BeginEffect takes none of it.

	// State is how far it has come.
	State EffectState
	// Attempts is how often it was begun: 1, and one more for each RetryEffect.
	Attempts int64
	// Outcome is what FinishEffect was told.
	Outcome string
	// Owner stands for the Store through which it was begun.
	Owner string
	// Finished is when it got its state, the zero time while it is begun.
	Finished time.Time
}

// EffectFilter chooses effects. The zero value is the newest of all.
type EffectFilter struct {
	// RunID, Tool and State must be the same, where they are not empty.
	RunID, Tool string
	State       EffectState
	// Limit is how many to give at most; 0 is DefaultLimit. More than MaxLimit is
	// refused.
	Limit int
}

func (f EffectFilter) checked() (EffectFilter, error) {
	var c checker
	f.Limit = c.limit(f.Limit)
	switch f.State {
	case "", EffectBegun, EffectConfirmed, EffectFailed, EffectAmbiguous:
	default:
		c.require(false, "no such state of an effect")
	}
	return f, c.err
}

func (f EffectFilter) match(e Effect) bool {
	return same(f.RunID, e.RunID) && same(f.Tool, e.Tool) && same(string(f.State), string(e.State))
}

// outcomeGone is the outcome of effects that Recover finds.
const outcomeGone = "the process that began it ended before it could say how it went"

func (e Effect) checked(owner string) (Effect, error) {
	var c checker
	c.name("effect key", e.Key)
	c.label("run ID", e.RunID)
	c.label("call ID", e.CallID)
	c.name("tool", e.Tool)
	e.Begun = c.time("begun", e.Begun)
	c.require(e.State == "" || e.State == EffectBegun, "a new effect must be begun")
	c.require(e.Attempts == 0 && e.Outcome+e.Owner == "" && e.Finished.IsZero(), "a new effect must have no outcome")
	e.State, e.Attempts, e.Owner = EffectBegun, 1, owner
	return e, c.err
}

func checkFinish(key string, state EffectState, outcome string, now time.Time) (time.Time, error) {
	var c checker
	c.name("effect key", key)
	c.require(state == EffectConfirmed || state == EffectFailed || state == EffectAmbiguous,
		"an effect ends as confirmed, failed or ambiguous")
	c.text("outcome", outcome)
	now = c.time("now", now)
	return now, c.err
}

// finish gives the effect after it has ended.
func (e Effect) finish(by string, state EffectState, outcome string, now time.Time) (Effect, error) {
	switch {
	case e.State == EffectBegun && e.Owner != by:
		return e, fmt.Errorf("effect is %w: only who began it can say how it ended; if that process is gone, recover first", ErrNotOwner)
	case e.State == EffectBegun:
	case e.State == EffectAmbiguous && state != EffectAmbiguous:
	default:
		return e, fmt.Errorf("effect is %w: it is %s", ErrFinished, e.State)
	}
	e.State, e.Outcome, e.Finished = state, outcome, now
	return e, nil
}

// retry gives the effect after it was begun again.
func (e Effect) retry(by string, now time.Time) (Effect, error) {
	if e.State != EffectFailed {
		return e, fmt.Errorf("effect is not known to have failed: it is %w, as %s, and must not be repeated", ErrFinished, e.State)
	}
	e.State, e.Outcome, e.Owner, e.Begun, e.Finished = EffectBegun, "", by, now, time.Time{}
	e.Attempts++
	return e, nil
}
