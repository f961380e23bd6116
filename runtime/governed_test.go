package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// tools are the manifests of the tests below.
const tools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: python }
spec:
  transport: code
  sandbox: monty
  description: Run Python over the given rows and return the last expression.
  input_schema:
    type: object
    properties: { code: { type: string }, rows: { type: array } }
    required: [code]
  limits: { timeout: 5s, max_memory_mb: 64 }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: pay, version: "1" }
spec:
  handler: "host:pay"
  input_schema:
    type: object
    properties: { order: { type: string }, usd: { type: number } }
    required: [order, usd]
  side_effect: write_external
  timeout: 5s
  approval: { when: "args.usd > 100", approver_role: finance }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: customer }
spec:
  handler: "host:customer"
  data_access: ["pii:customer"]
  side_effect: read
  output: { sanitize: [pii_redact], label: trusted }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: mail }
spec:
  handler: "host:mail"
  egress: [mail.example]
  side_effect: write_external
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: closed }
spec: { handler: "host:closed", enabled: false }
`

// open makes a runtime with the tools above in a directory of its own.
func open(t *testing.T, harness string, change func(*runtime.Config)) *runtime.Runtime {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("tools.yaml", tools)
	config := runtime.Config{
		Harness:     write("harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n"+harness),
		Funcs:       map[string]runtime.Func{"pay": nothing, "customer": nothing, "mail": nothing, "closed": nothing},
		OpenSandbox: func(context.Context, string) (sandbox.Sandbox, error) { return unclosed{python(t)}, nil },
	}
	if change != nil {
		change(&config)
	}
	r, err := runtime.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// unclosed is a sandbox that others use too.
type unclosed struct{ sandbox.Sandbox }

func (unclosed) Close() error { return nil }

func nothing(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
	return sandbox.RawJSON("null"), nil
}

func start(t *testing.T, r *runtime.Runtime, c runtime.RunConfig) string {
	t.Helper()
	run, err := r.StartRun(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

func call(t *testing.T, r *runtime.Runtime, c runtime.Call, want runtime.Outcome) runtime.Result {
	t.Helper()
	result, err := r.Call(t.Context(), c)
	if err != nil {
		t.Fatalf("call %s: %v", c.Tool, err)
	}
	if result.Outcome != want {
		t.Fatalf("call %s: %s, want %s; decision %+v, error %+v", c.Tool, result.Outcome, want, result.Decision, result.Error)
	}
	if setUp := want == runtime.Unavailable && result.Next == runtime.NextSetUp; result.Next != want.Next() && !setUp || result.Next == "" {
		t.Errorf("call %s: next is %q", c.Tool, result.Next)
	}
	return result
}

func TestCodeTool(t *testing.T) {
	r := open(t, "", nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"print('hi')\nsum(r['n'] for r in rows)","rows":[{"n":1},{"n":9007199254740993}]}`)}, runtime.OK)
	if diff := cmp.Diff(`{"value":9007199254740994,"stdout":"hi\n"}`, got.Output.Text); diff != "" {
		t.Error(diff)
	}
	got = call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"print('a')\n1/0"}`)}, runtime.ToolError)
	if !strings.HasPrefix(got.Output.Text, `{"error":{"type":"ZeroDivisionError"`) || !strings.HasSuffix(got.Output.Text, `"stdout":"a\n"}`) {
		t.Errorf("output %s", got.Output.Text)
	}
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"1","code":"2"}`)}, runtime.InvalidArguments)
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"rows":[]}`)}, runtime.InvalidArguments)
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"x = bytearray(10**9)"}`)}, runtime.MemoryLimit)
	// What the code printed came from outside of the run.
	if got, err := r.Run(t.Context(), run); err != nil || !got.Labels.UntrustedSeen || got.Labels.PrivateSeen {
		t.Errorf("labels %+v, %v", got.Labels, err)
	}
}

