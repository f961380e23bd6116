package governor

import (
	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/internal/store"
)

// Call is a tool call that somebody wants to make.
type Call struct {
	// Run is the run that makes it. Required for a call that is to run. In a dry
	// run it may be empty: Subject says who calls instead, and the task which
	// tools are granted.
	Run string
	// Subject says who calls, when there is no run. A run brings its own.
	Subject Subject
	// ID names the call in decisions. It is not part of what is approved.
	ID string
	// Tool is the tool's name.
	Tool string
	// Args are its arguments.
	Args Arguments
	// Labels are what the caller knows the run to have seen, beside what the
	// store knows.
	Labels store.Labels
	// Approval is the ID of the approval that the call resumes; empty for a new
	// call. A resumed call is not counted against the budget again.
	Approval string
}

// Subject is on whose behalf a call is made, and for what.
type Subject struct {
	Principal, Tenant, Task string
}

// Limits of a call's arguments.
const (
	// MaxArgumentBytes is how long their JSON text may be: room for some hundred
	// thousand rows.
	MaxArgumentBytes = 32 << 20
	// MaxArgumentDepth is how deeply they may nest.
	MaxArgumentDepth = canonjson.DefaultMaxDepth
)

// Arguments are the arguments of a call, read once: what the steps check is what
// runs. The zero Arguments are missing, which is not the same as {} or null.
type Arguments struct {
	given bool
	tree  any
	size  int // of the text, in bytes
	err   *canonjson.Error
}

// ParseArguments reads JSON strictly: names that occur twice, numbers that would
// not survive, text after the end and the like are errors, see package
// canonjson. Arguments that cannot be read are a call's all the same, and are
// blocked by the schema step.
func ParseArguments(text []byte) Arguments {
	tree, err := canonjson.Parse(text, canonjson.Limits{MaxBytes: MaxArgumentBytes, MaxDepth: MaxArgumentDepth})
	if err != nil {
		e, ok := err.(*canonjson.Error)
		if !ok {
			e = &canonjson.Error{Code: canonjson.Syntax, Offset: -1, Reason: "cannot be read"}
		}
		return Arguments{given: true, err: e}
	}
	return Arguments{given: true, tree: tree, size: len(text)}
}

// Given reports whether there are arguments at all.
func (a Arguments) Given() bool { return a.given }

// Err says why the arguments cannot be read; nil if they can.
func (a Arguments) Err() error {
	if a.err == nil {
		return nil
	}
	return a.err
}

// Tree gives the arguments as canonjson gives them. The tree is shared and must
// not be changed.
func (a Arguments) Tree() any { return a.tree }

// Text gives the arguments as JSON that ParseArguments reads back as exactly the
// same: integers stay integers and floats stay floats. Missing arguments and
// those that cannot be read have no text.
func (a Arguments) Text() string {
	if !a.given || a.err != nil {
		return ""
	}
	return string(appendExact(nil, a.tree))
}
