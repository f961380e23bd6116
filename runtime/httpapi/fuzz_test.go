package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
	"github.com/mayfly-run/mayfly/sandbox"
)

// fuzzCallers are those whose tokens may stand in a request that is made up, as
// @agent@ and so on. The token of eve, who is of another tenant, is not among them.
var fuzzCallers = []string{"agent", "other", "ann", "olga", "prom"}

// fuzzWorld is a server on a socket that takes any bytes.
type fuzzWorld struct {
	*world
	socket string
	log    *kept
	// secret is in an approval of eve's, and so is the run.
	secret, run string
	dir         string
	public      [][]byte // what there is without a token
	left        int      // requests until there is another one
}

// kept is a log that can be looked through.
type kept struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(p)
}

func (k *kept) take() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.text.Reset()
	return k.text.String()
}

// onlyJSON is a sandbox whose value is the code, if that is one.
type onlyJSON struct{ fakeSandbox }

func (s onlyJSON) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	switch spec.Code {
	case "raise", "chart", "files", "limits":
		return s.fakeSandbox.Run(ctx, spec)
	}
	if !jsontext.Value(spec.Code).IsValid() {
		return sandbox.Result{Status: sandbox.StatusError, Error: &sandbox.Error{Type: "SyntaxError"}}, nil
	}
	return s.fakeSandbox.Run(ctx, spec)
}

// outer is what a world is made for that lasts longer than one input: a target may not
// use the test around it.
type outer struct {
	testing.TB
	ends []func()
}

func newOuter(t testing.TB) *outer { return &outer{TB: t} }

func (o *outer) Helper()                  {}
func (o *outer) Cleanup(end func())       { o.ends = append(o.ends, end) }
func (o *outer) Context() context.Context { return context.Background() }