func TestEffectHappensOnce(t *testing.T) {
	var ran atomic.Int64
	var keys []string
	r := open(t, "", func(c *runtime.Config) {
		c.Funcs["pay"] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			keys = append(keys, c.IdempotencyKey)
			switch ran.Add(1) {
			case 1:
				return nil, errors.New("no connection")
			case 2:
				return nil, errors.Join(runtime.ErrAmbiguous, errors.New("lost the connection"))
			}
			return sandbox.RawJSON(`{"paid":true}`), nil
		}
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	pay := runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"order":"A-1","usd":5}`)}
	if got := call(t, r, pay, runtime.ToolError); got.Output != nil || got.Error.Type != "*errors.errorString" {
		t.Errorf("output %v, error %+v", got.Output, got.Error)
	}
	call(t, r, pay, runtime.EffectAmbiguous)
	key := call(t, r, pay, runtime.EffectAmbiguous).IdempotencyKey
	if ran.Load() != 2 {
		t.Fatalf("the tool ran %d times; an ambiguous effect was repeated", ran.Load())
	}
	if err := r.Reconcile(t.Context(), key, false, "bob"); err != nil {
		t.Fatal(err)
	}
	call(t, r, pay, runtime.EffectConfirmed)
	if got := call(t, r, pay, runtime.EffectConfirmed); !got.Repeated || ran.Load() != 3 {
		t.Errorf("repeated %v, ran %d times", got.Repeated, ran.Load())
	}
	if keys[0] != key || keys[1] != key || keys[2] != key {
		t.Errorf("keys %q", keys)
	}
	pay.Args = []byte(`{"order":"A-2","usd":5}`)
	if got := call(t, r, pay, runtime.EffectConfirmed); got.Repeated || got.IdempotencyKey == key {
		t.Error("another call got the same key")
	}
}

func TestTimeoutOfAWriteIsAmbiguous(t *testing.T) {
	r := open(t, "", func(c *runtime.Config) {
		c.Funcs["mail"] = func(ctx context.Context, _ runtime.FuncCall) (sandbox.RawJSON, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c.Funcs["customer"] = c.Funcs["mail"]
	})
	run := start(t, r, runtime.RunConfig{})
	for tool, want := range map[string]runtime.Outcome{"mail": runtime.EffectAmbiguous, "customer": runtime.Timeout} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		got, err := r.Call(ctx, runtime.Call{RunID: run, Tool: tool})
		cancel()
		if err != nil || got.Outcome != want {
			t.Errorf("%s: %s, want %s; %v", tool, got.Outcome, want, err)
		}
	}
	effects, err := r.Effects(t.Context(), runtime.EffectFilter{})
	if err != nil || len(effects) != 1 || effects[0].State != "ambiguous" {
		t.Errorf("journal %+v, %v", effects, err)
	}
}

func TestApproval(t *testing.T) {
	var paid []string
	r := open(t, "", func(c *runtime.Config) {
		c.Funcs["pay"] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			paid = append(paid, string(c.Args))
			return sandbox.RawJSON(`"done"`), nil
		}
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann", Tenant: "acme"})
	pay := runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"usd":500,"order":"A-1"}`)}
	asked := call(t, r, pay, runtime.ApprovalRequired)
	if asked.Approval == "" || asked.Decision.ApproverRole != "finance" {
		t.Fatalf("asked %+v", asked)
	}
	if again := call(t, r, pay, runtime.ApprovalRequired); again.Approval != asked.Approval {
		t.Error("the same call asked twice")
	}
	for name, by := range map[string]runtime.Approver{
		"requester": {Name: "ann", Roles: []string{"finance"}}, "no role": {Name: "bob"},
	} {
		if a := r.Approve(t.Context(), asked.Approval, by, ""); a.Accepted {
			t.Errorf("%s was accepted as approver", name)
		}
	}
	finance := runtime.Approver{Name: "bob", Roles: []string{"finance"}}
	if a := r.Approve(t.Context(), asked.Approval, finance, "fine"); !a.Accepted {
		t.Fatalf("not accepted: %s", a.Reason)
	}
	pay.Approval = asked.Approval
	call(t, r, pay, runtime.EffectConfirmed)
	if diff := cmp.Diff([]string{`{"order":"A-1","usd":500}`}, paid); diff != "" {
		t.Error(diff)
	}
	if got, err := r.Call(t.Context(), pay); err != nil || got.Outcome.OK() && !got.Repeated || len(paid) != 1 {
		t.Errorf("an approval was used twice: %+v, %v", got, err)
	}

	// Edited arguments are approved, and only those.
	pay = runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"usd":900,"order":"A-2"}`)}
	asked = call(t, r, pay, runtime.ApprovalRequired)
	if a := r.Edit(t.Context(), asked.Approval, finance, []byte(`{"usd":"many","order":"A-2"}`), ""); a.Accepted {
		t.Error("arguments that break the schema were approved")
	}
	if a := r.Edit(t.Context(), asked.Approval, finance, []byte(`{"usd":700,"order":"A-2"}`), "less"); !a.Accepted {
		t.Fatalf("not accepted: %s", a.Reason)
	}
	pay.Approval = asked.Approval
	if got, err := r.Call(t.Context(), pay); err != nil || got.Outcome.OK() {
		t.Errorf("the call as it was asked for went ahead: %+v, %v", got, err)
	}
	pay.Args = []byte(`{"usd":700,"order":"A-2"}`)
	call(t, r, pay, runtime.EffectConfirmed)

	// No is no.
	pay = runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"usd":901,"order":"A-3"}`)}
	asked = call(t, r, pay, runtime.ApprovalRequired)
	if a := r.Reject(t.Context(), asked.Approval, finance, "no"); !a.Accepted {
		t.Fatalf("not accepted: %s", a.Reason)
	}
	pay.Approval = asked.Approval
	call(t, r, pay, runtime.ApprovalRejected)
	if len(paid) != 2 {
		t.Errorf("paid %q", paid)
	}
}

