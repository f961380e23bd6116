// Package scrub takes known values, such as secrets, out of text.
//
// What it guarantees for each value that it was made with: no text that it
// returns holds the value, or one of its parts (see [New]), as it is, with
// characters escaped as in JSON, Python or C (also twice), in a URL or in HTML, in
// base64 of any alignment and either alphabet, or in hexadecimal. It takes time
// linear in the length of the text, whatever the text is.
//
// What it does not guarantee: that a program which wants to tell somebody a value
// cannot. It could spell it, compress it or add one to each byte.
package scrub

import (
	"bytes"
	"slices"
)

// MinLength is how many bytes a value must have at least. Shorter ones would
// be found in text that has nothing to do with them, and are left alone.
const MinLength = 8

// Value is something to be taken out.
type Value struct {
	// Name stands in the text instead: [SECRET:NAME]. It should not hold what is
	// secret.
	Name string
	// Text is the value.
	Text string
}

// Scrubber takes values out of text. A nil Scrubber takes nothing out. It can be
// used by several goroutines.
type Scrubber struct {
	names []string
	// Patterns by the way in which text is read to find them.
	plain, base64, hex *automaton
	// least is how long the shortest pattern is: in a shorter text there is none.
	least int
}

// New makes a scrubber. Beside a value itself it finds these parts of it: words of
// at least 16 bytes, such as the lines of a key or the token of a header;
// strings of at least 16 bytes in a value that is JSON; the password in a URL.
// Values shorter than [MinLength] are left alone.
func New(values []Value) *Scrubber {
	s := &Scrubber{plain: newAutomaton(), base64: newAutomaton(), hex: newAutomaton()}
	for _, v := range values {
		if len(v.Text) < MinLength {
			continue
		}
		name := int32(len(s.names))
		s.names = append(s.names, v.Name)
		for _, part := range parts(v.Text) {
			if s.least == 0 || len(part) < s.least {
				s.least = len(part)
			}
			s.plain.add([]byte(part), name)
			for _, encoded := range base64Forms(part) {
				s.base64.add(encoded, name)
			}
			s.hex.add(hexForm(part), name)
		}
	}
	if len(s.names) == 0 {
		return nil
	}
	s.plain.finish()
	s.base64.finish()
	s.hex.finish()
	return s
}

// Text gives the text with all values replaced, and how many places that were.
// The text given is not changed.
func (s *Scrubber) Text(text []byte) ([]byte, int) { return s.text(new(scratch), text, false) }

// CutText is [Scrubber.Text] for text whose end was cut off: what could be the
// start of a value there goes as well.
func (s *Scrubber) CutText(text []byte) ([]byte, int) { return s.text(new(scratch), text, true) }

// String is [Scrubber.Text] for a string.
func (s *Scrubber) String(text string) string {
	if s == nil {
		return text
	}
	out, n := s.text(new(scratch), []byte(text), false)
	if n == 0 {
		return text
	}
	return string(out)
}

// Has reports whether the text holds a value.
func (s *Scrubber) Has(text []byte) bool {
	return s != nil && len(s.find(new(scratch), text, false)) > 0
}

func (s *Scrubber) text(m *scratch, text []byte, cut bool) ([]byte, int) {
	if s == nil || len(text) < s.least && !cut {
		return text, 0
	}
	places := s.find(m, text, cut)
	if len(places) == 0 {
		return text, 0
	}
	out := make([]byte, 0, len(text))
	at := 0
	for _, p := range places {
		out = append(out, text[at:p.start]...)
		out = append(out, s.marker(p.name)...)
		at = p.end
	}
	return append(out, text[at:]...), len(places)
}

func (s *Scrubber) marker(name int32) string { return "[SECRET:" + s.names[name] + "]" }

// place is where a value stands.
type place struct {
	start, end int
	name       int32
}

// find gives all places, in order, none of which overlap.
func (s *Scrubber) find(m *scratch, text []byte, cut bool) []place {
	m.places = m.places[:0]
	end := 0
	if cut {
		end = len(text)
	}
	look := func(a *automaton, r reader) { a.find(m, r, end) }
	decoded := func(r reader, e escape) reader { return newDecoder(r, e, cut) }

	raw := func() reader { return &rawReader{text: text} }
	look(s.plain, raw())
	if bytes.IndexByte(text, '\\') >= 0 {
		once := func() reader { return decoded(raw(), backslash) }
		look(s.plain, once())
		look(s.plain, decoded(once(), backslash))
	}
	if bytes.IndexByte(text, '%') >= 0 || bytes.IndexByte(text, '+') >= 0 {
		look(s.plain, decoded(raw(), percent))
		look(s.plain, decoded(raw(), form))
	}
	if bytes.IndexByte(text, '&') >= 0 {
		look(s.plain, decoded(raw(), entity))
	}
	look(s.base64, &mapReader{raw(), &urlAlphabet})
	look(s.base64, &mapReader{decoded(decoded(raw(), percent), backslash), &urlAlphabetLines})
	look(s.hex, &mapReader{raw(), &lowerCase})
	look(s.hex, &mapReader{raw(), &lowerCaseGroups})
	return merge(m.places)
}

// merge puts places in order and makes one of those that overlap.
func merge(places []place) []place {
	if len(places) < 2 {
		return places
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := places[:1]
	for _, p := range places[1:] {
		last := &out[len(out)-1]
		if p.start < last.end {
			last.end = max(last.end, p.end)
			continue
		}
		out = append(out, p)
	}
	return out
}
