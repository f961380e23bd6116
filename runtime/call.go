package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime/otel"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Call is a tool call as an agent proposes it.
type Call struct {
	// RunID is the run it belongs to. Required.
	RunID string
	// ID names the call in the trace. Default: a new random one.
	ID string
	// Tool is the tool's name.
	Tool string
	// Args are the arguments, a JSON object. Empty: {}.
	Args sandbox.RawJSON
	// Approval is the ID of the approval that the call resumes; empty for a new
	// call.
	Approval string
	// Parent is where in a distributed trace the call comes from. Default: the span
	// of ctx, if that has one of OpenTelemetry's.
	Parent TraceParent
}

// governed is the call as the governor takes it.
func (c Call) governed() governor.Call {
	args := c.Args
	if len(args) == 0 {
		args = sandbox.RawJSON("{}")
	}
	return governor.Call{Run: c.RunID, ID: c.ID, Tool: c.Tool, Args: governor.ParseArguments(args), Approval: c.Approval}
}

// Result is how a call ended.
type Result struct {
	// CallID is the call's.
	CallID string
	// Outcome says how it ended, and Next what is safe to do now.
	Outcome Outcome
	Next    string
	// Decision is the governor's.
	Decision governor.Decision
	// Output is the tool's result after the governor's last step; nil if there is
	// none. It is JSON unless it was cut.
	Output *output.Result
	// Artifacts are files that a code tool handed back beside its result, after the
	// governor's last step. They are somebody's bytes: see [sandbox.Artifact].
	Artifacts []Artifact
	// Label says whether Output and Artifacts may hold someone else's words.
	Label manifests.Label
	// Error explains an Outcome without a result. A model is shown its Type only.
	Error *Failure
	// Approval is the ID of the request that a person has to decide, with
	// [ApprovalRequired].
	Approval string
	// RetryAt is when the call can be repeated, with [RateLimited], and with
	// [Unavailable] if the tool said when; zero: nobody said.
	RetryAt time.Time
	// IdempotencyKey is what the tool was given. It is the same whenever the run
	// repeats this call.
	IdempotencyKey string
	// Printed is what a native handler that succeeded wrote beside its result: what a
	// Python or JavaScript function printed, then standard error. A failure has it in
	// its message. It is for the operator, not for a model: nothing is taken out of it
	// but secrets.
	Printed string
	// Repeated: the call took effect before, and the tool did not run again.
	Repeated bool
	// MissingLayers are the layers of confinement that the tool's process had to do
	// without, as the harness allows; see package sandbox/process.
	MissingLayers []string
	// Sandbox is what a code tool's sandbox said, before the governor's last
	// step. It is for the operator, not for a model.
	Sandbox *sandbox.Result
}

// Call decides a call and, if it may go ahead, makes it. What the tool or the
// governor say is in the Result; an error means that the call could not even be
// decided, and did not happen.
func (r *Runtime) Call(ctx context.Context, c Call) (Result, error) {
	return r.call(ctx, c, nil)
}

// CallCode is [Runtime.Call] for a code tool with globals that need not be
// JSON. c.Args holds the code and whatever else the governor is to see.
func (r *Runtime) CallCode(ctx context.Context, c Call, in CodeInput) (Result, error) {
	if t, ok := r.set.Tool(c.Tool); !ok || t.Spec.Transport != manifests.TransportCode {
		return Result{}, fmt.Errorf("call %s: not a code tool", c.Tool)
	}
	return r.call(ctx, c, &in)
}

func (r *Runtime) call(ctx context.Context, c Call, in *CodeInput) (Result, error) {
	if c.ID == "" {
		c.ID = newID()
	}
	g := c.governed()
	started := r.now()
	ctx, span := r.spans.Start(ctx, c.Parent, started)
	d, err := r.decide(ctx, g)
	decided := r.now()
	if err != nil {
		span.End(r.spanEnd(c, g.Args, undecided(c), started, decided))
		return Result{}, err
	}
	result := Result{CallID: c.ID, Decision: d, Outcome: outcomeOf(d)}
	if result.Outcome == Internal && ctx.Err() != nil {
		result.Outcome = Cancelled // nothing is broken: nobody wants it any more
	}
	defer func() { span.End(r.spanEnd(c, g.Args, result, started, decided)) }()
	if d.Outcome != governor.Allow {
		result.Approval, result.RetryAt = d.ApprovalID, d.RetryAt
		result.Next = result.Outcome.Next()
		return result, nil
	}
	tool, _ := r.set.Tool(c.Tool)
	result.Label = tool.Spec.Output.Label
	result.IdempotencyKey = d.IdempotencyKey
	start := r.now()
	if err := r.execute(ctx, tool, g.Args, in, span, &result); err != nil {
		r.fail(tool, &result, err)
	}
	if err := r.trace.note(endNote(r.now(), result, r.now().Sub(start))); err != nil {
		// An error would say that nothing happened.
		r.fail(tool, &result, err)
	}
	if result.Next == "" || result.Outcome != Unavailable {
		result.Next = result.Outcome.Next()
	}
	return result, nil
}

