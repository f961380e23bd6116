package proxy

import (
	"context"
	"errors"

	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
)

// Bounds of one proxy.
const (
	// MaxConnections is how many connections it serves at a time; others wait.
	MaxConnections = 64
	// MaxHeader is how many bytes the head of a request or an answer may have.
	MaxHeader = 64 << 10
	// DefaultIdle is how long a connection may say nothing in either direction.
	DefaultIdle = 2 * time.Minute
	// headTime is how long the head of a request may take.
	headTime = 10 * time.Second
)

// Config says what a proxy does.
type Config struct {
	// Dialer connects. Its policy says whom.
	Dialer egress.Dialer
	// Idle replaces [DefaultIdle]; 0 keeps it.
	Idle time.Duration
}

// proxy serves one listener.
type proxy struct {
	dialer egress.Dialer
	idle   time.Duration
	via    *http.Transport
	ctx    context.Context // of all that it does

	mu    sync.Mutex
	conns map[net.Conn]bool // those that the HTTP server does not know; nil: no more
	tasks sync.WaitGroup
}

// Serve serves a listener until ctx ends, and closes it. Then every connection is
// closed, and Serve returns when nothing of it runs any more.
func Serve(ctx context.Context, l net.Listener, c Config) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // it may be closed already
	p := &proxy{dialer: c.Dialer, idle: c.Idle, ctx: ctx, conns: make(map[net.Conn]bool)}
	if p.idle <= 0 {
		p.idle = DefaultIdle
	}
	p.via = &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := p.dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &impatient{conn, p.idle}, nil
		},
		DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: MaxHeader, Protocols: new(http.Protocols),
	}
	p.via.Protocols.SetHTTP1(true)
	server := &http.Server{
		Handler: http.HandlerFunc(p.serve), MaxHeaderBytes: MaxHeader, ReadHeaderTimeout: headTime, IdleTimeout: p.idle,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Protocols: p.via.Protocols, DisableGeneralOptionsHandler: true,
	}
	_ = server.Serve(&bounded{Listener: l, places: make(chan struct{}, MaxConnections), over: ctx.Done()}) // it ends when l is closed, with an error that says so
	cancel()
	_ = server.Close() // the listener is closed already
	p.mu.Lock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.tasks.Wait()
}

// serve handles one request.
func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		return
	}
	defer p.tasks.Done()
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	p.forward(w, r)
}

// begin counts a task in, unless the proxy is at its end.
func (p *proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.tasks.Add(1)
	return true
}

// own notes a connection, to be closed at the end; false: this is the end.
func (p *proxy) own(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *proxy) disown(conn net.Conn) {
	p.mu.Lock()
	delete(p.conns, conn)
	p.mu.Unlock()
	_ = conn.Close()
}

// refuse tells a client why there is no connection, without an address.
func refuse(w http.ResponseWriter, err error) {
	if _, refused := errors.AsType[*egress.RefusedError](err); refused {
		fail(w, http.StatusForbidden, "the tool's egress does not let it go there")
		return
	}
	fail(w, http.StatusBadGateway, "the host cannot be reached")
}

// fail answers a request that went nowhere. What else a client has said on this
// connection is not looked at.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	http.Error(w, text, status)
}

// bounded is a listener with a bound on its connections.
type bounded struct {
	net.Listener
	places chan struct{}
	over   <-chan struct{}
}

// Accept implements net.Listener. It waits for a place first, which may never
// come: whoever is connected decides when to leave.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.over:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &counted{Conn: conn, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

type counted struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite ends one direction.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite ends one direction of a connection, where that can be said.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
