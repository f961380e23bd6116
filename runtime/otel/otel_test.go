package otel_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-run/mayfly/runtime/otel"
	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func exporter(t *testing.T, url string, change func(*otel.Config)) (*otel.Exporter, *logged) {
	t.Helper()
	log := new(logged)
	c := otel.Config{
		Endpoint: url, Transport: &http.Transport{}, Delay: time.Millisecond, Backoff: time.Millisecond,
		Headers: http.Header{"Api-Key": {"sentinel-key"}}, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	if change != nil {
		change(&c)
	}
	e, err := otel.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e, log
}

// end makes a call of two spans: itself and the governor's.
func end(e *otel.Exporter) {
	at := time.Now()
	_, s := e.Start(context.Background(), otel.Parent{}, at)
	s.End(otel.Call{ID: "c", Run: "r", Tool: "t", Outcome: "ok", OK: true, Started: at, Decided: at, Ended: at})
}

func TestEndpoint(t *testing.T) {
	collector := oteltest.New(t)
	for _, path := range []string{"", "/", "/v1/traces"} {
		e, _ := exporter(t, collector.URL+path, nil)
		end(e)
		e.Close()
		if diff := cmp.Diff(otel.Counts{Sent: 2}, e.Counts()); diff != "" {
			t.Errorf("path %q: %s", path, diff)
		}
	}
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://", "http://a b"} {
		if _, err := otel.New(otel.Config{Endpoint: bad, Transport: &http.Transport{}}); err == nil {
			t.Errorf("the endpoint %q is taken", bad)
		}
	}
	for _, r := range collector.Requests() {
		if r.Header.Get("Api-Key") != "sentinel-key" {
			t.Error("a request came without its header")
		}
	}
}

// TestCollectorComesBack: what it does not take for a while is sent again, and the
// operator is told of both.
func TestCollectorComesBack(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		collector := oteltest.New(t)
		var asked atomic.Int64
		collector.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if asked.Add(1) > 3 {
				return true
			}
			http.Error(w, "you sent "+r.Header.Get("Api-Key"), status)
			return false
		}
		e, log := exporter(t, collector.URL, nil)
		end(e)
		for len(collector.Spans("")) < 2 {
			goruntime.Gosched() // the sending is the exporter's own business
		}
		e.Close()
		if diff := cmp.Diff(otel.Counts{Sent: 2}, e.Counts()); diff != "" {
			t.Errorf("status %d: %s", status, diff)
		}
		if strings.Contains(log.String(), "sentinel") {
			t.Errorf("the log has what the collector said: %s", log)
		}
	}
}

// TestCollectorRefuses: what it does not want is lost, counted, and told the
// operator once, without the collector's words.
func TestCollectorRefuses(t *testing.T) {
	collector := oteltest.New(t)
	var refuse atomic.Bool
	refuse.Store(true)
	collector.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if refuse.Load() {
			http.Error(w, "you sent "+r.Header.Get("Api-Key"), http.StatusBadRequest)
			return false
		}
		return true
	}
	e, log := exporter(t, collector.URL, nil)
	for range 3 {
		before := e.Counts().Failed
		end(e)
		for e.Counts().Failed < before+2 {
			goruntime.Gosched()
		}
	}
	refuse.Store(false)
	end(e)
	for e.Counts().Sent < 2 {
		goruntime.Gosched()
	}
	e.Close()
	if diff := cmp.Diff(otel.Counts{Sent: 2, Failed: 6}, e.Counts()); diff != "" {
		t.Error(diff)
	}
	text := log.String()
	if strings.Count(text, "does not take spans") != 1 || !strings.Contains(text, "status 400") || strings.Count(text, "takes spans again") != 1 ||
		!strings.Contains(text, "spans were lost") || strings.Contains(text, "sentinel") {
		t.Errorf("the log is\n%s", text)
	}
}

// TestPartialSuccess: spans that a collector takes and throws away are lost too.
func TestPartialSuccess(t *testing.T) {
	collector := oteltest.New(t)
	collector.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
		answer, err := proto.Marshal(&coltracepb.ExportTraceServiceResponse{
			PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "SENTINEL"},
		})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(answer)
		return true
	}
	e, log := exporter(t, collector.URL, func(c *otel.Config) { c.Delay = time.Hour }) // one batch
	end(e)
	e.Close()
	if diff := cmp.Diff(otel.Counts{Sent: 1, Failed: 1}, e.Counts()); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(log.String(), "SENTINEL") {
		t.Errorf("the log has what the collector said: %s", log)
	}
}

// TestCollectorIsDown: nobody listens, and closing does not wait for it.
func TestCollectorIsDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// Were it sent again after closing, this test would take an hour.
	e, log := exporter(t, "http://"+address+"/secret-path", func(c *otel.Config) {
		c.Backoff, c.CloseTimeout, c.Timeout = time.Hour, time.Hour, time.Hour
	})
	end(e)
	e.Close()
	if diff := cmp.Diff(otel.Counts{Failed: 2}, e.Counts()); diff != "" {
		t.Error(diff)
	}
	if text := log.String(); !strings.Contains(text, "cannot be reached") || strings.Contains(text, "secret-path") {
		t.Errorf("the log is\n%s", text)
	}
}

