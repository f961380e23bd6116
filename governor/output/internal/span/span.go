// Package span says which part of a text is to go, and why.
package span

import (
	"slices"
	"strings"
)

// Kind is what was found.
type Kind string

// Span is a part of a text, in bytes of it: text[Start:End].
type Span struct {
	Start, End int
	Kind       Kind
	// With stands in its place; empty when it only goes.
	With string
}

// Sort sorts spans by where they start and drops each that overlaps the one
// before it, after making that one reach as far: nothing that was found stays
// in the text.
func Sort(spans []Span) []Span {
	byStart := func(a, b Span) int { return a.Start - b.Start }
	if !slices.IsSortedFunc(spans, byStart) { // mostly they are
		slices.SortStableFunc(spans, byStart)
	}
	kept := spans[:0]
	for _, s := range spans {
		if n := len(kept); n > 0 && s.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, s.End)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// Replace gives text with each of the spans, sorted as [Sort] does, replaced.
func Replace(text string, spans []Span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		b.WriteString(s.With)
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}
