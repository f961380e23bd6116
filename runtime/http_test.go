package runtime_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// A call as the service sees it, over TLS, and its answer.
func TestHTTPTool(t *testing.T) {
	var got http.Header
	var body string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.String() != "/v1/pay?x=1" || r.Proto != "HTTP/1.1" {
			t.Errorf("%s %s %s: %v", r.Method, r.URL, r.Proto, err)
		}
		got, body = r.Header.Clone(), string(text)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, " {\"paid\": 12345678901234567890, \"by\": 1.50}\n")
	}))
	defer server.Close()
	roots := rootsOf(server)
	t.Setenv("HTTPS_PROXY", "http://"+closedPort(t))
	t.Setenv("ALL_PROXY", "http://"+closedPort(t))
	tools := httpTool("pay", server.URL+"/v1/pay?x=1", writes, here, "headers_env: { Authorization: PAY_AUTH, x-team: TEAM }")
	r := openTools(t, tools, func(c *runtime.Config) {
		c.RootCAs, c.LookupEnv = roots, env("PAY_AUTH", "Bearer sentinel-token", "TEAM", "shop")
	})
	run := start(t, r, runtime.RunConfig{ID: "run-1", Principal: "ann"})
	result := call(t, r, runtime.Call{RunID: run, Tool: "pay", Args: []byte(`{"usd": 5, "order":"ä", "n": 1.0}`)}, runtime.EffectConfirmed)
	if diff := cmp.Diff(`{"paid":12345678901234567890,"by":1.50}`, result.Output.Text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`{"n":1.0,"order":"\u00e4","usd":5}`, body); diff != "" {
		t.Error(diff)
	}
	want := http.Header{
		"Authorization": {"Bearer sentinel-token"}, "X-Team": {"shop"}, "Idempotency-Key": {result.IdempotencyKey},
		"Content-Type": {"application/json"}, "Content-Length": {"34"}, "User-Agent": {"Mayfly"}, "Accept": {"application/json, text/*;q=0.5"},
		"Accept-Encoding": {"gzip"}, "Connection": {"close"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(result.IdempotencyKey, "run-1:") {
		t.Errorf("key %q", result.IdempotencyKey)
	}
	// A certificate that nobody vouches for: nothing was sent, and it can be tried
	// again, with the same key.
	r = openTools(t, tools, func(c *runtime.Config) { c.LookupEnv = env("PAY_AUTH", "Bearer sentinel-token", "TEAM", "shop") })
	run = start(t, r, runtime.RunConfig{ID: "run-1"})
	body = ""
	call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.Unavailable)
	if diff := cmp.Diff([]runtime.EffectState{"failed"}, effects(t, r)); diff != "" || body != "" {
		t.Errorf("%s; body %q", diff, body)
	}
}

// rootsOf trusts a server's own certificate.
func rootsOf(server *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}