func (o *outer) TempDir() string {
	dir, err := os.MkdirTemp("", "httpapi")
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (o *outer) end() {
	for _, end := range slices.Backward(o.ends) {
		end()
	}
	o.ends = nil
}

func newFuzzWorld(t testing.TB) *fuzzWorld {
	t.Helper()
	dir, err := os.MkdirTemp("", "httpapi") // a socket's name is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := &fuzzWorld{socket: filepath.Join(dir, "socket"), log: new(kept), secret: "planted-" + rand.Text(), dir: t.TempDir(), left: 100}
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	f.world = newWorld(t, func(w *world) {
		w.listener = l
		w.config.Logger = slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w.config.HeaderTimeout, w.config.BodyTimeout, w.config.IdleTimeout = 5*time.Second, 5*time.Second, 5*time.Second
		w.config.MaxBody = 64 << 10
		w.sandboxes = func(context.Context, string) (sandbox.Sandbox, error) { return onlyJSON{}, nil }
		w.funcs["waits"] = func(ctx context.Context, _ runtime.FuncCall) (sandbox.RawJSON, error) {
			return sandbox.RawJSON(`"at once"`), ctx.Err()
		}
		w.funcs["writes"] = w.funcs["anyone"]
	})
	for _, path := range []string{"/healthz", "/readyz", "/"} {
		f.public = append(f.public, f.one(t, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200))
	}
	files, err := os.ReadDir("console")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f.public = append(f.public, f.one(t, "GET /console/"+file.Name()+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200))
	}
	body := `{"args":{"id":"` + f.secret + `","usd":500}}`
	answer := f.one(t, "POST /v1/tools/refund/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer "+
		f.tokens["eve"]+"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body, 202)
	_, after, _ := bytes.Cut(answer, []byte(`"run":"`))
	run, _, _ := bytes.Cut(after, []byte(`"`))
	if f.run = string(run); len(f.run) < 8 {
		t.Fatalf("eve's run: %s", answer)
	}
	return f
}

// one sends a request and gives the body of its answer.
func (f *fuzzWorld) one(t testing.TB, request string, status int) []byte {
	t.Helper()
	answers := f.send(t, []byte(request))
	if len(answers) != 1 || answers[0].StatusCode != status {
		t.Fatalf("%.60q: %d answers: %s", request, len(answers), said(answers))
	}
	text, err := io.ReadAll(answers[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// send sends bytes on a connection of their own, and gives all answers, read to
// their ends. When what was asked for has been answered, or never will be, it
// says that no more comes.
func (f *fuzzWorld) send(t testing.TB, sent []byte) []*http.Response {
	t.Helper()
	c, err := net.Dial("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	methods := methodsOf(sent)
	over := sync.OnceFunc(func() { _ = c.(*net.UnixConn).CloseWrite() })
	go func() {
		_, _ = c.Write(sent) // it may be refused before it is all there
		if len(methods) == 0 {
			over()
		}
	}()
	var answers []*http.Response
	for r := bufio.NewReader(c); ; {
		if len(answers) >= len(methods) {
			over()
		}
		if _, err := r.Peek(1); err != nil {
			if nerr, timeout := err.(net.Error); timeout && nerr.Timeout() {
				t.Errorf("the server holds on to a connection on which nothing more comes, after %d answers", len(answers))
			}
			return answers
		}
		method := http.MethodGet
		if len(answers) < len(methods) {
			method = methods[len(answers)]
		}
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Errorf("what comes back is no HTTP: %v", err)
			return answers
		}
		stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
		if stream {
			over() // it has no end of its own
		}
		text, err := io.ReadAll(res.Body)
		if err != nil && !stream {
			t.Errorf("an answer that is not whole: %v in %s %.300q", err, res.Status, text)
		}
		res.Body = io.NopCloser(bytes.NewReader(text))
		if res.StatusCode >= 200 {
			answers = append(answers, res)
		}
	}
}

// methodsOf reads requests as the server does, as far as it goes.
func methodsOf(sent []byte) (methods []string) {
	for r := bufio.NewReader(bytes.NewReader(sent)); ; {
		q, err := http.ReadRequest(r)
		if err != nil {
			return methods
		}
		methods = append(methods, q.Method)
		if _, err := io.Copy(io.Discard, q.Body); err != nil {
			return methods
		}
	}
}

// headers are those that an answer may have.
var headers = []string{
	"Allow", "Cache-Control", "Connection", "Content-Length", "Content-Security-Policy", "Content-Type", "Cross-Origin-Opener-Policy",
	"Cross-Origin-Resource-Policy", "Date", "Referrer-Policy", "Retry-After", "Transfer-Encoding", "Www-Authenticate", "X-Accel-Buffering", "X-Content-Type-Options", "X-Frame-Options",
}

// check looks at one answer.
func (f *fuzzWorld) check(t *testing.T, res *http.Response, known bool) {
	t.Helper()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	show := fmt.Sprintf("%s %v %.400q", res.Status, res.Header, text)
	ours := res.Header.Get("X-Frame-Options") != ""
	kind := res.Header.Get("Content-Type")
	good := res.StatusCode < 300
	switch {
	case res.StatusCode >= 500 && ours && kind != "application/problem+json", res.StatusCode == 500:
		t.Errorf("the server failed: %s", show)
	case !good && ours && kind != "application/problem+json" && kind != "application/json":
		t.Errorf("an error that is no JSON: %s", show)
	case !ours && res.StatusCode == http.StatusExpectationFailed && len(text) == 0:
		// net/http itself says this, before it asks a handler, and says no more.
	case !ours && (good || !strings.HasPrefix(kind, "text/plain")) && res.StatusCode != http.StatusServiceUnavailable:
		t.Errorf("whose answer is that? %s", show)
	case good && !known && !slices.ContainsFunc(f.public, func(p []byte) bool {
		return bytes.Equal(p, text) || len(text) == 0 && res.Request.Method == http.MethodHead
	}):
		t.Errorf("without a token: %s", show)
	case res.StatusCode >= 300 && res.StatusCode < 400:
		t.Errorf("the client is sent elsewhere: %s", show)
	}
	if ours && strings.HasSuffix(kind, "json") && len(text) > 0 && !jsontext.Value(text).IsValid() {
		t.Errorf("no strict JSON: %s", show)
	}
	if kind == "application/problem+json" && len(text) > 0 && !bytes.Contains(text, fmt.Appendf(nil, `"status":%d`, res.StatusCode)) {
		t.Errorf("a problem without its status: %s", show)
	}
	for name := range res.Header {
		if !slices.Contains(headers, name) {
			t.Errorf("the header %s: %s", name, show)
		}
	}
	all := fmt.Sprintf("%v%s", res.Header, text)
	for _, secret := range []string{f.secret, f.run, f.dir, "goroutine ", "mayfly_"} {
		if strings.Contains(all, secret) && (secret != "mayfly_" || strings.HasPrefix(kind, "text/plain") && known) {
			t.Errorf("%q is in the answer: %s", secret, show)
		}
	}
}

// FuzzRequests sends any bytes to a server. It does not panic, does nothing for
// who has no token, answers with JSON that says what is wrong, and tells nobody
// what is another tenant's.
func FuzzRequests(f *testing.F) {
	world := newOuter(f)
	f.Cleanup(func() { world.end() })
	w := newFuzzWorld(world)
	for _, request := range seedRequests() {
		f.Add([]byte(request))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		if w.left--; w.left < 0 {
			w.stop()
			w.close()
			world.end()
			world = newOuter(t)
			w = newFuzzWorld(world)
		}
		w.attack(t, sent)
	})
}

// attack sends what is made up, and looks at what comes of it.
func (f *fuzzWorld) attack(t *testing.T, sent []byte) (answers []*http.Response) {
	t.Helper()
	known := false
	for _, name := range fuzzCallers {
		mark := []byte("@" + name + "@")
		known = known || bytes.Contains(sent, mark)
		sent = bytes.ReplaceAll(sent, mark, []byte(f.tokens[name]))
	}
	f.log.take()
	before := t.Failed()
	answers = f.send(t, sent)
	for _, res := range answers {
		f.check(t, res, known)
	}
	if log := f.log.take(); strings.Contains(log, "panic") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log: %.2000s", log)
	}
	if f.left%50 == 0 {
		f.one(t, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200)
	}
	if t.Failed() && !before {
		t.Logf("sent: %.1000q", sent)
	}
	return answers
}

// seedRequests are each of the routes, as somebody and as nobody, and what has
// been used against servers before.
func seedRequests() (all []string) {
	add := func(method, path, as, body string, more ...string) {
		text := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(more, "")
		if as != "" {
			text += "Authorization: Bearer @" + as + "@\r\n"
		}
		if body != "" {
			text += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
		}
		all = append(all, text+"\r\n"+body)
	}
	bodies := map[string]string{
		"/v1/tools/{name}/call": `{"args":{"id":"A"},"task":"t","labels":["x"],"call":"c1"}`, "/v1/tools/{name}/authorize": `{"args":{"id":"A"}}`,
		"/v1/tools/{name}/sanitize": `{"output":"call 555-0100"}`, "/v1/exec": `{"code":"[1,2]","lang":"python","limits":{"timeout_ms":100}}`,
		"/v1/runs": `{"task":"t","tools":["find_order"]}`, "/v1/runs/{id}/grant": `{"tools":["find_order"]}`, "/v1/runs/{id}/revoke": `{"tools":["find_order"]}`,
		"/v1/runs/{id}/labels": `{"labels":["untrusted"]}`, "/v1/approvals/{id}/edit": `{"args":{"id":"B","usd":1}}`,
	}
	for _, r := range append(httpapi.Routes(), [3]string{"GET", "/openapi.json", ""}, [3]string{"GET", "/console/main.js", ""}) {
		path := strings.NewReplacer("{name}", "find_order", "{id}", "00000000000000000000000000").Replace(r[1])
		body := ""
		if r[0] == "POST" {
			if body = bodies[r[1]]; body == "" {
				body = `{"reason":"r"}`
			}
		}
		for _, as := range []string{"", "agent", "olga"} {
			add(r[0], path, as, body)
		}
	}
	for _, code := range []string{"rows", "chart", "files", "raise", "limits"} {
		add("POST", "/v1/exec", "agent", `{"code":"`+code+`","rows":[{"a":1}]}`)
	}
	add("POST", "/v1/exec", "agent", `{"code":"rows","data":"YQox","format":"csv"}`)
	for _, path := range []string{"/v1/tools/fails/call", "/v1/tools/refund/call", "/v1/tools/waits/call", "/v1/tools/rare/call", "/v1/tools/north_only/call"} {
		add("POST", path, "agent", `{"args":{"id":"A","usd":500}}`, "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n")
	}
	for _, query := range []string{"?limit=-1", "?limit=99999999999999999999", "?principal=eve&tenant=evil", "?state=%00", "?a=%zz", "?limit=1&limit=2"} {
		add("GET", "/v1/runs"+query, "olga", "")
		add("GET", "/v1/approvals"+query, "ann", "")
	}
	add("GET", "/v1/trace?recent=10", "olga", "", "Last-Event-ID: x-5\r\n")
	add("HEAD", "/", "", "")
	add("GET", "/", "", "", "If-None-Match: *\r\nRange: bytes=0-1\r\n")
	add("OPTIONS", "*", "agent", "")
	add("GET", "/v1/tools", "agent", "", "Origin: http://evil.example\r\n")
	add("GET", "/v1/tools/..%2f..", "agent", "")
	add("POST", "/v1/tools/find_order/call", "agent", `{"args":{"id":"A"}}`, "Expect: 100-continue\r\n")
	add("POST", "/v1/tools/find_order/call", "agent", `{"args":{"id":"\ud800"},"args":1}`)
	add("GET", "/v1/me", "agent", "", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n")
	return append(all,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer @agent@\r\n\r\n",
		"POST /v1/tools/find_order/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer @agent@\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{\"args\":{\"id\":\"A\"}}\r\n0\r\n\r\n",
		"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/runs HTTP/1.1\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1", "GET /v1/me HTTP/1.0\r\nAuthorization: Bearer @agent@\r\n\r\n",
		"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "",
	)
}

// TestRequestsReach is the control: the requests that fuzzing starts from get as
// far as the handlers, and what is looked for would be seen.
func TestRequestsReach(t *testing.T) {
	w := newFuzzWorld(t)
	statuses := make(map[int]int)
	for _, request := range seedRequests() {
		for _, res := range w.attack(t, []byte(request)) {
			statuses[res.StatusCode]++
		}
	}
	t.Log(statuses)
	if statuses[200] < 25 || statuses[400] < 5 || statuses[401] < 15 || statuses[403] < 3 || statuses[404] < 5 || statuses[202] == 0 {
		t.Errorf("the answers: %v", statuses)
	}
	mine := w.one(t, "GET /v1/approvals HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer "+w.tokens["eve"]+"\r\n\r\n", 200)
	if !bytes.Contains(mine, []byte(w.secret)) || !bytes.Contains(mine, []byte(w.run)) {
		t.Errorf("what others must not see is not there at all: %s", mine)
	}
}

// said is what answers say.
func said(answers []*http.Response) string {
	var all strings.Builder
	for _, res := range answers {
		_ = res.Write(&all) // into memory
	}
	return all.String()
}

// TestGoneClient: a client that goes away is no fault of the store's, and no
// reason to call an operator.
func TestGoneClient(t *testing.T) {
	w := newFuzzWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*http.Request{
		httptest.NewRequestWithContext(ctx, "POST", "/v1/tools/find_order/call", strings.NewReader(`{"args":{"id":"A"}}`)),
		httptest.NewRequestWithContext(ctx, "GET", "/v1/runs/"+w.run, nil),
		httptest.NewRequestWithContext(ctx, "GET", "/v1/approvals", nil),
	} {
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+w.tokens["eve"])
		w.log.take()
		got := httptest.NewRecorder()
		w.server.ServeHTTP(got, r)
		if log := w.log.take(); got.Code != http.StatusServiceUnavailable || strings.Contains(log, "level=ERROR") {
			t.Errorf("%s %s: status %d, %s the log: %s", r.Method, r.URL, got.Code, got.Body, log)
		}
	}
}
