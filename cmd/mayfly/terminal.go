package main

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// drivesTerminal reports whether a character does something to a terminal, or
// to the order or presence of other characters, instead of being seen itself.
// Line end and tab may stay.
func drivesTerminal(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r): // C0, DEL, C1
		return true
	case unicode.Is(unicode.Bidi_Control, r):
		return true
	case r == '\u2028' || r == '\u2029': // line and paragraph separator
		return true
	case 0xfff9 <= r && r <= 0xfffb: // interlinear annotation
		return true
	case 0xe0000 <= r && r <= 0xe007f: // tags: invisible text
		return true
	}
	return false
}

// visible replaces what drivesTerminal, and bytes that are no UTF-8, by
// escapes such as \x1b and \u202e.
func visible(p []byte) []byte {
	if harmless(p) {
		return p
	}
	out := make([]byte, 0, len(p)+len(p)/8+16)
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, p[0])
		case !drivesTerminal(r):
			out = append(out, p[:size]...)
		case r == '\r':
			out = append(out, `\r`...)
		case r < utf8.RuneSelf:
			out = fmt.Appendf(out, `\x%02x`, r)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = fmt.Appendf(out, `\U%08x`, r)
		}
		p = p[size:]
	}
	return out
}

// visibleJSON does the same to JSON text, so that it stays JSON of the same
// meaning. In JSON such characters stand in strings only, but for the white
// space between values, where a carriage return is dropped.
func visibleJSON(p []byte) []byte {
	if harmless(p) {
		return p
	}
	out := make([]byte, 0, len(p)+len(p)/8+16)
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		switch {
		case r == '\r':
		case r != utf8.RuneError && !drivesTerminal(r):
			out = append(out, p[:size]...)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		p = p[size:]
	}
	return out
}

// plainJSON writes JSON for a person who decides by it: over several lines with
// an indent, on one without. Letters stand as they are; whatever cannot be seen,
// or is seen as something else, is an escape, wherever the text goes.
func plainJSON(text, indent string) string {
	value := jsontext.Value(text)
	var err error
	if indent == "" {
		err = value.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false))
	} else {
		err = value.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false), jsontext.WithIndent(indent))
	}
	if err != nil {
		return string(visible([]byte(text))) // it comes from a store: not JSON is damage, and shown as it is
	}
	var out []byte
	for _, r := range string(value) {
		switch {
		case r == '\n' || r != unicode.ReplacementChar && unicode.IsPrint(r) && !drivesTerminal(r):
			out = utf8.AppendRune(out, r)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return string(out)
}

func harmless(p []byte) bool {
	return utf8.Valid(p) && !bytes.ContainsFunc(p, drivesTerminal)
}
