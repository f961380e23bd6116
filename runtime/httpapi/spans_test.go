package httpapi_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
)

// TestSpans: calls join the trace of the client's header, and /metrics says what
// became of the spans.
func TestSpans(t *testing.T) {
	collector := oteltest.New(t)
	w := newWorld(t, func(w *world) { w.harness = "  trace: { otlp: { endpoint: \"" + collector.URL + "\" } }\n" })
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	header := "00-" + trace + "-" + parent + "-01"
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"call":"joins","args":{"id":"SENTINEL"}}`, "Traceparent", header, "Tracestate", "a=1")
	w.must(200, "agent", "POST", "/v1/exec", `{"call":"code joins","code":"1"}`, "Traceparent", header)
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"call":"alone","args":{"id":"A"}}`)
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"call":"odd","args":{"id":"A"}}`, "Traceparent", "SENTINEL")
	w.must(200, "agent", "POST", "/v1/tools/find_order/authorize", `{"args":{"id":"A"}}`, "Traceparent", header) // is no call
	counted := regexp.MustCompile(`(?m)^mayfly_spans_total\{result="(\w+)"\} (\d+)$|^mayfly_spans_waiting (\d+)$`)
	if metrics := w.must(200, "prom", "GET", "/metrics", ""); len(counted.FindAllString(metrics.text, -1)) != 4 {
		t.Errorf("the metrics are\n%s", metrics.text)
	}
	w.stop()
	w.close()
	joined := map[string]bool{"joins": true, "code joins": true, "alone": false, "odd": false}
	for _, s := range collector.Spans("") {
		id, isCall := s.Attributes["gen_ai.tool.call.id"].(string)
		if !isCall {
			continue
		}
		want, known := joined[id]
		if joins := hex.EncodeToString(s.TraceId) == trace && hex.EncodeToString(s.ParentSpanId) == parent; !known || joins != want {
			t.Errorf("call %s: trace %x, parent %x", id, s.TraceId, s.ParentSpanId)
		}
		delete(joined, id)
	}
	if len(joined) != 0 {
		t.Errorf("there is no span of %v", joined)
	}
	if strings.Contains(collector.Bytes(), "SENTINEL") {
		t.Error("what was sent holds an argument")
	}
	if counts, _ := w.rt.Spans(); fmt.Sprint(counts) != fmt.Sprintf("{%d 0 0 0}", len(collector.Spans(""))) {
		t.Errorf("counted %+v, sent %d", counts, len(collector.Spans("")))
	}
}