// decide has the governor decide and writes its decision down. A decision that
// cannot be written down is none: nothing runs that the trace does not show.
func (r *Runtime) decide(ctx context.Context, g governor.Call) (governor.Decision, error) {
	d := r.governor.Decide(ctx, g)
	if err := r.trace.note(decisionNote(r.now(), d)); err != nil {
		return governor.Decision{}, errors.Join(err, r.governor.Release(context.WithoutCancel(ctx), d))
	}
	return d, nil
}

// fail turns a result into one of a call during which the host failed.
func (r *Runtime) fail(tool *manifests.Tool, result *Result, err error) {
	result.Outcome, result.Output, result.Artifacts = r.broken(tool, *result), nil, nil
	result.Error = &Failure{Type: "internal", Message: err.Error()}
}

// broken is the outcome of a call during which the host failed: whatever was
// known before, a write may have happened once its tool was started.
func (r *Runtime) broken(tool *manifests.Tool, so Result) Outcome {
	if tool.Spec.SideEffect.Writes() && so.Outcome.ran() {
		return EffectAmbiguous
	}
	return Internal
}

// execute makes a call that was allowed: steps 8 and 9.
func (r *Runtime) execute(ctx context.Context, tool *manifests.Tool, args governor.Arguments, in *CodeInput, span *otel.Span, result *Result) error {
	tool = execIn(tool, args)
	via := r.transports[tool.Spec.Transport]
	if rep := via.prepare(ctx, tool); rep != nil {
		result.Outcome, result.Error = rep.outcome, rep.failure
		if rep.notSetUp {
			result.Next = NextSetUp
		}
		return r.governor.Release(context.WithoutCancel(ctx), result.Decision)
	}
	// Before anything is written down: a call without its secret did not begin.
	secrets, forget, err := r.vault.fetch(ctx, tool)
	if err != nil {
		result.Outcome, result.Error = Unavailable, &Failure{Type: "SecretUnavailable", Message: err.Error()}
		if lacks, ok := errors.AsType[*secretError](err); ok && lacks.notSetUp {
			result.Next = NextSetUp
		}
		if ctx.Err() != nil {
			result.Outcome = Cancelled
		}
		return r.unused(ctx, *result)
	}
	defer forget()
	prior, err := r.begin(ctx, tool, result)
	if err != nil || prior {
		return errors.Join(err, r.unused(ctx, *result))
	}
	bounded, cancel := context.WithTimeout(ctx, tool.Spec.Timeout)
	rep := r.traced(bounded, span, via, invocation{
		tool: tool, args: args, key: result.IdempotencyKey, code: in, hostCall: r.hostCall(result.Decision.Run),
		secrets: secrets,
	})
	cancel()
	hidden, cleanErr := r.vault.clean(&rep)
	if cleanErr != nil {
		rep.json, rep.broke, rep.failure = nil, true, &Failure{Type: "internal", Message: cleanErr.Error()}
		rep.outcome, rep.sandbox = Internal, nil
	}
	result.Outcome, result.Error, result.Sandbox, result.RetryAt = effectOutcome(tool, rep), rep.failure, rep.sandbox, rep.retryAt
	result.MissingLayers, result.Printed = rep.missing, rep.printed
	if rep.notSetUp {
		result.Next = NextSetUp
	}
	if rep.outcome == Timeout && rep.failure != nil {
		rep.failure.Message += timeoutField(tool, in)
	}
	if !rep.started {
		if err := r.unused(ctx, *result); err != nil {
			return err
		}
	}
	// The end is written down even if the caller has gone.
	if err := r.finish(context.WithoutCancel(ctx), tool, *result, rep.started); err != nil {
		return err
	}
	if rep.json == nil {
		return nil
	}
	at := r.now()
	out, err := r.outputs[tool.Metadata.Name].JSON(rep.json)
	span.Output(at, r.now())
	if hidden > 0 {
		if out.Redactions == nil {
			out.Redactions = make(map[string]int)
		}
		out.Redactions[redactedSecret] += hidden
	}
	if result.Outcome.OK() && rep.sandbox != nil {
		files, found := artifacts(rep.sandbox.Artifacts, r.outputs[tool.Metadata.Name])
		result.Artifacts, out.Redactions = files, addCounts(out.Redactions, found)
	}
	result.Output = &out
	return err
}

