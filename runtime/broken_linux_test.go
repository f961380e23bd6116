package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// tool gives a native tool with more in its spec.
func tool(t *testing.T, name, spec string) *manifests.Tool {
	t.Helper()
	docs, err := manifests.Parse(name+".yaml", []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: "+name+" }\nspec:\n  handler: \"host:call\"\n"+spec))
	if err != nil {
		t.Fatal(err)
	}
	return docs.Tools[0]
}

// A function that gives up in the middle, or whose answer cannot be read, may
// have changed what it was to change.
func TestBrokenWriteIsAmbiguous(t *testing.T) {
	for name, end := range map[string]func() (sandbox.RawJSON, error){
		"panic":       func() (sandbox.RawJSON, error) { panic("after the write") },
		"no JSON":     func() (sandbox.RawJSON, error) { return sandbox.RawJSON("{"), nil },
		"no value":    func() (sandbox.RawJSON, error) { return nil, nil },
		"two members": func() (sandbox.RawJSON, error) { return sandbox.RawJSON(`{"a":1,"a":2}`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int64
			do := func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
				ran.Add(1)
				return end()
			}
			r := open(t, "", func(c *runtime.Config) { c.Funcs["mail"], c.Funcs["customer"] = do, do })
			run := start(t, r, runtime.RunConfig{Principal: "ann"})
			for range 2 {
				call(t, r, runtime.Call{RunID: run, Tool: "mail"}, runtime.EffectAmbiguous)
			}
			if ran.Load() != 1 {
				t.Errorf("the write ran %d times", ran.Load())
			}
			call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.ToolError)
		})
	}
}

// A call that finds its effect done already does not take a place that is for
// calls that run.
func TestRepeatedCallTakesNoPlace(t *testing.T) {
	r := open(t, "", func(c *runtime.Config) {
		c.Tools = []*manifests.Tool{tool(t, "two", "  side_effect: write_external\n  rate_limit: { per_principal: 2/h }\n")}
		c.Funcs["two"] = nothing
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for range 3 {
		call(t, r, runtime.Call{RunID: run, Tool: "two"}, runtime.EffectConfirmed)
	}
	call(t, r, runtime.Call{RunID: run, Tool: "two", Args: []byte(`{"n":2}`)}, runtime.EffectConfirmed)
	call(t, r, runtime.Call{RunID: run, Tool: "two", Args: []byte(`{"n":3}`)}, runtime.RateLimited)
}

// When the trace cannot take the end of a call, the call has happened all the
// same, so that the answer must not read as if it had not.
func TestEndThatCannotBeTraced(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	closeTrace := func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == trace {
				if err := readOnly(e.Name(), trace); err != nil {
					return nil, err
				}
			}
		}
		return sandbox.RawJSON("null"), nil
	}
	r := open(t, "", func(c *runtime.Config) {
		c.Trace = trace
		c.Funcs["mail"], c.Funcs["customer"] = closeTrace, closeTrace
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "mail"}, runtime.EffectAmbiguous)
	if got.Error == nil || !strings.Contains(got.Error.Message, "write trace") || got.Output != nil {
		t.Errorf("error %+v, output %v", got.Error, got.Output)
	}
	if _, err := r.Call(t.Context(), runtime.Call{RunID: run, Tool: "customer"}); err == nil {
		t.Error("a call was decided that the trace does not show")
	}
}

