package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime/mcp"
)

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// maxMessage is the bound in the tests of hostile messages.
const maxMessage = 64 << 10

// hostile are messages that no client should send, each with the answer's ID and
// code.
var hostile = []struct {
	name, message string
	id            any
	code          float64
}{
	{"no JSON", "hello", nil, -32700},
	{"half a message", `{"jsonrpc":"2.0","id":1,`, nil, -32700},
	{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, 1.0, -32600},
	{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffing\"}", 1.0, -32600},
	{"half a surrogate pair", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, 1.0, -32600},
	{"a name twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, 1.0, -32600},
	{"an argument twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"a":1,"a":2}}}`, 1.0, -32600},
	{"an id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, -32600},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, -32600},
	{"an empty batch", `[]`, nil, -32600},
	{"no object", `1`, nil, -32600},
	{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, nil, -32700},
	{"too deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, 1.0, -32600},
	{"no version", `{"id":1,"method":"ping"}`, 1.0, -32600},
	{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 1.0, -32600},
	{"another case", `{"jsonrpc":"2.0","id":1,"METHOD":"ping","Method":"ping","result":{},"error":1}`, 1.0, -32600},
	{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
	{"an id with a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, -32600},
	{"an id that is too large", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, nil, -32600},
	{"an id that is too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`, nil, -32600},
	{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, 1.0, -32600},
	{"no such method", `{"jsonrpc":"2.0","id":1,"method":"tools/drop"}`, 1.0, -32601},
	{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, 1.0, -32601},
	{"a method of clients", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`, 1.0, -32601},
	{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 1.0, -32600},
	{"parameters that are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, 1.0, -32602},
	{"a cursor of nobody's", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"!"}}`, 1.0, -32602},
	{"hello again", hello, "hello", -32600},
	{"giant", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 2*maxMessage) + `"}}`, nil, -32600},
}

// raw is a client that sends what it likes.
type raw struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func (r raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

// answer is the next message of the server's.
func (r raw) answer() object {
	r.t.Helper()
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	return parse(r.t, line)
}

func parse(t *testing.T, text []byte) object {
	t.Helper()
	var m object
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("the server wrote %q: %v", text, err)
	}
	return m
}

func newRaw(t *testing.T, config mcp.Config) raw {
	_, in, out := serve(t, newHarness(t, "").open(t), config)
	return raw{t, in, bufio.NewReader(out)}
}

// TestHostileMessages: each gets an answer that says what is wrong, and the next
// one is served.
func TestHostileMessages(t *testing.T) {
	c := newRaw(t, mcp.Config{MaxMessage: maxMessage})
	c.send(hello)
	c.answer()
	c.send(ready)
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			c := raw{t, c.in, c.out}
			c.send(tt.message)
			checkRefusal(t, c.answer(), tt.id, tt.code)
			c.send(`{"jsonrpc":"2.0","id":"still there?","method":"ping"}`)
			if got := c.answer(); got["id"] != "still there?" || got["error"] != nil {
				t.Errorf("after it: %v", got)
			}
		})
	}
}

func checkRefusal(t *testing.T, got object, id any, code float64) {
	t.Helper()
	e, _ := got["error"].(object)
	if diff := cmp.Diff([]any{id, code}, []any{got["id"], e["code"]}); diff != "" {
		t.Errorf("%s\n%v", diff, got)
	}
	if message, _ := e["message"].(string); message == "" || len(message) > 300 {
		t.Errorf("message %q", message)
	}
}

// TestBeforeHello: nothing is called before the session has begun.
func TestBeforeHello(t *testing.T) {
	c := newRaw(t, mcp.Config{})
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{}}}`,
	} {
		c.send(message)
		checkRefusal(t, c.answer(), 1.0, -32600)
	}
	// What needs no answer gets none.
	c.send(ready)
	c.send(`{"jsonrpc":"2.0","method":"notifications/nonsense"}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	c.send(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	c.send("")
	c.send(hello)
	if got := c.answer(); got["id"] != "hello" || got["error"] != nil {
		t.Errorf("hello: %v", got)
	}
}

// TestOddArguments: what a call says is what the governor decides on.
func TestOddArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		``:                                      `{}`,
		`,"arguments":{}`:                       `{}`,
		`,"arguments":null`:                     "schema_invalid",
		`,"arguments":[]`:                       "schema_invalid",
		`,"arguments":"x"`:                      "schema_invalid",
		`,"arguments":{"n":1e400}`:              "schema_invalid",
		`,"arguments":{"n":9007199254740993.0}`: "schema_invalid",
		`,"arguments":{"n":9007199254740993}`:   `{"n":9007199254740993}`,
		`,"Arguments":{"n":1}`:                  `{}`,
	} {
		c := newRaw(t, mcp.Config{}) // the same call has its effect once
		c.send(hello)
		c.answer()
		c.send(ready)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note"` + arguments + `}}`)
		got, err := json.Marshal(c.answer())
		if err != nil || !strings.Contains(strings.ReplaceAll(string(got), `\"`, `"`), want) {
			t.Errorf("%s: %s", arguments, got)
		}
	}
}

