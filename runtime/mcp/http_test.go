package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// listen serves a runtime's tools on a port of this machine. A request says in a
// header whose it is.
func listen(t *testing.T, rt *runtime.Runtime, config mcp.HandlerConfig) string {
	t.Helper()
	if config.Session == nil {
		config.Session = func(r *http.Request) (string, mcp.Config, error) {
			who := r.Header.Get("Who")
			if who == "nobody" {
				return "", mcp.Config{}, errors.New("a reason of the host's own")
			}
			c := asking()
			c.MaxMessage = config.MaxMessage
			return who, c, nil
		}
	}
	h, err := mcp.NewHandler(rt, config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		h.Close()
		server.Close()
	})
	return server.URL
}

func post(t *testing.T, url, session, message string, headers ...string) (int, http.Header, []byte) {
	t.Helper()
	return request(t, http.MethodPost, url, session, message, headers...)
}

func request(t *testing.T, method, url, session, message string, headers ...string) (int, http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, body
}

// TestHTTP: the SDK's own client lists, calls and approves over HTTP.
func TestHTTP(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			rt := newHarness(t, "").open(t)
			url := listen(t, rt, mcp.HandlerConfig{})
			asked := 0
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked++
					return &sdk.ElicitResult{Action: "accept", Content: object{"decision": "approve"}}, nil
				},
			})
			c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			list, err := c.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 5 {
				t.Fatalf("tools %+v, %v", list, err)
			}
			if r := call(t, c, "refund", object{"id": "A", "usd": 500}); r.IsError || asked != 1 {
				t.Errorf("asked %d times: %v", asked, r.StructuredContent)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			runs, err := rt.Runs(t.Context(), runtime.RunFilter{})
			if err != nil || len(runs) != 1 || runs[0].Principal != "agent" {
				t.Errorf("runs %+v, %v", runs, err)
			}
		})
	}
}

// TestHTTPSessionsAreTheirOwners: a session's ID is no credential.
func TestHTTPSessionsAreTheirOwners(t *testing.T) {
	url := listen(t, newHarness(t, "").open(t), mcp.HandlerConfig{})
	_, header, _ := post(t, url, "", hello, "Who", "ann")
	session := header.Get("Mcp-Session-Id")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, _, body := post(t, url, session, list, "Who", "ann"); status != http.StatusOK || !strings.Contains(string(body), "find_order") {
		t.Fatalf("ann: %d, %s", status, body)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if status, _, body := request(t, method, url, session, list, "Who", "eve"); status != http.StatusNotFound {
			t.Errorf("%s by eve: %d, %s", method, status, body)
		}
	}
	if status, _, _ := post(t, url, session, list, "Who", "ann"); status != http.StatusOK {
		t.Errorf("ann, after eve tried to end her session: %d", status)
	}
	if status, _, body := post(t, url, "", hello, "Who", "nobody"); status != http.StatusForbidden || strings.Contains(string(body), "own") {
		t.Errorf("nobody: %d, %s", status, body)
	}
	if status, _, body := post(t, url, "", hello, "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("another site: %d, %s", status, body)
	}
	if status, _, body := post(t, url, "", hello, "Host", "evil.example"); status != http.StatusForbidden {
		t.Errorf("a name that was made to lead here: %d, %s", status, body)
	}
	if status, _, body := post(t, url, "", list, "Who", "ann"); status != http.StatusOK || strings.Contains(string(body), "find_order") {
		t.Errorf("without a session: %d, %s", status, body)
	}
	if status, _, _ := request(t, http.MethodDelete, url, session, "", "Who", "ann"); status != http.StatusNoContent {
		t.Errorf("ann ends her session: %d", status)
	}
	if status, _, _ := post(t, url, session, list, "Who", "ann"); status != http.StatusNotFound {
		t.Errorf("a session that has ended: %d", status)
	}
}

// TestHTTPSessionsAreBounded: where there are as many as may be, one that is idle
// ends for a new one; one that is in use does not.
func TestHTTPSessionsAreBounded(t *testing.T) {
	h := newHarness(t, "")
	started, goOn := make(chan struct{}), make(chan struct{})
	h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		close(started)
		<-goOn
		return sandbox.RawJSON(`"done"`), nil
	}
	url := listen(t, h.open(t), mcp.HandlerConfig{MaxSessions: 4})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	begin := func(who string) string {
		t.Helper()
		status, header, body := post(t, url, "", hello, "Who", who)
		if status != http.StatusOK {
			t.Fatalf("a session of %s: %d, %s", who, status, body)
		}
		return header.Get("Mcp-Session-Id")
	}
	alive := func(who, session string) bool {
		t.Helper()
		status, _, body := post(t, url, session, list, "Who", who)
		if status != http.StatusOK && status != http.StatusNotFound {
			t.Errorf("%s lists: %d, %s", who, status, body)
		}
		return status == http.StatusOK
	}
	ann := begin("ann")
	busy := make(chan string, 1)
	go func() {
		_, _, body := post(t, url, ann, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note"}}`, "Who", "ann")
		busy <- string(body)
	}()
	<-started
	// Who opens sessions and leaves them loses the oldest of them, and nobody else
	// one, and nobody is kept out.
	first := begin("eve")
	var last string
	for range 50 {
		last = begin("eve")
	}
	if alive("eve", first) || !alive("eve", last) {
		t.Error("of sessions without end, the first is there or the last is not")
	}
	bob := begin("bob")
	if !alive("bob", bob) || !alive("ann", ann) {
		t.Error("somebody else lost a session")
	}
	close(goOn)
	if got := <-busy; !strings.Contains(got, "done") {
		t.Errorf("a call that was under way: %s", got)
	}
	// With all in use there is no room.
	var streams []io.Closer
	var all []string
	for range 2 {
		all = append(all, begin("eve"))
		streams = append(streams, stream(t, url, all[len(all)-1], "eve"))
	}
	if status, header, body := post(t, url, "", hello, "Who", "eve"); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d, %s", status, body)
	}
	_ = streams[0].Close()
	for { // the server sees that a little later
		if status, _, _ := post(t, url, "", hello, "Who", "eve"); status == http.StatusOK {
			break
		}
	}
	request(t, http.MethodDelete, url, all[1], "", "Who", "eve")
	for { // and does not wait for a session's end either
		if !alive("eve", all[1]) {
			break
		}
	}
}