// readOnly puts a file that cannot be written in the place of an open one.
func readOnly(fd, path string) error {
	n := 0
	for _, c := range fd {
		n = n*10 + int(c-'0')
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return syscall.Dup3(int(f.Fd()), n, syscall.O_CLOEXEC)
}

// A trace is a file of our own: not a pipe, which would be waited for, not a
// link into somebody else's file, and nothing that others can write to.
func TestTraceMustBeOurs(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error {
			if err := os.WriteFile(path+".other", nil, 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".other", path)
		},
		"device": func(path string) error { return os.Symlink("/dev/null", path) },
		"open to others": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Chmod(path, 0o622)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.jsonl")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			r, err := runtime.Open(t.Context(), runtime.Config{Trace: path})
			if err == nil {
				r.Close()
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
}

// A manifest with a pipe put in its place is a changed one, and is not waited
// for.
func TestManifestBecomesAPipe(t *testing.T) {
	r := open(t, "", nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	mail, _ := r.Manifests().Tool("mail")
	if err := os.Remove(mail.Origin.File); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(mail.Origin.File, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := call(t, r, runtime.Call{RunID: run, Tool: "mail"}, runtime.Denied); got.Decision.Code != governor.CodeDigestMismatch {
		t.Errorf("code %s", got.Decision.Code)
	}
}

// A judge that is a tool passes what the governor's first step asks of tools.
func TestJudgeToolIsChecked(t *testing.T) {
	const digest = "  definition_digest: \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"\n"
	for name, tt := range map[string]struct {
		spec string
		want governor.Code
	}{
		"as it should be": {"", governor.CodeAllowed},
		"disabled":        {"  enabled: false\n", governor.CodeJudgeFailed},
		"other pin":       {digest, governor.CodeJudgeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := openJudged(t, tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			d := r.AuthorizeAs(t.Context(), runtime.RunConfig{Principal: "ann"}, runtime.Call{Tool: "look"})
			if d.Code != tt.want {
				t.Errorf("code %s, want %s", d.Code, tt.want)
			}
		})
	}
	if _, err := openJudged(t, "  side_effect: write_internal\n"); err == nil || !strings.Contains(err.Error(), "dry runs") {
		t.Errorf("a judge that writes: %v", err)
	}
}

func openJudged(t *testing.T, spec string) (*runtime.Runtime, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  store: memory\n  tools: { manifests: [t.yaml], judge: { tool: judge } }\n",
		"t.yaml": "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: look }\nspec:\n  handler: \"host:call\"\n---\n" +
			"apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: judge }\nspec:\n  handler: \"host:call\"\n" + spec,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := runtime.Open(t.Context(), runtime.Config{Harness: filepath.Join(dir, "harness.yaml"), Funcs: map[string]runtime.Func{
		"look": nothing,
		"judge": func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`{"decision":"allow"}`), nil
		},
	}})
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

// The program's own tool, whose limits are wide, is only for runs that are
// given it by name.
func TestExecIsNotGrantedUnasked(t *testing.T) {
	exec, err := runtime.ExecManifest()
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, "", func(c *runtime.Config) { c.Tools = []*manifests.Tool{exec} })
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	code := runtime.Call{RunID: run, Tool: runtime.ExecTool, Args: []byte(`{"code":"1"}`)}
	if got := call(t, r, code, runtime.Denied); got.Decision.Code != governor.CodeToolNotGranted {
		t.Errorf("code %s", got.Decision.Code)
	}
	code.RunID = start(t, r, runtime.RunConfig{Principal: "ann", Tools: []string{runtime.ExecTool}})
	if got, err := r.Call(t.Context(), code); err != nil || got.Decision.Outcome != governor.Allow {
		t.Errorf("decision %+v, %v", got.Decision, err)
	}
}

// A tool's name comes from a model, and may be anything: the refusal is noted
// down all the same, on a line that is not as long as somebody likes.
func TestTraceTakesAnyName(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	r := open(t, "", func(c *runtime.Config) { c.Trace = trace })
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for _, name := range []string{"\xff", strings.Repeat("é", 1<<20), "a\nb\x1b[2J"} {
		if got := call(t, r, runtime.Call{RunID: run, ID: name, Tool: name}, runtime.Denied); got.Decision.Code != governor.CodeToolUnknown {
			t.Errorf("%.10q: code %s", name, got.Decision.Code)
		}
		if got := call(t, r, runtime.Call{RunID: name, Tool: "mail"}, runtime.Denied); got.Decision.Code != governor.CodeRunUnknown {
			t.Errorf("%.10q: code %s", name, got.Decision.Code)
		}
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 6 {
		t.Errorf("%d lines, want 6", n)
	}
	for line := range strings.Lines(string(text)) {
		if len(line) > 4096 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// A harness that does not require manifests takes functions without one, under
// the defaults of one; any other refuses them.
func TestFunctionWithoutManifest(t *testing.T) {
	bare := func(c *runtime.Config) { c.Funcs["bare"] = nothing }
	r := open(t, "", func(c *runtime.Config) {
		bare(c)
		text, err := os.ReadFile(c.Harness)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.Replace(string(text), "manifests:", "require_manifest: false, manifests:", 1))
		if err := os.WriteFile(c.Harness, text, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	if got := call(t, r, runtime.Call{RunID: run, Tool: "bare"}, runtime.OK); got.Label != manifests.LabelUntrusted {
		t.Errorf("label %s", got.Label)
	}
	c := runtime.Config{Funcs: map[string]runtime.Func{}}
	bare(&c)
	if strict, err := runtime.Open(t.Context(), c); err == nil {
		strict.Close()
		t.Error("a function without a manifest was taken")
	}
}

// The tool's own timeout bounds its code too, and is what the result names.
func TestTimeoutOfCodeIsTheTighter(t *testing.T) {
	docs, err := manifests.Parse("t.yaml", []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: loop }\n"+
		"spec: { transport: code, sandbox: python, timeout: 300ms, limits: { timeout: 1h } }\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, "", func(c *runtime.Config) { c.Tools = docs.Tools })
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "loop", Args: []byte(`{"code":"while True: pass"}`)}, runtime.Timeout)
	if !strings.Contains(got.Error.Message, "300ms") {
		t.Errorf("message %q", got.Error.Message)
	}
}
