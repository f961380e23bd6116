package rows

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// source is one input's text, known to be UTF-8 without NUL bytes and without
// a byte order mark.
type source struct {
	opts Options
	text string
}

func newSource(text string, opts Options) (*source, error) {
	s := &source{opts: opts, text: text}
	refuse := func(reason string) (*source, error) {
		return nil, &Error{Name: opts.Name, Code: Encoding, Reason: reason}
	}
	switch {
	case strings.HasPrefix(s.text, "\xff\xfe"), strings.HasPrefix(s.text, "\xfe\xff"):
		return refuse("is UTF-16 text; convert it to UTF-8 first")
	}
	s.text = strings.TrimPrefix(s.text, "\ufeff")
	if at := strings.IndexByte(s.text, 0); at >= 0 {
		return nil, s.errorAt(at, Encoding, "a NUL byte; this is not text")
	}
	if at := invalidUTF8(s.text); at >= 0 {
		return nil, s.errorAt(at, Encoding, "invalid UTF-8; convert the text to UTF-8 first")
	}
	return s, nil
}

// invalidUTF8 gives the offset of the first byte that is no UTF-8, or -1.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// errorAt is an error at a byte offset of the text.
func (s *source) errorAt(offset int, code Code, format string, args ...any) *Error {
	line, column := position(s.text, offset)
	return &Error{Name: s.opts.Name, Line: line, Column: column, Code: code, Reason: fmt.Sprintf(format, args...)}
}

// position turns a byte offset into a line and a column in characters, both
// from 1. LF, CRLF and CR end a line.
func position(text string, offset int) (line, column int) {
	offset = min(offset, len(text))
	line = 1
	start := 0
	for i := 0; i < offset; i++ {
		switch text[i] {
		case '\n':
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
		default:
			continue
		}
		line++
		start = i + 1
	}
	return line, 1 + utf8.RuneCountInString(text[start:offset])
}

func (s *source) tooManyCells() error {
	return &Error{Name: s.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d values", s.opts.MaxCells)}
}

func (s *source) tooManyColumns() error {
	return &Error{Name: s.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d columns", MaxColumns)}
}
