package rows

import (
	"fmt"
	"strings"
)

// Code says what kind of problem an [Error] is.
type Code string

// The codes. They are stable.
const (
	// Unreadable: the input could not be opened or read, or is no such format.
	Unreadable Code = "unreadable"
	// TooLarge: more bytes, cells or columns than allowed.
	TooLarge Code = "too_large"
	// Empty: no header where one must be, or no JSON value.
	Empty Code = "empty"
	// Encoding: the input is not UTF-8 text.
	Encoding Code = "encoding"
	// Syntax: the input breaks the rules of its format.
	Syntax Code = "syntax"
	// Ragged: a record has more or fewer cells than the header.
	Ragged Code = "ragged"
	// DuplicateName: two columns, or two members of an object, share a name.
	DuplicateName Code = "duplicate_name"
	// Number: a JSON number that cannot be kept.
	Number Code = "number"
)

// Error says what is wrong with an input, and where. Its text never holds a
// cell.
type Error struct {
	// Name is the input's name, as given.
	Name string
	// Line and Column count from 1, Column in characters; both are 0 when the
	// problem has no place.
	Line, Column int
	// Code is the kind of problem.
	Code Code
	// Reason is the problem in words.
	Reason string
	// Err is the cause, if another package found the problem.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Name)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
