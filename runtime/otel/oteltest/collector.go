// Package oteltest is a collector for tests: it takes spans over HTTP as the
// protocol's own types have them.
package oteltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a server that keeps what it gets.
type Collector struct {
	// URL is its address, without a path.
	URL string
	// Answer, if it is set before the first request, answers a request instead,
	// and reports whether that counts as taken.
	Answer func(w http.ResponseWriter, r *http.Request) (taken bool)

	t        testing.TB
	mu       sync.Mutex
	spans    []*Span
	requests []*http.Request
	raw      strings.Builder
	resource map[string]any
}

// Span is a span as it arrived.
type Span struct {
	*tracepb.Span
	// Attributes are those of the span, by name.
	Attributes map[string]any
}

// New starts a collector that ends with the test.
func New(t testing.TB) *Collector {
	c := &Collector{t: t}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c.URL = server.URL
	return c
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client gave up
	}
	c.mu.Lock()
	c.requests = append(c.requests, r)
	c.raw.Write(body)
	answer := c.Answer
	c.mu.Unlock()
	if answer != nil && !answer(w, r) {
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("the collector got %s %s with %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
		return
	}
	var request coltracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		c.t.Errorf("the collector cannot read %d bytes: %v", len(body), err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		c.resource = attributes(resource.Resource.Attributes)
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, &Span{span, attributes(span.Attributes)})
			}
		}
	}
}

// attributes gives the values that this program sends.
func attributes(list []*commonpb.KeyValue) map[string]any {
	m := make(map[string]any, len(list))
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[kv.Key] = v.IntValue
		case *commonpb.AnyValue_BoolValue:
			m[kv.Key] = v.BoolValue
		case *commonpb.AnyValue_ArrayValue:
			var all []string
			for _, one := range v.ArrayValue.Values {
				all = append(all, one.GetStringValue())
			}
			m[kv.Key] = strings.Join(all, ",")
		}
	}
	return m
}

// EventAttributes gives the attributes of the events of a span, in order.
func (s *Span) EventAttributes() []map[string]any {
	var all []map[string]any
	for _, e := range s.Events {
		all = append(all, attributes(e.Attributes))
	}
	return all
}

// Spans gives the spans of a name that were taken; of all, if it is empty.
func (c *Collector) Spans(name string) []*Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*Span
	for _, s := range c.spans {
		if name == "" || s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// One gives the one span of a name.
func (c *Collector) One(name string) *Span {
	c.t.Helper()
	found := c.Spans(name)
	if len(found) != 1 {
		var names []string
		for _, s := range c.Spans("") {
			names = append(names, s.Name)
		}
		c.t.Fatalf("%d spans %q among %q", len(found), name, names)
	}
	return found[0]
}

// Requests gives the requests that came, also those that were not taken.
func (c *Collector) Requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*http.Request(nil), c.requests...)
}

// Bytes are the bodies of all requests.
func (c *Collector) Bytes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw.String()
}

// Resource gives the attributes of the sender.
func (c *Collector) Resource() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource
}