// Sanitize does to a result what the governor's last step does to that of the
// tool: its sanitizers, its cut and its label. For whoever ran the tool himself. A
// result that is no JSON text is taken as it is.
func (r *Runtime) Sanitize(tool string, result sandbox.RawJSON, text string) (output.Result, manifests.Label, error) {
	t, ok := r.set.Tool(tool)
	if !ok {
		return output.Result{}, "", fmt.Errorf("sanitize: there is no tool %q", tool)
	}
	if result == nil {
		return r.outputs[tool].Text(text), t.Spec.Output.Label, nil
	}
	out, err := r.outputs[tool].JSON(result)
	return out, t.Spec.Output.Label, err
}

// timeoutField says which field of the manifest set the time of a call; nothing if
// the caller did.
func timeoutField(t *manifests.Tool, in *CodeInput) string {
	field, most := "timeout", t.Spec.Timeout
	if t.Spec.Transport == manifests.TransportCode {
		if l := codeLimits(t.Spec.Limits).WithDefaults().Timeout; l <= most || most == 0 {
			field, most = "limits.timeout", l
		}
		if t.Metadata.Name == ExecTool || in != nil && in.Limits.Timeout > 0 && in.Limits.Timeout < most {
			return ""
		}
	}
	return "; spec." + field + " of the tool's manifest sets it"
}

// unused gives back the place in the rate limits of a call whose tool did not
// start: it is for calls that run.
func (r *Runtime) unused(ctx context.Context, result Result) error {
	return r.governor.Release(context.WithoutCancel(ctx), result.Decision)
}

// effectOutcome says what a reply means for a tool that changes something.
func effectOutcome(tool *manifests.Tool, rep reply) Outcome {
	o := rep.outcome.known()
	if !tool.Spec.SideEffect.Writes() || !rep.started {
		return o
	}
	if rep.broke {
		return EffectAmbiguous
	}
	switch o {
	case OK:
		return EffectConfirmed
	case Timeout, MemoryLimit, OutputLimit, FuelLimit, Cancelled, Internal:
		return EffectAmbiguous
	}
	return o
}

// hostCall lets the code of a call use the run's other tools. Each such call
// goes through every step itself, on the time of the outer call.
func (r *Runtime) hostCall(runID string) func(context.Context, string, sandbox.RawJSON) (sandbox.RawJSON, error) {
	return func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
		depth, _ := ctx.Value(depthKey{}).(int)
		if depth >= maxNesting {
			return nil, fmt.Errorf("calls of tools within tools are nested more than %d deep", maxNesting)
		}
		if tool == ExecTool {
			return nil, errors.New(ExecTool + " cannot be called from code: its limits are wider than those of the code")
		}
		result, err := r.Call(context.WithValue(ctx, depthKey{}, depth+1), Call{RunID: runID, Tool: tool, Args: args})
		if err != nil {
			return nil, errors.New("the call could not be decided")
		}
		if !result.Outcome.OK() {
			return nil, errors.New(modelError(result))
		}
		if result.Output == nil {
			return sandbox.RawJSON("null"), nil
		}
		if !result.Output.JSON {
			return json.Marshal(result.Output.Text) // it was cut
		}
		return sandbox.RawJSON(result.Output.Text), nil
	}
}

// depthKey counts how deep a call is nested in others.
type depthKey struct{}

// maxNesting is how deep calls may nest. Each level holds a sandbox.
const maxNesting = 4

// modelError is what a model may be told of a call that did not succeed.
func modelError(r Result) string {
	text := string(r.Outcome)
	if r.Decision.Outcome != governor.Allow {
		text += ": " + r.Decision.Reason
	} else if r.Error != nil {
		text += ": " + r.Error.Type
	}
	return text + "; " + cmp.Or(r.Next, r.Outcome.Next())
}
