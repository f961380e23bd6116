package store

import (
	"context"
	"fmt"
	"time"
)

const effectColumns = "key, run, call, tool, state, attempts, outcome, owner, begun, finished"

func (r *row) effect() Effect {
	return Effect{
		Key: r.text(), RunID: r.text(), CallID: r.text(), Tool: r.text(),
		State: EffectState(r.text()), Attempts: r.int(), Outcome: r.text(), Owner: r.text(),
		Begun: r.time(), Finished: r.time(),
	}
}

func (c *conn) effects(clauses string, args ...any) (out []Effect, err error) {
	err = c.rows(func(r *row) { out = append(out, r.effect()) }, "SELECT "+effectColumns+" FROM effect"+clauses, args...)
	return out, err
}

func (c *conn) findEffect(key string) (Effect, error) {
	es, err := c.effects(" WHERE key = ?", key)
	if err != nil {
		return Effect{}, err
	}
	if len(es) == 0 {
		return Effect{}, fmt.Errorf("effect %w", ErrNotFound)
	}
	return es[0], nil
}

// update writes the part of an effect that changes.
func (c *conn) update(e Effect) error {
	return c.run("UPDATE effect SET state = ?, attempts = ?, outcome = ?, owner = ?, begun = ?, finished = ? WHERE key = ?",
		string(e.State), e.Attempts, e.Outcome, e.Owner, e.Begun, e.Finished, e.Key)
}

func (s *sqlite) BeginEffect(ctx context.Context, e Effect) (prior *Effect, err error) {
	e, err = e.checked(s.owner.name)
	if err != nil {
		return nil, err
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		es, err := c.effects(" WHERE key = ?", e.Key)
		if err != nil {
			return err
		}
		if len(es) > 0 {
			prior = &es[0]
			return nil
		}
		return c.run("INSERT INTO effect ("+effectColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			e.Key, e.RunID, e.CallID, e.Tool, string(e.State), e.Attempts, e.Outcome, e.Owner, e.Begun, e.Finished)
	})
	if err != nil {
		return nil, err
	}
	return prior, nil
}

func (s *sqlite) RetryEffect(ctx context.Context, key string, now time.Time) (e Effect, err error) {
	var check checker
	now = check.time("now", now)
	if check.err != nil {
		return Effect{}, check.err
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		if e, err = c.findEffect(key); err != nil {
			return err
		}
		if e, err = e.retry(s.owner.name, now); err != nil {
			return err
		}
		return c.update(e)
	})
	return e, err
}

func (s *sqlite) FinishEffect(ctx context.Context, key string, state EffectState, outcome string, now time.Time) error {
	now, err := checkFinish(key, state, outcome, now)
	if err != nil {
		return err
	}
	return s.transaction(ctx, onDisk, func(c *conn) error {
		e, err := c.findEffect(key)
		if err != nil {
			return err
		}
		if e, err = e.finish(s.owner.name, state, outcome, now); err != nil {
			return err
		}
		return c.update(e)
	})
}

func (s *sqlite) Effects(ctx context.Context, f EffectFilter) (out []Effect, err error) {
	f, err = f.checked()
	if err != nil {
		return nil, err
	}
	var w where
	w.same("run", f.RunID)
	w.same("tool", f.Tool)
	w.same("state", string(f.State))
	err = s.read(ctx, func(c *conn) error {
		out, err = c.effects(w.sql+" ORDER BY begun DESC, seq DESC LIMIT ?", append(w.args, f.Limit)...)
		return err
	})
	return out, err
}

func (s *sqlite) Recover(ctx context.Context, now time.Time) (gone []Effect, err error) {
	var check checker
	now = check.time("now", now)
	if check.err != nil {
		return nil, check.err
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		// As many as there are calls under way, or were when a process ended.
		begun, err := c.effects(" WHERE state = 'begun' ORDER BY begun DESC, seq DESC")
		if err != nil {
			return err
		}
		for _, e := range begun {
			alive, err := s.owner.alive(e.Owner)
			if err != nil {
				return err
			}
			if alive {
				continue
			}
			e.State, e.Outcome, e.Finished = EffectAmbiguous, outcomeGone, now
			if err := c.update(e); err != nil {
				return err
			}
			gone = append(gone, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}
