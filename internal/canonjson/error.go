package canonjson

import (
	"strconv"
	"strings"
)

// Code says which rule a text or a tree broke.
type Code string

// The codes. They are stable.
const (
	// Syntax: not JSON, or more than one value.
	Syntax Code = "syntax"
	// Encoding: not UTF-8, or half of a surrogate pair.
	Encoding Code = "encoding"
	// DuplicateName: an object has a name twice.
	DuplicateName Code = "duplicate_name"
	// Number: a number that has no canonical form, or would not survive.
	Number Code = "number"
	// TooLarge: more bytes than allowed.
	TooLarge Code = "too_large"
	// TooDeep: nested deeper than allowed.
	TooDeep Code = "too_deep"
	// Type: a Go value that is not part of a JSON tree. Parse never makes one.
	Type Code = "type"
)

// Error is why something has no canonical form. Its text holds no value.
type Error struct {
	// Code is the rule.
	Code Code
	// Pointer is the JSON pointer of the value, "" for the whole.
	Pointer string
	// Offset is where in the text, in bytes, or -1 when there is no text.
	Offset int
	// Reason is the rule in words.
	Reason string
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Pointer != "" {
		b.WriteString(e.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(e.Reason)
	if e.Offset >= 0 {
		b.WriteString(" (at byte ")
		b.WriteString(strconv.Itoa(e.Offset))
		b.WriteString(")")
	}
	return b.String()
}
