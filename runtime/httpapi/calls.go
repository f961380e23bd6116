package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
	"github.com/mayfly-run/mayfly/sandbox"
)

// callRequest is a call as a client proposes it.
type callRequest struct {
	Args jsontext.Value `json:"args"`
	// Run is the run that it belongs to; empty: a new one, for Task, with Labels.
	Run    string   `json:"run"`
	Task   string   `json:"task"`
	Labels []string `json:"labels"`
	// Approval is the approval that the call resumes.
	Approval string `json:"approval"`
	// Call names the call in the trace.
	Call string `json:"call"`
}

func (q *request) call() answer {
	var in callRequest
	if refused := q.readWork(&in); refused != nil {
		return no(refused)
	}
	name, refused := q.callable()
	if refused != nil {
		return no(refused)
	}
	tool, known := q.s.rt.Manifests().Tool(name)
	return q.calling(in, known && tool.Spec.SideEffect.Writes(), nil, func(ctx context.Context, c runtime.Call) (runtime.Result, error) {
		c.Tool = name
		return q.s.rt.Call(ctx, c)
	})
}

// calling makes a call, in a run of the caller's. A new run is
// granted tools, or what its task gives. Preconditions: the request has a place.
func (q *request) calling(in callRequest, writes bool, tools []string, do func(context.Context, runtime.Call) (runtime.Result, error)) answer {
	if refused := q.mayCall(in); refused != nil {
		return no(refused)
	}
	s := q.s
	ctx, cancel := q.callContext(writes)
	defer cancel()
	run, refused := q.runFor(ctx, in, tools)
	if refused != nil {
		return no(refused)
	}
	result, err := do(ctx, runtime.Call{RunID: run, ID: in.Call, Args: sandbox.RawJSON(in.Args), Approval: in.Approval, Parent: parentOf(q.r.Header)})
	if err != nil {
		s.config.Logger.Error("a call could not be decided", "error", err)
		return no(refuse(http.StatusInternalServerError, "internal", "", "the call could not be decided, and did not happen"))
	}
	return q.result(run, result)
}

// parentOf is where in a trace the client is. Two places are none.
func parentOf(h http.Header) runtime.TraceParent {
	parents := h.Values("Traceparent")
	if len(parents) != 1 {
		return runtime.TraceParent{}
	}
	return runtime.TraceParent{Traceparent: parents[0], Tracestate: strings.Join(h.Values("Tracestate"), ",")}
}

