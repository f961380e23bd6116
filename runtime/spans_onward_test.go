package runtime_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/otel/oteltest"
)

// TestSpansOnward: an http tool is told where in the trace its call is, so that its
// own spans come to lie below the run. The caller's state is not passed on,
// another origin is told nothing, and without tracing nobody is.
func TestSpansOnward(t *testing.T) {
	var mu sync.Mutex
	got := make(map[string]string) // by path
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path] = strings.Join(r.Header.Values("Traceparent"), "|") + ";" + strings.Join(r.Header.Values("Tracestate"), "|") + strings.Join(r.Header.Values("Baggage"), "|")
	}
	answer := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("1"))
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		answer(w)
	}))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/arrived", http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/nearby", http.StatusTemporaryRedirect)
		default:
			answer(w)
		}
	}))
	defer home.Close()
	added := "---\n" + httpTool("plain", home.URL+"/plain", reads, here) + httpTool("away", home.URL+"/away", reads, here) +
		httpTool("near", home.URL+"/near", reads, here) + strings.TrimSuffix(httpTool("own", home.URL+"/own", reads, here, "headers_env: { Traceparent: OWN }"), "---\n")
	withTools := func(c *runtime.Config) {
		path := filepath.Join(filepath.Dir(c.Harness), "tools.yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, added...), 0o600); err != nil {
			t.Fatal(err)
		}
		headers := c.LookupEnv
		c.LookupEnv = func(name string) (string, bool) {
			if name == "OWN" {
				return "the-service-wants-this", true
			}
			return headers(name)
		}
	}
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	from := runtime.TraceParent{Traceparent: "00-" + trace + "-" + parent + "-01", Tracestate: "vendor=SENTINEL"}
	all := []string{"plain", "away", "near", "own"}
	calls := func(r *runtime.Runtime) {
		t.Helper()
		clear(got)
		run := start(t, r, runtime.RunConfig{Principal: "agent"})
		for _, tool := range all {
			call(t, r, runtime.Call{RunID: run, ID: tool, Tool: tool, Parent: from}, runtime.OK)
		}
	}
	r, collector, end := openSpans(t, withTools)
	calls(r)
	end()
	place := make(map[string]string) // of the run below the call
	for _, tool := range all {
		var outer *oteltest.Span
		for _, s := range collector.Spans("execute_tool " + tool) {
			outer = s
		}
		for _, s := range collector.Spans("run http") {
			if outer != nil && string(s.ParentSpanId) == string(outer.SpanId) {
				place[tool] = "00-" + trace + "-" + hex.EncodeToString(s.SpanId) + "-01;"
			}
		}
	}
	want := map[string]string{
		"/plain": place["plain"], "/away": place["away"], "/arrived": ";", "/near": place["near"], "/nearby": place["near"], "/own": "the-service-wants-this;",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(place) != len(all) {
		t.Errorf("%v %s", place, diff)
	}

	// The same calls, by the same caller, on a host that traces nothing.
	r, _, end = openSpans(t, func(c *runtime.Config) {
		withTools(c)
		c.Trace = "none"
	})
	calls(r)
	end()
	for path, header := range got {
		if path != "/own" && header != ";" {
			t.Errorf("%s was told %s", path, header)
		}
	}
}
