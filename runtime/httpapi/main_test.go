package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
	"github.com/mayfly-run/mayfly/sandbox"
)

// tools are the manifests of the tests.
const tools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: find_order, version: "2" }
spec:
  handler: "host:find_order"
  description: Look an order up.
  side_effect: read
  input_schema: { type: object, properties: { id: { type: string } }, required: [id], additionalProperties: false }
  output: { sanitize: [pii_redact] }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: refund }
spec:
  handler: "host:refund"
  side_effect: write_external
  risk: high
  input_schema: { type: object, properties: { id: { type: string }, usd: { type: number } }, required: [id, usd], additionalProperties: false }
  approval: { when: "args.usd > 100", approver_role: finance }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: anyone }
spec: { handler: "host:anyone", side_effect: write_internal, approval: { when: "true" } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: fails }
spec: { handler: "host:fails", side_effect: read }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: waits }
spec: { handler: "host:waits", side_effect: read, timeout: 1h }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: writes }
spec: { handler: "host:writes", side_effect: write_external, timeout: 1h }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: rare }
spec: { handler: "host:rare", side_effect: read, rate_limit: { per_tenant: 1/m } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: closed }
spec: { handler: "host:closed", enabled: false }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: north_only }
spec: { handler: "host:north_only", tenants: [north] }
`

// world is a server and what is around it.
type world struct {
	t      testing.TB
	rt     *runtime.Runtime
	server *httpapi.Server
	addr   string
	url    string
	tokens map[string]string // by principal
	config httpapi.Config
	funcs  map[string]runtime.Func
	stop   func() // tells the server to end, and waits for it
	log    *logged
	// more are manifests beside tools; sandboxes opens what runs code.
	more      string
	sandboxes func(context.Context, string) (sandbox.Sandbox, error)
	tokenFile string
	close     func() // closes the runtime
	// listener is where it listens; nil is a port of the loopback address.
	listener net.Listener
	// harness is added to spec in the harness.
	harness string
	// files and trap are for the scripts of the browser: what they drop, and a server
	// that nothing must ask.
	files map[string]string
	trap  string
}

// callers are who has a token.
var callers = []httpapi.Caller{
	{Principal: "agent", Tenant: "acme"},
	{Principal: "other", Tenant: "acme"},
	{Principal: "ann", Tenant: "acme", Roles: []string{"finance"}},
	{Principal: "abe", Tenant: "acme", Roles: []string{httpapi.RoleApprover}},
	{Principal: "olga", Tenant: "acme", Roles: []string{httpapi.RoleOperator}},
	{Principal: "root", Tenant: httpapi.AllTenants, Roles: []string{httpapi.RoleOperator, "finance"}},
	{Principal: "eve", Tenant: "evil", Roles: []string{httpapi.RoleOperator, httpapi.RoleApprover, "finance"}},
	{Principal: "prom", Roles: []string{httpapi.RoleMetrics}},
}

type logged struct{ lines chan string }

func (l *logged) Write(p []byte) (int, error) {
	select {
	case l.lines <- string(p):
	default:
	}
	return len(p), nil
}

// newWorld starts a server that listens on loopback.
func newWorld(t testing.TB, change func(*world)) *world {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, tokens: make(map[string]string), funcs: make(map[string]runtime.Func), log: &logged{make(chan string, 1000)}}
	for _, name := range []string{"find_order", "refund", "anyone", "rare", "closed", "north_only"} {
		w.funcs[name] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`{"tool":"` + name + `","args":` + string(c.Args) + `}`), nil
		}
	}
	w.funcs["fails"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		return nil, errors.New("SENTINEL-IN-ERROR")
	}
	var file bytes.Buffer
	for _, c := range callers {
		token, line, err := httpapi.NewToken(c, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		w.tokens[c.Principal] = token
		file.Write(append(line, '\n'))
	}
	write("tokens.jsonl", file.String())
	tokens, err := httpapi.OpenTokens(filepath.Join(dir, "tokens.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.config = httpapi.Config{
		Tokens: tokens, Trace: httpapi.NewTrace(), Exec: true, Grace: time.Minute,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	exec, err := runtime.ExecManifest()
	if err != nil {
		t.Fatal(err)
	}
	w.sandboxes = func(context.Context, string) (sandbox.Sandbox, error) { return fakeSandbox{}, nil }
	w.tokenFile = filepath.Join(dir, "tokens.jsonl")
	if change != nil {
		change(w)
	}
	write("tools.yaml", tools+w.more)
	write("harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n  budgets: { max_tool_calls: 1000000 }\n"+w.harness)
	var metrics *httpapi.Metrics
	w.rt, err = runtime.Open(t.Context(), runtime.Config{
		Harness: filepath.Join(dir, "harness.yaml"), Store: "memory", Trace: filepath.Join(dir, "trace.jsonl"), Funcs: w.funcs,
		Tools: []*manifests.Tool{exec},
		Notes: func(n runtime.Note) {
			w.config.Trace.Note(n)
			metrics.Note(n)
		},
		OpenSandbox: w.sandboxes,
	})
	if err != nil {
		t.Fatal(err)
	}
	metrics = httpapi.NewMetrics(w.rt.Manifests())
	w.config.Metrics = metrics
	if w.server, err = httpapi.New(w.rt, w.config); err != nil {
		t.Fatal(err)
	}
	l := w.listener
	if l == nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	w.addr = l.Addr().String()
	w.url = "http://" + w.addr
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.server.Serve(ctx, l, nil) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	w.close = sync.OnceFunc(func() {
		if err := w.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		w.stop()
		w.close()
	})
	return w
}

// fakeSandbox gives what the code says.
type fakeSandbox struct{}

func (fakeSandbox) Run(_ context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	switch spec.Code {
	case "raise":
		return sandbox.Result{Status: sandbox.StatusError, Error: &sandbox.Error{Type: "ValueError", Message: "no"}}, nil
	case "rows":
		table, ok := spec.Globals["rows"].(*sandbox.Table)
		if !ok {
			return sandbox.Result{}, errors.New("rows are no table")
		}
		text, err := json.Marshal(table.Columns)
		return sandbox.Result{Status: sandbox.StatusOK, Value: text}, err
	case "table":
		table, ok := spec.Globals["rows"].(*sandbox.Table)
		if !ok {
			return sandbox.Result{}, errors.New("rows are no table")
		}
		all := []any{table.Columns}
		for _, row := range table.Rows[:min(3, len(table.Rows))] {
			all = append(all, row)
		}
		text, err := json.Marshal(all)
		return sandbox.Result{Status: sandbox.StatusOK, Value: text}, err
	case "chart":
		return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON(`{"<img src=x onerror=pwned()>":1,"b":2}`)}, nil
	case "files":
		return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON("1"), Artifacts: []sandbox.Artifact{
			{Name: "a.svg", MediaType: "image/svg+xml", Bytes: []byte("<svg/>")},
		}}, nil
	case "limits":
		text, err := json.Marshal([]any{spec.Limits.Timeout.Milliseconds(), spec.Limits.MaxMemory >> 20})
		return sandbox.Result{Status: sandbox.StatusOK, Value: text}, err
	}
	return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON(spec.Code)}, nil
}

func (fakeSandbox) Close() error { return nil }

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

// client has no proxy and does not follow.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
	Timeout:       2 * time.Minute, // a stream that should not be one
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends a request as somebody; body is JSON text, or nothing.
func (w *world) do(as, method, path, body string, headers ...string) reply {
	w.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+w.tokens[as])
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got := reply{status: res.StatusCode, header: res.Header, text: string(text)}
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, &got.json); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return got
}

// must is do, where the status has to be that.
func (w *world) must(status int, as, method, path, body string, headers ...string) reply {
	w.t.Helper()
	got := w.do(as, method, path, body, headers...)
	if got.status != status {
		w.t.Fatalf("%s %s %s as %s: status %d, want %d: %s", method, path, body, as, got.status, status, got.text)
	}
	return got
}

// at is a member of what a client got.
func (r reply) at(path ...string) any {
	var v any = r.json
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
