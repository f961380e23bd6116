package runtime

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
)

const (
	// maxRedirects is how often a call may be sent on.
	maxRedirects = 5
	// maxAnswerHeader bounds the head of an answer, in bytes.
	maxAnswerHeader = 64 << 10
)

// The types of failures of http tools, beside HTTP and the status.
const (
	unreachable    = "Unreachable"
	connectionLost = "ConnectionLost"
	badRedirect    = "BadRedirect"
	invalidResult  = "InvalidResult"
)

// exchange is one call of an http tool: a request, those that redirects ask for,
// and the answer.
type exchange struct {
	dialer  egress.Dialer
	roots   *x509.CertPool // nil: the system's
	to      *url.URL
	headers http.Header // for the origin of to only
	parent  string      // traceparent for that origin; empty: none
	key     string
	now     func() time.Time

	// sent: a part of some request has left.
	sent bool
	// done: a redirect has said that the work is done, and where its result is.
	done bool
}

// hop is one request of an exchange.
type hop struct {
	method string
	to     *url.URL
	target egress.Target
	body   string
	// known: the request goes to the tool's own origin, and has never been
	// elsewhere, so that it may carry the headers.
	known bool
	line  line
}

// run makes the call. ctx carries its timeout.
func (x *exchange) run(ctx context.Context, args string) reply {
	target, err := egress.TargetOf(x.to)
	if err != nil {
		return unavailable(fmt.Errorf("the tool's URL: %w", err))
	}
	h := &hop{method: http.MethodPost, to: x.to, target: target, body: args, known: true}
	for redirects := 0; ; redirects++ {
		resp, err := x.send(ctx, h)
		used := h.line.used()
		x.sent = x.sent || used
		if err != nil {
			return x.fault(ctx, used, err)
		}
		if !isRedirect(resp.StatusCode) {
			rep := x.answer(ctx, h, resp)
			_ = resp.Body.Close()
			return x.after(rep)
		}
		_ = resp.Body.Close()
		if redirects == maxRedirects {
			err = fmt.Errorf("more than %d redirects", maxRedirects)
		} else if h, err = x.follow(h, resp); err == nil {
			continue
		}
		return x.after(reply{outcome: ToolError, broke: ambiguousRedirect(resp.StatusCode), failure: &Failure{Type: badRedirect, Message: err.Error()}})
	}
}

// after is a reply that came after something was sent.
func (x *exchange) after(rep reply) reply {
	rep.started = true
	if x.done && rep.outcome != OK {
		// The work was done before this request.
		rep.outcome, rep.broke = ToolError, true
	}
	return rep
}

// fault is the reply of a request that got no answer; used says whether it left.
func (x *exchange) fault(ctx context.Context, used bool, err error) reply {
	rep := reply{failure: &Failure{Type: unreachable, Message: err.Error()}}
	switch {
	case !x.sent && errors.Is(ctx.Err(), context.Canceled):
		rep.outcome = Cancelled
		return rep
	case !x.sent:
		rep.outcome = Unavailable
		return rep
	case !used:
		// Whoever answered before said that it did nothing, or x.done is set.
		rep.outcome = ToolError
		if isRefused(err) {
			rep.failure.Type = badRedirect
		}
	case ctx.Err() != nil:
		rep.outcome, rep.failure = ended(ctx), &Failure{Type: "TimeoutError", Message: "the tool did not answer in time"}
	default:
		rep.outcome, rep.broke, rep.failure.Type = ToolError, true, connectionLost
	}
	return x.after(rep)
}

func isRefused(err error) bool {
	_, refused := errors.AsType[*egress.RefusedError](err)
	return refused
}

// send makes one request on a connection of its own and gives the head of the
// answer.
func (x *exchange) send(ctx context.Context, h *hop) (*http.Response, error) {
	// Both take ctx and not net/http's own, which goes on when the call has ended.
	plain := func(_ context.Context, network, address string) (net.Conn, error) {
		conn, err := x.dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return h.line.over(conn), nil
	}
	secured := func(_ context.Context, network, address string) (net.Conn, error) {
		conn, err := x.dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		over := tls.Client(conn, &tls.Config{
			MinVersion: tls.VersionTLS12, ServerName: h.target.Host(), RootCAs: x.roots, NextProtos: []string{"http/1.1"},
		})
		if err := over.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("connect to %s: %w", h.target, err)
		}
		return h.line.over(over), nil
	}
	via := &http.Transport{
		DialContext: plain, DialTLSContext: secured, DisableKeepAlives: true,
		MaxResponseHeaderBytes: maxAnswerHeader, Protocols: new(http.Protocols),
	}
	via.Protocols.SetHTTP1(true)
	req, err := x.request(ctx, h)
	if err != nil {
		return nil, err
	}
	return via.RoundTrip(req)
}

func (x *exchange) request(ctx context.Context, h *hop) (*http.Request, error) {
	var body io.Reader
	if h.method == http.MethodPost {
		body = strings.NewReader(h.body)
	}
	req, err := http.NewRequestWithContext(ctx, h.method, h.to.String(), body)
	if err != nil {
		return nil, errors.New("make the request: the URL cannot be used")
	}
	// The only spelling of the host, so that what is asked for is what was checked.
	req.URL.Host = authority(h.to.Scheme, h.target)
	req.Host = req.URL.Host
	req.Header.Set("User-Agent", "Mayfly")
	req.Header.Set("Accept", "application/json, text/*;q=0.5")
	if h.known {
		if x.parent != "" {
			req.Header.Set("Traceparent", x.parent)
		}
		maps.Copy(req.Header, x.headers) // the manifest's own goes first
	}
	if h.method == http.MethodPost {
		req.GetBody = nil // nothing is sent twice
		req.Header.Set("Content-Type", "application/json")
		if x.key != "" {
			req.Header.Set("Idempotency-Key", x.key)
		}
	}
	return req, nil
}

// authority is a target as it stands in a URL, without the port of the scheme.
func authority(scheme string, t egress.Target) string {
	text := t.String()
	if scheme == "http" {
		return strings.TrimSuffix(text, ":80")
	}
	return strings.TrimSuffix(text, ":443")
}

// line is what is known of a request's connection. From its first byte on the
// other side may have read something; what TLS writes to set itself up does not
// count.
type line struct{ state atomic.Int32 }

// The states of a line.
const (
	lineUnused int32 = iota
	lineUsed
	lineSealed
)

// used reports whether a part of the request has left. If not, nothing will
// from here on, even if somebody still holds the connection.
func (l *line) used() bool {
	return !l.state.CompareAndSwap(lineUnused, lineSealed) && l.state.Load() == lineUsed
}

// over gives a connection whose writes are noted.
func (l *line) over(conn net.Conn) net.Conn { return &watched{conn, l} }

type watched struct {
	net.Conn
	line *line
}

// Write implements net.Conn.
func (w *watched) Write(b []byte) (int, error) {
	if !w.line.state.CompareAndSwap(lineUnused, lineUsed) && w.line.state.Load() != lineUsed {
		return 0, net.ErrClosed
	}
	return w.Conn.Write(b)
}
