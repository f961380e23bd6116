package manifests

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// source is the text of one file and where its lines are.
type source struct {
	text []byte
	// lines are the offsets of the lines' first bytes. A line ends with LF,
	// CRLF or CR, as YAML has it.
	lines []int
	// seen is a place that was asked for, to go on from.
	seen place
}

// place is a position in a text, three ways.
type place struct {
	offset       int
	line, column int // from 1, column in characters
}

var byteOrderMark = []byte("\ufeff")

func newSource(text []byte) *source {
	s := &source{text: text, lines: []int{0}, seen: place{0, 1, 1}}
	for i, c := range text {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// at gives the place of a byte. Asking in order takes linear time in all.
func (s *source) placeOf(offset int) place {
	offset = min(offset, len(s.text))
	p := s.seen
	if offset < p.offset {
		p = place{0, 1, 1}
	}
	for p.line < len(s.lines) && s.lines[p.line] <= offset {
		p = place{s.lines[p.line], p.line + 1, 1}
	}
	p.column += utf8.RuneCount(s.text[p.offset:offset])
	p.offset = offset
	s.seen = p
	return p
}

// find gives the place of a character by line and column. A column past the
// line's end counts as its end.
func (s *source) placeAt(line, column int) place {
	if line > len(s.lines) { // the library's place for a value that the text ends without
		line, column = len(s.lines), math.MaxInt
	}
	line = max(1, line)
	p := s.seen
	if p.line != line || p.column > column {
		p = place{s.lines[line-1], line, 1}
	}
	end := len(s.text)
	if line < len(s.lines) {
		end = s.lines[line]
	}
	for p.column < column && p.offset < end {
		_, size := utf8.DecodeRune(s.text[p.offset:end])
		p.offset += size
		p.column++
	}
	s.seen = p
	return p
}

// cannotRead are characters that end a line in YAML 1.1 but not in 1.2, so
// that readers disagree on what follows.
var cannotRead = []string{"\u0085", "\u2028", "\u2029"}

// checkText reports text that no format takes. It returns false when there is
// no point in going on.
func (s *source) checkText(r *reporter) bool {
	for i, rest := 0, s.text; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		if c == utf8.RuneError && size == 1 {
			p := s.placeOf(i)
			r.add(p.line, p.column, "", CodeEncoding, "is not UTF-8")
			return false
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			p := s.placeOf(i)
			r.add(p.line, p.column, "", CodeEncoding, "holds a control character; write it as an escape in double quotes")
			return false
		}
		rest = rest[size:]
		i += size
	}
	return true
}

// checkBreaks reports characters that only some readers of YAML take for the
// end of a line.
func (s *source) checkBreaks(r *reporter) bool {
	for _, c := range cannotRead {
		if i := bytes.Index(s.text, []byte(c)); i >= 0 {
			p := s.placeOf(i)
			r.add(p.line, p.column, "", CodeEncoding, "holds a character that ends a line for some readers of YAML only; write it as an escape in double quotes")
			return false
		}
	}
	return true
}
