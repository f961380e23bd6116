package store

import "time"

// Run is one admitted piece of work, for which tools are called.
type Run struct {
	// ID names the run. Required, unique.
	ID string
	// Principal, Tenant and Task say on whose behalf it runs, and for what. Each
	// may be empty.
	Principal, Tenant, Task string
	// Labels say what has entered the run.
	Labels Labels
	// Calls is how many calls were counted by TakeCall.
	Calls int64
	// Created is when it began. Required.
	Created time.Time
	// Expires is when it ends; the zero time is never. The store keeps it, and
	// does not act on it.
	Expires time.Time
}

// Labels are a run's sticky marks. They are only ever set.
type Labels struct {
	// UntrustedSeen: content from outside has entered the run.
	UntrustedSeen bool
	// PrivateSeen: private data has entered the run.
	PrivateSeen bool
}

// Or gives the labels that are set in either.
func (l Labels) Or(m Labels) Labels {
	return Labels{
		UntrustedSeen: l.UntrustedSeen || m.UntrustedSeen,
		PrivateSeen:   l.PrivateSeen || m.PrivateSeen,
	}
}

// RunFilter chooses runs. The zero value is the newest of all.
type RunFilter struct {
	// Principal, Tenant and Task must be the same, where they are not empty.
	Principal, Tenant, Task string
	// Limit is how many to give at most; 0 is DefaultLimit. More than MaxLimit is
	// refused.
	Limit int
}

func (f RunFilter) match(r Run) bool {
	return same(f.Principal, r.Principal) && same(f.Tenant, r.Tenant) && same(f.Task, r.Task)
}

func (r Run) checked() (Run, error) {
	var c checker
	c.name("run ID", r.ID)
	c.label("principal", r.Principal)
	c.label("tenant", r.Tenant)
	c.label("task", r.Task)
	c.require(r.Calls >= 0, "calls of a run must not be negative")
	r.Created = c.time("created", r.Created)
	r.Expires = c.optionalTime("expires", r.Expires)
	return r, c.err
}
