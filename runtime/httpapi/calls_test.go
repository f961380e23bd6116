package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
	"github.com/mayfly-run/mayfly/sandbox"
)

func TestOutcomesHaveTheirStatus(t *testing.T) {
	w := newWorld(t, nil)
	tests := []struct {
		name, as, tool, body string
		status               int
		outcome, code        string
	}{
		{"read", "agent", "find_order", `{"args":{"id":"A1"}}`, 200, "ok", "allowed"},
		{"write", "agent", "refund", `{"args":{"id":"A1","usd":5}}`, 200, "effect_confirmed", "allowed"},
		{"approval", "agent", "refund", `{"args":{"id":"A1","usd":500}}`, 202, "approval_required", ""},
		{"arguments", "agent", "find_order", `{"args":{"id":7}}`, 422, "invalid_arguments", "schema_invalid"},
		{"no arguments", "agent", "find_order", `{}`, 422, "invalid_arguments", "schema_invalid"},
		{"unknown tool", "agent", "no_such_tool", `{"args":{}}`, 403, "denied", ""},
		{"switched off", "agent", "closed", `{"args":{}}`, 403, "denied", "tool_disabled"},
		{"another tenant's", "agent", "north_only", `{"args":{}}`, 403, "denied", "tool_not_enabled"},
		{"tool fails", "agent", "fails", `{"args":{}}`, 422, "tool_error", "allowed"},
		{"first in a minute", "agent", "rare", `{"args":{}}`, 200, "ok", "allowed"},
		{"second in a minute", "agent", "rare", `{"args":{}}`, 429, "rate_limited", "rate_limited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			got := w.must(tt.status, tt.as, "POST", "/v1/tools/"+tt.tool+"/call", tt.body)
			if got.at("outcome") != tt.outcome || got.at("next") == "" || got.at("run") == "" {
				t.Errorf("outcome %v, next %v, run %v, want %s", got.at("outcome"), got.at("next"), got.at("run"), tt.outcome)
			}
			if code := got.at("decision", "code"); tt.code != "" && tt.code != "allowed" && code != tt.code {
				t.Errorf("code %v, want %s", code, tt.code)
			}
			if (got.header.Get("Retry-After") != "") != (tt.status == 429) {
				t.Errorf("Retry-After %q with %d", got.header.Get("Retry-After"), tt.status)
			}
			if strings.Contains(got.text, "SENTINEL") {
				t.Errorf("the tool's error text reached a caller that is no operator: %s", got.text)
			}
		})
	}
	w.t = t
	if got := w.must(422, "olga", "POST", "/v1/tools/fails/call", `{"args":{}}`); got.at("error", "message") != "SENTINEL-IN-ERROR" {
		t.Errorf("an operator is told %v", got.at("error"))
	}
}

func TestStatusOfEveryOutcome(t *testing.T) {
	// Clients and proxies repeat requests on these by themselves.
	for _, o := range []runtime.Outcome{runtime.EffectAmbiguous, runtime.EffectConfirmed, runtime.ToolError, runtime.Internal, runtime.Timeout, ""} {
		switch s := httpapi.StatusOf(o); s {
		case 429, 502, 503, 504:
			t.Errorf("%q has status %d, on which clients repeat a call", o, s)
		}
	}
}

