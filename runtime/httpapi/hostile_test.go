package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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
			if strings.Contains(got, `"runs"`) {
				t.Errorf("a request within a request was answered:\n%s", got)
			}
		})
	}
	w.must(200, "", "GET", "/healthz", "")
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
