package store

import (
	"context"
	"fmt"
	"time"
)

// sweepPlaces is how many places that are out a reservation clears away: more
// than it takes, so that they cannot pile up.
const sweepPlaces = 4 * MaxWindows

func (s *sqlite) Reserve(ctx context.Context, r Reservation, now time.Time) (refusal Refusal, err error) {
	var check checker
	now = check.time("now", now)
	if check.err != nil {
		return Refusal{}, check.err
	}
	if err := r.check(); err != nil {
		return Refusal{}, err
	}
	at := now.UnixNano()
	err = s.transaction(ctx, inFile, func(c *conn) error {
		held, err := c.one(func(*row) {}, "SELECT 1 FROM place WHERE id = ? AND until > ? LIMIT 1", r.ID, at)
		if err != nil {
			return err
		}
		if held {
			return fmt.Errorf("reservation %w", ErrExists)
		}
		if err := c.release(r.ID); err != nil {
			return err
		}
		err = c.run("DELETE FROM place WHERE seq IN (SELECT seq FROM place WHERE until <= ? ORDER BY until LIMIT ?)", at, sweepPlaces)
		if err != nil {
			return err
		}
		refusal, err = reserve(sqlitePlaces{c}, r, at)
		return err
	})
	if err != nil {
		return Refusal{}, err
	}
	return refusal, nil
}

func (s *sqlite) Release(ctx context.Context, id string) error {
	return s.transaction(ctx, inFile, func(c *conn) error { return c.release(id) })
}

func (c *conn) release(id string) error {
	return c.run("DELETE FROM place WHERE id = ?", id)
}

// sqlitePlaces are the places in the file, inside a transaction.
type sqlitePlaces struct{ *conn }

func (p sqlitePlaces) newest(key string) (at int64, err error) {
	_, err = p.one(func(r *row) { at = r.int() }, "SELECT at FROM place WHERE key = ? ORDER BY at DESC LIMIT 1", key)
	return at, err
}

func (p sqlitePlaces) clamp(key string, at int64) error {
	return p.run("UPDATE place SET at = ?, until = until - at + ? WHERE key = ? AND at > ?", at, at, key, at)
}

func (p sqlitePlaces) nth(key string, n, after int64) (at int64, err error) {
	_, err = p.one(func(r *row) { at = r.int() },
		"SELECT at FROM place WHERE key = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?", key, after, n-1)
	return at, err
}

func (p sqlitePlaces) take(key, id string, at, keep int64) error {
	return p.run("INSERT INTO place (key, id, at, until) VALUES (?, ?, ?, ?)", key, id, at, at+keep)
}
