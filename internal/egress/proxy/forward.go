package proxy

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
)

// hopHeaders are between two neighbours, and go no further.
var hopHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Expect",
}

// forward serves a request with an absolute http URL: it is written anew, to a
// connection of its own.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" {
		fail(w, http.StatusBadRequest, "a proxy takes an absolute http URL, or CONNECT")
		return
	}
	target, err := egress.TargetOf(r.URL)
	if err != nil {
		fail(w, http.StatusBadRequest, "the URL's host is not a plain name or address")
		return
	}
	if err := p.dialer.Policy.Check(target); err != nil {
		refuse(w, err)
		return
	}
	out := r.Clone(r.Context())
	out.RequestURI, out.Close = "", false
	out.URL.Host = strings.TrimSuffix(target.String(), ":80")
	out.Host = out.URL.Host
	out.Trailer = nil
	dropHop(out.Header)
	if r.ContentLength == 0 {
		out.Body = nil
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header["User-Agent"] = nil // as it was asked for: none
	}
	resp, err := p.via.RoundTrip(out)
	if err != nil {
		refuse(w, err)
		return
	}
	defer resp.Body.Close()
	dropHop(resp.Header)
	maps.Copy(w.Header(), resp.Header)
	if resp.StatusCode < 200 { // switched to something else, which was not asked for
		fail(w, http.StatusBadGateway, "the host's answer cannot be passed on")
		return
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(&flushed{w, http.NewResponseController(w), p.idle}, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
}

// dropHop takes out what is meant for this proxy, also what a Connection header
// names.
func dropHop(h http.Header) {
	for _, line := range h.Values("Connection") {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(textproto.TrimString(name))
		}
	}
	for _, name := range hopHeaders {
		h.Del(name)
	}
}

// flushed passes each part on when it comes, to a client that takes it in time.
type flushed struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
}

// Write implements io.Writer.
func (f *flushed) Write(b []byte) (int, error) {
	if err := f.control.SetWriteDeadline(time.Now().Add(f.idle)); err != nil {
		return 0, err
	}
	n, err := f.ResponseWriter.Write(b)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}

// impatient is a connection to a host that may not be silent for too long.
type impatient struct {
	net.Conn
	idle time.Duration
}

// Read implements net.Conn.
func (c *impatient) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write implements net.Conn.
func (c *impatient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
