package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// The flags that have a range. An error names the range and the default; the
// command line adds the flag's name. A value of zero is never in range, so that
// it can stand for "not given".

// fileFlag is a file's name. An empty one, as a script's unset variable gives,
// must not pass for a flag that is not there.
type fileFlag string

func (f *fileFlag) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("the name of a file must follow; - is standard input")
	}
	*f = fileFlag(text)
	return nil
}

// ttlFlag is how long something lasts. It is for ever if the flag is not given, so
// that a zero, as a script's sum may give, must not pass for that.
type ttlFlag time.Duration

func (f *ttlFlag) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 30s, 15m or 8h", text)
	}
	if d <= 0 {
		return fmt.Errorf("%v is over before it begins; it must be more than nothing", d)
	}
	*f = ttlFlag(d)
	return nil
}

type timeoutFlag time.Duration

func (f *timeoutFlag) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 500ms, 5s or 2m; the range is 1ms to 24h, the default %v", text, sandbox.DefaultTimeout)
	}
	if d < time.Millisecond || d > 24*time.Hour {
		return fmt.Errorf("%v is out of range: 1ms to 24h, the default is %v", d, sandbox.DefaultTimeout)
	}
	*f = timeoutFlag(d)
	return nil
}

type memoryFlag int64

func (f *memoryFlag) UnmarshalText(text []byte) error {
	// The least is what an engine reserves, the most what 32-bit addresses
	// leave beside an image.
	n, err := inRange(string(text), 2, 3072, fmt.Sprint(sandbox.DefaultMaxMemory>>20))
	*f = memoryFlag(n)
	return err
}

type outputFlag int64

func (f *outputFlag) UnmarshalText(text []byte) error {
	n, err := inRange(string(text), 1, 64<<20, fmt.Sprint(sandbox.DefaultMaxOutput))
	*f = outputFlag(n)
	return err
}

type countFlag int64

func (f *countFlag) UnmarshalText(text []byte) error {
	n, err := inRange(string(text), 1, 1<<16, fmt.Sprint(sandbox.DefaultMaxArtifacts))
	*f = countFlag(n)
	return err
}

type artifactFlag int64

func (f *artifactFlag) UnmarshalText(text []byte) error {
	n, err := inRange(string(text), 1, 1<<30, fmt.Sprint(sandbox.DefaultMaxArtifactBytes))
	*f = artifactFlag(n)
	return err
}

type fuelFlag int64

func (f *fuelFlag) UnmarshalText(text []byte) error {
	n, err := inRange(string(text), 1, math.MaxInt64/2, "no limit")
	*f = fuelFlag(n)
	return err
}

type seedFlag uint64

func (f *seedFlag) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d; there is no default", text, uint64(math.MaxUint64))
	}
	*f = seedFlag(n)
	return nil
}

type clockFlag time.Time

func (f *clockFlag) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2026-01-31T12:00:00Z; the range is the years 1970 to 2261, there is no default", text)
	}
	// Guests count nanoseconds from 1970 in 64 bits.
	if t.Before(time.Unix(0, 0)) || t.UTC().Year() > 2261 {
		return fmt.Errorf("%s is out of range: the years 1970 to 2261; there is no default", text)
	}
	*f = clockFlag(t)
	return nil
}

func inRange(text string, lo, hi int64, deflt string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d; the default is %s", text, lo, hi, deflt)
	}
	return n, nil
}

// limitFlag is how long a list may be.
type limitFlag int

func (f *limitFlag) UnmarshalText(text []byte) error {
	n, err := inRange(string(text), 1, 1000, "100")
	*f = limitFlag(n)
	return err
}
