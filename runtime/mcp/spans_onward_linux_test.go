package mcp_test

import (
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
)

// TestSpansOnward: the server of an mcp tool is told where in the trace its call
// is, in the request's _meta and over HTTP in the header too; without tracing it is
// told nothing, whatever the caller's place is.
func TestSpansOnward(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	from := runtime.TraceParent{Traceparent: "00-" + trace + "-00f067aa0ba902b7-01", Tracestate: "vendor=SENTINEL"}
	// placeOf is that of the run of the only call.
	placeOf := func(c *oteltest.Collector) string {
		return "00-" + trace + "-" + hex.EncodeToString(c.One("run mcp").SpanId) + "-01"
	}
	for _, traced := range []bool{true, false} {
		t.Run(fmt.Sprintf("http/traced=%v", traced), func(t *testing.T) {
			collector := oteltest.New(t)
			f := &far{tools: []any{lookup()}, call: func() any { return object{"content": []any{}, "structuredContent": object{}} }}
			server := httptest.NewServer(f)
			defer server.Close()
			defer server.CloseClientConnections()
			spec := "  mcp_servers: { far: { url: \"" + server.URL + "\" } }\n"
			if traced {
				spec += "  trace: { otlp: { endpoint: \"" + collector.URL + "\" } }\n"
			}
			h := newHarness(t, spec)
			h.write(t, "tools.yaml", fmt.Sprintf(farTools, "read", "20s", strings.TrimPrefix(server.URL, "http://")))
			h.config.Funcs, h.config.CallMCP, h.config.Trace = nil, mcp.CallUpstream, ""
			rt, err := runtime.Open(t.Context(), h.config)
			if err != nil {
				t.Fatal(err)
			}
			run, err := rt.StartRun(t.Context(), runtime.RunConfig{Principal: "agent"})
			if err != nil {
				t.Fatal(err)
			}
			r, err := rt.Call(t.Context(), runtime.Call{RunID: run.ID, Tool: "lookup", Args: []byte(`{"id":"A"}`), Parent: from})
			if err != nil || r.Outcome != runtime.OK {
				t.Fatal(r, err)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			meta, _ := f.params["_meta"].(object)
			got := []any{meta["traceparent"], meta["tracestate"], strings.Join(f.header.Values("Traceparent"), "|"), f.header.Get("Tracestate")}
			want := []any{nil, nil, "", ""}
			if traced {
				want = []any{placeOf(collector), nil, placeOf(collector), ""}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
		t.Run(fmt.Sprintf("stdio/traced=%v", traced), func(t *testing.T) {
			collector := oteltest.New(t)
			spec, want := "", `{"parent":null,"state":null}`
			if traced {
				spec = "  trace: { otlp: { endpoint: \"" + collector.URL + "\" } }\n"
			}
			var output string
			t.Run("call", func(t *testing.T) { // spans are sent when the runtime is closed
				r := callStdioFrom(t, "says where", "read", "1m", spec, from)
				if r.Outcome != runtime.OK {
					t.Fatal(r.Outcome, r.Error)
				}
				output = sorted(t, r.Output.Text)
			})
			if output == "" {
				t.Skip("there is no server to ask")
			}
			if traced {
				want = `{"parent":"` + placeOf(collector) + `","state":null}`
			}
			if diff := cmp.Diff(want, output); diff != "" {
				t.Error(diff)
			}
		})
	}
}
