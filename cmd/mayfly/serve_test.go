package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// served is mayfly serve within the test, on a port of this machine.
type served struct {
	t      *testing.T
	dir    string
	addr   string
	rt     *runtime.Runtime
	stderr string // its file
	tokens map[string]string
}

// startServe serves a harness whose one tool runs code after ann or bob of finance
// said yes.
func startServe(t *testing.T, callers []httpapi.Caller, change func(*serveCommand, string)) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), tokens: make(map[string]string)}
	var lines strings.Builder
	for _, c := range callers {
		token, line, err := httpapi.NewToken(c, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[c.Principal+c.Approver] = token
		lines.Write(append(line, '\n'))
	}
	s.write("tokens.jsonl", lines.String())
	s.write("harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec: { store: memory, tools: { manifests: [tool.yaml] } }\n")
	s.write("tool.yaml", `{"apiVersion":"harnessweaver/v1","kind":"Tool","metadata":{"name":"look"},"spec":{"transport":"code","sandbox":"python",`+
		`"input_schema":{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]},"approval":{"when":"true","approver_role":"finance"}}}`)
	c := &serveCommand{Tokens: pathFlag(filepath.Join(s.dir, "tokens.jsonl")), Surface: "flat"}
	c.Harness = pathFlag(filepath.Join(s.dir, "harness.yaml"))
	c.CacheDir = filepath.Join(s.dir, "cache")
	if change != nil {
		change(c, s.dir)
	}
	s.stderr = filepath.Join(s.dir, "stderr")
	stderr, err := os.Create(s.stderr)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{stdout: output{stderr, false}, stderr: output{stderr, false}, open: openFake}
	config, err := c.config(p)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := c.certificate()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	if s.rt, err = c.openServed(ctx, p, &config); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.serve(ctx, p, s.rt, config, l, pair) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.rt.Close(); err != nil {
			t.Error(err)
		}
		_ = stderr.Close()
	})
	return s
}

func (s *served) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// log waits until standard error has a text.
func (s *served) log(text string) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; goruntime.Gosched() {
		got, err := os.ReadFile(s.stderr)
		if err != nil {
			s.t.Fatal(err)
		}
		if strings.Contains(string(got), text) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("standard error has no %q:\n%s", text, got)
		}
	}
}

// bearer adds a token to each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestServeElicits: over HTTP the client's person answers if the token names one,
// with the roles that the token gives that person, and never as the requester. In
// all other cases the call waits for an answer from elsewhere and can be resumed.
func TestServeElicits(t *testing.T) {
	s := startServe(t, []httpapi.Caller{
		{Principal: "agent", Tenant: "acme", Approver: "ann", ApproverRoles: []string{"finance"}},
		{Principal: "agent", Tenant: "acme"},
		{Principal: "boss", Tenant: "acme", Roles: []string{"finance"}},
		{Principal: "agent", Tenant: "acme", Approver: "zoe", ApproverRoles: []string{"sales"}},
	}, nil)
	tests := []struct {
		name, token string
		elicits     bool
		decision    string
		asked       int
		outcome     string // empty: the call was made
		state       store.ApprovalState
		by          string
	}{
		{"yes", "agentann", true, "approve", 1, "", store.Used, "ann"},
		{"no", "agentann", true, "reject", 1, "approval_rejected", store.Rejected, "ann"},
		{"a client that cannot ask", "agentann", false, "", 0, "approval_required", store.Pending, ""},
		{"nobody is named", "agent", true, "approve", 0, "approval_required", store.Pending, ""},
		{"the requester's own role", "boss", true, "approve", 0, "approval_required", store.Pending, ""},
		{"another role", "agentzoe", true, "approve", 0, "approval_required", store.Pending, ""},
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, tt := range tests {
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				asked := 0
				options := &sdk.ClientOptions{}
				if tt.elicits {
					options.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						if asked++; !strings.Contains(r.Params.Message, "echo "+tt.name) {
							t.Errorf("the question is %q", r.Params.Message)
						}
						return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": tt.decision}}, nil
					}
				}
				c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(),
					&sdk.StreamableClientTransport{Endpoint: "http://" + s.addr + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.tokens[tt.token]}}},
					&sdk.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				args := map[string]any{"code": "echo " + tt.name}
				call := func() (outcome string, approval string) {
					t.Helper()
					r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "look", Arguments: args})
					if err != nil {
						t.Fatal(err)
					}
					content, _ := r.StructuredContent.(map[string]any)
					if !r.IsError {
						return "", ""
					}
					waits, _ := content["approval"].(map[string]any)
					approval, _ = waits["id"].(string)
					outcome, _ = content["outcome"].(string)
					return outcome, approval
				}
				outcome, id := call()
				if outcome != tt.outcome || asked != tt.asked {
					t.Fatalf("outcome %q, want %q; asked %d times, want %d", outcome, tt.outcome, asked, tt.asked)
				}
				all, err := s.rt.Approvals(t.Context(), runtime.ApprovalFilter{Limit: 1})
				if err != nil || len(all) != 1 || all[0].State != tt.state || all[0].Approver != tt.by || id != "" && id != all[0].ID {
					t.Fatalf("the approval is %+v, %v", all, err)
				}
				if tt.state != store.Pending {
					return
				}
				if a := s.rt.Approve(t.Context(), id, runtime.Approver{Name: "boss's boss", Roles: []string{"finance"}}, ""); !a.Accepted {
					t.Fatalf("the answer from elsewhere: %+v", a)
				}
				if outcome, _ := call(); outcome != "" || asked != 0 {
					t.Errorf("resumed: %q, asked %d times", outcome, asked)
				}
			})
		}
	}
}