func TestCallsOfOneRun(t *testing.T) {
	w := newWorld(t, nil)
	run := w.must(201, "agent", "POST", "/v1/runs", `{"tools":["find_order"]}`).at("id").(string)
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"run":"`+run+`","args":{"id":"A"}}`)
	if got := w.must(403, "agent", "POST", "/v1/tools/refund/call", `{"run":"`+run+`","args":{"id":"A","usd":1}}`); got.at("decision", "code") != "tool_not_granted" {
		t.Errorf("a tool that was not granted: %s", got.text)
	}
	w.must(404, "eve", "POST", "/v1/tools/find_order/call", `{"run":"`+run+`","args":{"id":"A"}}`)
	w.must(404, "other", "GET", "/v1/runs/"+run, "")
	w.must(403, "olga", "POST", "/v1/tools/find_order/call", `{"run":"`+run+`","args":{"id":"A"}}`)
	w.must(403, "root", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	w.must(403, "agent", "POST", "/v1/runs/"+run+"/grant", `{"tools":["refund"]}`)
	w.must(200, "olga", "POST", "/v1/runs/"+run+"/grant", `{"tools":["refund"]}`)
	w.must(200, "agent", "POST", "/v1/tools/refund/call", `{"run":"`+run+`","args":{"id":"A","usd":1}}`)
	w.must(200, "olga", "POST", "/v1/runs/"+run+"/revoke", `{"tools":["refund"]}`)
	if got := w.must(403, "agent", "POST", "/v1/tools/refund/call", `{"run":"`+run+`","args":{"id":"A","usd":2}}`); got.at("decision", "code") != "grant_revoked" {
		t.Errorf("a tool that was taken away: %s", got.text)
	}
	d := w.must(200, "agent", "GET", "/v1/runs/"+run, "")
	if len(d.at("effects").([]any)) != 1 || len(d.at("grants").([]any)) != 2 || d.at("max_tool_calls") != 1e6 {
		t.Errorf("the run: %s", d.text)
	}
}

// TestManyTools: a request names no more tools than it may. Each would be a transaction,
// and eight MiB of names are two million.
func TestManyTools(t *testing.T) {
	w := newWorld(t, nil)
	run := w.must(201, "agent", "POST", "/v1/runs", `{"tools":["find_order"]}`).at("id").(string)
	names := func(n int) string { return `{"tools":["find_order"` + strings.Repeat(`,"find_order"`, n-1) + `]}` }
	for _, r := range []struct {
		as, path string
		status   int
	}{{"agent", "/v1/runs", 201}, {"olga", "/v1/runs/" + run + "/grant", 200}, {"agent", "/v1/runs/" + run + "/revoke", 200}} {
		w.must(r.status, r.as, "POST", r.path, names(1000))
		if got := w.must(400, r.as, "POST", r.path, names(1001)); got.at("where") != "/tools" {
			t.Errorf("%s: %s", r.path, got.text)
		}
	}
}

func TestAuthorizeDoesNothing(t *testing.T) {
	w := newWorld(t, nil)
	for range 3 {
		if got := w.must(200, "agent", "POST", "/v1/tools/rare/authorize", `{"args":{}}`); got.at("outcome") != "allow" {
			t.Fatalf("a dry run took a place: %s", got.text)
		}
	}
	if got := w.must(200, "agent", "POST", "/v1/tools/refund/authorize", `{"args":{"id":"A","usd":500}}`); got.at("outcome") != "require_approval" || got.at("approver_role") != "finance" {
		t.Errorf("decision %s", got.text)
	}
	if got := w.must(200, "ann", "GET", "/v1/approvals", ""); len(got.at("approvals").([]any)) != 0 {
		t.Errorf("a dry run asked somebody: %s", got.text)
	}
}

func TestSanitize(t *testing.T) {
	w := newWorld(t, nil)
	got := w.must(200, "agent", "POST", "/v1/tools/find_order/sanitize", `{"value":{"mail":"ada@example.org"}}`)
	if strings.Contains(got.text, "ada@") || got.at("label") != "untrusted" || got.at("redactions", "email") == nil && !strings.Contains(got.text, "[EMAIL]") {
		t.Errorf("sanitized %s", got.text)
	}
	if got := w.must(200, "agent", "POST", "/v1/tools/find_order/sanitize", `{"text":"write to ada@example.org"}`); strings.Contains(got.text, "ada@") || got.at("output_is_text") != true {
		t.Errorf("sanitized text %s", got.text)
	}
	w.must(400, "agent", "POST", "/v1/tools/find_order/sanitize", `{}`)
	w.must(404, "agent", "POST", "/v1/tools/closed/sanitize", `{"text":""}`)
}

func TestExec(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.ExecLimits = sandbox.Limits{Timeout: time.Second, MaxMemory: 32 << 20} })
	if got := w.must(200, "agent", "POST", "/v1/exec", `{"code":"rows","tables":{"rows":{"format":"csv","text":"a,b\n1,x\n"}}}`); !strings.Contains(got.text, `"a"`) {
		t.Errorf("rows %s", got.text)
	}
	const packed = `{"code":"rows","tables":{"rows":{"format":"csv","data":"H4sIAAAAAAAAA0vUSeIy1KngAgD0oAEACAAAAA=="%s}}}`
	if got := w.must(200, "agent", "POST", "/v1/exec", fmt.Sprintf(packed, "")); !strings.Contains(got.text, `"a"`) {
		t.Errorf("packed rows %s", got.text)
	}
	w.must(400, "agent", "POST", "/v1/exec", fmt.Sprintf(packed, `,"text":"a"`))
	w.must(422, "agent", "POST", "/v1/exec", `{"code":"rows","tables":{"rows":{"format":"parquet","data":"UEFSMQ=="}}}`)
	if got := w.must(200, "agent", "POST", "/v1/exec", `{"code":"files"}`); !strings.Contains(got.text, `"artifacts":[{"name":"a.svg","media_type":"image/svg+xml","bytes":"PHN2Zy8+"}]`) {
		t.Errorf("files %s", got.text)
	}
	if got := w.must(200, "agent", "POST", "/v1/exec", `{"code":"limits","limits":{"timeout_ms":200,"max_memory_mb":8}}`); !strings.Contains(got.text, `[200,8]`) {
		t.Errorf("limits %s", got.text)
	}
	if got := w.must(200, "agent", "POST", "/v1/exec", `{"code":"limits"}`); !strings.Contains(got.text, `[1000,32]`) {
		t.Errorf("limits %s", got.text)
	}
	if got := w.must(422, "agent", "POST", "/v1/exec", `{"code":"raise"}`); got.at("outcome") != "tool_error" {
		t.Errorf("an exception: %s", got.text)
	}
	w.must(400, "agent", "POST", "/v1/exec", `{"code":"1","limits":{"timeout_ms":2000}}`)
	w.must(400, "agent", "POST", "/v1/exec", `{"code":"1","language":"perl"}`)
	w.must(422, "agent", "POST", "/v1/exec", `{"code":"1","tables":{"rows":{"format":"csv","text":"a,a\n"}}}`)
	w.must(403, "root", "POST", "/v1/exec", `{"code":"1"}`)
	w.must(404, "agent", "POST", "/v1/tools/mayfly.exec/call", `{"args":{"code":"1"}}`)
	closed := newWorld(t, func(w *world) { w.config.Exec = false })
	closed.must(404, "agent", "POST", "/v1/exec", `{"code":"1"}`)
	closed.must(403, "agent", "POST", "/v1/runs", `{"tools":["mayfly.exec"]}`)
}

// TestClientGoesAway: a call that changes nothing is cancelled, one that changes
// something is finished and recorded.
func TestClientGoesAway(t *testing.T) {
	started, ended := make(chan string, 2), make(chan string, 2)
	goOn := make(chan struct{})
	w := newWorld(t, func(w *world) {
		for _, name := range []string{"waits", "writes"} {
			w.funcs[name] = func(ctx context.Context, _ runtime.FuncCall) (sandbox.RawJSON, error) {
				started <- name
				select {
				case <-ctx.Done():
					ended <- name + " cancelled"
					return nil, ctx.Err()
				case <-goOn:
					ended <- name + " done"
					return sandbox.RawJSON(`1`), nil
				}
			}
		}
	})
	for _, tool := range []string{"waits", "writes"} {
		run := w.must(201, "agent", "POST", "/v1/runs", `{}`).at("id").(string)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/tools/"+tool+"/call", strings.NewReader(`{"run":"`+run+`","args":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+w.tokens["agent"])
		gone := make(chan error, 1)
		go func() {
			res, err := client.Do(r)
			if err == nil {
				_ = res.Body.Close()
			}
			gone <- err
		}()
		<-started
		cancel()
		if err := <-gone; err == nil {
			t.Fatal("the client did not go away")
		}
		want := "waits cancelled"
		if tool == "writes" {
			want = "writes done"
			close(goOn)
		}
		if got := <-ended; got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
		if tool == "writes" {
			w.stop() // which waits until it is recorded
			effects, err := w.rt.Effects(t.Context(), runtime.EffectFilter{RunID: run})
			if err != nil || len(effects) != 1 || effects[0].State != "confirmed" {
				t.Errorf("the journal has %+v, %v", effects, err)
			}
		}
	}
}

