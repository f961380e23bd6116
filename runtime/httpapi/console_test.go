package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// planted would run if anything took it for markup, and shows in another order than
// it is if anything takes it for plain text.
const planted = `<img src=x onerror=pwned()>\u202e<script>pwned()</script>`

// plantedTool has what would run in its manifest, and a number that no double has.
const plantedTool = `---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: planted, owner: "<img src=x onerror=pwned()>" }
spec:
  handler: "host:planted"
  description: "Gives <img src=x onerror=pwned()> back."
  side_effect: read
  input_schema:
    type: object
    properties: { n: { type: integer, maximum: 9007199254740993, description: "<img src=x onerror=pwned()>" } }
    additionalProperties: false
`

// exact are the numbers that have to come through with all their digits: 2^53+1,
// and one of 40 digits.
const exactSmall, exactBig = "9007199254740993", "1234567890123456789012345678901234567890"

// browser drives the console in Chromium with one of the scripts in
// testdata/browser. What a script asks for with do, the host does.
func browser(t *testing.T, w *world, script string, do map[string]func()) {
	t.Helper()
	if _, err := exec.LookPath("/usr/bin/chromium"); err != nil {
		t.Skip("there is no Chromium; make browser installs it")
	}
	if _, err := os.Stat("testdata/browser/node_modules"); err != nil {
		t.Skip("Playwright is not installed; make browser does it")
	}
	shots := os.Getenv("MAYFLY_SCREENSHOTS") // where pictures are wanted
	if shots != "" {
		shots = filepath.Join(shots, script)
	}
	path, err := filepath.Abs(filepath.Join("testdata", "browser", script+".mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", path)
	cmd.Env = append(os.Environ(), "CONSOLE_URL="+w.url, "CONSOLE_SHOTS="+shots, "CONSOLE_PROFILE="+t.TempDir())
	files := t.TempDir()
	for name, content := range w.files {
		if err := os.WriteFile(filepath.Join(files, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = append(cmd.Env, "CONSOLE_FILES="+files, "CONSOLE_TRAP="+w.trap)
	for name, token := range w.tokens {
		cmd.Env = append(cmd.Env, "TOKEN_"+name+"="+token)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		verb, asked := strings.CutPrefix(lines.Text(), "do ")
		switch {
		case lines.Text() == "console ok":
			done = true
		case asked && do[verb] != nil:
			do[verb]()
			fmt.Fprintln(in, "done")
		default:
			t.Log(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil || !done {
		t.Fatalf("the console: %v\n%s", err, said.String())
	}
}

// TestConsoleApprovals: a person answers with the keyboard alone, and sees exactly
// what would run.
func TestConsoleApprovals(t *testing.T) {
	w := newWorld(t, nil)
	for _, id := range []string{"first", "second", "third"} {
		w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"call":"<img src=x onerror=pwned()>","args":{"id":"`+id+planted+`","usd":`+exactBig+`}}`)
	}
	w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"edited","usd":`+exactSmall+`}}`)
	browser(t, w, "approvals", map[string]func(){
		"ask": func() { w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"late","usd":500}}`) },
		"fill": func() {
			for i := range 5 {
				w.must(202, "agent", "POST", "/v1/tools/refund/call", fmt.Sprintf(`{"args":{"id":"long%d%s","usd":500}}`, i, strings.Repeat("x", store.MaxText-1000)))
			}
		},
	})
	all := w.must(200, "root", "GET", "/v1/approvals?state=all", "").text
	for _, want := range []string{
		`"edited_args":{"id":"edited","usd":` + exactBig + `}`, `"args":{"id":"edited","usd":` + exactSmall + `}`,
		`"reason":"as agreed <img src=x onerror=pwned()>"`, `"state":"rejected"`, `"state":"approved"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the approvals lack %s: %s", want, all)
		}
	}
}

// TestConsoleDecisions: calls appear while they are decided, with each step, and
// nothing in a name, a manifest, an argument, a result or an error is markup.
func TestConsoleDecisions(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(t, func(w *world) {
		w.more = plantedTool
		w.funcs["planted"] = w.funcs["find_order"]
		w.funcs["waits"] = func(ctx context.Context, _ runtime.FuncCall) (sandbox.RawJSON, error) {
			select {
			case <-release:
				return sandbox.RawJSON(`"released"`), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	called := make(chan reply, 1)
	browser(t, w, "decisions", map[string]func(){
		"calls": func() {
			w.must(200, "agent", "POST", "/v1/tools/planted/call", `{"args":{"n":5},"call":"<img src=x onerror=pwned()>"}`)
			w.must(422, "agent", "POST", "/v1/tools/fails/call", `{"args":{}}`)
			w.must(422, "agent", "POST", "/v1/tools/planted/call", `{"args":{"<img src=x onerror=pwned()>":1}}`)
			w.must(403, "agent", "POST", "/v1/tools/%3Cimg%20src=x%20onerror=pwned()%3E/call", `{"args":{}}`)
			w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"`+planted+`","usd":`+exactBig+`}}`)
			w.must(201, "agent", "POST", "/v1/runs", `{"labels":["private","untrusted"]}`)
		},
		"wait":    func() { go func() { called <- w.do("agent", "POST", "/v1/tools/waits/call", `{"args":{}}`) }() },
		"release": func() { close(release); <-called },
		"files":   func() { w.must(200, "agent", "POST", "/v1/exec", `{"code":"files"}`) },
	})
}

// withGuests has real interpreters run code.
func withGuests(t *testing.T) func(*world) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return func(w *world) {
		w.sandboxes = func(ctx context.Context, guest string) (sandbox.Sandbox, error) {
			return runtime.OpenSandbox(ctx, runtime.SandboxConfig{Guest: guest, CacheDir: filepath.Join(cache, "mayfly")})
		}
	}
}

// TestConsolePlayground: code in a real interpreter of each language, with rows that
// are dropped in, as text or not, and limits that hold.
func TestConsolePlayground(t *testing.T) {
	w := newWorld(t, withGuests(t))
	w.files = map[string]string{"orders.parquet": parquetOrders(t), "orders.xlsx": workbook(t)}
	browser(t, w, "playground", nil)
}

// TestConsoleArtifacts: pictures that code hands back are shown, and what is in them
// neither runs nor asks anybody for anything. The same picture does both where there
// are no rules.
func TestConsoleArtifacts(t *testing.T) {
	w := newWorld(t, withGuests(t))
	var mu sync.Mutex
	asked := make(map[string]bool)
	trap := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path] = true
		mu.Unlock()
		rw.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	defer trap.Close()
	w.trap = trap.URL
	browser(t, w, "artifacts", nil)
	mu.Lock()
	defer mu.Unlock()
	for _, way := range []string{"image", "use", "style", "script", "foreign"} {
		if !asked["/control/"+way] {
			t.Errorf("the control did not ask by way of %s; it asked %v", way, asked)
		}
	}
	for path := range asked {
		if !strings.HasPrefix(path, "/control/") && path != "/favicon.ico" { // the control's page has none
			t.Errorf("a picture asked for %s", path)
		}
	}
}

// TestConsoleAway: the console says when the token does not hold any longer and when
// the server is gone, and keeps what was typed.
func TestConsoleAway(t *testing.T) {
	w := newWorld(t, nil)
	all, err := os.ReadFile(w.tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(text []byte) {
		if err := os.WriteFile(w.tokenFile, text, 0o600); err != nil {
			t.Error(err)
		}
		if err := w.config.Tokens.Reload(); err != nil {
			t.Error(err)
		}
	}
	browser(t, w, "away", map[string]func(){
		"revoke": func() { tokens(nil) }, "restore": func() { tokens(all) }, "stop": w.stop,
	})
}

// TestConsoleFiles: what is served without a token is the console and nothing else.
func TestConsoleFiles(t *testing.T) {
	w := newWorld(t, nil)
	page := w.must(200, "", "GET", "/", "")
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "; img-src 'self' data:;") || strings.Count(policy, ":") != 1 {
		t.Errorf("the policy lets more in than its own files and data URLs of pictures: %s", policy)
	}
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(page.text, "console/main.js") {
		t.Errorf("the page, with the policy %q: %s", policy, page.text)
	}
	files, err := os.ReadDir("console")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got := w.must(200, "", "GET", "/console/"+f.Name(), "")
		if got.header.Get("Content-Type") == "" || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s has no type", f.Name())
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "http://", "https://", "style="} {
			text := strings.ReplaceAll(got.text, "http://www.w3.org/2000/svg", "")
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", f.Name(), bad)
			}
		}
	}
	w.must(404, "", "GET", "/console/none.js", "")
	w.must(401, "", "GET", "/console/x/y.js", "")
	for _, path := range []string{"/console/..%2f..%2ftokens.go", "/console/%2e%2e/doc.go"} {
		if got := w.do("", "GET", path, ""); got.status == 200 {
			t.Errorf("%s is served", path)
		}
	}
}
