package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// countedRoom counts what is taken from it.
type countedRoom struct {
	mu                  sync.Mutex
	calls, acts         int // how many there are of each
	bytes               int64
	noCalls, noActs     bool
	most                int64 // 0: no bound
	sawCalls, sawActs   int
	sawBytes, wentBelow int64
	changed             chan struct{}
}

func newCountedRoom() *countedRoom { return &countedRoom{changed: make(chan struct{}, 1)} }

func (r *countedRoom) enter(n, saw *int, none bool) (func(), bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if none {
		return func() {}, false
	}
	*n++
	*saw++
	return sync.OnceFunc(func() { r.give(func() { *n-- }) }), true
}

func (r *countedRoom) give(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.wentBelow = min(r.wentBelow, r.bytes)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *countedRoom) Call(context.Context) (func(), bool) {
	return r.enter(&r.calls, &r.sawCalls, r.noCalls)
}
func (r *countedRoom) Act(context.Context) (func(), bool) {
	return r.enter(&r.acts, &r.sawActs, r.noActs)
}

func (r *countedRoom) Take(n int64) (func(), bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most > 0 && r.bytes+n > r.most {
		return func() {}, false
	}
	r.bytes += n
	r.sawBytes = max(r.sawBytes, r.bytes)
	return sync.OnceFunc(func() { r.give(func() { r.bytes -= n }) }), true
}

// empty waits until all of it has been given back.
func (r *countedRoom) empty(t *testing.T) {
	t.Helper()
	for {
		r.mu.Lock()
		left := fmt.Sprint(r.calls, r.acts, r.bytes, r.wentBelow)
		r.mu.Unlock()
		if left == "0 0 0 0" {
			return
		}
		select {
		case <-r.changed:
		case <-time.After(time.Minute):
			t.Fatalf("calls, acts and bytes that were not given back: %s", left)
		}
	}
}

func (r *countedRoom) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func inRoom(room mcp.Room) mcp.HandlerConfig {
	return mcp.HandlerConfig{Session: func(*http.Request) (string, mcp.Config, error) {
		c := asking()
		c.Room = room
		return "ann", c, nil
	}}
}

