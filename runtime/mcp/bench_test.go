package mcp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
)

// BenchmarkCall is a call of a tool that does nothing: what the protocol costs
// on top of the decision.
func BenchmarkCall(b *testing.B) {
	rt := newHarness(b, "").open(b)
	args := object{"id": "A"}
	b.Run("via=go", func(b *testing.B) {
		run, err := rt.StartRun(b.Context(), runtime.RunConfig{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r, err := rt.Call(b.Context(), runtime.Call{RunID: run.ID, Tool: "find_order", Args: []byte(`{"id":"A"}`)})
			if err != nil || !r.Outcome.OK() {
				b.Fatal(r.Outcome, err)
			}
		}
	})
	calls := func(b *testing.B, via sdk.Transport) {
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		c, err := client.Connect(b.Context(), via, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "find_order", Arguments: args})
			if err != nil || r.IsError {
				b.Fatal(r, err)
			}
		}
		_ = c.Close()
	}
	b.Run("via=stdio", func(b *testing.B) {
		s, err := mcp.New(b.Context(), rt, mcp.Config{})
		if err != nil {
			b.Fatal(err)
		}
		serverIn, in := io.Pipe()
		out, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.Serve(context.Background(), serverIn, serverOut) }()
		calls(b, &sdk.IOTransport{Reader: out, Writer: in})
		<-served
	})
	b.Run("via=http", func(b *testing.B) {
		h, err := mcp.NewHandler(rt, mcp.HandlerConfig{Session: func(*http.Request) (string, mcp.Config, error) { return "", mcp.Config{}, nil }})
		if err != nil {
			b.Fatal(err)
		}
		server := httptest.NewServer(h)
		defer server.Close()
		defer h.Close()
		calls(b, &sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true})
	})
}
