package store

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// DefaultLimit is how many entries a list has if the filter says nothing.
	DefaultLimit = 100
	// MaxLimit is how many entries a list may have.
	MaxLimit = 1000
	// MaxName is how long an ID, key, hash or name may be, in bytes.
	MaxName = 1024
	// MaxText is how long arguments, reasons and outcomes may be, in bytes.
	MaxText = 1 << 20
	// MaxArgs is how many bytes of arguments a list of approvals has at most. It
	// holds those of any one approval.
	MaxArgs = 4 << 20
)

// checker collects the first thing that is wrong with a value. It never puts
// the value into the error.
type checker struct{ err error }

func (c *checker) require(ok bool, what string) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrInvalid, what)
	}
}

// name checks a text that must be there.
func (c *checker) name(what, s string) {
	c.require(s != "", what+" is empty")
	c.label(what, s)
}

// label checks a short text that may be empty.
func (c *checker) label(what, s string) { c.bounded(what, s, MaxName) }

// text checks a long text that may be empty.
func (c *checker) text(what, s string) { c.bounded(what, s, MaxText) }

func (c *checker) bounded(what, s string, limit int) {
	if len(s) > limit {
		c.require(false, fmt.Sprintf("%s is longer than %d bytes", what, limit))
	}
	// A zero byte ends a text for some readers of the file and not for others.
	c.require(utf8.ValidString(s) && !strings.Contains(s, "\x00"), what+" is not UTF-8 without zero bytes")
}

func (c *checker) time(what string, t time.Time) time.Time {
	c.require(!t.IsZero(), "time "+what+" is missing")
	return c.optionalTime(what, t)
}

// optionalTime gives t as it comes back from the file.
func (c *checker) optionalTime(what string, t time.Time) time.Time {
	c.require(t.IsZero() || !t.Before(firstTime) && !t.After(lastTime), "time "+what+" is out of range")
	return fromNano(toNano(t))
}

func (c *checker) limit(n int) int {
	c.require(n >= 0 && n <= MaxLimit, fmt.Sprintf("limit is not between 0 and %d", MaxLimit))
	if n == 0 {
		return DefaultLimit
	}
	return n
}

// The file keeps times as nanoseconds since 1970, and 0 as no time at all.
var (
	firstTime = time.Unix(0, 1)
	// A century of nanoseconds is kept free, so that adding a window cannot
	// overflow.
	lastTime = time.Unix(0, math.MaxInt64).AddDate(-1, 0, 0)
)

func toNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// due says whether a time that may be absent has come.
func due(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// same says whether a filter's field lets a value through.
func same(want, got string) bool { return want == "" || want == got }
