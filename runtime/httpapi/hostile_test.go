package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// raw sends bytes, and gives what comes back until the server closes or falls
// silent.
func (w *world) raw(send func(net.Conn)) string {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		w.t.Fatal(err)
	}
	send(c)
	text, err := io.ReadAll(c)
	if nerr, timeout := err.(net.Error); timeout && nerr.Timeout() {
		w.t.Errorf("the server held on to the connection: %q", text)
	}
	return string(text)
}

// TestHostileBytes: whatever comes is refused with a 4xx and ends the connection;
// the server goes on, and nothing of another request is answered.
func TestHostileBytes(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.config.HeaderTimeout, w.config.BodyTimeout = 200*time.Millisecond, 200*time.Millisecond
		w.config.IdleTimeout = 200 * time.Millisecond
		w.config.MaxBody = 100_000 // which comes within that time on any machine
	})
	auth := "Authorization: Bearer " + w.tokens["agent"] + "\r\n"
	post := "POST /v1/tools/find_order/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + auth
	smuggled := "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n"
	body := `{"args":{"id":"A"}}`
	tests := []struct{ name, send, want string }{
		{"as it should be", post + "Connection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body, "200"},
		{"a header that never ends", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", ""},
		{"a body that never ends", post + "Content-Length: 100\r\n\r\n{", "408"},
		{"a body that nobody reads never ends", "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", "401"},
		{"10,000 headers", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Header: abcdefgh\r\n", 10_000) + "\r\n", "431"},
		{"a header of 1 MB", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", "431"},
		{"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + smuggled, "400"},
		{"length and chunks", post + "Connection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		{"unknown encoding", post + "Transfer-Encoding: xchunked\r\n\r\n" + smuggled, "501"},
		{"encodings", post + "Transfer-Encoding: identity, chunked\r\n\r\n" + smuggled, "501"},
		{"a negative length", post + "Content-Length: -1\r\n\r\n" + smuggled, "400"},
		{"a length with a sign", post + "Content-Length: +19\r\n\r\n" + smuggled, "400"},
		{"a chunk of a wrong size", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + smuggled, "400"},
		{"a space before the colon", "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n", "400"},
		{"a folded header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n", "200"},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "400"},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", "400"},
		{"two tokens", "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + auth + auth + "\r\n", "401"},
		{"an absolute URL of another host", "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "421"},
		{"a NUL in a header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", "400"},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", "421"},
		{"a chunk of a size beyond all numbers", post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + smuggled, "400"},
		{"a chunk of a size that nobody has", post + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n{", "408"},
		{"a chunk of a negative size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + smuggled, "400"},
		{"an extension of a chunk", post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n13;a=b\r\n" + body + "\r\n0\r\n\r\n", "200"},
		{"an extension without end", post + "Transfer-Encoding: chunked\r\n\r\n13;" + strings.Repeat("a", 1<<20) + "\r\n" + body + "\r\n0\r\n\r\n", "400"},
		{"extensions without end", post + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\n \r\n", 1000), "400"},
		{"chunks that are not one", post + "Transfer-Encoding: chunked\r\n\r\n13" + body + "\r\n0\r\n\r\n" + smuggled, "400"},
		{"chunks twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, "501"},
		{"an encoding with a tab", post + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + smuggled, "4"},
		{"compressed chunks", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled, "501"},
		{"a length in hexadecimal", post + "Content-Length: 0x13\r\n\r\n" + body, "400"},
		{"two lengths in one", post + "Content-Length: 19, 19\r\n\r\n" + body, "400"},
		{"a length beyond all numbers", post + "Content-Length: 99999999999999999999\r\n\r\n" + body, "400"},
		{"too long, as it says", post + "Connection: close\r\nContent-Length: 99999999\r\n\r\n{", "413"},
		{"too long, without saying", post + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 2), "413"},
		{"a carriage return in a header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n", "400"},
		{"lines that end in LF", "GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n", "200"},
		{"LF within, and a request behind", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\nGET /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n", "200"},
		{"a name that is none", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX\xff: a\r\n\r\n", "400"},
		{"a token in a trailer", strings.Replace(post, auth, "", 1) + "Connection: close\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n13\r\n" + body + "\r\n0\r\n" + auth + "\r\n", "401"},
		{"a request in a trailer", post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n" + body + "\r\n0\r\n" + smuggled, "4"},
		{"trailers without end", post + "Transfer-Encoding: chunked\r\n\r\n13\r\n" + body + "\r\n0\r\n" + strings.Repeat("X: aaaaaaaa\r\n", 100_000) + "\r\n", "400"},
		{"chunks in HTTP/1.0", strings.Replace(post, "HTTP/1.1", "HTTP/1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, ""}, // HTTP/1.0 has none, and the connection ends
		{"an expectation that nobody meets", post + "Connection: close\r\nExpect: miracles\r\nContent-Length: 19\r\n\r\n" + body, "417"},
		{"to go on without a token", strings.Replace(post, auth, "", 1) + "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 19\r\n\r\n", "401"},
		{"to go on with too much", post + "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", "413"},
		{"to go on, and not to", post + "Expect: 100-continue\r\nContent-Length: 19\r\n\r\n", ""},
		{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "421"},
		{"an upgrade to HTTP/2", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n", "200"},
		{"HTTP/0.9", "GET /healthz\r\n\r\n", "400"},
		{"HTTP/9.9", "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", "505"},
		{"TRACE", "TRACE /v1/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + auth + "\r\n", "405"},
		{"a method of one's own", "FETCH /v1/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + auth + "\r\n", "405"},
		{"a method in small letters", "get /v1/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + auth + "\r\n", "405"},
		{"a method that is none", "G@T /v1/tools HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "401"},
		{"a preflight of another site", "OPTIONS /v1/tools HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n", "403"},
		{"a path of 1 MB", "GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "431"},
		{"a path that is no path", "GET v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"},
		{"no HTTP", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", "400"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := *w
			w.t = t
			got := w.raw(func(c net.Conn) { _, _ = io.WriteString(c, tt.send) })
			if n := strings.Count(got, "HTTP/1.1 "); tt.want != "" && n != 1 {
				t.Errorf("%d answers:\n%s", n, got)
			}
			if tt.want != "" && !strings.HasPrefix(got, "HTTP/1.1 "+tt.want) {
				t.Errorf("want %s, got %.300q", tt.want, got)
			}
			if strings.Contains(got, "Access-Control-Allow") {
				t.Errorf("another site is let in:\n%s", got)
			}
			if strings.Contains(got, `"runs"`) {
				t.Errorf("a request within a request was answered:\n%s", got)
			}
		})
	}
	w.must(200, "", "GET", "/healthz", "")
}

// TestHostilePaths: a name in a path is a name, whatever is in it.
func TestHostilePaths(t *testing.T) {
	w := newWorld(t, nil)
	get, body := func(path, want string) [2]string { return [2]string{path, want} }, `{"args":{"id":"A"}}`
	for _, tt := range [][2]string{
		get("/v1/tools/find_order/call", "200"),
		get("/v1/tools/find%5Forder/call", "200"),
		get("/v1/tools/find_order%2Fcall/call", "403"), // a name with a slash in it
		get("/v1/tools/..%2F..%2Fetc%2Fpasswd/call", "404"),
		get("/v1/tools/x%2F..%2Ffind_order/call", "404"),
		get("/v1/tools/a%00b/call", "403"),
		get("/v1/tools/%FF/call", "404"),
		get("/v1/tools/"+strings.Repeat("a", 5000)+"/call", "404"),
		get("/v1/tools/%2E%2E/call", "4"),
		get("/v1/tools/../tools/find_order/call", "404"),
		get("/v1/tools//call", "404"),
		get("//v1/tools/find_order/call", "404"),
		get("/v1/tools/find_order/call/", "404"),
		get("/v1/tools/mayfly.exec/call", "404"),
		get("/v1/tools/mayfly%2Eexec/call", "404"),
		get("/v1/tools/find_order/call%20", "404"),
		get("/v1/tools/%zz/call", "400"),
	} {
		got := w.raw(func(c net.Conn) {
			_, _ = io.WriteString(c, "POST "+tt[0]+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"+
				"Authorization: Bearer "+w.tokens["agent"]+"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
		})
		if !strings.HasPrefix(got, "HTTP/1.1 "+tt[1]) {
			t.Errorf("%.60s: want %s, got %.300q", tt[0], tt[1], got)
		}
	}
}

// TestPipelined: requests that come together are answered one after the other.
func TestPipelined(t *testing.T) {
	w := newWorld(t, nil)
	got := w.raw(func(c net.Conn) {
		for i := range 3 {
			body := fmt.Sprintf(`{"args":{"id":"N%d"}}`, i)
			last := ""
			if i == 2 {
				last = "Connection: close\r\n"
			}
			_, _ = io.WriteString(c, "POST /v1/tools/find_order/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+last+
				"Authorization: Bearer "+w.tokens["agent"]+"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
		}
	})
	a, b, c := strings.Index(got, `"N0"`), strings.Index(got, `"N1"`), strings.Index(got, `"N2"`)
	if strings.Count(got, "HTTP/1.1 200") != 3 || a < 0 || b < a || c < b {
		t.Errorf("answers to three requests: %s", got)
	}
}

// TestBodiesTogether: bodies are bounded in all, by what has come of them; what
// somebody only says that he will send, is nothing.
func TestBodiesTogether(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.MaxBody, w.config.MaxMemory = 1_000_000, 4_000_000 })
	header := func(as string, n int) string {
		return "POST /v1/tools/find_order/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Authorization: Bearer " + w.tokens[as] + "\r\nContent-Length: " + strconv.Itoa(n) + "\r\n\r\n"
	}
	var promised []net.Conn
	for range 20 {
		promised = append(promised, w.narrow(header("agent", 999_999)+"{"))
	}
	long := `{"args":{"id":"` + strings.Repeat("A", 700_000) + `"}}`
	huge := `{"args":{"id":"` + strings.Repeat("A", 900_000) + `"}}`
	w.must(200, "other", "POST", "/v1/tools/find_order/call", huge)
	for _, c := range promised {
		_ = c.Close()
	}
	w.settle("mayfly_http_request_bytes 0")
	var conns []net.Conn
	for range 2 {
		conns = append(conns, w.narrow(header("agent", len(long))+long[:len(long)-1]))
	}
	w.settle(fmt.Sprintf("mayfly_http_request_bytes %v", float64(4*(len(long)-1)))) // each is there twice
	if got := w.must(503, "other", "POST", "/v1/tools/find_order/call", huge); got.at("type") != "urn:mayfly:problem:busy" || got.header.Get("Retry-After") == "" {
		t.Errorf("too much in all: %.300s", got.text)
	}
	w.must(200, "other", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	for _, c := range conns {
		if _, err := io.WriteString(c, "}"); err != nil {
			t.Fatal(err)
		}
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || res.StatusCode != 200 {
			t.Errorf("one that was there first: %v %v", res, err)
		}
	}
	w.settle("mayfly_http_request_bytes 0") // an answer comes before its place is free
	w.must(200, "other", "POST", "/v1/tools/find_order/call", huge)
}

// settle waits until the server says of itself what is wanted.
func (w *world) settle(line string) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		r, err := http.NewRequestWithContext(w.t.Context(), "GET", w.url+"/metrics", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+w.tokens["prom"])
		res, err := client.Do(r)
		if err != nil {
			continue // a busy machine is too slow for a short timeout; it is asked again
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil && strings.Contains(string(text), line+"\n") {
			return
		}
	}
	w.t.Errorf("it never was so: %s", line)
}

// narrow is a connection whose client takes next to nothing.
func (w *world) narrow(send string) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.WriteString(c, send); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// TestSlowReaders: who does not take what he asked for holds nothing for long.
func TestSlowReaders(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.WriteTimeout = 200 * time.Millisecond })
	long := `"` + strings.Repeat("x", 6<<20) + `"`
	body := `{"code":` + strconv.Quote(long) + `}`
	if got := w.must(200, "agent", "POST", "/v1/exec", body); len(got.text) < len(long) {
		t.Fatalf("whoever reads has got %d bytes only", len(got.text))
	}
	auth := "Host: localhost\r\nAuthorization: Bearer " + w.tokens["agent"] + "\r\n"
	w.narrow("POST /v1/exec HTTP/1.1\r\nContent-Type: application/json\r\n" + auth + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	w.settle(`mayfly_http_requests_total{code="200",route="POST /v1/exec"} 2`)
	w.settle("mayfly_http_request_bytes 0")
	w.settle("mayfly_http_calls_running 0")
	stream := w.narrow("GET /v1/trace HTTP/1.1\r\n" + strings.Replace(auth, w.tokens["agent"], w.tokens["root"], 1) + "\r\n")
	w.settle("mayfly_http_streams 1")
	flood, stop := context.WithCancel(t.Context())
	var flooding sync.WaitGroup
	flooding.Go(func() {
		for i := 0; flood.Err() == nil; i++ {
			w.config.Trace.Note(runtime.Note{Run: "none", Call: fmt.Sprint(i), Reason: strings.Repeat("x", 1000)})
		}
	})
	w.settle("mayfly_http_streams 0")
	stop()
	flooding.Wait()
	_ = stream.Close()
}

// TestStreamsAreBounded: however many watch, calls go on.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.MaxStreams, w.config.MaxConns = 5, 100 })
	send := "GET /v1/trace HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + w.tokens["agent"] + "\r\n\r\n"
	statuses := make(map[int]int)
	var conns []net.Conn
	for range 50 {
		c := w.narrow(send)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		statuses[res.StatusCode]++
		conns = append(conns, c)
	}
	if statuses[200] != 5 || statuses[503] != 45 {
		t.Errorf("streams: %v", statuses)
	}
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	for _, c := range conns {
		_ = c.Close()
	}
	w.settle("mayfly_http_streams 0")
}

// TestOverload: ten times what fits is told that the host is busy, nobody is lost,
// and at once after that there is room again.
func TestOverload(t *testing.T) {
	started, goOn := make(chan struct{}, 100), make(chan struct{})
	w := newWorld(t, func(w *world) {
		w.config.MaxCalls, w.config.MaxQueue = 2, 2
		w.funcs["waits"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			started <- struct{}{}
			<-goOn
			return sandbox.RawJSON(`1`), nil
		}
	})
	results := make(chan reply, 40)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { results <- w.do("agent", "POST", "/v1/tools/waits/call", `{}`) })
	}
	<-started
	<-started
	for range 36 { // the others wait for goOn
		got := <-results
		if got.status != 503 || got.header.Get("Retry-After") == "" || got.at("type") != "urn:mayfly:problem:busy" {
			t.Errorf("too many: %d %s", got.status, got.text)
		}
	}
	w.must(200, "", "GET", "/healthz", "")
	close(goOn)
	all.Wait()
	for range 4 {
		if got := <-results; got.status != 200 || got.at("output") != 1.0 {
			t.Errorf("one that fitted: %d %s", got.status, got.text)
		}
	}
	w.must(200, "agent", "POST", "/v1/tools/waits/call", `{}`)
	if got := w.must(200, "prom", "GET", "/metrics", "").text; !strings.Contains(got, "mayfly_http_busy_total 36") || !strings.Contains(got, `mayfly_calls_total{outcome="ok",tool="waits"} 5`) {
		t.Errorf("the metrics: %s", got)
	}
}

// TestFloodOfOne: one caller's flood leaves a place to others, who do not wait for
// it; and what there is no room for is refused before its body has come.
func TestFloodOfOne(t *testing.T) {
	started, goOn := make(chan struct{}, 100), make(chan struct{})
	w := newWorld(t, func(w *world) {
		w.config.MaxCalls, w.config.MaxQueue = 4, 2
		w.funcs["waits"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			started <- struct{}{}
			<-goOn
			return sandbox.RawJSON(`1`), nil
		}
	})
	results := make(chan reply, 40)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { results <- w.do("agent", "POST", "/v1/tools/waits/call", `{}`) })
	}
	for range 3 {
		<-started
	}
	for range 35 {
		if got := <-results; got.status != 503 {
			t.Errorf("too many: %d %s", got.status, got.text)
		}
	}
	w.must(200, "other", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	w.must(200, "other", "POST", "/v1/tools/find_order/authorize", `{"args":{"id":"A"}}`)
	for _, path := range []string{"/v1/tools/waits/call", "/v1/exec", "/v1/tools/waits/authorize", "/v1/tools/waits/sanitize"} {
		got := w.raw(func(c net.Conn) {
			_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"+
				"Authorization: Bearer "+w.tokens["agent"]+"\r\nContent-Length: 8000000\r\n\r\n{")
		})
		if !strings.HasPrefix(got, "HTTP/1.1 503") || !strings.Contains(got, "Retry-After") {
			t.Errorf("%s, of which there is no body yet: %.300q", path, got)
		}
	}
	close(goOn)
	all.Wait()
	for range 5 {
		if got := <-results; got.status != 200 {
			t.Errorf("one that fitted: %d %s", got.status, got.text)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.MaxConns = 2 })
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if got := w.raw(func(net.Conn) {}); !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("one too many: %q", got)
	}
	for _, c := range held {
		_ = c.Close()
	}
}

// follow reads events of the trace until want of them have come.
func (w *world) follow(as, query, last string, want int) (events []string, lastID string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+"/v1/trace"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.tokens[as])
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for len(events) < want && lines.Scan() {
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			lastID = id
		}
		if kind, is := strings.CutPrefix(lines.Text(), "event: "); is && kind != "note" {
			events = append(events, kind)
			lines.Scan()
			continue
		}
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			events = append(events, data)
		}
	}
	return events, lastID
}

func TestTraceStream(t *testing.T) {
	w := newWorld(t, nil)
	call := func(as, id string) {
		w.must(200, as, "POST", "/v1/tools/find_order/call", `{"call":"`+id+`","args":{"id":"SENTINEL"}}`)
	}
	call("agent", "one")
	call("other", "two")
	call("agent", "three")
	got, last := w.follow("agent", "?recent=100", "", 4)
	for i, want := range []string{"one", "one", "three", "three"} {
		if !strings.Contains(got[i], `"call":"`+want+`"`) || strings.Contains(got[i], "SENTINEL") {
			t.Errorf("event %d is %s, want one of the call %s", i, got[i], want)
		}
	}
	if got, _ := w.follow("olga", "?recent=100", "", 6); !strings.Contains(got[2], "two") {
		t.Errorf("an operator sees %v", got)
	}
	// What came while the stream was broken comes when it goes on.
	call("agent", "four")
	if got, _ := w.follow("agent", "", last, 2); !strings.Contains(got[0], "four") {
		t.Errorf("after the break: %v", got)
	}
	if got, _ := w.follow("agent", "", "ELSEWHERE-5", 2); got[0] != "gap" || !strings.Contains(got[1], "one") {
		t.Errorf("after a new start: %v", got)
	}
	// One that is overtaken is told so.
	for i := range 5000 {
		w.config.Trace.Note(runtime.Note{Run: "none", Call: fmt.Sprint(i)})
	}
	if got, _ := w.follow("agent", "", last, 1); got[0] != "dropped" {
		t.Errorf("a stream that is too slow: %v", got)
	}
}

// TestImpatient: who is told that the host is busy and comes again at once is told so
// later; others are told at once, and nothing is held meanwhile.
func TestImpatient(t *testing.T) {
	started, goOn := make(chan struct{}, 1), make(chan struct{})
	w := newWorld(t, func(w *world) {
		w.config.MaxCalls, w.config.MaxCallsEach, w.config.MaxQueue, w.config.BusyDelay = 1, 1, -1, time.Hour
		w.funcs["waits"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			started <- struct{}{}
			<-goOn
			return sandbox.RawJSON(`1`), nil
		}
	})
	var first sync.WaitGroup
	first.Go(func() { w.must(200, "ann", "POST", "/v1/tools/waits/call", `{}`) })
	<-started
	w.must(503, "agent", "POST", "/v1/tools/waits/call", `{}`)
	answered := make(chan int, 20)
	var again sync.WaitGroup
	for range 20 {
		again.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/tools/waits/call", strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+w.tokens["agent"])
			r.Header.Set("Content-Type", "application/json")
			if res, err := client.Do(r); err == nil {
				_ = res.Body.Close()
				answered <- res.StatusCode
			}
		})
	}
	// Each notes down anew when it was, so that all of them wait, however slow the
	// machine is, but for those that come a second after the one before.
	for w.server.Refusals()+int64(len(answered)) < 20 {
		goruntime.Gosched()
	}
	if w.server.Refusals() == 0 {
		t.Error("nobody waits")
	}
	w.must(503, "other", "POST", "/v1/tools/waits/call", `{}`)
	w.must(200, "agent", "GET", "/v1/me", "") // and what there is room for is answered
	if running, waiting := w.server.Places(); running != 1 || waiting != 0 {
		t.Errorf("%d calls run and %d wait, want 1 and 0", running, waiting)
	}
	close(goOn)
	first.Wait()
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	if w.server.Refusals() == 0 {
		t.Error("those who came again at once did not wait")
	}
	w.stop() // for which nobody has to wait
	again.Wait()
	if n := w.server.Refusals(); n != 0 {
		t.Errorf("%d wait in a server that has ended", n)
	}
}

// TestHalfClosed: a client that has said all it will say, and listens, gets an answer
// if its call changes something, and in any case its connection's end.
func TestHalfClosed(t *testing.T) {
	calls := make(chan string, 10)
	w := newWorld(t, func(w *world) {
		w.funcs["writes"] = func(ctx context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			calls <- "writes"
			return sandbox.RawJSON(`"written"`), ctx.Err()
		}
		w.funcs["waits"] = func(ctx context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			<-ctx.Done() // a client that is gone has given up what changes nothing
			return nil, ctx.Err()
		}
	})
	half := func(tool string) string {
		return w.raw(func(c net.Conn) {
			_, _ = io.WriteString(c, "POST /v1/tools/"+tool+"/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
				"Authorization: Bearer "+w.tokens["agent"]+"\r\nContent-Length: 2\r\n\r\n{}")
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := half("writes"); !strings.Contains(got, `"written"`) || <-calls != "writes" {
		t.Errorf("a call that writes: %q", got)
	}
	half("waits") // which may not even begin
	w.settle("mayfly_http_calls_running 0")
	if got := w.raw(func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() }); got != "" {
		t.Errorf("nothing was answered with %q", got)
	}
}
