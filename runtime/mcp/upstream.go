package mcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Bounds of what a server may say.
const (
	// maxPages and maxListed bound the list of its tools.
	maxPages  = 20
	maxListed = 4 << 20
	// maxAnswer bounds everything else that it sends in one call.
	maxAnswer = 64 << 20
)

// upstreamVersion is the protocol that servers are spoken with: the last one
// with an opening handshake, which all of them know.
const upstreamVersion = "2025-11-25"

// CallUpstream calls a tool of another MCP server: it is a
// [runtime.Config].CallMCP.
//
// Each call has a session of its own. In it, the server's list is read first, and
// the call is sent only if what the server says of the tool is what the manifest
// says: no run sees what another one left behind, and no definition changes
// between the look and the call. Requests of the server's are refused.
func CallUpstream(ctx context.Context, c runtime.MCPCall) runtime.MCPReply {
	if c.Talk == nil {
		client, end := httpClient(ctx, c)
		defer end()
		return call(ctx, c, &sdk.StreamableClientTransport{
			Endpoint: c.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxAnswer,
		})
	}
	reply := runtime.MCPReply{Err: errors.New("the server was not started")}
	err := c.Talk(ctx, func(in io.WriteCloser, out io.Reader) {
		reply = call(ctx, c, &sdk.IOTransport{Reader: io.NopCloser(out), Writer: in})
	})
	// How the program ended explains why there is no answer, and nothing of an
	// answer that was not the right one.
	if err != nil && reply.Err != nil && !errors.Is(reply.Err, runtime.ErrMCPChanged) {
		reply.Err = fmt.Errorf("%w: %w", reply.Err, err)
	}
	return reply
}

