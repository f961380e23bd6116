package runtime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// FuncCall is a call of a tool that is a Go function.
type FuncCall struct {
	// Args are the arguments, canonical JSON that fits the tool's schema.
	Args sandbox.RawJSON
	// IdempotencyKey is the same whenever a resumed run repeats this call.
	IdempotencyKey string
	// Secrets are the values of the tool's grants.secrets, by name. They are taken
	// out of what the function answers.
	Secrets map[string]string
}

// Func is a tool in Go. It runs in the host with the host's rights, so it is
// for code that is as trusted as the host itself. ctx ends with the tool's
// timeout; a Func that returns later is not waited for. It gives any value
// that encodes as JSON. An error that wraps [ErrAmbiguous] says that the
// effect is not known.
type Func func(ctx context.Context, call FuncCall) (sandbox.RawJSON, error)

// funcs reaches tools that are Go functions.
type funcs map[string]Func

func (funcs) prepare(context.Context, *manifests.Tool) *reply { return nil }

func (f funcs) invoke(ctx context.Context, in invocation) reply {
	fn, ok := f[in.tool.Metadata.Name]
	if !ok {
		return reply{outcome: Unavailable, failure: &Failure{Type: "Unavailable", Message: "the host has no Go function of this name, and handlers in processes of their own cannot be run yet"}}
	}
	done := make(chan reply, 1)
	go func() { done <- callFunc(ctx, fn, in) }()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		return reply{outcome: ended(ctx), started: true, failure: &Failure{Type: "TimeoutError", Message: "the tool did not return in time"}}
	}
}

func callFunc(ctx context.Context, fn Func, in invocation) (r reply) {
	r.started = true
	defer func() {
		if v := recover(); v != nil {
			r.outcome, r.broke = ToolError, true
			r.failure = &Failure{Type: "panic", Message: fmt.Sprintf("%v\n%s", v, debug.Stack())}
		}
	}()
	out, err := fn(ctx, FuncCall{Args: sandbox.RawJSON(in.args.Text()), IdempotencyKey: in.key, Secrets: in.secrets})
	switch {
	case errors.Is(err, ErrAmbiguous):
		r.outcome = EffectAmbiguous
	case err != nil && ctx.Err() != nil:
		r.outcome = ended(ctx)
	case err != nil:
		r.outcome = ToolError
	}
	if err != nil {
		r.failure = &Failure{Type: errorType(err), Message: err.Error()}
		return r
	}
	if _, err := canonjson.Parse(out, canonjson.Limits{MaxBytes: maxResultBytes}); err != nil {
		r.outcome, r.broke = ToolError, true
		r.failure = &Failure{Type: "InvalidResult", Message: "the tool's result is not JSON: " + err.Error()}
		return r
	}
	r.outcome, r.json = OK, out
	return r
}

// errorType names the innermost type of an error, which holds no data.
func errorType(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return reflect.TypeOf(err).String()
		}
		err = inner
	}
}

// ended is the outcome of a call whose context is over.
func ended(ctx context.Context) Outcome {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Timeout
	}
	return Cancelled
}

// maxResultBytes is the most that any tool may answer.
const maxResultBytes = 64 << 20
