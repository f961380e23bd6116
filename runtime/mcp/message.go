package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth is how deep a message may nest: the deepest arguments, and what goes
// around them.
const maxDepth = 80

// maxID is how large a request's ID may be: every integer up to here is a
// number of its own in every language.
const maxID = 1 << 53

// maxIDText is how long an ID may be that is text.
const maxIDText = 256

// maxNotice is how long a message may be that is no request. They are made values of
// as they come, whatever is under way.
const maxNotice = 1 << 20

// refusal is the answer to a message that is not let through.
type refusal struct {
	id      jsontext.Value // as it was sent, or null
	code    int64
	message string
}

var null = jsontext.Value("null")

// text is the refusal as a message.
func (r refusal) text() []byte {
	message, err := jsontext.AppendQuote(nil, r.message)
	if err != nil {
		message = []byte(`"the message is refused"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, r.id, r.code, message)
}

// decode reads one message as strictly as everything from outside is read:
// names that occur twice, text that is not UTF-8 and bottomless nesting could
// each be read as two different things, and are refused before anybody does.
func decode(text []byte) (jsonrpc.Message, *refusal) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("[")) {
		return nil, &refusal{null, jsonrpc.CodeInvalidRequest, "batches are not supported; send one message at a time"}
	}
	if why := strict(text); why != "" {
		code := int64(jsonrpc.CodeParseError)
		id, readable := idOf(text)
		if readable {
			code = jsonrpc.CodeInvalidRequest
		}
		return nil, &refusal{id, code, why}
	}
	id, _ := idOf(text)
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, &refusal{null, jsonrpc.CodeInvalidRequest, "a message is a JSON object"}
	}
	if id == nil {
		return nil, &refusal{null, jsonrpc.CodeInvalidRequest, fmt.Sprintf("an id is a text of at most %d bytes, or an integer of at most 2^53", maxIDText)}
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		// The library's words quote what was sent.
		return nil, &refusal{id, jsonrpc.CodeInvalidRequest, "this is no JSON-RPC 2.0 message"}
	}
	if r, ok := m.(*jsonrpc.Request); (!ok || !r.IsCall()) && len(text) > maxNotice {
		return nil, &refusal{null, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message that is no request may have %d bytes", maxNotice)}
	}
	return m, nil
}

// strict says what is wrong with a JSON text; empty: nothing.
func strict(text []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		_, err := d.ReadToken()
		switch {
		case err == io.EOF:
			if d.InputOffset() == 0 {
				return "the message is empty"
			}
			return ""
		case errors.Is(err, jsontext.ErrDuplicateName):
			return "a name occurs twice in an object"
		case err != nil && !utf8.Valid(text):
			return "the message is not valid UTF-8"
		case err != nil:
			return "the message is not JSON"
		case d.StackDepth() > maxDepth:
			return fmt.Sprintf("the message nests more than %d deep", maxDepth)
		case d.StackDepth() == 0 && len(bytes.TrimSpace(text[d.InputOffset():])) > 0:
			return "something follows the message"
		}
	}
}

// idOf finds the ID of a message that need not be strict JSON, so that whoever
// waits for an answer to it gets one. It is null when there is none or more than
// one, and nil for one that no ID can be. readable says that the text is JSON of
// some kind.
func idOf(text []byte) (id jsontext.Value, readable bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return null, false
	}
	_, _ = d.ReadToken()
	id = null
	found := 0
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return null, false
		}
		isID := name.String() == "id"
		value, err := d.ReadValue()
		if err != nil {
			return null, false
		}
		if isID {
			found++
			id = checkID(value.Clone())
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return null, false
	}
	if found > 1 {
		id = null
	}
	return id, true
}

// checkID gives an ID if it can be one; nil if not.
func checkID(v jsontext.Value) jsontext.Value {
	switch v.Kind() {
	case 'n':
		return v
	case '"':
		if len(v) <= maxIDText && utf8.Valid(v) {
			return v
		}
	case '0':
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil && n >= -maxID && n <= maxID {
			return v
		}
	}
	return nil
}
