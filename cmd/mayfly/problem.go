package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/mayfly-run/mayfly/manifests"
)

// problem is an error or a warning about a manifest, as it is printed.
type problem struct {
	Level   string `json:"level"` // error, or warning
	Fails   bool   `json:"fails"`
	File    string `json:"file"`
	Line    int    `json:"line,omitzero"`
	Column  int    `json:"column,omitzero"`
	Pointer string `json:"pointer"`
	Tool    string `json:"tool,omitzero"`
	Code    string `json:"code"`
	Message string `json:"message"`

	full string // with the place
}

func newError(e *manifests.Error) problem {
	return problem{
		Level: "error", Fails: true, File: e.File, Line: e.Line, Column: e.Column, Pointer: e.Pointer,
		Code: string(e.Code), Message: e.Reason, full: e.Error(),
	}
}

func newWarning(w manifests.Warning) problem {
	return problem{
		Level: "warning", Fails: w.Fails(), File: w.File, Line: w.Line, Column: w.Column, Pointer: w.Pointer,
		Tool: w.Tool, Code: string(w.Code), Message: w.Message, full: w.String(),
	}
}

// newConfinementError says that a native tool is refused on this machine.
func newConfinementError(t *manifests.Tool, n nativeHealth) problem {
	p := problem{
		Level: "error", Fails: true, File: t.Origin.File, Line: t.Origin.Line, Pointer: "/spec/transport", Tool: t.Metadata.Name, Code: "confinement",
		Message: "every call is refused, for native tools cannot be confined here: " + n.Problem,
	}
	p.full = fmt.Sprintf("%s:%d: %s: %s (confinement)", p.File, p.Line, p.Tool, p.Message)
	return p
}

// newMissingWarning says that something a tool needs is not on this machine. It
// may be there by the time of a call.
func newMissingWarning(t *manifests.Tool, what string) problem {
	p := problem{
		Level: "warning", File: t.Origin.File, Line: t.Origin.Line, Pointer: "/spec", Tool: t.Metadata.Name, Code: "not_here",
		Message: "calls fail as long as it is so: " + what,
	}
	p.full = fmt.Sprintf("%s:%d: %s: %s (not_here)", p.File, p.Line, p.Tool, p.Message)
	return p
}

// newExpressionError takes apart what the governor says of an expression:
// file:line:column: what is wrong.
func newExpressionError(line string) problem {
	p := problem{Level: "error", Fails: true, Code: "expression", Message: line, full: line + " (expression)"}
	if m := placePattern.FindStringSubmatch(line); m != nil {
		p.File, p.Message = m[1], m[4]
		p.Line, _ = strconv.Atoi(m[2]) // digits: at worst too many, which gives the largest int
		p.Column, _ = strconv.Atoi(m[3])
	}
	return p
}

var placePattern = regexp.MustCompile(`^(.+?):(\d+):(\d+): (.*)$`)

// text is the problem with its place, on one line.
func (p problem) text() string { return p.full }
