package runtime_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
	"github.com/mayfly-run/mayfly/sandbox"
)

// openSpans opens a runtime whose spans a collector gets. close sends the last.
func openSpans(t *testing.T, change func(*runtime.Config)) (r *runtime.Runtime, c *oteltest.Collector, close func()) {
	t.Helper()
	c = oteltest.New(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.yaml": tools,
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  store: memory\n  tools: { manifests: [tools.yaml] }\n" +
			"  trace: { otlp: { endpoint: \"" + c.URL + "\", headers_env: { Authorization: COLLECTOR_KEY } } }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := runtime.Config{
		Harness: filepath.Join(dir, "harness.yaml"), Version: "1.2.3",
		Funcs:       map[string]runtime.Func{"pay": nothing, "customer": nothing, "mail": nothing, "closed": nothing},
		OpenSandbox: func(context.Context, string) (sandbox.Sandbox, error) { return unclosed{python(t)}, nil },
		LookupEnv:   func(name string) (string, bool) { return "Bearer sentinel-key", name == "COLLECTOR_KEY" },
	}
	if change != nil {
		change(&config)
	}
	r, err := runtime.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return r, c, func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSpans: a call is a span of the caller's trace with the conventions' names,
// the nine steps and the run are below it, and no argument, result or word of the
// code is in any of what is sent.
func TestSpans(t *testing.T) {
	r, collector, end := openSpans(t, nil)
	const sentinel = "SENTINEL7c1"
	run := start(t, r, runtime.RunConfig{Principal: "agent", Tenant: "acme"})
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	call(t, r, runtime.Call{
		RunID: run, ID: "call-1", Tool: "python", Args: []byte(`{"code":"print('` + sentinel + `'); '` + sentinel + `'"}`),
		Parent: runtime.TraceParent{Traceparent: "00-" + trace + "-" + parent + "-01"},
	}, runtime.OK)
	call(t, r, runtime.Call{RunID: run, ID: "call-2", Tool: "python", Args: []byte(`{"code":"raise type('` + sentinel + `', (Exception,), {})('` + sentinel + `')"}`)}, runtime.ToolError)
	call(t, r, runtime.Call{RunID: run, ID: "call-3", Tool: "closed", Args: []byte(`{"x":"` + sentinel + `"}`)}, runtime.Denied)
	call(t, r, runtime.Call{RunID: run, ID: "call-4", Tool: "pay", Args: []byte(`{"order":"` + sentinel + `","usd":500}`)}, runtime.ApprovalRequired)
	call(t, r, runtime.Call{RunID: run, ID: "call-5", Tool: "nobody\xff", Args: []byte(`{}`)}, runtime.Denied)
	end()
	counts, sends := r.Spans()
	if !sends || counts.Sent != int64(len(collector.Spans(""))) || counts.Failed+counts.Dropped+counts.Waiting != 0 {
		t.Errorf("%v %+v, the collector has %d", sends, counts, len(collector.Spans("")))
	}
	if strings.Contains(collector.Bytes(), sentinel) || !strings.Contains(collector.Bytes(), "execute_tool") {
		t.Error("what was sent holds an argument or a result")
	}
	for _, req := range collector.Requests() {
		if req.Header.Get("Authorization") != "Bearer sentinel-key" {
			t.Error("a request came without its header")
		}
	}
	if diff := cmp.Diff(map[string]any{"service.name": "mayfly", "service.version": "1.2.3"}, collector.Resource()); diff != "" {
		t.Errorf("resource: %s", diff)
	}

	byCall := make(map[string]*oteltest.Span)
	for _, s := range collector.Spans("") {
		if id, ok := s.Attributes["gen_ai.tool.call.id"].(string); ok {
			byCall[id] = s
		}
	}
	one := byCall["call-1"]
	if one.Name != "execute_tool python" || one.Kind.String() != "SPAN_KIND_INTERNAL" || hex.EncodeToString(one.TraceId) != trace || hex.EncodeToString(one.ParentSpanId) != parent {
		t.Errorf("the first call is %q, %v, of %x in %x", one.Name, one.Kind, one.ParentSpanId, one.TraceId)
	}
	want := map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "python", "gen_ai.tool.type": "function", "gen_ai.tool.call.id": "call-1",
		"gen_ai.conversation.id": run, "gen_ai.agent.id": "agent", "mayfly.tenant": "acme", "mayfly.outcome": "ok", "mayfly.decision": "allow",
		"mayfly.step": "approval", "mayfly.code": "allowed", "mayfly.transport": "code", "mayfly.side_effect": "none", "mayfly.risk": "low",
		"mayfly.tool.version": "", "mayfly.output.label": "untrusted", "mayfly.run.labels": "",
	}
	if diff := cmp.Diff(want, one.Attributes); diff != "" {
		t.Errorf("the first call: %s", diff)
	}
	children := func(of *oteltest.Span, name string) *oteltest.Span {
		t.Helper()
		for _, s := range collector.Spans(name) {
			if string(s.ParentSpanId) == string(of.SpanId) && string(s.TraceId) == string(of.TraceId) {
				if s.StartTimeUnixNano < of.StartTimeUnixNano || s.EndTimeUnixNano > of.EndTimeUnixNano {
					t.Errorf("%s is not within its call", name)
				}
				return s
			}
		}
		t.Fatalf("%s has no child %s", of.Name, name)
		return nil
	}
	var steps []string
	for i, e := range children(one, "governor").EventAttributes() {
		steps = append(steps, e["mayfly.step"].(string))
		if _, timed := e["mayfly.took_us"]; !timed || e["mayfly.outcome"] != "allow" {
			t.Errorf("step %d: %v", i, e)
		}
	}
	if diff := cmp.Diff([]string{"run", "registry", "schema", "policy", "trifecta", "limits", "judge", "approval"}, steps); diff != "" {
		t.Errorf("the steps: %s", diff)
	}
	children(one, "output")
	ran := children(one, "sandbox python")
	for _, name := range []string{"mayfly.usage.fuel", "mayfly.usage.wall_us", "mayfly.usage.cpu_us", "mayfly.usage.peak_memory_bytes"} {
		if n, ok := ran.Attributes[name].(int64); !ok || n < 0 || name == "mayfly.usage.fuel" && n == 0 {
			t.Errorf("%s is %v", name, ran.Attributes[name])
		}
	}
	if ran.Attributes["mayfly.sandbox"] != "python" || ran.Attributes["mayfly.usage.output_bytes"] != int64(len(sentinel)+1) {
		t.Errorf("the run: %v", ran.Attributes)
	}

	for id, c := range map[string]struct {
		name, err, status string
	}{
		"call-1": {"execute_tool python", "", "STATUS_CODE_UNSET"},
		"call-2": {"execute_tool python", "tool_error", "STATUS_CODE_ERROR"},
		"call-3": {"execute_tool closed", "denied", "STATUS_CODE_ERROR"},
		"call-4": {"execute_tool pay", "", "STATUS_CODE_UNSET"},
		"call-5": {"execute_tool", "denied", "STATUS_CODE_ERROR"},
	} {
		s := byCall[id]
		if errorType, _ := s.Attributes["error.type"].(string); s.Name != c.name || errorType != c.err || s.Status.GetCode().String() != c.status || s.Status.GetMessage() != "" {
			t.Errorf("%s: %q, %q, %v", id, s.Name, errorType, s.Status)
		}
	}
	if byCall["call-4"].Attributes["mayfly.approval.id"] == nil || byCall["call-2"].Attributes["mayfly.run.labels"] != "untrusted_seen" {
		t.Errorf("call-4: %v; call-2: %v", byCall["call-4"].Attributes, byCall["call-2"].Attributes)
	}
}

