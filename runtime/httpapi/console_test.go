package httpapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConsole drives the console in a browser, with values in it that would run if
// any of them were taken for markup.
func TestConsole(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/chromium"); err != nil {
		t.Skip("there is no Chromium; make browser installs it")
	}
	if _, err := os.Stat("testdata/browser/node_modules"); err != nil {
		t.Skip("Playwright is not installed; make browser does it")
	}
	w := newWorld(t, nil)
	planted := `<img src=x onerror=pwned()>\u202e<script>pwned()</script>`
	w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"call":"<img src=x onerror=pwned()>","args":{"id":"`+planted+`","usd":9007199254740993}}`)
	w.must(403, "agent", "POST", "/v1/tools/%3Cimg%20src=x%20onerror=pwned()%3E/call", `{"args":{}}`)
	w.must(200, "agent", "POST", "/v1/exec", `{"code":"\"<img src=x onerror=pwned()>\""}`)
	shots := os.Getenv("MAYFLY_SCREENSHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	script, err := filepath.Abs("testdata/browser/console.mjs")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", script, w.url, w.tokens["root"], w.tokens["agent"], shots).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "console ok") {
		t.Errorf("the console: %v\n%s", err, out)
	}
}

// TestConsoleFiles: what is served without a token is the console and nothing else.
func TestConsoleFiles(t *testing.T) {
	w := newWorld(t, nil)
	page := w.must(200, "", "GET", "/", "")
	policy := page.header.Get("Content-Security-Policy")
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
