package store

import "time"

// Grant lets a run call a tool.
type Grant struct {
	// RunID and Tool say who may call what. Required.
	RunID, Tool string
	// By says who granted it. May be empty.
	By string
	// Granted is when. Required.
	Granted time.Time
	// Expires is from when on it is void. The zero time is never.
	Expires time.Time
	// Revoked is when it was revoked; the zero time is not. Revoke sets it.
	Revoked time.Time
}

// Active says whether the grant holds at that time. A revoked one never does,
// whatever the clock says.
func (g Grant) Active(now time.Time) bool { return g.Revoked.IsZero() && !due(g.Expires, now) }

func (g Grant) checked() (Grant, error) {
	var c checker
	c.name("run ID", g.RunID)
	c.name("tool", g.Tool)
	c.label("granted by", g.By)
	g.Granted = c.time("granted", g.Granted)
	g.Expires = c.optionalTime("expires", g.Expires)
	c.require(g.Revoked.IsZero(), "a new grant must not be revoked")
	return g, c.err
}
