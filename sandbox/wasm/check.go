package wasm

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/sandbox"
)

const (
	maxName    = 255
	maxTimeout = 24 * time.Hour
	maxDepth   = 500
)

// check refuses a Spec that cannot be run as it is. Limits have their defaults
// already.
func (e *Engine) check(s sandbox.Spec) error {
	l := s.Limits
	for _, c := range []struct {
		name          string
		value, lo, hi int64
	}{
		{"Timeout", int64(l.Timeout), 1, int64(maxTimeout)},
		{"MaxMemory", int64(min(l.MaxMemory, math.MaxInt64)), int64(minMaxMemory), int64(e.config.MaxMemory)},
		{"MaxOutput", l.MaxOutput, 1, 1 << 30},
		{"MaxValue", l.MaxValue, 1, 1 << 30},
		{"MaxFuel", l.MaxFuel, 0, math.MaxInt64 / 2},
		{"MaxSource", l.MaxSource, 1, 64 << 20},
		{"MaxDepth", int64(l.MaxDepth), 1, maxDepth},
		{"MaxFiles", int64(l.MaxFiles), 1, 1 << 20},
		{"MaxFileBytes", l.MaxFileBytes, 1, 1 << 30},
		{"MaxArtifacts", int64(l.MaxArtifacts), 1, 1 << 16},
		{"MaxArtifactBytes", l.MaxArtifactBytes, 1, 1 << 30},
		{"MaxHostCalls", int64(l.MaxHostCalls), 1, 1 << 30},
	} {
		if c.value < c.lo || c.value > c.hi {
			if c.name == "Timeout" {
				return fmt.Errorf("limit Timeout is %v, want up to %v", l.Timeout, maxTimeout)
			}
			return fmt.Errorf("limit %s is %d, want %d to %d", c.name, c.value, c.lo, c.hi)
		}
	}
	if n := int64(len(s.Code)); n > l.MaxSource {
		return fmt.Errorf("the source has %d bytes, the limit is %d", n, l.MaxSource)
	}
	if at := invalidUTF8(s.Code); at >= 0 {
		return fmt.Errorf("the source is not UTF-8: line %d has a bad byte", 1+strings.Count(s.Code[:at], "\n"))
	}
	if len(s.Name) > maxName || !utf8.ValidString(s.Name) || strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the name of the source is not up to %d bytes of printable text", maxName)
	}
	return nil
}

// invalidUTF8 finds the first byte that is not UTF-8, or gives -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}
