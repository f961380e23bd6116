package sandbox

import (
	"context"
	"time"
)

// Spec is one call: the code, what it is given, and what it may use. A back
// end reads it and never changes it.
type Spec struct {
	// Name is what tracebacks call the source, such as "report.py". Default
	// "main.py" or the guest's equivalent. It is a label, never a path that
	// anything opens.
	Name string
	// Code is the source text, UTF-8.
	Code string
	// Globals become global variables of the code, under their own names. A
	// name must be an identifier of the guest's language that is neither a
	// keyword nor reserved (for Python: no leading double underscore).
	//
	// Values: nil, bool, every integer type, *big.Int, float64, string, []byte,
	// []any, map[string]any, *Table, and RawJSON. Integers keep all their
	// digits. Anything else is refused as [StatusInvalid] with its path.
	Globals map[string]any
	// Limits bound the call; see [Limits] for the defaults.
	Limits Limits
	// Deterministic, when set, makes the same Spec on the same guest give the
	// same value, output and fuel every time.
	Deterministic *Deterministic
	// HostCall answers the guest's calls of host tools; nil refuses every one
	// of them. It runs on the call's own time: ctx carries the deadline.
	// An error's text reaches the guest.
	HostCall func(ctx context.Context, tool string, args RawJSON) (RawJSON, error)
}

// Deterministic fixes what a guest could otherwise observe as different from
// one run to the next.
type Deterministic struct {
	// Seed feeds every source of randomness the guest has.
	Seed uint64
	// Clock is what the guest's clocks start from. They advance by one
	// microsecond for each reading and by what the guest sleeps.
	Clock time.Time
}

// RawJSON is JSON text that is parsed strictly where it is used: duplicate
// names, invalid UTF-8 and trailing text are refused, integers keep all their
// digits.
type RawJSON []byte

// Table is rows with named columns, the cheap way to hand over many records.
// The guest sees a list of records (a dict for each row in Python).
type Table struct {
	// Columns are the names, unique.
	Columns []string
	// Rows hold one value per column, of the kinds that Spec.Globals lists.
	Rows [][]any
}
