package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// TestServeOneQueue: calls over MCP and over HTTP wait in the same queue, with what
// they were sent in the same memory.
func TestServeOneQueue(t *testing.T) {
	s := startServe(t, []httpapi.Caller{{Principal: "agent", Tenant: "acme"}}, func(c *serveCommand, _ string) {
		c.Exec, c.Calls, c.Queue, c.MaxBodyMB = true, 1, -1, 1
	})
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: "http://" + s.addr + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.tokens["agent"]}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	exec := func(ctx context.Context, code string) (outcome string, err error) {
		r, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "mayfly_exec", Arguments: map[string]any{"code": code}})
		if err != nil || !r.IsError {
			return "ok", err
		}
		problem, _ := r.StructuredContent.(map[string]any)
		return fmt.Sprint(problem["outcome"]), nil
	}
	post := func(ctx context.Context, code string) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/v1/exec", strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := bearer{s.tokens["agent"]}.RoundTrip(r)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	pipe := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// occupy has a call wait until stop is called.
	occupy := func(call func(context.Context)) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			call(ctx)
		}()
		if _, err := os.ReadFile(pipe); err != nil { // it is written to when the call has begun
			t.Fatal(err)
		}
		return func() {
			cancel()
			<-over
		}
	}
	stop := occupy(func(ctx context.Context) { post(ctx, "wait "+pipe) })
	if got, err := exec(t.Context(), "echo"); got != "busy" || err != nil {
		t.Errorf("over MCP, while a call over HTTP has the place: %s, %v", got, err)
	}
	stop()
	for { // the place is free when the server has seen that the client is gone
		if got, err := exec(t.Context(), "echo"); got == "ok" && err == nil {
			break
		} else if got != "busy" || err != nil {
			t.Fatalf("over MCP, when the place is free: %s, %v", got, err)
		}
	}
	stop = occupy(func(ctx context.Context) { _, _ = exec(ctx, "wait "+pipe) })
	if got := post(t.Context(), "echo"); got != http.StatusServiceUnavailable {
		t.Errorf("over HTTP, while a call over MCP has the place: %d", got)
	}
	stop()
	for {
		if got := post(t.Context(), "echo"); got == http.StatusOK {
			break
		} else if got != http.StatusServiceUnavailable {
			t.Fatalf("over HTTP, when the place is free: %d", got)
		}
	}
	// What a message may have is what a request may have.
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "mayfly_exec", Arguments: map[string]any{"code": strings.Repeat("x", 1<<20)}}); err == nil {
		t.Error("a message of more than --max-body-mb was taken")
	}
}