// stream opens a session's stream of messages.
func stream(t *testing.T, url, session, who string) io.Closer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Accept": "text/event-stream", "Mcp-Session-Id": session, "Who": who} {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream of %s: %d", who, resp.StatusCode)
	}
	return resp.Body
}

// TestHTTPEndStopsCalls: ending a session ends what is under way in it.
func TestHTTPEndStopsCalls(t *testing.T) {
	h := newHarness(t, "")
	box := fakeSandbox{make(chan struct{}), make(chan struct{})}
	h.config.OpenSandbox = func(context.Context, string) (sandbox.Sandbox, error) { return box, nil }
	url := listen(t, h.open(t), mcp.HandlerConfig{})
	_, header, _ := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	post(t, url, session, ready)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		post(t, url, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"python","arguments":{"code":"wait"}}}`)
	}()
	<-box.started
	if status, _, body := post(t, url, session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusBadRequest {
		t.Errorf("the same id: %d, %s", status, body)
	}
	request(t, http.MethodDelete, url, session, "")
	<-box.ended
	<-answered
}

// TestHTTPManyClients: with many clients at once, each gets the answers to its
// own calls, and all that was started is gone afterwards.
func TestHTTPManyClients(t *testing.T) {
	before := goruntime.NumGoroutine()
	t.Run("clients", func(t *testing.T) {
		rt := newHarness(t, "").open(t)
		url := listen(t, rt, mcp.HandlerConfig{})
		var clients errgroup
		for n := range 16 {
			clients.Go(func() error {
				client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
				c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, &sdk.ClientSessionOptions{ProtocolVersion: versions[n%2]})
				if err != nil {
					return err
				}
				for i := range 20 {
					id := fmt.Sprintf("%d/%d", n, i)
					r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_order", Arguments: object{"id": id}})
					if err != nil || r.IsError || field(r, "args", "id") != id {
						return fmt.Errorf("call %s: %v, %w", id, r, err)
					}
				}
				return c.Close()
			})
		}
		for _, err := range clients.Wait() {
			t.Error(err)
		}
		runs, err := rt.Runs(t.Context(), runtime.RunFilter{})
		if err != nil || len(runs) != 16 {
			t.Errorf("%d runs, %v", len(runs), err)
		}
	})
	// Connections end in goroutines of net/http's, which nobody can wait for.
	for end := time.Now().Add(2 * time.Minute); goruntime.NumGoroutine() > before+2; goruntime.Gosched() {
		if time.Now().After(end) {
			stacks := make([]byte, 64<<10)
			t.Fatalf("%d goroutines, %d before\n%s", goruntime.NumGoroutine(), before, stacks[:goruntime.Stack(stacks, true)])
		}
	}
}

// errgroup gathers the errors of functions that run at once.
type errgroup struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (g *errgroup) Go(f func() error) {
	g.wg.Go(func() {
		if err := f(); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.errs = append(g.errs, err)
		}
	})
}

func (g *errgroup) Wait() []error {
	g.wg.Wait()
	return g.errs
}

// TestHTTPStrangeSessions: the ID of a session is whatever a client says, and is
// nothing unless it is one.
func TestHTTPStrangeSessions(t *testing.T) {
	url := listen(t, newHarness(t, "").open(t), mcp.HandlerConfig{})
	_, header, _ := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, id := range []string{
		strings.Repeat("x", 500_000), strings.ToLower(session), session + " x", session + "," + session, session[:len(session)-1], "\xff\xfe", "../" + session, "%00", "null",
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			if status, _, body := request(t, method, url, id, list); status != http.StatusNotFound {
				t.Errorf("%s with %.40q: %d, %s", method, id, status, body)
			}
		}
	}
	// What a client says of the answer to give is not looked at.
	if status, _, body := post(t, url, session, list, "Mayfly-Answer", "x", "Last-Event-ID", ""); status != http.StatusBadRequest && status != http.StatusOK {
		t.Errorf("%d, %s", status, body)
	}
	if status, _, _ := request(t, http.MethodGet, url, session, "", "Last-Event-ID", "x_1"); status != http.StatusBadRequest {
		t.Errorf("a stream that cannot be resumed: %d", status)
	}
	if status, _, _ := post(t, url, session, list); status != http.StatusOK {
		t.Errorf("the session itself: %d", status)
	}
}
