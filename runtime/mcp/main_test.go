package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

func TestMain(m *testing.M) {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// tools are the manifests of the tests.
const tools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: find_order, version: "2" }
spec:
  handler: "host:find_order"
  description: Look an order up.
  side_effect: read
  input_schema: { type: object, properties: { id: { type: string } }, required: [id], additionalProperties: false }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec:
  handler: "host:refund"
  description: Refund part of a payment.
  side_effect: write_external
  risk: high
  egress: [bank.example]
  input_schema: { type: object, properties: { id: { type: string }, usd: { type: number } }, required: [id, usd], additionalProperties: false }
  approval: { when: "args.usd > 100", approver_role: finance }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: note }
spec: { handler: "host:note", side_effect: write_internal, description: Keep a note. }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: wipe }
spec: { handler: "host:wipe", side_effect: destructive }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: python }
spec:
  transport: code
  sandbox: python
  input_schema: { type: object, properties: { code: { type: string } }, required: [code] }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: closed }
spec: { handler: "host:closed", enabled: false }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: changed }
spec: { handler: "host:changed", definition_digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000" }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: north_only }
spec: { handler: "host:north_only", tenants: [north] }
`

// harness is what is on the disk of a test.
type harness struct {
	dir    string
	config runtime.Config
}

func newHarness(t testing.TB, spec string) *harness {
	t.Helper()
	h := &harness{dir: t.TempDir()}
	h.write(t, "tools.yaml", tools)
	h.write(t, "harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n"+spec)
	h.config = runtime.Config{
		Harness: filepath.Join(h.dir, "harness.yaml"),
		Store:   "memory",
		Trace:   "none",
		Funcs:   make(map[string]runtime.Func),
		OpenSandbox: func(context.Context, string) (sandbox.Sandbox, error) {
			return fakeSandbox{}, nil
		},
	}
	for _, name := range []string{"find_order", "refund", "note", "wipe", "closed", "changed", "north_only"} {
		h.config.Funcs[name] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`{"tool":"` + name + `","args":` + string(c.Args) + `}`), nil
		}
	}
	return h
}

func (h *harness) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h *harness) open(t testing.TB) *runtime.Runtime {
	t.Helper()
	rt, err := runtime.Open(t.Context(), h.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// fakeSandbox answers with what its code says, or waits for its end.
type fakeSandbox struct{ started, ended chan struct{} }

func (f fakeSandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	switch spec.Code {
	case "wait":
		if f.started != nil {
			close(f.started)
		}
		<-ctx.Done()
		if f.ended != nil {
			close(f.ended)
		}
		return sandbox.Result{Status: sandbox.StatusCancelled}, nil
	case "raise":
		return sandbox.Result{Status: sandbox.StatusError, Error: &sandbox.Error{Type: "ValueError", Message: "no"}, Stdout: []byte("before\n")}, nil
	}
	return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON(`"` + spec.Code + `"`)}, nil
}

func (fakeSandbox) Close() error { return nil }

// serve starts a session on two pipes.
func serve(t *testing.T, rt *runtime.Runtime, config mcp.Config) (s *mcp.Session, in io.WriteCloser, out io.Reader) {
	t.Helper()
	s, err := mcp.New(t.Context(), rt, config)
	if err != nil {
		t.Fatal(err)
	}
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.Serve(context.Background(), serverIn, serverOut)
		_ = serverOut.Close()
		done <- err
	}()
	t.Cleanup(func() {
		_ = clientOut.Close()
		_ = clientIn.Close()
		<-done
	})
	return s, clientOut, clientIn
}

// versions are those of the protocol that differ in how a client is asked.
var versions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// connect is a session with the SDK's own client at its other end.
func connect(t *testing.T, rt *runtime.Runtime, config mcp.Config, version string, options *sdk.ClientOptions) (*mcp.Session, *sdk.ClientSession) {
	t.Helper()
	s, in, out := serve(t, rt, config)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	c, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: io.NopCloser(out), Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return s, c
}

// call calls a tool and gives what the client got of it.
func call(t *testing.T, c *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	return r
}

// field is a member of a result's structured content.
func field(r *sdk.CallToolResult, path ...string) any {
	v := r.StructuredContent
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

type object = map[string]any

// sorted is JSON with its names in order.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
