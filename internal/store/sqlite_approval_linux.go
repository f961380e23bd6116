package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// approvalColumns are what a row of an approval has; approvalSize goes before them.
const approvalColumns = "id, run, hash, tool, args, principal, tenant, task, role, step, code, cause, created, expires, " +
	"state, approver, reason, edited_args, granted_hash, decided, used"

const approvalSize = "octet_length(args) + octet_length(edited_args), "

func (r *row) approval(room *argsRoom) Approval {
	withheld := !room.take(int(r.int()))
	args := func() string {
		if withheld {
			r.next()
			return ""
		}
		return r.text()
	}
	return Approval{
		ArgsWithheld: withheld,
		ID:           r.text(), RunID: r.text(), CallHash: r.text(), Tool: r.text(), Args: args(),
		Principal: r.text(), Tenant: r.text(), Task: r.text(), Role: r.text(),
		Step: r.text(), Code: r.text(), Cause: r.text(),
		Created: r.time(), Expires: r.time(),
		State:    ApprovalState(r.text()),
		Approver: r.text(), Reason: r.text(), EditedArgs: args(), GrantedHash: r.text(),
		Decided: r.time(), Used: r.time(),
	}
}

func (c *conn) approvals(room argsRoom, clauses string, args ...any) (out []Approval, err error) {
	err = c.rows(func(r *row) { out = append(out, r.approval(&room)) }, "SELECT "+approvalSize+approvalColumns+" FROM approval"+clauses, args...)
	return out, err
}

func (c *conn) findApproval(id string) (Approval, error) {
	as, err := c.approvals(everyArg, " WHERE id = ?", id)
	if err != nil {
		return Approval{}, err
	}
	if len(as) == 0 {
		return Approval{}, fmt.Errorf("approval %w", ErrNotFound)
	}
	return as[0], nil
}

// answer writes the part of an approval that is the answer.
func (c *conn) answer(a Approval) error {
	return c.run("UPDATE approval SET state = ?, approver = ?, reason = ?, edited_args = ?, granted_hash = ?, decided = ?, used = ? WHERE id = ?",
		string(a.State), a.Approver, a.Reason, a.EditedArgs, a.GrantedHash, a.Decided, a.Used, a.ID)
}

func (s *sqlite) CreateApproval(ctx context.Context, a Approval) (Approval, error) {
	a, err := a.checked()
	if err != nil {
		return Approval{}, err
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		asked, err := c.approvals(everyArg, " WHERE run = ? AND hash = ? AND state IN ('pending', 'approved') ORDER BY seq", a.RunID, a.CallHash)
		if err != nil {
			return err
		}
		for _, old := range asked {
			if old.answers(a) {
				a = old
				return nil
			}
		}
		if exists, err := c.one(func(*row) {}, "SELECT 1 FROM approval WHERE id = ?", a.ID); err != nil {
			return err
		} else if exists {
			return fmt.Errorf("approval %w", ErrExists)
		}
		return c.run("INSERT INTO approval ("+approvalColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', '', 0, 0)",
			a.ID, a.RunID, a.CallHash, a.Tool, a.Args, a.Principal, a.Tenant, a.Task, a.Role,
			a.Step, a.Code, a.Cause, a.Created, a.Expires, string(a.State))
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}

func (s *sqlite) Approval(ctx context.Context, id string, now time.Time) (a Approval, err error) {
	err = s.read(ctx, func(c *conn) error {
		a, err = c.findApproval(id)
		return err
	})
	return a.at(now), err
}

func (s *sqlite) Approvals(ctx context.Context, f ApprovalFilter) (out []Approval, err error) {
	f, err = f.checked()
	if err != nil {
		return nil, err
	}
	var w where
	w.same("run", f.RunID)
	w.same("hash", f.CallHash)
	w.same("principal", f.Principal)
	w.same("tenant", f.Tenant)
	switch f.State {
	case Pending, Approved:
		w.add("state = ? AND state IN ('pending', 'approved') AND (expires = 0 OR expires > ?)", string(f.State), f.Now)
	case Expired:
		w.add("(state = 'expired' OR state IN ('pending', 'approved') AND expires <> 0 AND expires <= ?)", f.Now)
	default:
		w.same("state", string(f.State))
	}
	err = s.read(ctx, func(c *conn) error {
		out, err = c.approvals(MaxArgs, w.sql+" ORDER BY created DESC, seq DESC LIMIT ?", append(w.args, f.Limit)...)
		return err
	})
	for i := range out {
		out[i] = out[i].at(f.Now)
	}
	return out, err
}

func (s *sqlite) Decide(ctx context.Context, id string, d Decision) (a Approval, err error) {
	d, err = d.checked()
	if err != nil {
		return Approval{}, err
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		old, err := c.findApproval(id)
		if err != nil {
			return err
		}
		var decideErr error
		if a, decideErr = old.decide(d); a != old {
			if err := c.answer(a); err != nil {
				return err
			}
		}
		if decideErr != nil {
			// What has expired stays so, even if the clock is set back.
			return &kept{decideErr}
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrDecided) && !errors.Is(err, ErrExpired) {
		return Approval{}, err
	}
	return a, err
}

func (s *sqlite) Consume(ctx context.Context, callHash, runID string, now time.Time) (a Approval, err error) {
	var check checker
	now = check.time("now", now)
	if check.err != nil {
		return Approval{}, check.err
	}
	if callHash == "" { // as long as it is not approved
		return Approval{}, errNoApproval(false)
	}
	err = s.transaction(ctx, onDisk, func(c *conn) error {
		// The open ones are few; one that has expired is enough to say so.
		fit, err := c.approvals(everyArg, " WHERE run = ? AND granted_hash = ? AND state = 'approved' ORDER BY seq", runID, callHash)
		if err != nil {
			return err
		}
		for _, old := range fit {
			if a = old.at(now); a.State == Approved {
				a.State, a.Used = Used, now
				return c.answer(a)
			}
			if err := c.answer(a); err != nil {
				return err
			}
		}
		expired, err := c.one(func(*row) {}, "SELECT 1 FROM approval WHERE run = ? AND granted_hash = ? AND state = 'expired' LIMIT 1", runID, callHash)
		if err != nil {
			return err
		}
		return &kept{errNoApproval(expired)}
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}
