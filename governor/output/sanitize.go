package output

import (
	"strings"

	"github.com/mayfly-run/mayfly/governor/output/internal/inject"
	"github.com/mayfly-run/mayfly/governor/output/internal/pii"
	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// sanitizer finds what is to go. The context is what a key says about the value.
type sanitizer func(text string, context pii.Context) []span.Span

var sanitizers = map[string]sanitizer{
	RedactPII:         pii.Find,
	StripInstructions: func(text string, _ pii.Context) []span.Span { return inject.Find(text) },
}

// maxRounds bounds how often a text is gone over. Taking something out can make
// a match of what stood beside it, which takes another round. Two do for all but
// texts that are built to need more.
const maxRounds = 8

// Unreadable counts texts that still changed in the last round. They are
// dropped as a whole: what is left in them is not known.
const Unreadable = "unreadable"

const dropped = "[REMOVED]"

// cleanText sanitizes one text that may be anything.
func (o *Output) cleanText(text string, c counts) string {
	return o.clean(strings.ToValidUTF8(text, "\ufffd"), 0, c)
}

// clean sanitizes one text, which must be valid UTF-8, until nothing changes.
func (o *Output) clean(text string, context pii.Context, c counts) string {
	if text == "" {
		return text
	}
	for range maxRounds {
		changed := false
		for _, find := range o.sanitizers {
			spans := find(text, context)
			if len(spans) == 0 {
				continue
			}
			changed = true
			text = span.Replace(text, spans)
			for _, s := range spans {
				c[string(s.Kind)]++
			}
		}
		if !changed {
			return text
		}
	}
	c[Unreadable]++
	return dropped
}

// Kinds are the kinds of redactions that a sanitizer counts; nil if there is no
// such sanitizer. Each can also count [Unreadable].
func Kinds(sanitizer string) []string {
	var kinds []span.Kind
	switch sanitizer {
	case RedactPII:
		kinds = pii.Kinds
	case StripInstructions:
		kinds = inject.Kinds
	}
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

// Finding is one place in a text that a sanitizer takes out.
type Finding struct {
	// Start and End are its place in the text, in bytes.
	Start, End int
	// Kind is one of [Kinds].
	Kind string
}

// Find gives what a sanitizer finds in a text in one round, which must be valid
// UTF-8; nil if there is no such sanitizer. It is what corpora measure; results
// go through [Output].
func Find(sanitizer, text string) []Finding {
	find, ok := sanitizers[sanitizer]
	if !ok {
		return nil
	}
	var list []Finding
	for _, s := range find(text, 0) {
		list = append(list, Finding{Start: s.Start, End: s.End, Kind: string(s.Kind)})
	}
	return list
}
