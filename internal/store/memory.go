package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// NewMemory gives an empty Store that lives in this process only. It keeps what
// it is given until it is closed, except for reservations.
func NewMemory() Store {
	return &memory{
		runs:        make(map[string]*Run),
		taken:       make(map[string][]place),
		byID:        make(map[string][]string),
		approvals:   make(map[string]*Approval),
		approvalsOf: make(map[string][]*Approval),
		grants:      make(map[grantKey]Grant),
		effects:     make(map[string]*Effect),
	}
}

// memoryOwner owns all effects of a memory store: there is nobody else.
const memoryOwner = "memory"

type grantKey struct{ run, tool string }

// place is one taken place of a key.
type place struct {
	id       string
	at, keep int64
}

type memory struct {
	mu     sync.Mutex
	closed bool

	// The orders are those in which things were added, oldest first.
	runs          map[string]*Run
	runOrder      []*Run
	taken         map[string][]place  // by key
	byID          map[string][]string // reservation to keys
	sweep         int                 // reservations until the next sweep
	approvals     map[string]*Approval
	approvalOrder []*Approval
	approvalsOf   map[string][]*Approval // by run
	grants        map[grantKey]Grant
	effects       map[string]*Effect
	effectOrder   []*Effect
}

// enter locks the store for one method. The caller has to call mu.Unlock if
// there is no error.
func (m *memory) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	return nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.closed = true
	return nil
}

func (m *memory) CreateRun(ctx context.Context, r Run) error {
	r, err := r.checked()
	if err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.runs[r.ID] != nil {
		return fmt.Errorf("run %w", ErrExists)
	}
	m.runs[r.ID] = &r
	m.runOrder = append(m.runOrder, &r)
	return nil
}

// run needs the lock.
func (m *memory) run(id string) (*Run, error) {
	if r := m.runs[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("run %w", ErrNotFound)
}

func (m *memory) Run(ctx context.Context, id string) (Run, error) {
	if err := m.enter(ctx); err != nil {
		return Run{}, err
	}
	defer m.mu.Unlock()
	r, err := m.run(id)
	if err != nil {
		return Run{}, err
	}
	return *r, nil
}

func (m *memory) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	var c checker
	limit := c.limit(f.Limit)
	if c.err != nil {
		return nil, c.err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return newest(m.runOrder, limit, func(r *Run) (Run, bool) { return *r, f.match(*r) },
		func(r Run) time.Time { return r.Created }), nil
}

// newest gives up to limit entries of a list that is kept oldest first, by
// time, and then by order. It looks at all of them: time is the caller's, and
// need not grow.
func newest[T any](order []*T, limit int, view func(*T) (T, bool), at func(T) time.Time) []T {
	var out []T
	for _, p := range slices.Backward(order) {
		if v, ok := view(p); ok {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b T) int { return at(b).Compare(at(a)) })
	return slices.Clip(out[:min(limit, len(out))])
}

func (m *memory) AddLabels(ctx context.Context, runID string, l Labels) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.run(runID)
	if err != nil {
		return err
	}
	r.Labels = r.Labels.Or(l)
	return nil
}

func (m *memory) TakeCall(ctx context.Context, runID string, max int64) (int64, bool, error) {
	if max < 0 {
		return 0, false, errNegativeBudget
	}
	if err := m.enter(ctx); err != nil {
		return 0, false, err
	}
	defer m.mu.Unlock()
	r, err := m.run(runID)
	if err != nil {
		return 0, false, err
	}
	if max > 0 && r.Calls >= max {
		return r.Calls, false, nil
	}
	r.Calls++
	return r.Calls, true, nil
}

var errNegativeBudget = fmt.Errorf("%w: a budget of calls must not be negative", ErrInvalid)

func (m *memory) Grant(ctx context.Context, g Grant) error {
	g, err := g.checked()
	if err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if _, err := m.run(g.RunID); err != nil {
		return err
	}
	m.grants[grantKey{g.RunID, g.Tool}] = g
	return nil
}

func (m *memory) Revoke(ctx context.Context, runID, tool string, now time.Time) error {
	var c checker
	now = c.time("now", now)
	if c.err != nil {
		return c.err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if _, ok := m.grants[grantKey{runID, tool}]; !ok && tool != "" {
		return fmt.Errorf("grant %w", ErrNotFound)
	}
	if _, err := m.run(runID); err != nil {
		return err
	}
	for k, g := range m.grants {
		if k.run == runID && same(tool, k.tool) && g.Revoked.IsZero() {
			g.Revoked = now
			m.grants[k] = g
		}
	}
	return nil
}

func (m *memory) GrantOf(ctx context.Context, runID, tool string) (Grant, error) {
	if err := m.enter(ctx); err != nil {
		return Grant{}, err
	}
	defer m.mu.Unlock()
	g, ok := m.grants[grantKey{runID, tool}]
	if !ok {
		return Grant{}, fmt.Errorf("grant %w", ErrNotFound)
	}
	return g, nil
}

func (m *memory) Grants(ctx context.Context, runID string) ([]Grant, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Grant
	for k, g := range m.grants {
		if k.run == runID {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Grant) int { return cmp.Compare(a.Tool, b.Tool) })
	return out, nil
}
