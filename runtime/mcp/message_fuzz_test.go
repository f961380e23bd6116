package mcp

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzDecode: a message is either strict JSON that both ends read alike, or
// refused with an answer that is a message itself.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"x","result":{}}`, `[]`, `{"id":1,"id":2}`, `{"id":{}}`, "{\"id\":\"\xff\"}",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[[[1e400]]]}}}`, ` `, `{"a":`, `{"jsonrpc":"2.0","method":"x"} {}`,
		`{"jsonrpc":"2.0","id":null,"method":"x"}`, `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`, `"\ud800"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, refused := decode(text)
		if (m == nil) == (refused == nil) {
			t.Fatalf("message %v, refusal %v", m, refused)
		}
		if refused != nil {
			checkAnswer(t, *refused)
			return
		}
		if !jsontext.Value(bytes.TrimSpace(text)).IsValid() {
			t.Fatal("what is no strict JSON was let through")
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || !r.IsCall() {
			return
		}
		// The ID that answers carry is the one that was sent.
		var sent struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		var want, got any
		id, err := json.Marshal(r.ID.Raw())
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(sent.ID, &want) != nil || json.Unmarshal(id, &got) != nil || want != got {
			t.Fatalf("the ID %s became %s", sent.ID, id)
		}
	})
}

func checkAnswer(t *testing.T, r refusal) {
	t.Helper()
	answer := jsontext.Value(r.text())
	if !answer.IsValid() || bytes.ContainsRune(answer, '\n') {
		t.Fatalf("the answer is %q", answer)
	}
	if r.code != jsonrpc.CodeParseError && r.code != jsonrpc.CodeInvalidRequest {
		t.Fatalf("code %d", r.code)
	}
}