// TestTooManyRequests: a client cannot make the server hold more than so much.
func TestTooManyRequests(t *testing.T) {
	h := newHarness(t, "")
	rt := h.open(t)
	_, in, out := serve(t, rt, mcp.Config{})
	c := raw{t, in, bufio.NewReader(out)}
	c.send(hello)
	c.answer()
	c.send(ready)
	wait := func(id int) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"python","arguments":{"code":"wait"}}}`, id))
	}
	for id := range 64 {
		wait(id)
	}
	wait(5)
	checkRefusal(t, c.answer(), nil, -32600) // in use: the first one must get its own answer
	wait(64)
	checkRefusal(t, c.answer(), 64.0, -32000)
	for id := range 64 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	seen := make(map[any]bool)
	for range 64 {
		seen[c.answer()["id"]] = true
	}
	if len(seen) != 64 {
		t.Errorf("%d of 64 were answered", len(seen))
	}
	c.send(`{"jsonrpc":"2.0","id":64,"method":"ping"}`)
	if got := c.answer(); got["error"] != nil {
		t.Errorf("afterwards: %v", got)
	}
}

// TestHostileHTTP: the same messages over HTTP.
func TestHostileHTTP(t *testing.T) {
	url := listen(t, newHarness(t, "").open(t), mcp.HandlerConfig{MaxMessage: maxMessage})
	status, header, body := post(t, url, "", hello)
	session := header.Get("Mcp-Session-Id")
	if status != http.StatusOK || session == "" {
		t.Fatalf("hello: %d, %s", status, body)
	}
	post(t, url, session, ready)
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			status, _, body := post(t, url, session, tt.message)
			if _, after, ok := strings.Cut(string(body), "data: "); ok && status == http.StatusOK {
				body = []byte(after) // it is the session that refuses it
			} else if status < 400 || status >= 500 {
				t.Errorf("status %d", status)
			}
			if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("{")) {
				checkHTTPRefusal(t, parse(t, body), tt.id)
			} else if len(body) == 0 {
				t.Error("it does not say what is wrong")
			}
			status, _, body = post(t, url, session, `{"jsonrpc":"2.0","id":"still there?","method":"ping"}`)
			if status != http.StatusOK || !strings.Contains(string(body), "still there?") {
				t.Errorf("after it: %d, %s", status, body)
			}
		})
	}
}

// checkHTTPRefusal leaves the codes of what the SDK itself refuses to it.
func checkHTTPRefusal(t *testing.T, got object, id any) {
	t.Helper()
	e, _ := got["error"].(object)
	if message, _ := e["message"].(string); message == "" || got["id"] != id {
		t.Errorf("answer %v, want the id %v", got, id)
	}
}