// TestRoomOverHTTP: what a client has under way is taken from its room, what there is
// no room for is refused in a way that a client can go on from, and all is given back.
func TestRoomOverHTTP(t *testing.T) {
	room := newCountedRoom()
	h := newHarness(t, "")
	ran := 0
	h.config.Funcs["note"] = func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
		ran++
		return sandbox.RawJSON("null"), nil
	}
	url := listen(t, h.open(t), inRoom(room))
	_, header, _ := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	post(t, url, session, ready)
	long := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"note","arguments":{"v":[` + strings.Repeat("[],", 10_000) + `0]}}}`
	short := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"note","arguments":{}}}`
	ok := func(what, message string) {
		t.Helper()
		if status, _, body := post(t, url, session, message); status != http.StatusOK || strings.Contains(string(body), `isError":true`) || strings.Contains(string(body), `"error":{"code"`) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	ok("a call", long)
	room.empty(t)
	if room.sawCalls != 1 || room.sawActs != 1 || room.sawBytes < 500_000 || room.sawBytes > 5_000_000 {
		t.Errorf("a session and a call of %d bytes took %d acts, %d places and %d bytes", len(long), room.sawActs, room.sawCalls, room.sawBytes)
	}
	busy := func(what, url, session, message, id string) {
		t.Helper()
		status, header, body := post(t, url, session, message)
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(string(body), `"id":`+id+`,"error":{"code":-32000`) {
			t.Errorf("%s: %d %v %s", what, status, header, body)
		}
	}
	// No memory: for the message, for what is made of it, for the arguments.
	room.set(func() { room.most = int64(len(long)) })
	busy("a message too many", url, session, long, "null")
	room.set(func() { room.most = 2*int64(len(long)) + 1000 })
	busy("values too many", url, session, strings.Replace(long, `"arguments"`, `"_meta"`, 1), "7")
	_, _, body := post(t, url, session, long)
	typed := func(what string, body []byte) {
		t.Helper()
		for _, want := range []string{`"isError":true`, `"outcome":"busy"`, `"retryable":true`, `"retry_at":"`, `"next":"nothing was done`} {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: there is no %s in %s", what, want, body)
			}
		}
	}
	typed("arguments too many", body)
	room.set(func() { room.most, room.noCalls = 0, true })
	_, _, body = post(t, url, session, short)
	typed("a call too many", body)
	if ran != 1 {
		t.Errorf("the tool ran %d times, want once", ran)
	}
	room.set(func() { room.noCalls, room.noActs = false, true })
	busy("a session too many", url, "", hello, `"hello"`)
	if _, _, body := post(t, url, session, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`); !strings.Contains(string(body), "-32000") {
		t.Errorf("a list too many: %s", body)
	}
	ok("a call, whatever else there is no room for", short)
	room.set(func() { room.noActs = false })
	ok("a list", `{"jsonrpc":"2.0","id":10,"method":"tools/list"}`)
	ok("a call", short)
	room.empty(t)
}

// TestLongResultsKeepTheirPlace: a client that does not take a long result keeps the
// place of its call; one that has gone does not.
func TestLongResultsKeepTheirPlace(t *testing.T) {
	room := newCountedRoom()
	h := newHarness(t, "")
	h.write(t, "harness.yaml", "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml], max_output_bytes: 30000000 }\n")
	returned := make(chan struct{}, 2)
	h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		defer func() { returned <- struct{}{} }()
		return sandbox.RawJSON(`"` + strings.Repeat("x", 20_000_000) + `"`), nil
	}
	url := listen(t, h.open(t), inRoom(room))
	_, header, _ := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-returned
	if _, err := resp.Body.Read(make([]byte, 100)); err != nil { // it is on its way
		t.Fatal(err)
	}
	room.mu.Lock()
	if room.calls != 1 {
		t.Errorf("%d places are taken while the client takes its time, want 1", room.calls)
	}
	room.mu.Unlock()
	cancel()
	room.empty(t)
}

// TestCallsWaitTheirTurn: over stdio there is a bound too. Who waits is told so, can
// be cancelled, and otherwise has its turn.
func TestCallsWaitTheirTurn(t *testing.T) {
	h := newHarness(t, "")
	started, goOn := make(chan struct{}, 10), make(chan struct{})
	h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		started <- struct{}{}
		<-goOn
		return sandbox.RawJSON("null"), nil
	}
	waits := make(chan struct{}, 1000)
	_, c := connect(t, h.open(t), mcp.Config{MaxCalls: 1, Progress: 10 * time.Millisecond}, "2025-11-25", &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if strings.HasPrefix(r.Params.Message, "waiting for its turn") {
				waits <- struct{}{}
			}
		},
	})
	results := make(chan error, 10)
	n := 0
	begin := func(ctx context.Context, progress bool) {
		n++ // the same call would not happen twice
		p := &sdk.CallToolParams{Name: "note", Arguments: object{"n": n}}
		go func() {
			if progress {
				p.SetProgressToken("mine")
			}
			r, err := c.CallTool(ctx, p)
			if err == nil && r.IsError {
				err = fmt.Errorf("%v", r.StructuredContent)
			}
			results <- err
		}()
	}
	begin(t.Context(), false)
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	begin(ctx, true)
	<-waits
	cancel()
	if err := <-results; err == nil {
		t.Error("a call that was cancelled gave a result")
	}
	begin(t.Context(), true)
	<-waits
	select {
	case <-started:
		t.Error("a second call runs")
	default:
	}
	close(goOn)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(started); n != 1 {
		t.Errorf("%d calls ran after the first, want 1", n)
	}
}

// TestLongNotices: what is no request is short.
func TestLongNotices(t *testing.T) {
	url := listen(t, newHarness(t, "").open(t), mcp.HandlerConfig{})
	_, header, _ := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":{"x":"` + strings.Repeat("x", 2<<20) + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`,
	} {
		if status, _, body := post(t, url, session, message); status != http.StatusBadRequest || !strings.Contains(string(body), "1048576") {
			t.Errorf("%.60s: %d %s", message, status, body)
		}
	}
	if status, _, _ := post(t, url, session, ready); status != http.StatusAccepted {
		t.Errorf("a short one: %d", status)
	}
}
