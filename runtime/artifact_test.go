package runtime_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

const artifactTools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: plain }
spec:
  transport: code
  sandbox: python
  input_schema: { type: object, properties: { code: { type: string } }, required: [code] }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: redacted }
spec:
  transport: code
  sandbox: python
  input_schema: { type: object, properties: { code: { type: string } }, required: [code] }
  output: { sanitize: [pii_redact] }
`

// TestArtifacts: files are no way around the governor's last step, and the trace
// has their names and sizes only.
func TestArtifacts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.yaml":   artifactTools,
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trace := filepath.Join(dir, "trace.jsonl")
	r := open(t, "", func(c *runtime.Config) {
		c.Harness, c.Trace, c.Funcs = filepath.Join(dir, "harness.yaml"), trace, nil
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	const code = `
for name in ("a.csv", "b.png", "c.bin"):
    with open("/tmp/out/" + name, "w") as f:
        f.write("ada@example.org")
with open("/tmp/out/d.json", "w") as f:
    f.write('{"mail": "ada\\u0040example.org"}')
with open("/tmp/out/e.txt", "wb") as f:
    f.write(b"ada@example.org\xff")
for name in ("ada@example.org.csv", "artifact 2.csv"):
    open("/tmp/out/" + name, "w").close()`
	args := []byte(`{"code":` + quote(t, code) + `}`)

	plain := call(t, r, runtime.Call{RunID: run, Tool: "plain", Args: args}, runtime.OK)
	if len(plain.Artifacts) != 7 {
		t.Fatalf("artifacts %+v", plain.Artifacts)
	}
	for _, a := range plain.Artifacts { // the control
		if a.Withheld != "" || !strings.Contains(a.Name+string(a.Bytes), "example.org") && a.Name != "artifact 2.csv" {
			t.Errorf("%s: %q %s", a.Name, a.Bytes, a.Withheld)
		}
	}

	redacted := call(t, r, runtime.Call{RunID: run, Tool: "redacted", Args: args}, runtime.OK)
	var got []string
	for _, a := range redacted.Artifacts {
		line := a.Name + " " + a.MediaType + " " + string(a.Bytes)
		if a.Withheld != "" {
			line += "withheld"
		}
		got = append(got, line)
	}
	want := []string{
		"a.csv text/csv [EMAIL]", "artifact 2_2.csv text/csv ", "artifact 2.csv text/csv ", "b.png image/png withheld", "c.bin application/octet-stream withheld",
		`d.json application/json {"mail":"[EMAIL]"}`, "e.txt text/plain withheld",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := redacted.Output.Redactions["email"]; n != 3 {
		t.Errorf("redactions %v", redacted.Output.Redactions)
	}

	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"artifacts":[{"name":"a.csv","size":15},`) {
		t.Errorf("trace %s", text)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"tool":"redacted"`) && strings.Contains(line, "ada") {
			t.Errorf("trace %s", line)
		}
	}
}

// TestNoArtifactsOfAFailure: what a call left that failed is not handed on.
func TestNoArtifactsOfAFailure(t *testing.T) {
	r := open(t, "", nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"open('/tmp/out/a','w').close()\n1/0"}`)}, runtime.ToolError)
	if got.Artifacts != nil {
		t.Errorf("artifacts %+v", got.Artifacts)
	}
	got = call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"open('/tmp/out/.a','w').close()"}`)}, runtime.ToolError)
	if got.Artifacts != nil || got.Error == nil || got.Error.Type != "ArtifactError" {
		t.Errorf("artifacts %+v, error %+v", got.Artifacts, got.Error)
	}
}

const fewArtifacts = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: few }
spec:
  transport: code
  sandbox: python
  input_schema: { type: object, properties: { code: { type: string } }, required: [code] }
  limits: { max_artifacts: 2, max_artifact_bytes: 10 }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: many }
spec:
  transport: code
  sandbox: python
  input_schema: { type: object, properties: { code: { type: string } }, required: [code] }
  limits: { max_artifacts: 50, max_artifact_bytes: 100 }
`

// TestArtifactLimits: a tool's manifest says how many files its code may hand back,
// the operator's limits tighten that, and so does a call, which can not widen it.
func TestArtifactLimits(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.yaml": fewArtifacts,
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n" +
			"  limits: { code: { max_artifacts: 40, max_artifact_bytes: 80 } }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, "", func(c *runtime.Config) {
		c.Harness, c.Funcs = filepath.Join(dir, "harness.yaml"), nil
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for _, c := range []struct {
		name, tool   string
		files, bytes int // of each file
		limits       sandbox.Limits
		want         runtime.Outcome
	}{
		{"as many as may be", "few", 2, 5, sandbox.Limits{}, runtime.OK},
		{"one file more", "few", 3, 0, sandbox.Limits{}, runtime.OutputLimit},
		{"more bytes", "few", 2, 6, sandbox.Limits{}, runtime.OutputLimit},
		{"a call that wants more", "few", 3, 0, sandbox.Limits{MaxArtifacts: 100}, runtime.OutputLimit},
		{"a call that wants more bytes", "few", 1, 11, sandbox.Limits{MaxArtifactBytes: 100}, runtime.OutputLimit},
		{"as many as the operator gives", "many", 40, 2, sandbox.Limits{}, runtime.OK},
		{"more than the operator gives", "many", 41, 0, sandbox.Limits{}, runtime.OutputLimit},
		{"more bytes than the operator gives", "many", 1, 81, sandbox.Limits{}, runtime.OutputLimit},
		{"as many as the call wants", "many", 3, 1, sandbox.Limits{MaxArtifacts: 3, MaxArtifactBytes: 3}, runtime.OK},
		{"more than the call wants", "many", 4, 0, sandbox.Limits{MaxArtifacts: 3}, runtime.OutputLimit},
		{"more bytes than the call wants", "many", 1, 4, sandbox.Limits{MaxArtifactBytes: 3}, runtime.OutputLimit},
	} {
		code := fmt.Sprintf("for i in range(%d):\n    open(f'/tmp/out/{i}.txt', 'w').write('x' * %d)", c.files, c.bytes)
		got, err := r.CallCode(t.Context(), runtime.Call{RunID: run, Tool: c.tool, Args: []byte(`{"code":` + quote(t, code) + `}`)}, runtime.CodeInput{Limits: c.limits})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got.Outcome != c.want || got.Outcome == runtime.OK && len(got.Artifacts) != c.files || got.Outcome != runtime.OK && got.Artifacts != nil {
			t.Errorf("%s: %s with %d artifacts (%v), want %s", c.name, got.Outcome, len(got.Artifacts), got.Error, c.want)
		}
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