// What services answer, and what it means for a tool that reads and one that
// writes.
func TestHTTPAnswers(t *testing.T) {
	ok := func(headers, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s", len(body), headers, body)
	}
	status := func(line, headers string) string {
		return "HTTP/1.1 " + line + "\r\nContent-Length: 4\r\n" + headers + "\r\noops"
	}
	const (
		asJSON = "Content-Type: application/json\r\n"
		asText = "Content-Type: text/plain\r\n"
	)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(zip, `{"z":1}`); err != nil || zip.Close() != nil {
		t.Fatal("gzip")
	}
	tests := []struct {
		name, answer string
		reads        runtime.Outcome
		output       string
		failure      string
		writes       runtime.Outcome
		journal      runtime.EffectState
	}{
		{"object", ok(asJSON, ` {"a":[1.0,"é"]} `), runtime.OK, `{"a":[1.0,"é"]}`, "", runtime.EffectConfirmed, "confirmed"},
		{"JSON of a kind", ok("Content-Type: application/problem+json\r\n", `[]`), runtime.OK, `[]`, "", runtime.EffectConfirmed, "confirmed"},
		{"scalar", ok(asJSON, `12`), runtime.OK, `12`, "", runtime.EffectConfirmed, "confirmed"},
		{"text", ok(asText, "a \"b\"\n"), runtime.OK, `"a \"b\"\n"`, "", runtime.EffectConfirmed, "confirmed"},
		{"CSV", ok("Content-Type: text/csv; charset=UTF-8\r\n", "a,b"), runtime.OK, `"a,b"`, "", runtime.EffectConfirmed, "confirmed"},
		{"nothing", "HTTP/1.1 204 No Content\r\n\r\n", runtime.OK, "null", "", runtime.EffectConfirmed, "confirmed"},
		{"empty", ok("", ""), runtime.OK, "null", "", runtime.EffectConfirmed, "confirmed"},
		{"created", status("201 Created", asText), runtime.OK, `"oops"`, "", runtime.EffectConfirmed, "confirmed"},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + asText + "\r\n2\r\nab\r\n0\r\n\r\n", runtime.OK, `"ab"`, "", runtime.EffectConfirmed, "confirmed"},
		{"gzip", ok("Content-Encoding: gzip\r\n"+asJSON, zipped.String()), runtime.OK, `{"z":1}`, "", runtime.EffectConfirmed, "confirmed"},
		{"ends with the connection", "HTTP/1.0 200 OK\r\n" + asJSON + "\r\n{\"a\":1}", runtime.OK, `{"a":1}`, "", runtime.EffectConfirmed, "confirmed"},
		{"1xx first", "HTTP/1.1 103 Early Hints\r\n\r\n" + ok(asJSON, "1"), runtime.OK, "1", "", runtime.EffectConfirmed, "confirmed"},
		// The service will see to it: it has not said that it has.
		{"accepted", status("202 Accepted", asText), runtime.OK, `"oops"`, "", runtime.EffectAmbiguous, "ambiguous"},

		{"number without an end", "HTTP/1.0 200 OK\r\n" + asJSON + "\r\n12", runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"text without an end", "HTTP/1.0 200 OK\r\n" + asText + "\r\nab", runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"no type", ok("", "{}"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"two types", ok(asJSON+asText, "{}"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"a page", ok("Content-Type: text/html\r\n", "<p>log in"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"bytes", ok("Content-Type: application/octet-stream\r\n", "{}"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"no JSON", ok(asJSON, "{"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"JSON twice", ok(asJSON, "{}{}"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"a key twice", ok(asJSON, `{"a":1,"a":2}`), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"deep", ok(asJSON, strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"Latin-1", ok("Content-Type: text/plain; charset=latin1\r\n", "a"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"no UTF-8", ok(asText, "\xff"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"another encoding", ok("Content-Encoding: br\r\n"+asJSON, "{}"), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"encoded twice", ok("Content-Encoding: gzip, gzip\r\n"+asJSON, zipped.String()), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"no gzip", ok("Content-Encoding: gzip\r\n"+asJSON, "{}"), runtime.ToolError, "", "ConnectionLost", runtime.EffectAmbiguous, "ambiguous"},
		{"a part", status("206 Partial Content", asText), runtime.ToolError, "", "InvalidResult", runtime.EffectAmbiguous, "ambiguous"},
		{"no HTTP", "SSH-2.0-x\r\n", runtime.ToolError, "", "ConnectionLost", runtime.EffectAmbiguous, "ambiguous"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + asText + "\r\nab", runtime.ToolError, "", "ConnectionLost", runtime.EffectAmbiguous, "ambiguous"},
		{"long head", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100_000) + "\r\n\r\n", runtime.ToolError, "", "ConnectionLost", runtime.EffectAmbiguous, "ambiguous"},
		{"switched", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", runtime.ToolError, "", "HTTP101", runtime.EffectAmbiguous, "ambiguous"},

		{"bad request", status("400 Bad Request", asText), runtime.ToolError, "", "HTTP400", runtime.ToolError, "failed"},
		{"forbidden", status("403 Forbidden", asText), runtime.ToolError, "", "HTTP403", runtime.ToolError, "failed"},
		{"conflict", status("409 Conflict", asText), runtime.ToolError, "", "HTTP409", runtime.ToolError, "failed"},
		{"error", status("500 Internal Server Error", asText), runtime.ToolError, "", "HTTP500", runtime.ToolError, "failed"},
		{"unauthorized", status("401 Unauthorized", asText), runtime.CredentialExpired, "", "HTTP401", runtime.CredentialExpired, "failed"},
		{"too many", status("429 Too Many Requests", "Retry-After: 120\r\n"), runtime.RateLimited, "", "HTTP429", runtime.RateLimited, "failed"},
		{"unavailable", status("503 Service Unavailable", "Retry-After: Wed, 01 Jan 2020 00:01:00 GMT\r\n"), runtime.Unavailable, "", "HTTP503", runtime.Unavailable, "failed"},
		// Somebody in between lost the service.
		{"bad gateway", status("502 Bad Gateway", asText), runtime.ToolError, "", "HTTP502", runtime.EffectAmbiguous, "ambiguous"},
		{"gateway timeout", status("504 Gateway Timeout", asText), runtime.ToolError, "", "HTTP504", runtime.EffectAmbiguous, "ambiguous"},
		{"no such status", status("999 What", asText), runtime.ToolError, "", "HTTP999", runtime.EffectAmbiguous, "ambiguous"},
	}
	now := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := answering(t, tt.answer)
			auth := "headers_env: { Authorization: AUTH }"
			r := openTools(t, httpTool("look", server.url("/"), reads, here, auth)+httpTool("pay", server.url("/"), writes, here, auth), func(c *runtime.Config) {
				c.LookupEnv, c.Now = env("AUTH", "x"), func() time.Time { return now }
			})
			run := start(t, r, runtime.RunConfig{})
			got := call(t, r, runtime.Call{RunID: run, Tool: "look"}, tt.reads)
			output := ""
			if got.Output != nil {
				output = got.Output.Text
			}
			if diff := cmp.Diff(tt.output, output); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			failure := ""
			if got.Error != nil {
				failure = got.Error.Type
			}
			if failure != tt.failure {
				t.Errorf("failure %q, want %q: %+v", failure, tt.failure, got.Error)
			}
			var retry time.Duration
			if !got.RetryAt.IsZero() {
				retry = got.RetryAt.Sub(now)
			}
			if want := map[string]time.Duration{"too many": 2 * time.Minute, "unavailable": time.Minute}[tt.name]; retry != want {
				t.Errorf("again after %v, want %v", retry, want)
			}
			call(t, r, runtime.Call{RunID: run, Tool: "pay"}, tt.writes)
			if diff := cmp.Diff([]runtime.EffectState{tt.journal}, effects(t, r)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
			before := server.connections.Load()
			if before != 2 {
				t.Errorf("%d connections for 2 calls", before)
			}
			// The same call again: one that failed runs, any other does not.
			if _, err := r.Call(t.Context(), runtime.Call{RunID: run, Tool: "pay"}); err != nil {
				t.Fatal(err)
			}
			if again := server.connections.Load() > before; again != (tt.journal == "failed") {
				t.Errorf("%s, and the service was asked again: %v", tt.journal, again)
			}
		})
	}
}

// Connections that die at each point of an exchange.
func TestHTTPConnectionLost(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
	tests := []struct {
		name    string
		handle  func(net.Conn)
		reads   runtime.Outcome
		writes  runtime.Outcome
		journal runtime.EffectState
	}{
		{"after some bytes", func(c net.Conn) { _, _ = c.Read(make([]byte, 10)) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"before an answer", func(c net.Conn) { _, _ = readRequest(c) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"reset", func(c net.Conn) { _, _ = readRequest(c); _ = c.(*net.TCPConn).SetLinger(0) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"in the first line", func(c net.Conn) { _, _ = readRequest(c); _, _ = io.WriteString(c, head[:12]) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"in the head", func(c net.Conn) { _, _ = readRequest(c); _, _ = io.WriteString(c, head[:30]) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"before the body", func(c net.Conn) { _, _ = readRequest(c); _, _ = io.WriteString(c, head) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"in the body", func(c net.Conn) { _, _ = readRequest(c); _, _ = io.WriteString(c, head+`{"a":`) }, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		{"in a chunk", func(c net.Conn) {
			_, _ = readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
		}, runtime.ToolError, runtime.EffectAmbiguous, "ambiguous"},
		// A failure is one, whatever becomes of its explanation.
		{"in an explanation", func(c net.Conn) {
			_, _ = readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nab")
		}, runtime.ToolError, runtime.ToolError, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := newRawServer(t, tt.handle)
			r := openTools(t, httpTool("look", server.url("/"), reads, here)+httpTool("pay", server.url("/"), writes, here), nil)
			run := start(t, r, runtime.RunConfig{})
			call(t, r, runtime.Call{RunID: run, Tool: "look"}, tt.reads)
			call(t, r, runtime.Call{RunID: run, Tool: "pay"}, tt.writes)
			if diff := cmp.Diff([]runtime.EffectState{tt.journal}, effects(t, r)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
			if n := server.connections.Load(); n != 2 {
				t.Errorf("%d connections for 2 calls", n)
			}
		})
	}
}

// What certainly did not leave can be tried again.
func TestHTTPNotSent(t *testing.T) {
	silent := newRawServer(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	rude := newRawServer(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 10)) })
	names := egresstest.NewNames(t, func(name string, _ int) []netip.Addr {
		if name == "here.test" {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return nil
	})
	tests := []struct{ name, url, egress string }{
		{"nobody listens", "http://" + closedPort(t) + "/", here},
		{"no such name", "http://nowhere.test/", `egress: [nowhere.test]`},
		{"a name that is this machine", "http://here.test:" + silent.addr[strings.LastIndexByte(silent.addr, ':')+1:] + "/", `egress: ["*"]`},
		{"TLS breaks off", "https://" + rude.addr + "/", here},
		{"TLS never starts", "https://" + silent.addr + "/", here},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			timeout := "timeout: 10s"
			if strings.HasPrefix(tt.name, "TLS never") {
				timeout = "timeout: 200ms"
			}
			r := openTools(t, httpTool("pay", tt.url, writes, tt.egress, timeout), func(c *runtime.Config) { c.Resolver = names.Resolver() })
			run := start(t, r, runtime.RunConfig{})
			result := call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.Unavailable)
			if result.Error.Type != "Unreachable" {
				t.Errorf("failure %+v", result.Error)
			}
			call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.Unavailable)
			if diff := cmp.Diff([]runtime.EffectState{"failed"}, effects(t, r)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
	// Given up before anything was sent.
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := newRawServer(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })
		r := openTools(t, httpTool("pay", "https://"+server.addr+"/", writes, here), nil)
		run := start(t, r, runtime.RunConfig{})
		result, err := r.Call(ctx, runtime.Call{RunID: run, Tool: "pay"})
		if err != nil || result.Outcome != runtime.Cancelled {
			t.Fatalf("%v, %v", result.Outcome, err)
		}
		if diff := cmp.Diff([]runtime.EffectState{"failed"}, effects(t, r)); diff != "" {
			t.Errorf("journal (-want +got):\n%s", diff)
		}
	})
}

// Services that take their time: each byte in time, the whole never.
func TestHTTPSlow(t *testing.T) {
	drip := func(conn net.Conn, text string) {
		if _, err := readRequest(conn); err != nil {
			return
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
		}
	}
	for name, text := range map[string]string{
		"head":        "HTTP/1.1 200 OK\r\nX: ",
		"body":        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n",
		"informative": "HTTP/1.1 103 Early Hints\r\nX: ",
	} {
		t.Run(name, func(t *testing.T) {
			server := newRawServer(t, func(c net.Conn) { drip(c, text) })
			r := openTools(t, httpTool("look", server.url("/"), reads, here, "timeout: 300ms")+httpTool("pay", server.url("/"), writes, here, "timeout: 300ms"), nil)
			run := start(t, r, runtime.RunConfig{})
			call(t, r, runtime.Call{RunID: run, Tool: "look"}, runtime.Timeout)
			call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.EffectAmbiguous)
			if diff := cmp.Diff([]runtime.EffectState{"ambiguous"}, effects(t, r)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}

// Answers without end, and small ones that become large.
func TestHTTPTooLong(t *testing.T) {
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range 64 {
		if _, err := zip.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	endless := func(head string) func(net.Conn) {
		return func(conn net.Conn) {
			if _, err := readRequest(conn); err != nil {
				return
			}
			if _, err := io.WriteString(conn, head); err != nil {
				return
			}
			for {
				if _, err := conn.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	tests := []struct {
		name   string
		handle func(net.Conn)
	}{
		{"declared", endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99999999999\r\n\r\n")},
		{"undeclared", endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")},
		{"chunked", endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n")},
		{"gzip bomb", func(conn net.Conn) {
			if _, err := readRequest(conn); err == nil {
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", bomb.Len(), bomb.Bytes())
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := newRawServer(t, tt.handle)
			r := openTools(t, httpTool("look", server.url("/"), reads, here)+httpTool("pay", server.url("/"), writes, here), nil)
			run := start(t, r, runtime.RunConfig{})
			call(t, r, runtime.Call{RunID: run, Tool: "look"}, runtime.OutputLimit)
			call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.EffectAmbiguous)
		})
	}
	// A failure's explanation is cut.
	server := newRawServer(t, endless("HTTP/1.1 500 No\r\n\r\n"))
	r := openTools(t, httpTool("look", server.url("/"), reads, here), nil)
	result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "look"}, runtime.ToolError)
	if len(result.Error.Message) > 5000 {
		t.Errorf("an explanation of %d bytes", len(result.Error.Message))
	}
}

// Values of headers come back in every way that a service can think of, and get
// nowhere.
func TestHTTPSecrets(t *testing.T) {
	const secret, password = "sentinel-4711-secret", "correct horse"
	basic := "Basic YW5uOmNvcnJlY3QgaG9yc2U=" // ann:correct horse
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		if code := r.URL.Query().Get("status"); code == "500" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_, _ = fmt.Fprintf(w, `{"token %s": ["%s", "%s", "\u0073entinel-4711-secret", "%s", "%s"]}`,
			token, r.Header.Get("Authorization"), r.Header.Get("X-Basic"), password, "c2VudGluZWwtNDcxMS1zZWNyZXQ=")
	}
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	cut := answering(t, "HTTP/1.1 sentinel-4711-secret\r\n\r\n")
	away := answering(t, "HTTP/1.1 307 T\r\nLocation: http://sentinel-4711-secret.test/\r\n\r\n")
	auth := "headers_env: { Authorization: AUTH, X-Basic: BASIC }"
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.jsonl")
	r := openTools(t, httpTool("json", server.URL+"/?type=application/json", reads, here, auth)+
		httpTool("text", server.URL+"/?type=text/plain", reads, here, auth)+
		httpTool("error", server.URL+"/?type=text/plain&status=500", writes, here, auth)+
		httpTool("cut", cut.url("/"), writes, here, auth)+
		httpTool("away", away.url("/"), writes, here, auth), func(c *runtime.Config) {
		c.LookupEnv, c.Trace = env("AUTH", "Bearer "+secret, "BASIC", basic), trace
	})
	run := start(t, r, runtime.RunConfig{})
	for tool, want := range map[string]runtime.Outcome{
		"json": runtime.OK, "text": runtime.OK, "error": runtime.ToolError, "cut": runtime.EffectAmbiguous, "away": runtime.ToolError,
	} {
		result := call(t, r, runtime.Call{RunID: run, Tool: tool}, want)
		all := fmt.Sprintf("%+v %+v", result, result.Error)
		if result.Output != nil {
			all += result.Output.Text
			if !strings.Contains(result.Output.Text, "[SECRET:AUTH]") || !strings.Contains(result.Output.Text, "[SECRET:BASIC]") {
				t.Errorf("%s: nothing was taken out of %s", tool, result.Output.Text)
			}
			if !json.Valid([]byte(result.Output.Text)) {
				t.Errorf("%s: %s", tool, result.Output.Text)
			}
		} else if !strings.Contains(result.Error.Message, "[SECRET:AUTH]") {
			t.Errorf("%s: nothing was taken out of %s", tool, result.Error.Message)
		}
		noSecret(t, tool, all, secret, password, basic)
	}
	text, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(text), "HTTP500") {
		t.Fatalf("trace: %v %s", err, text)
	}
	noSecret(t, "trace", string(text), secret, password, basic)
}

func noSecret(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	for _, s := range append(secrets, "c2VudGluZWwtNDcxMS1zZWNyZXQ", `\u0073entinel`) {
		if strings.Contains(text, s) {
			t.Errorf("%s shows %q: %s", where, s, text)
		}
	}
}

// Headers whose variable has no value, or one that cannot be sent: nothing is
// sent and nothing journalled, and the message names the variable alone.
func TestHTTPMissingHeader(t *testing.T) {
	server := answering(t, "HTTP/1.1 204 No Content\r\n\r\n")
	for name, lookup := range map[string]func(string) (string, bool){
		"is not set": env(), "is empty": env("AUTH", ""), "cannot stand in a header": env("AUTH", "sentinel\r\nX: y"),
	} {
		r := openTools(t, httpTool("pay", server.url("/"), writes, here, "headers_env: { Authorization: AUTH }"), func(c *runtime.Config) { c.LookupEnv = lookup })
		result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "pay"}, runtime.Unavailable)
		if m := result.Error.Message; !strings.Contains(m, "AUTH") || !strings.Contains(m, name) || strings.Contains(m, "sentinel") {
			t.Errorf("%s: %s", name, m)
		}
		if result.Next != runtime.NextSetUp {
			t.Errorf("%s: next is %q", name, result.Next)
		}
		if got := effects(t, r); got != nil {
			t.Errorf("%s: journal %v", name, got)
		}
	}
	if n := server.connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	// What a run is called must not become a header of its own.
	r := openTools(t, httpTool("pay", server.url("/"), writes, here), nil)
	result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{ID: "a\r\nX: y"}), Tool: "pay"}, runtime.Unavailable)
	if result.Next != runtime.Unavailable.Next() {
		t.Errorf("next is %q", result.Next)
	}
	if n := server.connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// A host in test mode calls nobody; functions stand in for services.
func TestTestMode(t *testing.T) {
	server := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nreal")
	tools := httpTool("look", server.url("/"), reads, here) + httpTool("pay", server.url("/"), writes, here)
	funcs := map[string]runtime.Func{"look": func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		return sandbox.RawJSON(`"fake"`), nil
	}}
	r := openTools(t, tools, func(c *runtime.Config) { c.TestMode, c.Funcs = true, funcs })
	run := start(t, r, runtime.RunConfig{})
	result := call(t, r, runtime.Call{RunID: run, Tool: "pay"}, runtime.Unavailable)
	if !strings.Contains(result.Error.Message, "test mode") || effects(t, r) != nil {
		t.Errorf("%s, journal %v", result.Error.Message, effects(t, r))
	}
	if got := call(t, r, runtime.Call{RunID: run, Tool: "look"}, runtime.OK); got.Output.Text != `"fake"` {
		t.Errorf("output %s", got.Output.Text)
	}
	if n := server.connections.Load(); n != 0 {
		t.Errorf("%d connections in test mode", n)
	}
	// The control: without test mode the service is called, and a function of the
	// name is a mistake.
	r = openTools(t, tools, nil)
	if got := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "look"}, runtime.OK); got.Output.Text != `"real"` {
		t.Errorf("output %s", got.Output.Text)
	}
	if _, err := runtime.Open(t.Context(), runtime.Config{Tools: r.Manifests().Tools(), Funcs: funcs}); err == nil {
		t.Error("a function in place of a service, without test mode")
	}
}

// A judge behind a URL may be on this machine: the URL is the operator's own.
// In test mode it is not asked.
func TestHTTPJudgeOnThisMachine(t *testing.T) {
	names := egresstest.NewNames(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("headers %v", r.Header)
		}
		_, _ = io.WriteString(w, `{"decision":"block"}`)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	judge := "store: memory\n  trace: { file: trace }\n  tools: { manifests: [tools.yaml], judge: { url: \"http://judge.test:" + port + "/\", headers_env: { Authorization: AUTH } } }\n"
	for _, testMode := range []bool{false, true} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"tools.yaml":   "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: note }\nspec: { handler: \"host:note\" }\n",
			"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  " + judge,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := runtime.Open(t.Context(), runtime.Config{
			Harness: filepath.Join(dir, "harness.yaml"), Funcs: map[string]runtime.Func{"note": nothing},
			LookupEnv: env("AUTH", "Bearer x"), Resolver: names.Resolver(), TestMode: testMode,
		})
		if err != nil {
			t.Fatal(err)
		}
		want, code, times := runtime.Denied, governor.CodeJudgeBlocked, int64(1)
		if testMode {
			want, code, times = runtime.ApprovalRequired, governor.CodeJudgeFailed, 0
		}
		asked.Store(0)
		if result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "note"}, want); result.Decision.Code != code {
			t.Errorf("test mode %v: %s", testMode, result.Decision.Code)
		}
		if n := asked.Load(); n != times {
			t.Errorf("test mode %v: the judge was asked %d times", testMode, n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The README's http tool runs as it stands there, but for where its service is.
func TestReadmeHTTPTool(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "An http tool needs no code")
	_, rest, opened := strings.Cut(rest, "```yaml\n")
	manifest, _, closed := strings.Cut(rest, "```")
	if !found || !opened || !closed {
		t.Fatal("the README has no http tool")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"path":%q,"authorization":%v}`, r.URL.Path, r.Header.Get("Authorization") != "")
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	manifest = strings.Replace(manifest, "https://orders.example/", "https://example.com:"+port+"/", 1)
	manifest = strings.Replace(manifest, "[orders.example]", "[example.com, 127.0.0.1]", 1)
	names := egresstest.NewNames(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	r := openTools(t, manifest, func(c *runtime.Config) {
		c.RootCAs, c.LookupEnv, c.Resolver = rootsOf(server), env("ORDERS_AUTHORIZATION", "Bearer x"), names.Resolver()
	})
	result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "find_order", Args: []byte(`{"order":"A-1001"}`)}, runtime.OK)
	if diff := cmp.Diff(`{"path":"/v1/find","authorization":true}`, result.Output.Text); diff != "" {
		t.Error(diff)
	}
}
