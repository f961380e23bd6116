package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

func (m *memory) Reserve(ctx context.Context, r Reservation, now time.Time) (Refusal, error) {
	var c checker
	now = c.time("now", now)
	if c.err != nil {
		return Refusal{}, c.err
	}
	if err := r.check(); err != nil {
		return Refusal{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Refusal{}, err
	}
	defer m.mu.Unlock()
	at := now.UnixNano()
	if m.sweep--; m.sweep < 0 {
		for key := range m.taken {
			m.remove(key, func(p place) bool { return p.out(at) })
		}
		m.sweep = len(m.byID) // so that it costs each call next to nothing
	}
	for _, key := range m.byID[r.ID] {
		if slices.ContainsFunc(m.taken[key], func(p place) bool { return p.id == r.ID && !p.out(at) }) {
			return Refusal{}, fmt.Errorf("reservation %w", ErrExists)
		}
	}
	m.forget(r.ID)
	return reserve(memoryPlaces{m}, r, at)
}

// out says whether a place is out of every window of its key.
func (p place) out(now int64) bool { return p.at+p.keep <= now }

// forget removes all places of a reservation.
func (m *memory) forget(id string) {
	for _, key := range slices.Clone(m.byID[id]) {
		m.remove(key, func(p place) bool { return p.id == id })
	}
}

// remove removes places of a key.
func (m *memory) remove(key string, gone func(place) bool) {
	m.taken[key] = slices.DeleteFunc(m.taken[key], func(p place) bool {
		if !gone(p) {
			return false
		}
		keys := slices.DeleteFunc(m.byID[p.id], func(k string) bool { return k == key })
		if m.byID[p.id] = keys; len(keys) == 0 {
			delete(m.byID, p.id)
		}
		return true
	})
	if len(m.taken[key]) == 0 {
		delete(m.taken, key)
	}
}

func (m *memory) Release(ctx context.Context, id string) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.forget(id)
	return nil
}

// memoryPlaces needs the lock. Places of a key are sorted by age, oldest first:
// take is given a time that is not before any other's.
type memoryPlaces struct{ *memory }

func (m memoryPlaces) newest(key string) (int64, error) {
	ps := m.taken[key]
	if len(ps) == 0 {
		return 0, nil
	}
	return ps[len(ps)-1].at, nil
}

func (m memoryPlaces) clamp(key string, at int64) error {
	for i := range m.taken[key] {
		m.taken[key][i].at = min(m.taken[key][i].at, at)
	}
	return nil
}

func (m memoryPlaces) nth(key string, n, after int64) (int64, error) {
	ps := m.taken[key]
	if int64(len(ps)) < n {
		return 0, nil
	}
	if p := ps[int64(len(ps))-n]; p.at > after {
		return p.at, nil
	}
	return 0, nil
}

func (m memoryPlaces) take(key, id string, at, keep int64) error {
	m.taken[key] = append(m.taken[key], place{id, at, keep})
	m.byID[id] = append(m.byID[id], key)
	return nil
}
