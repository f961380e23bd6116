package otel

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Span is the span of one call. A nil one is none.
type Span struct {
	e    *Exporter
	span trace.Span
	ctx  context.Context // with the span in it
}

// Call is what a span says about a call.
type Call struct {
	// ID, Run and Tool are the call's. They can be anything that a caller wrote.
	ID, Run, Tool string
	// Manifest is the tool's; nil: there is no such tool.
	Manifest *manifests.Tool
	// Principal, Tenant and Task are the run's.
	Principal, Tenant, Task string
	// Labels are what the run had seen when the call was decided.
	Labels []string
	// Decision, Step and Code are the governor's, Steps what each step said.
	Decision, Step, Code string
	Steps                []Step
	// Started, Decided and Ended are when the call was proposed, when the governor
	// had decided, and when all was over.
	Started, Decided, Ended time.Time
	// Outcome says how the call ended, OK whether that was well. Waits: a person is
	// to approve it, which is no error.
	Outcome   string
	OK, Waits bool
	// Approval is the approval that the call used or waits for.
	Approval string
	// Label, Truncated and Redacted are about the output, which is not here.
	Label     string
	Truncated bool
	Redacted  map[string]int
	// Repeated: the tool did not run again.
	Repeated bool
	// Arguments are what may be said of the arguments; empty: nothing.
	Arguments string
	// MissingLayers are the layers of confinement that the host did not have.
	MissingLayers []string
}

// Step is what one of the governor's steps said.
type Step struct {
	Name, Outcome, Code string
	Took                time.Duration
}

// Start begins the span of a call. Its parent is the one that is given, else the
// span that ctx carries.
func (e *Exporter) Start(ctx context.Context, parent Parent, at time.Time) (context.Context, *Span) {
	if e == nil {
		return ctx, nil
	}
	ctx, span := e.tracer.Start(parent.context(ctx), executeTool, trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindInternal))
	return ctx, &Span{e, span, ctx}
}

// End ends the span of a call.
func (s *Span) End(c Call) {
	if s == nil {
		return
	}
	s.governor(c)
	attributes := []attribute.KeyValue{
		operationName.String(executeTool), toolName.String(c.Tool), toolCallID.String(c.ID), conversationID.String(c.Run),
		outcome.String(c.Outcome), decision.String(c.Decision), step.String(c.Step), code.String(c.Code), runLabels.StringSlice(c.Labels),
	}
	for key, value := range map[attribute.Key]string{agentID: c.Principal, tenant: c.Tenant, task: c.Task, approval: c.Approval, label: c.Label} {
		if value != "" {
			attributes = append(attributes, key.String(value))
		}
	}
	if t := c.Manifest; t != nil {
		// Not for a tool that does not exist: there is no end of such names.
		s.span.SetName(executeTool + " " + c.Tool)
		attributes = append(attributes, toolType.String(typeOf(t)), transport.String(string(t.Spec.Transport)),
			sideEffect.String(string(t.Spec.SideEffect)), risk.String(string(t.Spec.Risk)), toolVersion.String(t.Metadata.Version))
	}
	if c.Arguments != "" {
		attributes = append(attributes, toolCallArguments.String(c.Arguments))
	}
	if c.Truncated {
		attributes = append(attributes, truncated.Bool(true))
	}
	if c.Repeated {
		attributes = append(attributes, repeated.Bool(true))
	}
	if len(c.MissingLayers) > 0 {
		attributes = append(attributes, missingLayers.StringSlice(c.MissingLayers))
	}
	total := 0
	for _, n := range c.Redacted {
		total += n
	}
	if total > 0 {
		attributes = append(attributes, redacted.Int(total))
	}
	if !c.OK && !c.Waits {
		attributes = append(attributes, errorType.String(c.Outcome))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.SetAttributes(valid(attributes)...)
	s.span.End(trace.WithTimestamp(c.Ended))
}

// governor adds the decision.
func (s *Span) governor(c Call) {
	_, g := s.e.tracer.Start(s.ctx, spanGovernor, trace.WithTimestamp(c.Started))
	at := c.Started
	for _, one := range c.Steps {
		at = at.Add(one.Took)
		attributes := []attribute.KeyValue{step.String(one.Name), outcome.String(one.Outcome), took.Int64(one.Took.Microseconds())}
		if one.Code != "" {
			attributes = append(attributes, code.String(one.Code))
		}
		g.AddEvent(eventStep, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
	}
	g.SetAttributes(decision.String(c.Decision), step.String(c.Step), code.String(c.Code))
	g.End(trace.WithTimestamp(c.Decided))
}

// Output adds the governor's last step.
func (s *Span) Output(from, to time.Time) {
	if s == nil {
		return
	}
	_, o := s.e.tracer.Start(s.ctx, spanOutput, trace.WithTimestamp(from))
	o.End(trace.WithTimestamp(to))
}

// Outgoing is the place of ctx in the trace, for whoever the run asks. It has no
// state: what the caller's side keeps there was not given to be passed on to
// somebody else. Without tracing there is none, whatever the caller's place is.
func (s *Span) Outgoing(ctx context.Context) Parent {
	if s == nil {
		return Parent{}
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return Parent{Traceparent: carrier["traceparent"]}
}

// typeOf is a tool's type in the words of the conventions.
func typeOf(t *manifests.Tool) string {
	switch t.Spec.Transport {
	case manifests.TransportHTTP, manifests.TransportMCP:
		return typeExtension
	}
	return typeFunction
}

// Run begins the span of the tool's run. The function ends it; usage is what a
// sandbox counted, or nil.
func (s *Span) Run(ctx context.Context, t *manifests.Tool, at time.Time) (context.Context, func(at time.Time, ended string, usage *sandbox.Usage)) {
	if s == nil {
		return ctx, func(time.Time, string, *sandbox.Usage) {}
	}
	kind, name := "", "run "+string(t.Spec.Transport)
	if t.Spec.Transport == manifests.TransportCode {
		kind = t.Spec.Sandbox.Guest()
		name = "sandbox " + kind
	}
	ctx, run := s.e.tracer.Start(ctx, name, trace.WithTimestamp(at))
	return ctx, func(at time.Time, ended string, u *sandbox.Usage) {
		run.SetAttributes(transport.String(string(t.Spec.Transport)), outcome.String(ended))
		if kind != "" {
			run.SetAttributes(sandboxKind.String(kind))
		}
		if u != nil {
			run.SetAttributes(fuel.Int64(u.Fuel), cpu.Int64(u.CPU.Microseconds()), wall.Int64(u.Wall.Microseconds()), queued.Int64(u.Queued.Microseconds()),
				peakMemory.Int64(int64(u.PeakMemory)), outputBytes.Int64(u.Stdout+u.Stderr), valueBytes.Int64(u.Value), hostCalls.Int(u.HostCalls))
		}
		run.End(trace.WithTimestamp(at))
	}
}

// valid makes text UTF-8, without which protobuf has no message at all.
func valid(attributes []attribute.KeyValue) []attribute.KeyValue {
	for i, a := range attributes {
		if a.Value.Type() == attribute.STRING {
			attributes[i].Value = attribute.StringValue(strings.ToValidUTF8(a.Value.AsString(), "\uFFFD"))
		}
	}
	return slices.Clip(attributes)
}
