package manifests

import (
	"strconv"
	"strings"
	"time"
)

// The longest times that a manifest can ask for.
const (
	// MaxDuration bounds what a machine waits for.
	MaxDuration = 24 * time.Hour
	// MaxPatience bounds what a person is waited for.
	MaxPatience = 30 * 24 * time.Hour
)

// units of durations, longest first.
var units = []struct {
	name string
	size time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// durationPattern is the form of durations for JSON Schema.
const durationPattern = `^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`

// parseDuration reads a duration up to max: whole numbers with units, longest
// first.
func parseDuration(s string, max time.Duration) (time.Duration, string) {
	words := "must be a duration such as 500ms, 30s, 2m or 1h30m, from 1ms to " + formatDuration(max)
	var total time.Duration
	rest := s
	for _, u := range units {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		after, ok := strings.CutPrefix(rest[len(digits):], u.name)
		if digits == "" || !ok || u.name == "m" && strings.HasPrefix(after, "s") {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > int64(max/u.size) {
			return 0, words
		}
		total += time.Duration(n) * u.size
		rest = after
	}
	if rest != "" || total <= 0 || total > max {
		return 0, words
	}
	return total, ""
}

// formatDuration writes a duration so that parseDuration reads it.
func formatDuration(d time.Duration) string {
	var b strings.Builder
	for _, u := range units {
		if u.name == "d" && d != 0 && d%u.size != 0 {
			continue // 36h, not 1d12h
		}
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.size
		}
	}
	return b.String()
}

func duration(p *time.Duration) slot { return durationUpTo(p, MaxDuration) }

func durationUpTo(p *time.Duration, max time.Duration) slot {
	parse := func(s string) (time.Duration, string) { return parseDuration(s, max) }
	return formSlot[time.Duration]{p: p, parse: parse, format: formatDuration, pattern: durationPattern}
}
