//go:build amd64 || arm64

package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
)

const stdioTools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: lookup }
spec:
  transport: mcp
  server: mcp://far
  description: Look something up.
  input_schema: { type: object, properties: { id: { type: string } } }
  side_effect: SIDE_EFFECT
  timeout: TIMEOUT
`

// callStdio calls the tool of a server that the runtime starts.
func callStdio(t *testing.T, how, sideEffect, timeout string) runtime.Result {
	t.Helper()
	return callStdioFrom(t, how, sideEffect, timeout, "", runtime.TraceParent{})
}

func callStdioFrom(t *testing.T, how, sideEffect, timeout, spec string, from runtime.TraceParent) runtime.Result {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no /usr/bin/python3 to write a server in")
	}
	h := newHarness(t, `  mcp_servers:
    far:
      command: { command: python3, args: [server.py, "`+how+`"] }
      grants: { filesystem_read: [server.py] }
`+spec)
	if spec != "" {
		h.config.Trace = "" // spans go with it
	}
	// The server runs as another user.
	if err := os.Chmod(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/server.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "server.py"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	h.write(t, "tools.yaml", strings.NewReplacer("SIDE_EFFECT", sideEffect, "TIMEOUT", timeout).Replace(stdioTools))
	h.config.Funcs, h.config.CallMCP = nil, mcp.CallUpstream
	rt := h.open(t)
	run, err := rt.StartRun(t.Context(), runtime.RunConfig{Principal: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rt.Call(t.Context(), runtime.Call{RunID: run.ID, Tool: "lookup", Args: []byte(`{"id":"A"}`), Parent: from})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUpstreamStdio: a server that is a program is started for the call, and is
// confined.
func TestUpstreamStdio(t *testing.T) {
	tests := []struct {
		how, sideEffect, timeout string
		want                     runtime.Outcome
		message                  string // a part of what the operator is told
	}{
		{"answers", "read", "1m", runtime.OK, ""},
		{"answers", "write_external", "1m", runtime.EffectConfirmed, ""},
		{"stays", "read", "1m", runtime.OK, ""}, // it answered; its process is ended
		{"has changed", "destructive", "1m", runtime.Denied, "digest"},
		{"dies at once", "destructive", "1m", runtime.Unavailable, "a word before the end"},
		{"talks nonsense", "read", "1m", runtime.Unavailable, ""},
		{"dies on the call", "read", "1m", runtime.ToolError, ""},
		{"dies on the call", "destructive", "1m", runtime.EffectAmbiguous, ""},
		{"floods", "destructive", "1m", runtime.EffectAmbiguous, ""},
		{"says nothing", "destructive", "2s", runtime.Unavailable, ""}, // it was not called
		{"hangs on the call", "read", "8s", runtime.Timeout, ""},
		{"hangs on the call", "destructive", "8s", runtime.EffectAmbiguous, ""},
	}
	for _, tt := range tests {
		t.Run(tt.how+"/"+tt.sideEffect, func(t *testing.T) {
			r := callStdio(t, tt.how, tt.sideEffect, tt.timeout)
			if r.Outcome != tt.want {
				t.Fatalf("%s, want %s; %+v", r.Outcome, tt.want, r.Error)
			}
			if !r.Outcome.OK() {
				if !strings.Contains(r.Error.Message, tt.message) {
					t.Errorf("error %+v, want %q in it", r.Error, tt.message)
				}
				if r.Outcome == runtime.Denied && strings.Contains(r.Error.Message, "JSON") {
					t.Errorf("error %+v, with how the program ended in it", r.Error)
				}
				return
			}
			want := `{"id":"A","key":"` + r.IdempotencyKey + `","network":"OSError","shadow":"FileNotFoundError"}`
			if diff := cmp.Diff(want, sorted(t, r.Output.Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUpstreamIsNotThere: what the server's program is granted and this machine
// does not have is named, before a call and at one.
func TestUpstreamIsNotThere(t *testing.T) {
	h := newHarness(t, `  mcp_servers:
    far:
      command: { command: /bin/sh, args: [-c, "exit 0"] }
      grants: { filesystem_read: [., no-such] }
`)
	h.write(t, "tools.yaml", strings.NewReplacer("SIDE_EFFECT", "read", "TIMEOUT", "1m").Replace(stdioTools))
	h.config.Funcs, h.config.CallMCP = nil, mcp.CallUpstream
	rt := h.open(t)
	run, err := rt.StartRun(t.Context(), runtime.RunConfig{Principal: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rt.Call(t.Context(), runtime.Call{RunID: run.ID, Tool: "lookup", Args: []byte(`{"id":"A"}`)})
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(h.dir, "no-such")
	if r.Outcome != runtime.Unavailable || !strings.Contains(r.Error.Message, "read "+missing+": cannot be granted: no such file or directory") {
		t.Errorf("%s, %+v", r.Outcome, r.Error)
	}
	tool, ok := rt.Manifests().Tool("lookup")
	if !ok {
		t.Fatal("the tool is not there")
	}
	want := "the program of mcp://far: grants: " + missing + " does not exist"
	if err := runtime.FindSettings(rt.Manifests().Harness, tool, os.LookupEnv); err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}
