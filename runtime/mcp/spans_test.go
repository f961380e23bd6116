package mcp_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
)

// tracing adds a header to each request.
type tracing struct{ parent string }

func (tr tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Traceparent", tr.parent)
	return http.DefaultTransport.RoundTrip(r)
}

// TestSpans: a call joins the trace that its request names, else that of the HTTP
// request that carried it.
func TestSpans(t *testing.T) {
	const ours, https, span = "4bf92f3577b34da6a3ce929d0e0e4736", "11111111111111111111111111111111", "00f067aa0ba902b7"
	meta := sdk.Meta{"traceparent": "00-" + ours + "-" + span + "-01", "tracestate": "a=1"}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			collector := oteltest.New(t)
			h := newHarness(t, "  trace: { otlp: { endpoint: \""+collector.URL+"\" } }\n")
			h.config.Trace = ""
			rt, err := runtime.Open(t.Context(), h.config)
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			makeCall := func(c *sdk.ClientSession, meta sdk.Meta) {
				t.Helper()
				calls++
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_order", Arguments: object{"id": fmt.Sprint(calls)}, Meta: maps.Clone(meta)}) // the SDK adds to it
				if err != nil || r.IsError {
					t.Fatal(r, err)
				}
			}
			t.Run("calls", func(t *testing.T) {
				_, stdio := connect(t, rt, asking(), version, nil)
				makeCall(stdio, meta)
				makeCall(stdio, nil)
				makeCall(stdio, sdk.Meta{"traceparent": 7})
				url := listen(t, rt, mcp.HandlerConfig{})
				client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
				c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
					Endpoint: url, HTTPClient: &http.Client{Transport: tracing{"00-" + https + "-" + span + "-01"}},
				}, &sdk.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				makeCall(c, meta)
				makeCall(c, nil)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			got := map[string]int{}
			for _, s := range collector.Spans("execute_tool find_order") {
				trace := hex.EncodeToString(s.TraceId)
				if trace != ours && trace != https {
					trace = "its own"
				} else if hex.EncodeToString(s.ParentSpanId) != span {
					t.Errorf("parent %x", s.ParentSpanId)
				}
				got[trace]++
			}
			if got[ours] != 2 || got[https] != 1 || got["its own"] != 2 {
				t.Errorf("the traces are %v", got)
			}
		})
	}
}
