package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve serves a listener until ctx ends. Then it takes no more calls, gives those
// that run the time of [Config].Grace, cancels what is left, and returns when each
// is recorded. secure is for TLS; nil is without.
func (s *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	if s.config.Tokens == nil && s.config.Anonymous != nil && !loopback(l.Addr()) {
		return fmt.Errorf("serve: %v is not a loopback address, and without tokens anybody could come", l.Addr())
	}
	l = &bounded{Listener: l, places: make(chan struct{}, s.config.MaxConns)}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		// OPTIONS * is a request like any other: without a token there is nothing.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug), // what clients do wrong
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Grace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		// The grace is over.
		s.endCalls()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.WriteTimeout)
		defer cancel()
		if err := server.Shutdown(last); err != nil {
			_ = server.Close() // clients that take nothing
		}
	}
	s.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// bounded is a listener with a bound on how many connections there are. One more
// is told so and closed.
type bounded struct {
	net.Listener
	places chan struct{}
}

// full is what a connection too many is told.
var full = func() []byte {
	const body = `{"type":"urn:mayfly:problem:busy","title":"Service Unavailable","status":503,"detail":"as many connections as may be; nothing was done"}`
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// Accept waits for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.places <- struct{}{}:
			return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
		default:
			// It goes into the kernel's buffer, or nowhere: nobody waits here.
			_ = c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			_, _ = c.Write(full)
			_ = c.Close()
		}
	}
}

type boundedConn struct {
	net.Conn
	leave func()
}

// Close ends the connection and gives its place away.
func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
