package runtime

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime/otel"
)

// TraceParent is the caller's place in a distributed trace, as the headers of W3C
// Trace Context give it.
type TraceParent = otel.Parent

// SpanCounts say what became of spans.
type SpanCounts = otel.Counts

// Spans says what became of the spans of calls, and whether the harness has a
// collector that gets them.
func (r *Runtime) Spans() (SpanCounts, bool) { return r.spans.Counts(), r.spans != nil }

// CheckSpans says why the spans of a harness could not be sent from here, as far as
// that can be said without sending one; nil: they can, or none are wanted.
// lookupEnv is as in [Config].
func CheckSpans(h *manifests.Harness, lookupEnv func(string) (string, bool)) error {
	o := h.Trace.OTLP
	if o == nil {
		return nil
	}
	_, err := collectorOf(o)
	if _, missing := headersFrom(lookupEnv, o.HeadersEnv); missing != nil {
		err = errors.Join(err, fmt.Errorf("trace.otlp: %w", missing))
	}
	return err
}

// collectorOf gives where a harness's collector is.
func collectorOf(o *manifests.OTLP) (egress.Target, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return egress.Target{}, errors.New("trace.otlp: the endpoint cannot be read")
	}
	target, err := egress.TargetOf(u)
	if err == nil {
		err = egress.Operator(target).Check(target)
	}
	if err != nil {
		return target, fmt.Errorf("trace.otlp: the endpoint: %w", err)
	}
	return target, nil
}

// openSpans makes what sends spans; nil if nobody wants any. The endpoint is the
// operator's own, and may be on this machine; nothing else is connected to. The
// headers are as secret as those for tools.
func (r *Runtime) openSpans(config Config) (*otel.Exporter, error) {
	o := r.set.Harness.Trace.OTLP
	if o == nil || config.Trace == traceNone || config.TestMode {
		return nil, nil
	}
	target, err := collectorOf(o)
	if err != nil {
		return nil, err
	}
	headers, err := r.vault.headers(o.HeadersEnv)
	if err != nil {
		return nil, fmt.Errorf("trace.otlp: %w", err)
	}
	dialer := &egress.Dialer{Policy: egress.Operator(target), Resolver: config.Resolver}
	return otel.New(otel.Config{
		Endpoint: o.Endpoint, Headers: headers, Version: config.Version, Logger: config.Logger,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: config.RootCAs},
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswerHeader,
		},
	})
}

// spanEnd is what the span of a call says at its end.
func (r *Runtime) spanEnd(c Call, args governor.Arguments, result Result, started, decided time.Time) otel.Call {
	d := result.Decision
	end := otel.Call{
		ID: given(result.CallID), Run: given(c.RunID), Tool: given(c.Tool), Principal: d.Principal, Tenant: d.Tenant, Task: d.Task,
		Decision: d.Outcome.String(), Step: string(d.Step), Code: string(d.Code), Approval: given(d.ApprovalID),
		Started: started, Decided: decided, Ended: r.now(),
		Outcome: string(result.Outcome), OK: result.Outcome.OK(), Waits: result.Outcome == ApprovalRequired,
		Repeated: result.Repeated, MissingLayers: result.MissingLayers,
	}
	if t, ok := r.set.Tool(c.Tool); ok {
		end.Manifest = t
	}
	if d.Labels.UntrustedSeen {
		end.Labels = append(end.Labels, "untrusted_seen")
	}
	if d.Labels.PrivateSeen {
		end.Labels = append(end.Labels, "private_seen")
	}
	for _, s := range d.Notes {
		end.Steps = append(end.Steps, otel.Step{Name: string(s.Step), Outcome: s.Outcome.String(), Code: string(s.Code), Took: s.Duration})
	}
	if d.Outcome == governor.Allow {
		end.Label = string(result.Label)
		if end.Manifest != nil && r.spans != nil {
			end.Arguments = r.spanArguments(end.Manifest, args)
		}
	}
	if result.Output != nil {
		end.Truncated, end.Redacted = result.Output.Truncated, result.Output.Redactions
	}
	return end
}

// undecided is the result of a call that could not be decided, for its span.
func undecided(c Call) Result { return Result{CallID: c.ID, Outcome: Internal} }

// traced is invoke with a span around it.
func (r *Runtime) traced(ctx context.Context, span *otel.Span, via transport, in invocation) reply {
	ctx, end := span.Run(ctx, in.tool, r.now())
	in.parent = span.Outgoing(ctx)
	rep := via.invoke(ctx, in)
	if rep.sandbox != nil {
		end(r.now(), string(rep.outcome.known()), &rep.sandbox.Usage)
	} else {
		end(r.now(), string(rep.outcome.known()), nil)
	}
	return rep
}
