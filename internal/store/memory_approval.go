package store

import (
	"context"
	"fmt"
	"time"
)

func (m *memory) CreateApproval(ctx context.Context, a Approval) (Approval, error) {
	a, err := a.checked()
	if err != nil {
		return Approval{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Approval{}, err
	}
	defer m.mu.Unlock()
	for _, old := range m.approvalsOf[a.RunID] {
		if old.answers(a) {
			return *old, nil
		}
	}
	if m.approvals[a.ID] != nil {
		return Approval{}, fmt.Errorf("approval %w", ErrExists)
	}
	m.approvals[a.ID] = &a
	m.approvalOrder = append(m.approvalOrder, &a)
	m.approvalsOf[a.RunID] = append(m.approvalsOf[a.RunID], &a)
	return a, nil
}

func (m *memory) Approval(ctx context.Context, id string, now time.Time) (Approval, error) {
	if err := m.enter(ctx); err != nil {
		return Approval{}, err
	}
	defer m.mu.Unlock()
	a := m.approvals[id]
	if a == nil {
		return Approval{}, fmt.Errorf("approval %w", ErrNotFound)
	}
	return a.at(now), nil
}

func (m *memory) Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error) {
	f, err := f.checked()
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	order := m.approvalOrder
	if f.RunID != "" {
		order = m.approvalsOf[f.RunID]
	}
	list := newest(order, f.Limit, func(a *Approval) (Approval, bool) {
		v := a.at(f.Now)
		return v, f.match(v)
	}, func(a Approval) time.Time { return a.Created })
	room := argsRoom(MaxArgs)
	for i := range list {
		list[i] = list[i].within(&room)
	}
	return list, nil
}

func (m *memory) Decide(ctx context.Context, id string, d Decision) (Approval, error) {
	d, err := d.checked()
	if err != nil {
		return Approval{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Approval{}, err
	}
	defer m.mu.Unlock()
	a := m.approvals[id]
	if a == nil {
		return Approval{}, fmt.Errorf("approval %w", ErrNotFound)
	}
	// What has expired stays so, even if the clock is set back.
	*a, err = a.decide(d)
	return *a, err
}

func (m *memory) Consume(ctx context.Context, callHash, runID string, now time.Time) (Approval, error) {
	var c checker
	now = c.time("now", now)
	if c.err != nil {
		return Approval{}, c.err
	}
	if callHash == "" { // as long as it is not approved
		return Approval{}, errNoApproval(false)
	}
	if err := m.enter(ctx); err != nil {
		return Approval{}, err
	}
	defer m.mu.Unlock()
	expired := false
	for _, a := range m.approvalsOf[runID] {
		if a.GrantedHash != callHash {
			continue
		}
		switch *a = a.at(now); a.State {
		case Approved:
			a.State, a.Used = Used, now
			return *a, nil
		case Expired:
			expired = true
		}
	}
	return Approval{}, errNoApproval(expired)
}
