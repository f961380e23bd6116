package otel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config says where spans go.
type Config struct {
	// Endpoint is the collector's URL, for OTLP over HTTP. /v1/traces is added to
	// its path unless that is how it ends. Required.
	Endpoint string
	// Headers go with each request. They may be secret: no error repeats them.
	Headers http.Header
	// Transport connects to the collector, and to nobody else. Required.
	Transport http.RoundTripper
	// Version is what the spans say about this program. Default: nothing.
	Version string
	// Queue is how many spans may wait or be on their way. Default 4096.
	Queue int
	// Delay is how long spans are gathered before they are sent. Default 1s.
	Delay time.Duration
	// Timeout bounds the sending of a batch, repetitions included. Default 30s.
	Timeout time.Duration
	// Backoff is how long to wait before a batch is sent again; each time twice as
	// long. Default 1s.
	Backoff time.Duration
	// CloseTimeout is how long [Exporter.Close] goes on sending. Default 5s.
	CloseTimeout time.Duration
	// Logger is told when the collector stops taking spans, and when it takes them
	// again. Default: nobody.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Endpoint == "" || c.Transport == nil {
		return c, errors.New("otel: there is no endpoint, or no way to it")
	}
	if c.Queue < 0 || c.Delay < 0 || c.Timeout < 0 || c.Backoff < 0 || c.CloseTimeout < 0 {
		return c, errors.New("otel: a negative limit")
	}
	if c.Queue == 0 {
		c.Queue = 4096
	}
	for v, d := range map[*time.Duration]time.Duration{
		&c.Delay: time.Second, &c.Timeout: 30 * time.Second, &c.Backoff: time.Second, &c.CloseTimeout: 5 * time.Second,
	} {
		if *v == 0 {
			*v = d
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Counts say what became of spans.
type Counts struct {
	// Sent were taken by the collector.
	Sent int64
	// Dropped found the queue full.
	Dropped int64
	// Failed were sent in vain, or not any more.
	Failed int64
	// Waiting are in the queue or on their way.
	Waiting int64
}

// Exporter sends spans. A nil one sends none. Its methods may be used by several
// goroutines.
type Exporter struct {
	config   Config
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	gate     *gate
	client   *client
	closed   sync.Once
}

// batchSize is how many spans go into a request.
const batchSize = 512

// New makes an exporter. Nothing is sent before there are spans.
func New(config Config) (*Exporter, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := newClient(config)
	if err != nil {
		return nil, err
	}
	// Starting the client is all that can fail, and it does nothing.
	inner, err := otlptrace.New(context.Background(), c)
	if err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	g := newGate(config, inner, c)
	about := resource.NewSchemaless(serviceName.String("mayfly"), serviceVersion.String(config.Version))
	e := &Exporter{config: config, gate: g, client: c}
	// All that the environment could say otherwise is said here.
	e.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithResource(about), sdktrace.WithSpanProcessor(g),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: 1024, AttributeCountLimit: 64, EventCountLimit: 32, LinkCountLimit: 4,
			AttributePerEventCountLimit: 8, AttributePerLinkCountLimit: 8,
		}),
	)
	e.tracer = e.provider.Tracer("github.com/mayfly-run/mayfly/runtime", trace.WithInstrumentationVersion(config.Version), trace.WithSchemaURL(schemaURL))
	return e, nil
}

// Counts gives what became of the spans until now.
func (e *Exporter) Counts() Counts {
	if e == nil {
		return Counts{}
	}
	return e.gate.counts()
}

// Close sends what waits, for [Config].CloseTimeout at most, and counts the rest
// as failed. What fails now is not sent again. Spans that end later are lost.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	e.closed.Do(e.close)
}

func (e *Exporter) close() {
	close(e.client.closing)
	cut := time.AfterFunc(e.config.CloseTimeout, e.client.cut)
	defer cut.Stop()
	// It ends when the queue is empty, and after the cut each batch fails at once.
	_ = e.provider.Shutdown(context.Background()) // failures are counted, and told the logger
	e.client.cut()
	if c := e.Counts(); c.Dropped+c.Failed > 0 {
		e.config.Logger.Warn("spans were lost", "collector", e.client.host, "sent", c.Sent, "dropped", c.Dropped, "failed", c.Failed)
	}
}

// Parent is where in a trace a call comes from, in the words of W3C Trace Context.
// What is not well-formed counts as nothing.
type Parent struct {
	// Traceparent and Tracestate are the headers of these names.
	Traceparent, Tracestate string
}

// maxParent is how long headers of a trace may be, in bytes: more than any service
// may make them.
const maxParent = 4 << 10

// context gives ctx with the parent in it, if there is one.
func (p Parent) context(ctx context.Context) context.Context {
	if p.Traceparent == "" || len(p.Traceparent)+len(p.Tracestate) > maxParent {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": p.Traceparent, "tracestate": p.Tracestate})
}