func TestTrifectaAndLabels(t *testing.T) {
	r := open(t, "", func(c *runtime.Config) {
		c.Funcs["customer"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			return nil, errors.New("the database is away")
		}
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	call(t, r, runtime.Call{RunID: run, Tool: "mail", Args: []byte(`{"n":1}`)}, runtime.EffectConfirmed)
	// The call fails, but it may have read its data before.
	call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.ToolError)
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"1"}`)}, runtime.OK)
	got := call(t, r, runtime.Call{RunID: run, Tool: "mail", Args: []byte(`{"n":2}`)}, runtime.ApprovalRequired)
	if got.Decision.Code != governor.CodeTrifecta {
		t.Errorf("decision %+v", got.Decision)
	}
}

// TestCodeCallsTools: what code calls goes through every step by itself.
func TestCodeCallsTools(t *testing.T) {
	r := open(t, "", func(c *runtime.Config) {
		c.Funcs["customer"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`{"mail":"ann@example.com"}`), nil
		}
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann", Tools: []string{"python", "customer", "pay"}})
	code := `
import mayfly
out = [mayfly.call_tool("customer")]
for tool, args in [("mail", {}), ("closed", {}), ("nowhere", {}), ("pay", {"order": "A-1", "usd": 500}), ("pay", {})]:
    try:
        out.append(mayfly.call_tool(tool, **args))
    except Exception as e:
        out.append(str(e).split(":")[0])
out`
	got := call(t, r, runtime.Call{RunID: run, Tool: "python", Args: mustJSON(t, map[string]any{"code": code})}, runtime.OK)
	want := `{"value":[{"mail":"[EMAIL]"},"denied","denied","denied","approval_required","invalid_arguments"],"stdout":""}`
	if diff := cmp.Diff(want, got.Output.Text); diff != "" {
		t.Error(diff)
	}
	if run, err := r.Run(t.Context(), run); err != nil || !run.Labels.PrivateSeen {
		t.Errorf("labels %+v, %v", run.Labels, err)
	}
}

func TestGrants(t *testing.T) {
	r := open(t, "  tasks: { help: { tools: [customer] } }\n", nil)
	run := start(t, r, runtime.RunConfig{Task: "help"})
	call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.OK)
	if got := call(t, r, runtime.Call{RunID: run, Tool: "mail"}, runtime.Denied); got.Decision.Code != governor.CodeToolNotGranted {
		t.Errorf("decision %+v", got.Decision)
	}
	if err := r.Revoke(t.Context(), run, "customer"); err != nil {
		t.Fatal(err)
	}
	if got := call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.Denied); got.Decision.Code != governor.CodeGrantRevoked {
		t.Errorf("decision %+v", got.Decision)
	}
	if _, err := r.StartRun(t.Context(), runtime.RunConfig{Task: "help", Tools: []string{"mail"}}); err == nil {
		t.Error("a run got a tool that its task does not give")
	}
}

// TestManifestChanged: a manifest that is edited after it was loaded is not the
// one that was reviewed.
func TestManifestChanged(t *testing.T) {
	var file string
	r := open(t, "", func(c *runtime.Config) { file = filepath.Join(filepath.Dir(c.Harness), "tools.yaml") })
	run := start(t, r, runtime.RunConfig{})
	call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.OK)
	if err := os.WriteFile(file, []byte(tools+"# a comment\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.Denied); got.Decision.Code != governor.CodeDigestMismatch {
		t.Errorf("decision %+v", got.Decision)
	}
}

// TestTraceHoldsNoValues plants a text in arguments, results and errors.
func TestTraceHoldsNoValues(t *testing.T) {
	const planted = "plantedsentinel"
	var trace string
	r := open(t, "", func(c *runtime.Config) {
		trace = filepath.Join(filepath.Dir(c.Harness), "trace.jsonl")
		c.Trace = trace
		c.Funcs["customer"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`"` + planted + `"`), nil
		}
		c.Funcs["pay"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) { return nil, errors.New(planted) }
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	args := []byte(`{"order":"` + planted + `","usd":1}`)
	call(t, r, runtime.Call{RunID: run, Tool: "customer", Args: args}, runtime.OK)
	call(t, r, runtime.Call{RunID: run, Tool: "pay", Args: args}, runtime.ToolError)
	call(t, r, runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"order":"` + planted + `","usd":"` + planted + `"}`)}, runtime.InvalidArguments)
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"raise ValueError('` + planted + `')"}`)}, runtime.ToolError)
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines != 7 {
		t.Errorf("%d notes, want 4 decisions and 3 ends:\n%s", lines, text)
	}
	if strings.Contains(string(text), planted) {
		t.Errorf("the trace holds a value:\n%s", text)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestOpenRefuses: what a harness asks for and cannot have is an error, not
// something that quietly does not happen.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"a key for spans":  {"  trace: { otlp: { endpoint: \"https://spans.example\", headers_env: { Key: NOT_SET } } }\n", "trace.otlp: header Key: the environment variable NOT_SET is not set"},
		"where spans go":   {"  trace: { otlp: { endpoint: \"http://127.1:4318\" } }\n", "/spec/trace/otlp/endpoint"},
		"a judge's secret": {"  tools: { judge: { url: \"https://judge.example\", headers_env: { Authorization: NOT_SET } } }\n", "NOT_SET"},
		"an unknown judge": {"  tools: { judge: { tool: nobody } }\n", "unknown_tool"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "harness.yaml")
			text := "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  store: memory\n" + c.spec
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := runtime.Open(t.Context(), runtime.Config{Harness: file})
			if err == nil {
				t.Fatal("it opened", r.Close())
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q does not name %s", err, c.want)
			}
		})
	}
}

// Who gives up before there is a decision is told so, and not that something is
// broken.
func TestCancelledBeforeDecided(t *testing.T) {
	r := open(t, "", nil)
	run, err := r.StartRun(t.Context(), runtime.RunConfig{Tools: []string{"customer"}})
	if err != nil {
		t.Fatal(err)
	}
	call := runtime.Call{RunID: run.ID, Tool: "customer", Args: sandbox.RawJSON(`{}`)}
	if got, err := r.Call(t.Context(), call); err != nil || got.Outcome == runtime.Internal {
		t.Fatalf("a call that somebody waits for: %s, %v", got.Outcome, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := r.Call(ctx, call); err != nil || got.Outcome != runtime.Cancelled || got.Decision.Outcome != governor.Block {
		t.Errorf("outcome %s after the decision %+v, %v", got.Outcome, got.Decision, err)
	}
}