// call makes a call over a transport.
func call(ctx context.Context, c runtime.MCPCall, via sdk.Transport) runtime.MCPReply {
	w := &wire{Transport: via}
	client := sdk.NewClient(&sdk.Implementation{Name: "mayfly", Version: "0"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	session, err := client.Connect(ctx, w, &sdk.ClientSessionOptions{ProtocolVersion: upstreamVersion})
	if err != nil {
		return w.failed(err)
	}
	defer func() { _ = session.Close() }() // it was answered, or will not be
	if err := verify(ctx, session, w, c.Tool); err != nil {
		return w.failed(err)
	}
	// The key is for servers that know it: see the manifest's side_effect.
	params := &sdk.CallToolParams{Name: c.Tool.Metadata.Name, Arguments: jsontext.Value(c.Args), Meta: sdk.Meta{metaKey: c.IdempotencyKey}}
	if c.Parent.Traceparent != "" {
		params.Meta["traceparent"] = c.Parent.Traceparent
	}
	if _, err := session.CallTool(ctx, params); err != nil && w.answer() == nil {
		return w.failed(err)
	}
	return w.reply()
}

// metaKey is where a server finds the call's idempotency key.
const metaKey = "mayfly.run/idempotency_key"

// verify reads the server's list and compares its word about the tool with the
// manifest's.
func verify(ctx context.Context, session *sdk.ClientSession, w *wire, t *manifests.Tool) error {
	cursor, size, found := "", 0, 0
	for range maxPages {
		list, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return err
		}
		page := w.listed()
		if size += len(page); size > maxListed {
			return errors.New("the server's list of tools is too long")
		}
		n, err := compare(page, t)
		if err != nil {
			return err
		}
		if found += n; found > 1 {
			return fmt.Errorf("%w: it has two of that name", runtime.ErrMCPChanged)
		}
		if cursor = list.NextCursor; cursor == "" {
			if found == 0 {
				return fmt.Errorf("%w: it has none of that name", runtime.ErrMCPChanged)
			}
			return nil
		}
	}
	return errors.New("the server's list of tools has too many pages")
}

// changed says of which fields of the manifest the server says something else.
func changed(t *manifests.Tool, description string, schema map[string]any) string {
	d := t.Definition()
	d.InputSchema = schema
	digest, err := d.Digest()
	switch same := err == nil && digest == t.Digest(); {
	case same:
		return "description is another one"
	case description == d.Description:
		return "input_schema is another one"
	}
	return "description and input_schema are other ones"
}

// compare counts the tools of that name on a page of a list. One that is not the
// manifest's is an error.
func compare(page []byte, t *manifests.Tool) (found int, err error) {
	tree, err := canonjson.Parse(page, canonjson.Limits{MaxBytes: maxListed})
	if err != nil {
		return 0, fmt.Errorf("the server's list of tools: %w", err)
	}
	list, _ := tree.(map[string]any)
	tools, _ := list["tools"].([]any)
	for _, item := range tools {
		is, _ := item.(map[string]any)
		if is["name"] != any(t.Metadata.Name) {
			continue
		}
		found++
		description, _ := is["description"].(string)
		schema, ok := is["inputSchema"].(map[string]any)
		if !ok {
			return found, fmt.Errorf("%w: it says nothing of its arguments", runtime.ErrMCPChanged)
		}
		digest, err := manifests.Definition{Name: t.Metadata.Name, Description: description, InputSchema: schema}.Digest()
		if err != nil || digest != t.Digest() {
			return found, fmt.Errorf("%w: its %s, and its definition has the digest %s", runtime.ErrMCPChanged, changed(t, description, schema), digest)
		}
		hints, _ := is["annotations"].(map[string]any)
		if hints["destructiveHint"] == true && hints["readOnlyHint"] != true && !t.Spec.SideEffect.Writes() {
			return found, fmt.Errorf("%w: it says that it destroys something, and the manifest has side_effect %s", runtime.ErrMCPChanged, t.Spec.SideEffect)
		}
	}
	return found, nil
}

// reply makes a reply of what the server answered to the call.
func (w *wire) reply() runtime.MCPReply {
	r := runtime.MCPReply{Sent: true}
	var result struct {
		Content    []jsontext.Value `json:"content"`
		Structured jsontext.Value   `json:"structuredContent"`
		IsError    bool             `json:"isError"`
		Rest       jsontext.Value   `json:",inline"`
	}
	answer := w.answer()
	switch {
	case answer.Error != nil:
		// The server's own words for it are for the operator.
		r.Failed = true
		message, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(answer.Error.Error(), "\uFFFD"))
		if err != nil {
			message = []byte("null")
		}
		r.Result = sandbox.RawJSON(message)
		return r
	default:
		if err := json.Unmarshal(answer.Result, &result); err != nil {
			r.Err = errors.New("the server's answer is no result of a tool")
			return r
		}
	}
	r.Failed = result.IsError
	if result.Structured.Kind() == '{' {
		r.Result = sandbox.RawJSON(result.Structured)
		return r
	}
	r.Result, r.Err = contents(result.Content)
	return r
}

// contents is one text as a string, and everything else as the list that it is.
func contents(blocks []jsontext.Value) (sandbox.RawJSON, error) {
	if len(blocks) == 1 {
		var block struct {
			Type string         `json:"type"`
			Text *string        `json:"text"`
			Rest jsontext.Value `json:",inline"`
		}
		if err := json.Unmarshal(blocks[0], &block); err == nil && block.Type == "text" && block.Text != nil {
			return json.Marshal(*block.Text)
		}
	}
	if blocks == nil {
		blocks = []jsontext.Value{}
	}
	return json.Marshal(blocks)
}

// httpClient reaches the call's server and nobody else: no proxy, no redirect,
// no cookie, and no more bytes than a call may have.
func httpClient(ctx context.Context, c runtime.MCPCall) (client *http.Client, end func()) {
	t := &http.Transport{
		DialContext: c.Dial, MaxResponseHeaderBytes: 64 << 10, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs},
	}
	header := c.Header.Clone()
	if c.Parent.Traceparent != "" && header.Get("Traceparent") == "" { // the operator's own goes first
		if header == nil {
			header = make(http.Header)
		}
		header.Set("Traceparent", c.Parent.Traceparent)
	}
	client = &http.Client{
		Transport:     &headed{call: ctx, to: t, header: header, left: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, t.CloseIdleConnections
}