// TestSpansOfCallsWithin: what code calls is below the code's run.
func TestSpansOfCallsWithin(t *testing.T) {
	r, collector, end := openSpans(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "agent"})
	call(t, r, runtime.Call{RunID: run, Tool: "python", Args: []byte(`{"code":"import mayfly\nmayfly.call_tool('customer')"}`)}, runtime.OK)
	end()
	outer, inner, box := collector.One("execute_tool python"), collector.One("execute_tool customer"), collector.One("sandbox python")
	if string(inner.ParentSpanId) != string(box.SpanId) || string(box.ParentSpanId) != string(outer.SpanId) || string(inner.TraceId) != string(outer.TraceId) {
		t.Errorf("inner %x of %x, box %x of %x, outer %x", inner.SpanId, inner.ParentSpanId, box.SpanId, box.ParentSpanId, outer.SpanId)
	}
	if native := collector.One("run native"); string(native.ParentSpanId) != string(inner.SpanId) {
		t.Errorf("the run is of %x, the call is %x", native.ParentSpanId, inner.SpanId)
	}
}

// TestSpansNeverTouchACall: a collector that fails is nothing to a call.
func TestSpansNeverTouchACall(t *testing.T) {
	r, collector, end := openSpans(t, nil)
	collector.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return false
	}
	run := start(t, r, runtime.RunConfig{Principal: "agent"})
	for range 2000 { // more spans than may wait
		call(t, r, runtime.Call{RunID: run, Tool: "customer"}, runtime.OK)
	}
	end()
	if counts, _ := r.Spans(); counts.Sent != 0 || counts.Waiting != 0 || counts.Failed+counts.Dropped != 4*2000 {
		t.Errorf("%+v", counts)
	}
}

// TestSpansGoNowhereElse: a name in the operator's URL is no way to a metadata
// service, whatever it resolves to.
func TestSpansGoNowhereElse(t *testing.T) {
	var log bytes.Buffer // read when nobody writes any more
	r, collector, end := openSpans(t, func(c *runtime.Config) {
		text, err := os.ReadFile(c.Harness)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "endpoint: \"http://")
		address, _, _ := strings.Cut(rest, "\"")
		if err := os.WriteFile(c.Harness, []byte(strings.ReplaceAll(string(text), address, "spans.test")), 0o600); err != nil {
			t.Fatal(err)
		}
		names := egresstest.NewNames(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("169.254.169.254")} })
		c.Resolver = names.Resolver()
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "customer"}, runtime.OK)
	end()
	if counts, _ := r.Spans(); counts.Failed != 4 || !strings.Contains(log.String(), "no connection to spans.test:80") || len(collector.Requests()) != 0 {
		t.Errorf("%+v\n%s", counts, &log)
	}
}

// TestNoSpans: in test mode, and where nothing is written, nothing is sent.
func TestNoSpans(t *testing.T) {
	for name, change := range map[string]func(*runtime.Config){
		"test mode": func(c *runtime.Config) { c.TestMode = true },
		"no trace":  func(c *runtime.Config) { c.Trace = "none" },
	} {
		r, collector, end := openSpans(t, change)
		call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "customer"}, runtime.OK)
		end()
		if _, sends := r.Spans(); sends || len(collector.Requests()) != 0 {
			t.Errorf("%s: %d requests", name, len(collector.Requests()))
		}
	}
}
