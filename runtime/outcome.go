package runtime

import "github.com/mayfly-run/mayfly/governor"

// Outcome says how a call ended. It is what a caller branches on: each one
// calls for something else, see [Outcome.Next].
type Outcome string

// The outcomes.
const (
	// OK: the tool ran, changed nothing, and gave a result.
	OK Outcome = "ok"
	// EffectConfirmed: the tool ran and says that it changed what it was asked
	// to.
	EffectConfirmed Outcome = "effect_confirmed"
	// EffectAmbiguous: the tool may or may not have changed something.
	EffectAmbiguous Outcome = "effect_ambiguous"
	// InvalidArguments: the arguments do not fit the tool's schema.
	InvalidArguments Outcome = "invalid_arguments"
	// Denied: the governor blocked the call.
	Denied Outcome = "denied"
	// ApprovalRequired: a person must say yes first.
	ApprovalRequired Outcome = "approval_required"
	// ApprovalRejected: a person said no, or nobody said anything in time.
	ApprovalRejected Outcome = "approval_rejected"
	// RateLimited: too many calls in a time.
	RateLimited Outcome = "rate_limited"
	// Unavailable: the tool cannot be reached; it did not run.
	Unavailable Outcome = "unavailable"
	// Busy: the host has too much to do, or the same effect is under way; the
	// tool did not run.
	Busy Outcome = "busy"
	// CredentialExpired: the tool's credential was refused; it did nothing.
	CredentialExpired Outcome = "credential_expired"
	// ToolError: the tool ran and failed.
	ToolError Outcome = "tool_error"
	// Timeout: the tool ran out of time.
	Timeout Outcome = "timeout"
	// MemoryLimit, OutputLimit, FuelLimit: the tool ran into another limit.
	MemoryLimit Outcome = "memory_limit"
	OutputLimit Outcome = "output_limit"
	FuelLimit   Outcome = "fuel_limit"
	// Cancelled: the caller gave up.
	Cancelled Outcome = "cancelled"
	// Internal: something of Mayfly's own failed. The zero Outcome means the
	// same.
	Internal Outcome = "internal"
)

// next has what is safe after each outcome.
var next = map[Outcome]string{
	OK:                "go on with the result",
	EffectConfirmed:   "go on; do not repeat the call",
	EffectAmbiguous:   "do not repeat the call: find out whether it took effect first",
	InvalidArguments:  "correct the arguments and call again",
	Denied:            "do not repeat the call; ask for less or use another tool",
	ApprovalRequired:  "wait for the decision, then repeat the same call",
	ApprovalRejected:  "do not repeat the call; ask what would be acceptable",
	RateLimited:       "repeat the call later, and not before the time given",
	Unavailable:       "nothing was done; repeat the call later or use another tool",
	Busy:              "nothing was done; repeat the call a little later",
	CredentialExpired: "nothing was done; have the credential renewed, then repeat the call",
	ToolError:         "read the error, correct what caused it, and call again",
	Timeout:           "ask for less work in one call",
	MemoryLimit:       "ask for less data in one call",
	OutputLimit:       "ask for less output in one call",
	FuelLimit:         "ask for less work in one call",
	Cancelled:         "the call was given up; repeat it if it is still wanted",
	Internal:          "report it; do not repeat the call of a tool that changes something",
}

// NextSetUp is what is safe after [Unavailable] if the operator has to do something
// first: a variable or a file is missing, or the manifest asks for what this host
// does not have.
const NextSetUp = "nothing was done, and a repeated call ends the same until the operator has set the tool up; use another tool"

// Next says, in words for a model, what is safe to do after the outcome.
func (o Outcome) Next() string { return next[o.known()] }

// known makes every value that is no outcome an internal failure.
func (o Outcome) known() Outcome {
	if _, ok := next[o]; !ok {
		return Internal
	}
	return o
}

// ran reports whether the tool may have run at all.
func (o Outcome) ran() bool {
	switch o {
	case InvalidArguments, Denied, ApprovalRequired, ApprovalRejected, RateLimited, Unavailable, Busy, CredentialExpired:
		return false
	}
	return true
}

// outcomeOf is what a decision means for a call that does not go ahead.
func outcomeOf(d governor.Decision) Outcome {
	switch {
	case d.Outcome == governor.RequireApproval:
		return ApprovalRequired
	case d.Code == governor.CodeInternal:
		return Internal
	case d.Code == governor.CodeSchemaInvalid:
		return InvalidArguments
	case d.Code == governor.CodeRateLimited:
		return RateLimited
	case d.Code == governor.CodeApprovalRejected:
		return ApprovalRejected
	}
	return Denied
}

// OK reports whether the call did what it was to do.
func (o Outcome) OK() bool { return o == OK || o == EffectConfirmed }