// TestStopWaitsThenCancels: within the grace calls end by themselves, after it
// they are cancelled; each is recorded.
func TestStopWaitsThenCancels(t *testing.T) {
	started := make(chan struct{}, 1)
	w := newWorld(t, func(w *world) {
		w.config.Grace = time.Millisecond
		w.funcs["writes"] = func(ctx context.Context, _ runtime.FuncCall) (sandbox.RawJSON, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	run := w.must(201, "agent", "POST", "/v1/runs", `{}`).at("id").(string)
	answered := make(chan reply, 1)
	go func() { answered <- w.do("agent", "POST", "/v1/tools/writes/call", `{"run":"`+run+`","args":{}}`) }()
	<-started
	w.stop()
	if got := <-answered; got.status != 409 || got.at("outcome") != "effect_ambiguous" {
		t.Errorf("the client was told %d %s", got.status, got.text)
	}
	effects, err := w.rt.Effects(t.Context(), runtime.EffectFilter{RunID: run})
	if err != nil || len(effects) != 1 || effects[0].State != "ambiguous" {
		t.Errorf("the journal has %+v, %v", effects, err)
	}
}

func TestTokensAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	now := time.Now()
	token, line, err := httpapi.NewToken(httpapi.Caller{Principal: "a"}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(line), token) {
		t.Fatal("the file would hold the token")
	}
	write := func(text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("# comment\n\n"+string(line)+"\n", 0o600)
	tokens, err := httpapi.OpenTokens(path, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	find := func(want bool, broken bool) {
		t.Helper()
		c, known, err := tokens.Find(token)
		if known != want || (err != nil) != broken || known && c.Principal != "a" {
			t.Errorf("find: %+v %v %v, want %v, broken %v", c, known, err, want, broken)
		}
	}
	find(true, false)
	if _, known, _ := tokens.Find(token + "x"); known {
		t.Error("another token is taken for it")
	}
	write("", 0o600)
	find(true, false) // it is not looked at for every request
	now = now.Add(2 * time.Second)
	find(false, false)
	write(string(line), 0o600)
	now = now.Add(2 * time.Second)
	find(true, false)
	write(string(line)+"\n{\"sha256\":1}", 0o600)
	now = now.Add(2 * time.Second)
	find(false, true)
	write(string(line), 0o644)
	now = now.Add(2 * time.Second)
	find(false, true)
	write(string(line), 0o640)
	now = now.Add(2 * time.Second)
	find(true, false)
	now = now.Add(2 * time.Hour)
	find(false, false) // it has expired
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	find(false, true)
	for _, bad := range []string{string(line) + "\n" + string(line), `{"sha256":"00","principal":"a"}`, `{"principal":"a"}`, strings.Replace(string(line), `"a"`, `""`, 1)} {
		write(bad, 0o600)
		if _, err := httpapi.OpenTokens(path, nil); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}
