package proxy

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
)

// connect serves CONNECT: a connection to the host and port of the request line,
// whatever other headers say.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	target, err := egress.ParseTarget(r.RequestURI)
	if err != nil || r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		fail(w, http.StatusBadRequest, "CONNECT takes host:port and no body")
		return
	}
	far, err := p.dialer.Dial(r.Context(), target)
	if err != nil {
		refuse(w, err)
		return
	}
	if !p.own(far) {
		return
	}
	defer p.disown(far)
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, http.StatusInternalServerError, "this connection cannot be used")
		return
	}
	if !p.own(near) {
		return
	}
	defer p.disown(near)
	if err := near.SetDeadline(time.Time{}); err != nil {
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	// What the client said before it heard the answer is for the other side.
	early, err := buffered.Reader.Peek(buffered.Reader.Buffered())
	if err != nil {
		return
	}
	if _, err := far.Write(early); err != nil {
		return
	}
	tunnel(near, far, p.idle)
}

// tunnel carries bytes in both directions, until both have ended, one fails, or
// neither has carried anything for a while.
func tunnel(a, b net.Conn, idle time.Duration) {
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	one := func(to, from net.Conn) {
		if err := carry(to, from, idle, &last); err != nil {
			// The other direction has no use any more.
			_ = a.Close()
			_ = b.Close()
			return
		}
		_ = closeWrite(to) // if it fails, so will the other direction
	}
	both.Go(func() { one(a, b) })
	both.Go(func() { one(b, a) })
	both.Wait()
}

// carry copies until the end of from. last is when either direction carried
// something.
func carry(to, from net.Conn, idle time.Duration, last *atomic.Int64) error {
	buffer := make([]byte, 32<<10)
	for {
		if err := from.SetReadDeadline(time.Unix(0, last.Load()).Add(idle)); err != nil {
			return err
		}
		n, err := from.Read(buffer)
		now := time.Now()
		if n > 0 {
			last.Store(now.UnixNano())
			if err := to.SetWriteDeadline(now.Add(idle)); err != nil {
				return err
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
			last.Store(time.Now().UnixNano())
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && now.Before(time.Unix(0, last.Load()).Add(idle)):
			// The other direction is at work.
		case err != nil:
			return err
		}
	}
}
