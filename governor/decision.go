package governor

import (
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
)

// Outcome is what is to become of a call. The zero value blocks.
type Outcome uint8

// The outcomes.
const (
	Block Outcome = iota
	RequireApproval
	Allow
)

// String gives block, require_approval or allow.
func (o Outcome) String() string {
	switch o {
	case Allow:
		return "allow"
	case RequireApproval:
		return "require_approval"
	case Block:
	}
	return "block"
}

// Decision says what is to become of a call, and why. Nothing in it but
// CallHash is made from the values of the arguments.
type Decision struct {
	// Outcome is what is to become of the call.
	Outcome Outcome
	// Step decided: the one that blocked, the first one that asked for approval,
	// or the last one when all let the call pass.
	Step Step
	// Code says why, for programs.
	Code Code
	// Reason says why, in words that a model may read: no values of arguments, no
	// paths of the host.
	Reason string
	// ApproverRole is who may approve. Empty unless Outcome is RequireApproval,
	// or when anybody else than the requester may.
	ApproverRole string

	// Run, CallID and Tool are the call's.
	Run, CallID, Tool string
	// Principal, Tenant and Task are the run's.
	Principal, Tenant, Task string
	// Version and Digest are the tool's; empty when there is no such tool.
	Version, Digest string
	// CallHash stands for exactly this call: tool, version, definition, arguments,
	// principal, tenant and task. Hex; empty when the call was blocked before its
	// arguments were found to be valid.
	CallHash string
	// IdempotencyKey is the run and the call's hash: the same when a resumed run
	// repeats the call. Empty without a run or a hash.
	IdempotencyKey string
	// ApprovalID is the approval that waits for a person, when the outcome of a
	// real call is RequireApproval; or the one that the call used.
	ApprovalID string
	// RetryAt is when a call that is rate_limited may be tried again; the zero
	// time in all other cases.
	RetryAt time.Time
	// Labels are those that the run had when the call was decided.
	Labels store.Labels
	// Notes are about each step that was taken, in order.
	Notes []StepNote

	reservation string
}

// StepNote is what one step said.
type StepNote struct {
	// Step is which.
	Step Step
	// Outcome is what it said for itself.
	Outcome Outcome
	// Code says why; empty when the step let the call pass.
	Code Code
	// Duration is how long it took by the governor's clock.
	Duration time.Duration
}

// verdict is what a step returns. The zero verdict blocks.
type verdict struct {
	outcome Outcome
	code    Code
	reason  string
}

// pass lets a call go on to the next step.
var pass = verdict{outcome: Allow}

func block(code Code, reason string) verdict { return verdict{Block, code, reason} }

func ask(code Code, reason string) verdict { return verdict{RequireApproval, code, reason} }

// broken blocks because the machinery failed. The error stays in the governor:
// it can name files.
func broken(reason string) verdict { return block(CodeInternal, reason) }
