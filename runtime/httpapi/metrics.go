package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// Metrics count what a runtime decides and does, whichever way a call came, and
// what HTTP clients ask for. No label holds a value that a client chose.
type Metrics struct {
	registry  *prometheus.Registry
	known     func(tool string) bool
	decisions *prometheus.CounterVec
	calls     *prometheus.CounterVec
	took      *prometheus.HistogramVec
	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	busy      prometheus.Counter
	dropped   prometheus.Counter
}

// durations are the bounds of the histograms, in seconds.
var durations = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics makes metrics for the tools of a set. Its Note is to be told the
// runtime's notes.
func NewMetrics(set *manifests.Set) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		known:     func(tool string) bool { _, ok := set.Tool(tool); return ok },
		decisions: counter("mayfly_decisions_total", "Decisions of the governor, by what was decided, the step that did, and why.", "tool", "outcome", "step", "code"),
		calls:     counter("mayfly_calls_total", "Calls that were let through, by how they ended.", "tool", "outcome"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mayfly_call_duration_seconds", Help: "How long calls took that were let through.", Buckets: durations,
		}, []string{"tool"}),
		requests: counter("mayfly_http_requests_total", "Requests, by route and status code.", "route", "code"),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mayfly_http_request_duration_seconds", Help: "How long requests took, streams included.", Buckets: durations,
		}, []string{"route"}),
		busy:    prometheus.NewCounter(prometheus.CounterOpts{Name: "mayfly_http_busy_total", Help: "Requests that were told to come again later."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "mayfly_http_streams_dropped_total", Help: "Streams of the trace that were too slow."}),
	}
	m.registry.MustRegister(m.decisions, m.calls, m.took, m.requests, m.latency, m.busy, m.dropped,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Note counts a note of the trace.
func (m *Metrics) Note(n runtime.Note) {
	tool := n.Tool
	if !m.known(tool) {
		tool = "" // what does not exist can have any name
	}
	if n.Name == runtime.NoteGovernor {
		m.decisions.WithLabelValues(tool, n.Outcome, n.Step, n.Code).Inc()
		return
	}
	m.calls.WithLabelValues(tool, n.Outcome).Inc()
	m.took.WithLabelValues(tool).Observe(time.Duration(n.Took).Seconds())
}

// request counts a request. pattern is the route's, with its method.
func (m *Metrics) request(pattern string, status int, took time.Duration) {
	if pattern == "" {
		pattern = "none"
	}
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(pattern).Observe(took.Seconds())
}

// watch exposes what the server has under way.
func (m *Metrics) watch(s *Server) error {
	for name, gauge := range map[string]struct {
		help string
		get  func() float64
	}{
		"mayfly_http_calls_running":    {"Calls that run.", func() float64 { n, _ := s.work.Places(); return float64(n) }},
		"mayfly_http_calls_waiting":    {"Calls that wait for their turn.", func() float64 { _, n := s.work.Places(); return float64(n) }},
		"mayfly_http_request_bytes":    {"Memory of requests that are being read or answered, and of their arguments.", func() float64 { return float64(s.work.Bytes()) }},
		"mayfly_http_refusals_waiting": {"Requests whose caller did not wait, and that are told a little later that the host is busy.", func() float64 { return float64(s.refusals.waiting.Load()) }},
		"mayfly_http_streams":          {"Streams of the trace.", func() float64 { return float64(s.streams.Load()) }},
	} {
		if err := m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: gauge.help}, gauge.get)); err != nil {
			return err
		}
	}
	return m.watchSpans(s.rt)
}

// watchSpans exposes what became of spans, if somebody gets any.
func (m *Metrics) watchSpans(rt *runtime.Runtime) error {
	if _, sends := rt.Spans(); !sends {
		return nil
	}
	for result, get := range map[string]func(runtime.SpanCounts) int64{
		"sent":    func(c runtime.SpanCounts) int64 { return c.Sent },
		"dropped": func(c runtime.SpanCounts) int64 { return c.Dropped },
		"failed":  func(c runtime.SpanCounts) int64 { return c.Failed },
	} {
		options := prometheus.CounterOpts{
			Name: "mayfly_spans_total", Help: "Spans: sent, dropped because the queue was full, or failed because the collector did not take them.",
			ConstLabels: prometheus.Labels{"result": result},
		}
		if err := m.registry.Register(prometheus.NewCounterFunc(options, func() float64 {
			counts, _ := rt.Spans()
			return float64(get(counts))
		})); err != nil {
			return err
		}
	}
	return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "mayfly_spans_waiting", Help: "Spans that are to be sent."}, func() float64 {
		counts, _ := rt.Spans()
		return float64(counts.Waiting)
	}))
}

func (q *request) metrics() {
	switch m := q.s.config.Metrics; {
	case m == nil:
		q.s.write(q.w, no(refuse(http.StatusNotFound, "not_found", "", "there are no metrics here")))
	case !q.caller.has(RoleMetrics) && !q.caller.watches(AllTenants):
		q.s.write(q.w, no(refuse(http.StatusForbidden, "role", "", "this takes the role %s", RoleMetrics)))
	default:
		q.s.writeDeadline(q.w)
		promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(q.w, q.r)
	}
}
