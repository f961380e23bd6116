package store

import "time"

const (
	// MaxPer is the longest window.
	MaxPer = 366 * 24 * time.Hour
	// MaxWindows is how many windows one reservation may have.
	MaxWindows = 16
	// skew is how far clocks may seem to run backwards without having been set:
	// a caller reads the time, and then waits for others to finish.
	skew = 30 * time.Second
)

// Window is a sliding rate limit: at most Count places in any span of Per.
type Window struct {
	// Key says whose limit it is; places of one key count for all windows of that
	// key. Required. A place is forgotten once it is out of every window that it
	// was taken in: a longer window that a later reservation has for the same key
	// may not see it.
	Key string
	// Count is how many places there are. 0 admits nothing, ever.
	Count int64
	// Per is how long a place stays taken: more than 0, at most MaxPer.
	Per time.Duration
}

// Reservation is a place in each of some windows.
type Reservation struct {
	// ID is what Release takes. Required.
	ID string
	// Windows are what it needs a place in. None is admitted always.
	Windows []Window
}

// Refusal says which window had no place left. The zero value is none.
type Refusal struct {
	// Window is the one that stays full the longest.
	Window Window
	// RetryAt is when there would be a place in every window, if nobody else took
	// one; always after the time that Reserve was given. The zero time is never.
	RetryAt time.Time
}

// Admitted says whether nothing was refused.
func (r Refusal) Admitted() bool { return r == Refusal{} }

// worse gives the refusal that lasts longer.
func (r Refusal) worse(s Refusal) Refusal {
	switch {
	case r.Admitted():
		return s
	case s.Admitted(), r.RetryAt.IsZero():
		return r
	case s.RetryAt.IsZero(), s.RetryAt.After(r.RetryAt):
		return s
	}
	return r
}

func (r Reservation) check() error {
	var c checker
	c.name("reservation ID", r.ID)
	c.require(len(r.Windows) <= MaxWindows, "reservation has too many windows")
	for _, w := range r.Windows {
		c.name("window key", w.Key)
		c.require(w.Count >= 0, "count of a window must not be negative")
		c.require(w.Per > 0 && w.Per <= MaxPer, "length of a window is out of range")
	}
	return c.err
}

// keep gives for each key how long a place is to be kept: as long as the
// longest of its windows.
func (r Reservation) keep() map[string]time.Duration {
	m := make(map[string]time.Duration, len(r.Windows))
	for _, w := range r.Windows {
		m[w.Key] = max(m[w.Key], w.Per)
	}
	return m
}

// places is what one key's taken places look like to Reserve: the one thing
// that the two stores do differently.
type places interface {
	// newest gives when the youngest place was taken, 0 if there is none.
	newest(key string) (int64, error)
	// clamp makes all places that are younger than at as old as at.
	clamp(key string, at int64) error
	// nth gives the n-th youngest place (from 1) that was taken after the given
	// time, 0 if there are fewer.
	nth(key string, n, after int64) (int64, error)
	// take takes a place at the given time, to be kept for that long.
	take(key, id string, at, keep int64) error
}

// reserve is Reserve's rule. Nothing may have been changed when it refuses,
// except by clamp.
func reserve(p places, r Reservation, now int64) (Refusal, error) {
	keep := r.keep()
	clock := make(map[string]int64, len(keep))
	for key, per := range keep {
		t, err := clockOf(p, key, max(per, skew), now)
		if err != nil {
			return Refusal{}, err
		}
		clock[key] = t
	}
	var refusal Refusal
	for _, w := range r.Windows {
		if w.Count == 0 {
			return Refusal{Window: w}, nil
		}
		at, err := p.nth(w.Key, w.Count, clock[w.Key]-int64(w.Per))
		if err != nil {
			return Refusal{}, err
		}
		if at != 0 {
			refusal = refusal.worse(Refusal{Window: w, RetryAt: fromNano(at + int64(w.Per))})
		}
	}
	if !refusal.Admitted() {
		return refusal, nil
	}
	for key, per := range keep {
		if err := p.take(key, r.ID, clock[key], int64(per)); err != nil {
			return Refusal{}, err
		}
	}
	return Refusal{}, nil
}

// clockOf gives the time that counts for a key: now, unless there are places
// from the future, see [Store.Reserve].
func clockOf(p places, key string, slack time.Duration, now int64) (int64, error) {
	newest, err := p.newest(key)
	switch {
	case err != nil:
		return 0, err
	case newest <= now:
		return now, nil
	case newest-now <= int64(slack):
		return newest, nil
	}
	return now, p.clamp(key, now)
}
