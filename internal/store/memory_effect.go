package store

import (
	"context"
	"fmt"
	"time"
)

func (m *memory) BeginEffect(ctx context.Context, e Effect) (*Effect, error) {
	e, err := e.checked(memoryOwner)
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if old := m.effects[e.Key]; old != nil {
		prior := *old
		return &prior, nil
	}
	m.effects[e.Key] = &e
	m.effectOrder = append(m.effectOrder, &e)
	return nil, nil
}

func (m *memory) RetryEffect(ctx context.Context, key string, now time.Time) (Effect, error) {
	var c checker
	now = c.time("now", now)
	if c.err != nil {
		return Effect{}, c.err
	}
	if err := m.enter(ctx); err != nil {
		return Effect{}, err
	}
	defer m.mu.Unlock()
	e, err := m.effect(key)
	if err != nil {
		return Effect{}, err
	}
	*e, err = e.retry(memoryOwner, now)
	return *e, err
}

// effect needs the lock.
func (m *memory) effect(key string) (*Effect, error) {
	if e := m.effects[key]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("effect %w", ErrNotFound)
}

func (m *memory) FinishEffect(ctx context.Context, key string, state EffectState, outcome string, now time.Time) error {
	now, err := checkFinish(key, state, outcome, now)
	if err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	e, err := m.effect(key)
	if err != nil {
		return err
	}
	*e, err = e.finish(memoryOwner, state, outcome, now)
	return err
}

func (m *memory) Effects(ctx context.Context, f EffectFilter) ([]Effect, error) {
	f, err := f.checked()
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return newest(m.effectOrder, f.Limit, func(e *Effect) (Effect, bool) { return *e, f.match(*e) },
		func(e Effect) time.Time { return e.Begun }), nil
}

// Recover finds nothing: what a memory store has begun is gone with it.
func (m *memory) Recover(ctx context.Context, now time.Time) ([]Effect, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var c checker
	c.time("now", now)
	return nil, c.err
}
