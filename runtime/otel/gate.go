package otel

import (
	"context"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// gate is in front of the SDK's queue and behind it. It lets no more spans in than
// the queue has room for, so that none is lost that nobody counted.
type gate struct {
	sdktrace.SpanProcessor // the SDK's queue
	inner                  sdktrace.SpanExporter
	client                 *client
	room                   int64

	waiting, sent, dropped, failed atomic.Int64
}

func newGate(config Config, inner sdktrace.SpanExporter, c *client) *gate {
	g := &gate{inner: inner, client: c, room: int64(config.Queue)}
	g.SpanProcessor = sdktrace.NewBatchSpanProcessor(exits{g},
		sdktrace.WithMaxQueueSize(config.Queue), sdktrace.WithMaxExportBatchSize(min(batchSize, config.Queue)),
		sdktrace.WithBatchTimeout(config.Delay), sdktrace.WithExportTimeout(config.Timeout))
	return g
}

// OnEnd takes a span that has ended, or drops it.
func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if g.client.isClosing() {
		g.failed.Add(1) // the queue would say nothing
		return
	}
	if g.waiting.Add(1) > g.room {
		g.waiting.Add(-1)
		g.dropped.Add(1)
		return
	}
	g.SpanProcessor.OnEnd(s)
}

func (g *gate) counts() Counts {
	return Counts{Sent: g.sent.Load(), Dropped: g.dropped.Load(), Failed: g.failed.Load(), Waiting: g.waiting.Load()}
}

// exits is what the queue hands its spans to.
type exits struct{ *gate }

// ExportSpans sends a batch. Failures are not the queue's business, which would
// tell the process's global handler.
func (x exits) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := x.inner.ExportSpans(ctx, spans)
	n := int64(len(spans))
	lost := x.client.outcome(err, n)
	x.failed.Add(lost)
	x.sent.Add(n - lost)
	x.waiting.Add(-n)
	return nil
}

// Shutdown ends the exporter.
func (x exits) Shutdown(ctx context.Context) error { return x.inner.Shutdown(ctx) }
