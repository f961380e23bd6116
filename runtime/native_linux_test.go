package runtime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

const nativeTools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec: { handler: "app.tools:refund", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: later }
spec: { handler: "app.tools:later", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: broken }
spec: { handler: "app.tools:broken", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: snoop }
spec: { handler: "app.tools:snoop", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: reader }
spec: { handler: "app.tools:snoop", timeout: 20s, grants: { filesystem_read: [secret.txt] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: endless }
spec: { handler: "app.tools:endless", side_effect: write_external, timeout: 1s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: double }
spec: { handler: "./double.mjs#double", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: script }
spec: { handler: { command: ./script.sh, args: [a] }, timeout: 20s, grants: { process: true } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: gone }
spec: { handler: "app.tools:gone", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: killed }
spec: { handler: "app.tools:killed", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: silent }
spec: { handler: "app.tools:silent", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refused }
spec: { handler: "app.tools:refused", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: unreadable }
spec: { handler: "app.tools:unreadable", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: nowhere }
spec: { handler: { command: no-such-program-anywhere }, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: lost }
spec: { handler: "app.tools:snoop", timeout: 20s, grants: { filesystem_read: [secret.txt], filesystem_write: [no-such-directory] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: misspelt }
spec: { handler: "./double.mjs#treble", timeout: 20s }
`

const nativePython = `import os, socket, sys, time

def refund(order: str, idempotency_key: str, usd=1.5):
    print("this is no result")
    return {"order": order, "usd": usd, "key": bool(idempotency_key)}

async def later(n):
    import asyncio
    await asyncio.sleep(0)
    return n + 1

def gone():
    os._exit(3)

def killed():
    os.kill(os.getpid(), 9)

def silent():
    os._exit(0)

def unreadable():
    return {1, 2}

def refused():
    raise ValueError("no")

def broken():
    raise KeyError("secret text")

def snoop():
    found = {"environment": sorted(k for k in os.environ if "SENTINEL" in k)}
    try:
        found["file"] = open(os.path.join(os.path.dirname(__file__), "..", "secret.txt")).read()
    except OSError as error:
        found["file"] = type(error).__name__
    try:
        socket.socket()
        found["socket"] = "made"
    except OSError as error:
        found["socket"] = type(error).__name__
    try:
        os.fork()
        found["fork"] = "made"
    except OSError as error:
        found["fork"] = type(error).__name__
    return found

def endless():
    while True:
        time.sleep(1)
`

func openNative(t *testing.T, harness string, tools ...string) *runtime.Runtime {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skipf("needs python3: %v", err)
	}
	t.Setenv("SENTINEL", "planted")
	return open(t, harness, func(c *runtime.Config) {
		dir := filepath.Dir(c.Harness)
		if len(tools) > 0 {
			text := "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml], " + tools[0] + " }\n" + harness
			if err := os.WriteFile(c.Harness, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{
			"tools.yaml": nativeTools, "app/__init__.py": "", "app/tools.py": nativePython, "secret.txt": "the secret",
			"double.mjs": "export const double = async ({ n }, { idempotencyKey }) => ({ n: n * 2, key: typeof idempotencyKey });\n",
			"script.sh":  "#!/bin/sh\nread line\necho \"{\\\"args\\\": $line, \\\"first\\\": \\\"$1\\\"}\"\n",
			"judge.py":   "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({'decision': 'block' if json.load(sys.stdin)['tool'] == 'later' else 'allow'}))\n",
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(text, "#!") {
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.Funcs = nil
	})
}

func TestHandlers(t *testing.T) {
	r := openNative(t, "")
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for _, c := range []struct {
		tool, args string
		outcome    runtime.Outcome
		want       string
	}{
		{"refund", `{"order":"A-1"}`, runtime.EffectConfirmed, `{"order":"A-1","usd":1.5,"key":true}`},
		{"later", `{"n":9007199254740993}`, runtime.OK, `9007199254740994`},
		{"snoop", `{}`, runtime.OK, `{"environment":[],"file":"FileNotFoundError","socket":"OSError","fork":"PermissionError"}`},
		// The control: what is granted is there.
		{"reader", `{}`, runtime.OK, `{"environment":[],"file":"the secret","socket":"OSError","fork":"PermissionError"}`},
		{"script", `{"x":1}`, runtime.OK, `{"args":{"x":1},"first":"a"}`},
		{"double", `{"n":21}`, runtime.OK, `{"n":42,"key":"string"}`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if c.tool == "double" {
				if _, err := exec.LookPath("node"); err != nil {
					t.Skipf("needs node: %v", err)
				}
			}
			got := call(t, r, runtime.Call{RunID: run, Tool: c.tool, Args: []byte(c.args)}, c.outcome)
			if diff := cmp.Diff(c.want, got.Output.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
	got := call(t, r, runtime.Call{RunID: run, Tool: "broken"}, runtime.ToolError)
	if got.Error.Type != "KeyError" || got.Output != nil || !strings.Contains(got.Error.Message, "secret text") {
		t.Errorf("error %+v, output %v", got.Error, got.Output)
	}
	if got := call(t, r, runtime.Call{RunID: run, Tool: "nowhere"}, runtime.Unavailable); !strings.Contains(got.Error.Message, "no-such-program-anywhere") {
		t.Errorf("error %+v", got.Error)
	}
	// Of many paths, the one that is wrong is named.
	if got := call(t, r, runtime.Call{RunID: run, Tool: "lost"}, runtime.Unavailable); !strings.HasPrefix(got.Error.Message, "write /") ||
		!strings.HasSuffix(got.Error.Message, "/no-such-directory: cannot be granted: no such file or directory") {
		t.Errorf("error %+v", got.Error)
	}
	if _, err := exec.LookPath("node"); err == nil {
		if got := call(t, r, runtime.Call{RunID: run, Tool: "misspelt"}, runtime.ToolError); !strings.Contains(got.Error.Message, "double.mjs exports no function treble") {
			t.Errorf("error %+v", got.Error)
		}
	}
	call(t, r, runtime.Call{RunID: run, Tool: "endless"}, runtime.EffectAmbiguous)
}

// A handler that did not come to its own end, or whose value cannot be read, may
// have changed what it was to change; one that raises says that it failed.
func TestBrokenHandlerIsAmbiguous(t *testing.T) {
	r := openNative(t, "")
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for name, want := range map[string]runtime.Outcome{
		"gone": runtime.EffectAmbiguous, "killed": runtime.EffectAmbiguous, "silent": runtime.EffectAmbiguous,
		"unreadable": runtime.EffectAmbiguous, "refused": runtime.ToolError,
	} {
		t.Run(name, func(t *testing.T) { call(t, r, runtime.Call{RunID: run, Tool: name}, want) })
	}
}

func TestCommandJudge(t *testing.T) {
	r := openNative(t, "")
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	call(t, r, runtime.Call{RunID: run, Tool: "later", Args: []byte(`{"n":1}`)}, runtime.OK)

	r = openNative(t, "  policy: { default_effect: allow }\n", "judge: { command: { command: ./judge.py } }")
	run = start(t, r, runtime.RunConfig{Principal: "ann"})
	call(t, r, runtime.Call{RunID: run, Tool: "snoop"}, runtime.OK)
	if got := call(t, r, runtime.Call{RunID: run, Tool: "later", Args: []byte(`{"n":1}`)}, runtime.Denied); got.Decision.Code != governor.CodeJudgeBlocked {
		t.Errorf("decision %+v", got.Decision)
	}

	r = openNative(t, "", "judge: { command: { command: ./script.sh } }") // its answer is no verdict
	run = start(t, r, runtime.RunConfig{Principal: "ann"})
	if got := call(t, r, runtime.Call{RunID: run, Tool: "snoop"}, runtime.ApprovalRequired); got.Decision.Code != governor.CodeJudgeFailed {
		t.Errorf("decision %+v", got.Decision)
	}
}