// TestCollectorIsSlow: a collector that never answers fills the queue, and no
// more: what has no room is dropped and counted, no call waits, and closing ends.
func TestCollectorIsSlow(t *testing.T) {
	collector := oteltest.New(t)
	asked := make(chan struct{}, 1000)
	collector.Answer = func(_ http.ResponseWriter, r *http.Request) bool {
		asked <- struct{}{}
		<-r.Context().Done()
		return false
	}
	e, _ := exporter(t, collector.URL, func(c *otel.Config) {
		c.Queue, c.Timeout, c.CloseTimeout = 10, time.Hour, time.Millisecond
	})
	end(e)
	<-asked // the collector has it, and holds it
	for range 50 {
		end(e)
	}
	if c := e.Counts(); c.Waiting != 10 || c.Dropped != 92 || c.Sent != 0 {
		t.Errorf("after 102 spans: %+v", c)
	}
	e.Close()
	if diff := cmp.Diff(otel.Counts{Dropped: 92, Failed: 10}, e.Counts()); diff != "" {
		t.Error(diff)
	}
	end(e) // too late
	if diff := cmp.Diff(otel.Counts{Dropped: 92, Failed: 10}, e.Counts()); diff != "" {
		t.Errorf("after closing: %s", diff)
	}
}

// TestCollectorSaysAnything: what a collector answers is in no log, whatever it is. It
// has the headers, and can answer with them.
func TestCollectorSaysAnything(t *testing.T) {
	for name, answer := range map[string]string{
		"no HTTP":             "sentinel-key\r\n\r\n",
		"another version":     "HTTP/sentinel-key 200 OK\r\n\r\n",
		"no status":           "HTTP/1.1 sentinel-key\r\n\r\n",
		"no header":           "HTTP/1.1 200 OK\r\nsentinel-key\r\n\r\n",
		"no length":           "HTTP/1.1 200 OK\r\nContent-Length: sentinel-key\r\n\r\n",
		"an unknown encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: sentinel-key\r\n\r\n",
		"nowhere":             "HTTP/1.1 302 Found\r\nLocation: http://sentinel-key:%zz\r\nContent-Length: 0\r\n\r\n",
		"a broken piece":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsentinel-key\r\n",
		"nothing":             "",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = c.Write([]byte(answer))
				}
				_ = c.Close()
			}
		}()
		e, log := exporter(t, "http://"+l.Addr().String()+"/secret-path", nil)
		end(e)
		e.Close()
		if text := log.String(); strings.Contains(text, "sentinel") || strings.Contains(text, "secret-path") {
			t.Errorf("%s: the log is\n%s", name, text)
		}
		if name != "a broken piece" && e.Counts().Failed != 2 { // of which only the end is missing
			t.Errorf("%s: %+v", name, e.Counts())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoRedirect: the headers go to the collector and to nobody that it names.
func TestNoRedirect(t *testing.T) {
	elsewhere := oteltest.New(t)
	collector := oteltest.New(t)
	collector.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL+"/v1/traces", http.StatusTemporaryRedirect)
		return false
	}
	e, _ := exporter(t, collector.URL, nil)
	end(e)
	e.Close()
	if n := len(elsewhere.Requests()); n != 0 || e.Counts().Failed != 2 {
		t.Errorf("%d requests went elsewhere; %+v", n, e.Counts())
	}
}

func TestParent(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	tests := []struct {
		name   string
		parent otel.Parent
		joins  bool
		state  string
	}{
		{"none", otel.Parent{}, false, ""},
		{"sampled", otel.Parent{Traceparent: "00-" + id + "-" + span + "-01", Tracestate: "a=1,b=2"}, true, "a=1,b=2"},
		{"not sampled", otel.Parent{Traceparent: "00-" + id + "-" + span + "-00"}, true, ""},
		{"odd state", otel.Parent{Traceparent: "00-" + id + "-" + span + "-01", Tracestate: "=,,"}, true, ""},
		{"no version", otel.Parent{Traceparent: "ff-" + id + "-" + span + "-01"}, false, ""},
		{"zero", otel.Parent{Traceparent: "00-00000000000000000000000000000000-" + span + "-01"}, false, ""},
		{"upper case", otel.Parent{Traceparent: "00-" + strings.ToUpper(id) + "-" + span + "-01"}, false, ""},
		{"text", otel.Parent{Traceparent: "' OR 1=1"}, false, ""},
		{"long", otel.Parent{Traceparent: "00-" + id + "-" + span + "-01", Tracestate: strings.Repeat("a=1,", 9000)}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collector := oteltest.New(t)
			e, _ := exporter(t, collector.URL, nil)
			_, s := e.Start(t.Context(), tt.parent, time.Now())
			s.End(otel.Call{Tool: "t"})
			e.Close()
			got := collector.One("execute_tool")
			joins := string(hex(got.TraceId)) == id && string(hex(got.ParentSpanId)) == span
			if joins != tt.joins || !joins && len(got.ParentSpanId) != 0 || got.TraceState != tt.state {
				t.Errorf("trace %x, parent %x, state %q", got.TraceId, got.ParentSpanId, got.TraceState)
			}
		})
	}
}

func hex(b []byte) []byte {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return out
}

// TestNil: no exporter is one that does nothing.
func TestNil(t *testing.T) {
	var e *otel.Exporter
	ctx, s := e.Start(t.Context(), otel.Parent{}, time.Now())
	ctx, ran := s.Run(ctx, nil, time.Now())
	ran(time.Now(), "ok", nil)
	s.End(otel.Call{})
	e.Close()
	if ctx != t.Context() || e.Counts() != (otel.Counts{}) {
		t.Error("something happened")
	}
}