// callContext is the context of a call. One that changes something goes on when
// the client has gone: the record says how it ended, and a repeated call finds
// that.
func (q *request) callContext(writes bool) (context.Context, context.CancelFunc) {
	ctx := q.r.Context()
	if writes {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(q.s.calls, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (q *request) result(run string, r runtime.Result) answer {
	body, err := wire.NewCall(run, r.Decision.Tool, r)
	if err != nil {
		q.s.config.Logger.Error("a result cannot be written", "error", err)
		return no(refuse(http.StatusInternalServerError, "internal", "", "the result cannot be written; run %s has the call %s", run, r.CallID))
	}
	if body.Error != nil && !q.caller.has(RoleOperator) {
		body.Error = &runtime.Failure{Type: body.Error.Type} // the message may hold data
	}
	a := answer{status: StatusOf(r.Outcome), body: body}
	switch {
	case !r.RetryAt.IsZero():
		a.retryAfter = q.s.seconds(r.RetryAt)
	case r.Outcome == runtime.Busy, r.Outcome == runtime.RateLimited:
		a.retryAfter = 1
	}
	return a
}

// seconds is how long it is until then, at least one second.
func (s *Server) seconds(until time.Time) int {
	return max(1, int(math.Ceil(until.Sub(s.config.Now()).Seconds())))
}

// mayCall refuses a call that names what it must not.
func (q *request) mayCall(in callRequest) *refused {
	switch {
	case q.caller.Tenant == AllTenants:
		return refuse(http.StatusForbidden, "tenant", "", "a token for all tenants calls nothing")
	case in.Run != "" && (in.Task != "" || in.Labels != nil):
		return refuse(http.StatusBadRequest, "bad_request", "/run", "task and labels are for a new run; a run has its own")
	case len(in.Call) > maxText || len(in.Run) > maxText || len(in.Approval) > maxText || len(in.Task) > maxText:
		return refuse(http.StatusBadRequest, "bad_request", "", "a name is too long")
	}
	return nil
}

// callable is the name in the path. What there is of that name, the governor says,
// and the trace.
func (q *request) callable() (string, *refused) {
	name := q.r.PathValue("name")
	if name == runtime.ExecTool {
		return "", refuse(http.StatusNotFound, "not_found", "name", "code is run with /v1/exec")
	}
	if len(name) > maxText || !utf8.ValidString(name) {
		return "", refuse(http.StatusNotFound, "not_found", "name", "no tool has such a name")
	}
	return name, nil
}

// runFor gives the run of a call, which it starts if none is named.
func (q *request) runFor(ctx context.Context, in callRequest, tools []string) (string, *refused) {
	if in.Run != "" {
		run, refused := q.ownRun(ctx, in.Run, "/run")
		return run.ID, refused
	}
	labels, refused := readLabels(in.Labels, "/labels")
	if refused != nil {
		return "", refused
	}
	run, err := q.s.rt.StartRun(ctx, runtime.RunConfig{
		Principal: q.caller.Principal, Tenant: q.caller.Tenant, Task: in.Task, Labels: labels, Tools: tools,
	})
	if err != nil {
		return "", q.storeError(err, "/task")
	}
	return run.ID, nil
}

// ownRun gives a run on whose behalf the caller can call.
func (q *request) ownRun(ctx context.Context, id, where string) (runtime.Run, *refused) {
	run, refused := q.run(ctx, id, where)
	if refused == nil && !q.caller.owns(run) {
		refused = refuse(http.StatusForbidden, "not_yours", where, "the run is another principal's")
	}
	return run, refused
}

// run gives a run that the caller may know of.
func (q *request) run(ctx context.Context, id, where string) (runtime.Run, *refused) {
	run, err := q.s.rt.Run(ctx, id)
	if err == nil && !q.caller.sees(run) {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return run, refuse(http.StatusNotFound, "not_found", where, "there is no such run")
	}
	if err != nil {
		return run, q.storeError(err, where)
	}
	return run, nil
}

// storeError says whose fault it is that something could not be kept: the store's,
// where it could not be read or written, else the request's.
func (q *request) storeError(err error, where string) *refused {
	switch {
	case errors.Is(err, store.ErrBusy):
		return q.s.busy("another process holds the store")
	case errors.Is(err, store.ErrExists):
		return refuse(http.StatusConflict, "exists", where, "there is one of this name already")
	case errors.Is(err, store.ErrNotFound):
		return refuse(http.StatusNotFound, "not_found", where, "there is no such thing")
	case q.r.Context().Err() != nil && errors.Is(err, context.Canceled):
		// No fault of the store's, and nothing that an operator should hear of.
		return refuse(http.StatusServiceUnavailable, "cancelled", "", "the client went away meanwhile")
	}
	for _, ours := range []error{store.ErrFull, store.ErrIO, store.ErrCorrupt, store.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ours) {
			q.s.config.Logger.Error("the store failed", "error", err)
			return refuse(http.StatusInternalServerError, "internal", "", "the store failed; the operator can see why")
		}
	}
	return refuse(http.StatusUnprocessableEntity, "bad_request", where, "%v", err)
}

// readLabels reads marks as policies, or the command line, name them.
func readLabels(names []string, where string) (l runtime.Labels, _ *refused) {
	for _, name := range names {
		switch name {
		case "untrusted", "untrusted_seen":
			l.UntrustedSeen = true
		case "private", "private_seen":
			l.PrivateSeen = true
		default:
			return l, refuse(http.StatusBadRequest, "bad_request", where, "a label is untrusted or private")
		}
	}
	return l, nil
}

// authorize says what would be decided about a call, and does nothing.
func (q *request) authorize() answer {
	var in callRequest
	if refused := q.readWork(&in); refused != nil {
		return no(refused)
	}
	name, refused := q.callable()
	if refused == nil {
		refused = q.mayCall(in)
	}
	if refused != nil {
		return no(refused)
	}
	ctx := q.r.Context()
	call := runtime.Call{RunID: in.Run, ID: in.Call, Tool: name, Args: sandbox.RawJSON(in.Args), Approval: in.Approval}
	if in.Run != "" {
		if _, refused := q.ownRun(ctx, in.Run, "/run"); refused != nil {
			return no(refused)
		}
		return ok(wire.NewDecision(q.s.rt.Authorize(ctx, call)))
	}
	labels, refused := readLabels(in.Labels, "/labels")
	if refused != nil {
		return no(refused)
	}
	return ok(wire.NewDecision(q.s.rt.AuthorizeAs(ctx, runtime.RunConfig{
		Principal: q.caller.Principal, Tenant: q.caller.Tenant, Task: in.Task, Labels: labels,
	}, call)))
}

// sanitizeRequest is a result that the caller's own tool gave: JSON, or text.
type sanitizeRequest struct {
	Value jsontext.Value `json:"value"`
	Text  *string        `json:"text"`
}

// sanitized is what the governor's last step leaves of it.
type sanitized struct {
	Output     jsontext.Value  `json:"output"`
	OutputText bool            `json:"output_is_text,omitzero"`
	Truncated  bool            `json:"truncated,omitzero"`
	Original   int64           `json:"original_bytes,omitzero"`
	Redactions map[string]int  `json:"redactions,omitzero"`
	Label      manifests.Label `json:"label"`
}

func (q *request) sanitize() answer {
	var in sanitizeRequest
	if refused := q.readWork(&in); refused != nil {
		return no(refused)
	}
	tool, known := q.s.rt.Manifests().Tool(q.r.PathValue("name"))
	if !known || !q.seen(tool) {
		return no(refuse(http.StatusNotFound, "not_found", "name", "there is no such tool; /v1/tools lists all"))
	}
	if (in.Value == nil) == (in.Text == nil) {
		return no(refuse(http.StatusBadRequest, "bad_request", "", "one of value, which is JSON, and text must be given"))
	}
	var text string
	if in.Text != nil {
		text = *in.Text
	}
	out, label, err := q.s.rt.Sanitize(tool.Metadata.Name, sandbox.RawJSON(in.Value), text)
	if err != nil {
		q.s.config.Logger.Error("a result cannot be sanitized", "error", err)
		return no(refuse(http.StatusInternalServerError, "internal", "", "the result cannot be sanitized"))
	}
	result := sanitized{Truncated: out.Truncated, Redactions: out.Redactions, Label: label, Output: jsontext.Value(out.Text)}
	if out.Truncated {
		result.Original = out.OriginalBytes
	}
	if !out.JSON {
		quoted, err := jsontext.AppendQuote(nil, out.Text)
		if err != nil {
			return no(refuse(http.StatusInternalServerError, "internal", "", "the result cannot be written"))
		}
		result.Output, result.OutputText = jsontext.Value(quoted), true
	}
	return ok(result)
}
