package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
)

// wire is a transport to another server that keeps what is said as it was said:
// the SDK's types lose digits of numbers and take the last of two equal names.
type wire struct {
	sdk.Transport

	mu       sync.Mutex
	list     jsonrpc.ID // the request for a list of tools
	page     []byte     // what was answered to it
	call     jsonrpc.ID // the call
	sent     bool       // the call may have reached the server
	response *jsonrpc.Response
}

// listed is the last page of the server's list.
func (w *wire) listed() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.page
}

// answer is what the server answered to the call; nil: nothing.
func (w *wire) answer() *jsonrpc.Response {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.response
}

// failed is the reply of a call that was not answered.
func (w *wire) failed(err error) runtime.MCPReply {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := errors.AsType[*statusError](err); ok && s.refused() {
		return runtime.MCPReply{Err: fmt.Errorf("%w: %w", runtime.ErrMCPCredential, err)}
	}
	return runtime.MCPReply{Sent: w.sent, Err: err}
}

// Connect connects the transport that is watched.
func (w *wire) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &wireConn{Connection: c, wire: w}, nil
}

type wireConn struct {
	sdk.Connection
	wire *wire
}

// Write notes down which request is which.
func (c *wireConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.wire.mu.Lock()
		switch r.Method {
		case "tools/list":
			c.wire.list = r.ID
		case "tools/call":
			c.wire.call, c.wire.sent = r.ID, true
		}
		c.wire.mu.Unlock()
	}
	return c.Connection.Write(ctx, m)
}

// Read keeps the answers, and answers the server's own requests: this client
// does nothing for a server.
func (c *wireConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			c.wire.keep(m)
		case *jsonrpc.Request:
			if !m.IsCall() {
				continue // notices are of no use to one call
			}
			refused := &jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client answers no requests"}}
			if m.Method == "ping" {
				refused = &jsonrpc.Response{ID: m.ID, Result: []byte("{}")}
			}
			if err := c.Connection.Write(ctx, refused); err != nil {
				return nil, err
			}
			continue
		}
		return m, nil
	}
}

func (w *wire) keep(r *jsonrpc.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.sent && r.ID == w.call && w.response == nil:
		w.response = r
	case r.ID == w.list:
		w.page = r.Result
	}
}

// headed adds the call's headers to each request, bounds what is read, and turns
// a refused credential into an error that can be told from others.
type headed struct {
	call   context.Context
	to     http.RoundTripper
	header http.Header

	mu   sync.Mutex
	left int64
}

// RoundTrip sends a request.
func (h *headed) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if h.call.Err() != nil {
		// What is still said when the call is over is a courtesy.
		ctx, cancel = context.WithTimeout(ctx, courtesy)
	}
	r = r.Clone(ctx)
	maps.Copy(r.Header, h.header)
	resp, err := h.to.RoundTrip(r)
	if err == nil {
		if s := (&statusError{resp.StatusCode}); s.refused() {
			err = errors.Join(s, resp.Body.Close())
		}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, h, cancel}
	return resp, nil
}

// courtesy is how long a server may take to hear that it is not needed any more.
const courtesy = time.Second

// statusError is an answer that says nothing about the call.
type statusError struct{ status int }

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answers with the status %d", e.status)
}

func (e *statusError) refused() bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden
}

type boundedBody struct {
	io.ReadCloser
	h      *headed
	cancel context.CancelFunc
}

// Close ends the answer.
func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

var errTooLong = errors.New("the server says more than it may in one call")

// Read reads what is left to be read of all answers together.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	if b.h.left -= int64(n); b.h.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