// TestServeSessionIsItsTokens: another token of the same principal, without the
// approver, does not get into the session in which the approver answers.
func TestServeSessionIsItsTokens(t *testing.T) {
	s := startServe(t, []httpapi.Caller{{Principal: "agent", Approver: "ann", ApproverRoles: []string{"finance"}}, {Principal: "agent"}}, nil)
	post := func(as, session, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addr+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.tokens[as])
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := (&http.Client{}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, resp.Header.Get("Mcp-Session-Id")
	}
	_, session := post("agentann", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"decision":"approve"}}}`
	if status, _ := post("agent", session, answer); status != http.StatusNotFound {
		t.Errorf("the other token: status %d", status)
	}
	if status, _ := post("agentann", session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); status != http.StatusOK {
		t.Errorf("its own: status %d", status)
	}
}

// makePair writes a certificate for this machine and its key.
func makePair(t *testing.T, dir, name string, from, to time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServeTLS: old versions of TLS are refused; a hangup brings a new certificate
// and new tokens in; a certificate that cannot be used leaves the old one.
func TestServeTLS(t *testing.T) {
	now := time.Now()
	s := startServe(t, []httpapi.Caller{{Principal: "agent"}}, func(c *serveCommand, dir string) {
		makePair(t, dir, "first", now.Add(-time.Hour), now.Add(time.Hour))
		c.TLSCert, c.TLSKey = pathFlag(filepath.Join(dir, "cert.pem")), pathFlag(filepath.Join(dir, "key.pem"))
	})
	// shown is whose certificate the server shows, asked with at most a version.
	shown := func(most uint16) (string, uint16, error) {
		conn, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: most}) // who it is, is the question
		if err != nil {
			return "", 0, err
		}
		defer conn.Close()
		state := conn.ConnectionState()
		return state.PeerCertificates[0].Subject.CommonName, state.Version, nil
	}
	for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		who, got, err := shown(version)
		if want && (err != nil || who != "first" || got != version) || !want && err == nil {
			t.Errorf("%s: %q, %s, %v", tls.VersionName(version), who, tls.VersionName(got), err)
		}
	}
	// There is no HTTP/2, whose floods of resets and continuations have no bound here.
	both, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := both.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("the protocol is %q", got)
	}
	_ = both.Close()
	if _, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}); err == nil {
		t.Error("a client of HTTP/2 alone is let in")
	}
	me := func() int {
		t.Helper()
		pool := x509.NewCertPool()
		text, err := os.ReadFile(filepath.Join(s.dir, "trusted.pem"))
		if err != nil {
			t.Fatal(err)
		}
		pool.AppendCertsFromPEM(text)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.tokens["agent"])
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	trust := func() {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(s.dir, "cert.pem"))
		if err != nil {
			t.Fatal(err)
		}
		s.write("trusted.pem", string(text))
	}
	trust()
	if status := me(); status != http.StatusOK { // it is served, so it listens for hangups too
		t.Fatalf("status %d", status)
	}
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	makePair(t, s.dir, "second", now.Add(-time.Hour), now.Add(time.Hour))
	if who, _, err := shown(tls.VersionTLS13); who != "first" {
		t.Errorf("before the hangup: %q, %v", who, err)
	}
	hangUp()
	for end := time.Now().Add(2 * time.Minute); ; goruntime.Gosched() {
		if who, _, err := shown(tls.VersionTLS13); who == "second" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("after the hangup: %q, %v", who, err)
		}
	}
	trust()
	makePair(t, s.dir, "expired", now.Add(-2*time.Hour), now.Add(-time.Hour))
	hangUp()
	s.log("the certificate has expired on")
	s.write("key.pem", "SENTINEL")
	hangUp()
	s.log("failed to find any PEM data in key input")
	if who, _, err := shown(tls.VersionTLS13); who != "second" {
		t.Errorf("after certificates that cannot be used: %q, %v", who, err)
	}
	if status := me(); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	s.write("tokens.jsonl", "SENTINEL\n")
	hangUp()
	s.log("nobody is let in until this is mended")
	if status := me(); status != http.StatusServiceUnavailable {
		t.Errorf("with a token file that cannot be read: status %d", status)
	}
	if text, err := os.ReadFile(s.stderr); err != nil || strings.Contains(string(text), "SENTINEL") {
		t.Errorf("the log holds what was in a file: %s, %v", text, err)
	}
}

// TestServeHangupAndHarness: the harness is read at the start only; a hangup says so
// when it is another one by now, and nothing when it is not.
func TestServeHangupAndHarness(t *testing.T) {
	s := startServe(t, []httpapi.Caller{{Principal: "agent"}}, nil)
	for { // it is served, so it listens for hangups too
		if resp, err := http.Get("http://" + s.addr + "/healthz"); err == nil {
			_ = resp.Body.Close()
			break
		}
	}
	hangUp := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	const harness = "apiVersion: harnessweaver/v1\nkind: Harness\nspec: { store: memory, tools: { manifests: [tool.yaml] } }\n"
	s.write("harness.yaml", "# The same.\n"+harness)
	hangUp()
	s.write("tokens.jsonl", "{")
	hangUp()
	s.log("nobody is let in until this is mended") // the second hangup has been heard
	if text, err := os.ReadFile(s.stderr); err != nil || strings.Contains(string(text), "harness") {
		t.Errorf("of a harness that is the same: %s, %v", text, err)
	}
	s.write("harness.yaml", strings.Replace(harness, "memory,", "memory, budgets: { max_tool_calls: 3 },", 1))
	hangUp()
	s.log("a restart reads it")
	s.write("harness.yaml", "SENTINEL")
	hangUp()
	s.log("would not start")
}

// TestServeTLSRefuses: a pair that cannot work is an error at the start, which says
// what is wrong.
func TestServeTLSRefuses(t *testing.T) {
	now := time.Now()
	pair := func(from, to time.Duration) func(*testing.T, string) {
		return func(t *testing.T, dir string) { makePair(t, dir, "x", now.Add(from), now.Add(to)) }
	}
	for name, c := range map[string]struct {
		make func(*testing.T, string)
		want string // empty: it is taken
	}{
		"good":    {pair(-time.Hour, time.Hour), ""},
		"expired": {pair(-2*time.Hour, -time.Hour), "the certificate has expired on 20"},
		"early":   {pair(time.Hour, 2*time.Hour), "valid from 20"},
		"missing": {func(*testing.T, string) {}, "no such file"},
		"no key": {func(t *testing.T, dir string) {
			makePair(t, dir, "x", now.Add(-time.Hour), now.Add(time.Hour))
			if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
				t.Fatal(err)
			}
		}, "key.pem: no such file"},
		"another's key": {func(t *testing.T, dir string) {
			other := t.TempDir()
			makePair(t, other, "x", now.Add(-time.Hour), now.Add(time.Hour))
			makePair(t, dir, "x", now.Add(-time.Hour), now.Add(time.Hour))
			if err := os.Rename(filepath.Join(other, "key.pem"), filepath.Join(dir, "key.pem")); err != nil {
				t.Fatal(err)
			}
		}, "does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			_, err := (&serveCommand{TLSCert: pathFlag(filepath.Join(dir, "cert.pem")), TLSKey: pathFlag(filepath.Join(dir, "key.pem"))}).certificate()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
