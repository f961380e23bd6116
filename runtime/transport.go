package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// invocation is one call on its way to its tool: everything has been decided.
type invocation struct {
	tool *manifests.Tool
	args governor.Arguments
	key  string     // idempotency key
	code *CodeInput // of a call by CallCode
	// parent is the run's place in the trace, for a tool elsewhere; empty: nothing is
	// traced.
	parent TraceParent
	// secrets are the values that the tool was granted, by name.
	secrets map[string]string
	// hostCall lets sandboxed code call tools in turn.
	hostCall func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error)
}

// reply is what a transport brings back.
type reply struct {
	outcome Outcome
	// json is the result; nil if there is none.
	json []byte
	// failure explains an outcome without a result. Only its Type reaches a
	// model: the rest may hold data.
	failure *Failure
	// broke is true if the tool did not come to an end of its own, or its answer
	// cannot be read: it did not say that it failed, and may have done its work.
	broke bool
	// started is false if the tool certainly did not begin.
	started bool
	// missing are the layers of confinement that the host did not have.
	missing []string
	// retryAt is when the tool wants to be asked again; zero: it did not say.
	retryAt time.Time
	// notSetUp: it is unavailable until the operator does something about it.
	notSetUp bool
	sandbox  *sandbox.Result
	// printed is what a handler wrote beside its result.
	printed string
}

// A transport reaches tools of one kind.
type transport interface {
	// prepare makes ready what calls of the tool need and have not been given
	// yet. It is not part of a call: the tool's timeout has not started, and
	// nothing is written down. nil: ready.
	prepare(ctx context.Context, t *manifests.Tool) *reply
	// invoke makes the call. ctx carries the tool's timeout.
	invoke(ctx context.Context, in invocation) reply
}

// Failure says why a call gave no result.
type Failure struct {
	// Type is the kind of error, in the tool's own words, such as "ValueError".
	Type string `json:"type"`
	// Message is the error's text. It is for the operator: it may hold
	// whatever the tool put there.
	Message string `json:"message,omitzero"`
}

// ErrAmbiguous marks the error of a Go tool that does not know whether it took
// effect.
var ErrAmbiguous = errors.New("it is not known whether the call took effect")

// missing is the transport of tools that this host cannot reach.
type missing struct{ why string }

func (missing) prepare(context.Context, *manifests.Tool) *reply { return nil }

func (m missing) invoke(context.Context, invocation) reply {
	return reply{outcome: Unavailable, notSetUp: true, failure: &Failure{Type: "Unavailable", Message: m.why}}
}
