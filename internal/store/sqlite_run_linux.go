package store

import (
	"context"
	"fmt"
	"time"
)

const runColumns = "id, principal, tenant, task, untrusted_seen, private_seen, calls, created, expires"

func (r *row) run() Run {
	return Run{
		ID: r.text(), Principal: r.text(), Tenant: r.text(), Task: r.text(),
		Labels:  Labels{UntrustedSeen: r.bool(), PrivateSeen: r.bool()},
		Calls:   r.int(),
		Created: r.time(), Expires: r.time(),
	}
}

func (s *sqlite) CreateRun(ctx context.Context, r Run) error {
	r, err := r.checked()
	if err != nil {
		return err
	}
	return s.transaction(ctx, inFile, func(c *conn) error {
		if exists, err := c.one(func(*row) {}, "SELECT 1 FROM run WHERE id = ?", r.ID); err != nil {
			return err
		} else if exists {
			return fmt.Errorf("run %w", ErrExists)
		}
		return c.run("INSERT INTO run ("+runColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			r.ID, r.Principal, r.Tenant, r.Task, r.Labels.UntrustedSeen, r.Labels.PrivateSeen,
			r.Calls, r.Created, r.Expires)
	})
}

// findRun gives ErrNotFound if there is none.
func (c *conn) findRun(id string) (r Run, err error) {
	found, err := c.one(func(row *row) { r = row.run() }, "SELECT "+runColumns+" FROM run WHERE id = ?", id)
	if err == nil && !found {
		err = fmt.Errorf("run %w", ErrNotFound)
	}
	return r, err
}

func (s *sqlite) Run(ctx context.Context, id string) (r Run, err error) {
	err = s.read(ctx, func(c *conn) error {
		r, err = c.findRun(id)
		return err
	})
	return r, err
}

func (s *sqlite) Runs(ctx context.Context, f RunFilter) (out []Run, err error) {
	var check checker
	limit := check.limit(f.Limit)
	if check.err != nil {
		return nil, check.err
	}
	var w where
	w.same("principal", f.Principal)
	w.same("tenant", f.Tenant)
	w.same("task", f.Task)
	err = s.read(ctx, func(c *conn) error {
		return c.rows(func(r *row) { out = append(out, r.run()) },
			"SELECT "+runColumns+" FROM run"+w.sql+" ORDER BY created DESC, seq DESC LIMIT ?", append(w.args, limit)...)
	})
	return out, err
}

func (s *sqlite) AddLabels(ctx context.Context, runID string, l Labels) error {
	return s.transaction(ctx, inFile, func(c *conn) error {
		r, err := c.findRun(runID)
		if err != nil || r.Labels == r.Labels.Or(l) {
			return err
		}
		l = r.Labels.Or(l)
		return c.run("UPDATE run SET untrusted_seen = ?, private_seen = ? WHERE id = ?", l.UntrustedSeen, l.PrivateSeen, runID)
	})
}

func (s *sqlite) TakeCall(ctx context.Context, runID string, max int64) (n int64, ok bool, err error) {
	if max < 0 {
		return 0, false, errNegativeBudget
	}
	err = s.transaction(ctx, inFile, func(c *conn) error {
		r, err := c.findRun(runID)
		if err != nil {
			return err
		}
		if n, ok = r.Calls, max == 0 || r.Calls < max; !ok {
			return nil
		}
		n++
		return c.run("UPDATE run SET calls = ? WHERE id = ?", n, runID)
	})
	if err != nil {
		return 0, false, err
	}
	return n, ok, nil
}

func (s *sqlite) Grant(ctx context.Context, g Grant) error {
	g, err := g.checked()
	if err != nil {
		return err
	}
	return s.transaction(ctx, inFile, func(c *conn) error {
		if _, err := c.findRun(g.RunID); err != nil {
			return err
		}
		return c.run("INSERT OR REPLACE INTO grants (run, tool, granted_by, granted, expires, revoked) VALUES (?, ?, ?, ?, ?, 0)",
			g.RunID, g.Tool, g.By, g.Granted, g.Expires)
	})
}

func (s *sqlite) Revoke(ctx context.Context, runID, tool string, now time.Time) error {
	var check checker
	now = check.time("now", now)
	if check.err != nil {
		return check.err
	}
	return s.transaction(ctx, inFile, func(c *conn) error {
		if tool == "" {
			if _, err := c.findRun(runID); err != nil {
				return err
			}
			return c.run("UPDATE grants SET revoked = ? WHERE run = ? AND revoked = 0", now, runID)
		}
		if found, err := c.one(func(*row) {}, "SELECT 1 FROM grants WHERE run = ? AND tool = ?", runID, tool); err != nil {
			return err
		} else if !found {
			return fmt.Errorf("grant %w", ErrNotFound)
		}
		return c.run("UPDATE grants SET revoked = ? WHERE run = ? AND tool = ? AND revoked = 0", now, runID, tool)
	})
}

func (s *sqlite) GrantOf(ctx context.Context, runID, tool string) (g Grant, err error) {
	err = s.read(ctx, func(c *conn) error {
		found, err := c.one(func(r *row) {
			g = Grant{RunID: runID, Tool: tool, By: r.text(), Granted: r.time(), Expires: r.time(), Revoked: r.time()}
		}, "SELECT granted_by, granted, expires, revoked FROM grants WHERE run = ? AND tool = ?", runID, tool)
		if err == nil && !found {
			err = fmt.Errorf("grant %w", ErrNotFound)
		}
		return err
	})
	return g, err
}

func (s *sqlite) Grants(ctx context.Context, runID string) (out []Grant, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.rows(func(r *row) {
			out = append(out, Grant{
				RunID: runID, Tool: r.text(), By: r.text(),
				Granted: r.time(), Expires: r.time(), Revoked: r.time(),
			})
		}, "SELECT tool, granted_by, granted, expires, revoked FROM grants WHERE run = ? ORDER BY tool", runID)
	})
	return out, err
}
