package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/internal/egress/proxy"
)

// world is a proxy for one policy, a service that it may reach and one that it
// may not. Both are on this machine, at different addresses and one port.
type world struct {
	proxy    string // host:port
	listener net.Listener
	port     string // of both services
	allowed  *service
	victim   *service
	names    *egresstest.Names
	end      func() // ends the proxy, and waits for it
}

// service notes what it is asked.
type service struct {
	mu   sync.Mutex
	list []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	host, _, _ := strings.Cut(r.Host, ":")
	s.mu.Lock()
	s.list = append(s.list, fmt.Sprintf("%s %s host=%s body=%q", r.Method, r.URL, host, body))
	if v := r.Header.Values("Proxy-Authorization"); len(v) > 0 {
		s.list = append(s.list, "credentials of the proxy")
	}
	if r.Header.Get("X-Hop") != "" || r.Header.Get("Te") != "" {
		s.list = append(s.list, "headers for the proxy")
	}
	s.mu.Unlock()
	w.Header().Set("Proxy-Authenticate", "Basic")
	_, _ = io.WriteString(w, "hello")
}

func (s *service) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

func newWorld(t *testing.T, config proxy.Config, patterns ...string) *world {
	t.Helper()
	w := &world{allowed: new(service), victim: new(service)}
	serve := func(address string, h http.Handler) string {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
		s.Start()
		t.Cleanup(s.Close)
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	w.port = serve("127.0.0.1:0", w.allowed)
	serve("127.0.0.2:"+w.port, w.victim)
	w.names = egresstest.NewNames(t, func(name string, nth int) []netip.Addr {
		switch {
		case name == "allowed.test", name == "rebind.test" && nth == 1:
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		case name == "victim.test", name == "rebind.test":
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
		case name == "metadata.test":
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}
		}
		return nil
	})
	for i, p := range patterns {
		patterns[i] = strings.ReplaceAll(p, "PORT", w.port)
	}
	policy, err := egress.NewPolicy(patterns)
	if err != nil {
		t.Fatal(err)
	}
	config.Dialer = egress.Dialer{Policy: policy, Resolver: w.names.Resolver()}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.proxy = w.listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		proxy.Serve(ctx, w.listener, config)
	}()
	w.end = func() {
		cancel()
		<-done
	}
	t.Cleanup(w.end)
	return w
}

// say sends bytes to the proxy as they are and gives its answers' statuses, until
// it closes the connection or has answered as often as was asked.
func (w *world) say(t *testing.T, text string) (statuses []int, rest string) {
	t.Helper()
	conn, err := net.Dial("tcp", w.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text = strings.ReplaceAll(text, "PORT", w.port)
	go func() { _, _ = io.WriteString(conn, text) }()
	all, _ := io.ReadAll(conn)
	in := bufio.NewReader(strings.NewReader(string(all)))
	method := "GET"
	if strings.HasPrefix(text, "CONNECT ") {
		method = http.MethodConnect
	}
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return statuses, rest
		}
		body, _ := io.ReadAll(resp.Body)
		statuses, rest = append(statuses, resp.StatusCode), string(body)
		if method == http.MethodConnect && resp.StatusCode == http.StatusOK {
			after, _ := io.ReadAll(in)
			return statuses, string(after)
		}
		if resp.Header.Get("Proxy-Authenticate") != "" {
			t.Errorf("a header between the service and the proxy came through")
		}
	}
}

const tunnelled = "GET /in HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n"

// Each attack has a control beside it: the same with what is allowed.
func TestAttacks(t *testing.T) {
	tests := []struct {
		name     string
		text     string
		statuses []int
		allowed  []string // what the allowed service was asked
	}{
		{"tunnel to an allowed name", "CONNECT allowed.test:PORT HTTP/1.1\r\nHost: allowed.test:PORT\r\n\r\n" + tunnelled, []int{200}, []string{`GET /in host=inside body=""`}},
		{"tunnel in capitals", "CONNECT ALLOWED.test:PORT HTTP/1.1\r\nHost: x\r\n\r\n" + tunnelled, []int{200}, []string{`GET /in host=inside body=""`}},
		{"tunnel, with another Host", "CONNECT allowed.test:PORT HTTP/1.1\r\nHost: victim.test:PORT\r\n\r\n" + tunnelled, []int{200}, []string{`GET /in host=inside body=""`}},
		{"tunnel to another name, with an allowed Host", "CONNECT victim.test:PORT HTTP/1.1\r\nHost: allowed.test:PORT\r\n\r\n" + tunnelled, []int{403}, nil},
		{"tunnel to an allowed name on another port", "CONNECT allowed.test:1 HTTP/1.1\r\nHost: allowed.test:1\r\n\r\n", []int{403}, nil},
		{"tunnel to loopback", "CONNECT 127.0.0.2:PORT HTTP/1.1\r\nHost: x\r\n\r\n" + tunnelled, []int{403}, nil},
		{"tunnel to localhost", "CONNECT localhost:PORT HTTP/1.1\r\nHost: x\r\n\r\n" + tunnelled, []int{403}, nil},
		{"tunnel to loopback 6", "CONNECT [::1]:PORT HTTP/1.1\r\nHost: x\r\n\r\n", []int{403}, nil},
		{"tunnel to mapped loopback", "CONNECT [::ffff:127.0.0.2]:PORT HTTP/1.1\r\nHost: x\r\n\r\n", []int{403}, nil},
		{"tunnel to the metadata address", "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n", []int{403}, nil},
		{"tunnel to a private address", "CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", []int{403}, nil},
		{"tunnel to a name of the metadata address", "CONNECT metadata.test:80 HTTP/1.1\r\nHost: x\r\n\r\n", []int{403}, nil},
		{"tunnel to a decimal address", "CONNECT 2130706434:PORT HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, nil},
		{"tunnel to a dotted name", "CONNECT allowed.test.:PORT HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, nil},
		{"tunnel to a user", "CONNECT allowed.test:PORT@victim.test:PORT HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, nil},
		{"tunnel to a URL", "CONNECT http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, nil},
		{"tunnel with a body", "CONNECT allowed.test:PORT HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", []int{400}, nil},
		{"tunnel with chunks", "CONNECT allowed.test:PORT HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{400}, nil},

		{"plain", "GET http://allowed.test:PORT/a?b HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n", []int{200}, []string{`GET /a?b host=allowed.test body=""`}},
		{"plain, with another Host", "GET http://allowed.test:PORT/a HTTP/1.1\r\nHost: victim.test\r\nConnection: close\r\n\r\n", []int{200}, []string{`GET /a host=allowed.test body=""`}},
		{"plain to another name, with an allowed Host", "GET http://victim.test:PORT/ HTTP/1.1\r\nHost: allowed.test:PORT\r\nConnection: close\r\n\r\n", []int{403}, nil},
		{"plain, with two Hosts", "GET http://allowed.test:PORT/ HTTP/1.1\r\nHost: allowed.test\r\nHost: victim.test\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"plain to the metadata address", "GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []int{403}, nil},
		{"plain to another port", "GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []int{403}, nil},
		{"plain with a user", "GET http://allowed.test:PORT@victim.test:PORT/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"plain https", "GET https://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"a path", "GET / HTTP/1.1\r\nHost: allowed.test:PORT\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}, nil},
		{"headers for the proxy", "GET http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic YTpi\r\nX-Hop: 1\r\nTE: trailers\r\nConnection: close, X-Hop\r\n\r\n", []int{200}, []string{`GET / host=allowed.test body=""`}},

		// A second request in what is a body for one reader and not for another.
		{"a body", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc", []int{200}, []string{`POST / host=allowed.test body="abc"`}},
		{"chunks", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n", []int{200}, []string{`POST / host=allowed.test body="abc"`}},
		{"a body that is a request", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 31\r\nConnection: close\r\n\r\nGET http://victim.test/ HTTP/1.1", []int{200}, []string{`POST / host=allowed.test body="GET http://victim.test/ HTTP/1."`}},
		{"length and chunks", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nGET http://victim.test:PORT/ HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, []string{`POST / host=allowed.test body=""`}},
		{"two lengths", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 40\r\nConnection: close\r\n\r\nGET http://victim.test:PORT/ HTTP/1.1\r\n\r\n", []int{400}, nil},
		{"an odd encoding", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nConnection: close\r\n\r\n0\r\n\r\n", []int{501}, nil},
		{"two encodings", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nConnection: close\r\n\r\n0\r\n\r\n", []int{501}, nil},
		{"a signed length", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\nConnection: close\r\n\r\nabc", []int{400}, nil},
		{"a space in a header's name", "POST http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", []int{400}, nil},
		{"lines in the request line", "GET http://allowed.test:PORT/\tx\rHost:victim HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []int{400}, nil},
		{"pipelined", "GET http://allowed.test:PORT/1 HTTP/1.1\r\nHost: x\r\n\r\nGET http://victim.test:PORT/2 HTTP/1.1\r\nHost: x\r\n\r\n", []int{200, 403}, []string{`GET /1 host=allowed.test body=""`}},
		{"a long head", "GET http://allowed.test:PORT/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", []int{431}, nil},
	}
	w := newWorld(t, proxy.Config{}, "allowed.test:PORT", "rebind.test:PORT", "metadata.test", "*:PORT", "127.0.0.1:PORT")
	// * would let the victim's name through, if its address were not this machine.
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			statuses, rest := w.say(t, tt.text)
			if diff := cmp.Diff(tt.statuses, statuses); diff != "" {
				t.Errorf("statuses (-want +got):\n%s\n%s", diff, rest)
			}
			if diff := cmp.Diff(tt.allowed, w.allowed.asked()); diff != "" {
				t.Errorf("the allowed service (-want +got):\n%s", diff)
			}
			if asked := w.victim.asked(); asked != nil {
				t.Errorf("the victim was asked %v", asked)
			}
			if strings.Contains(rest, "127.0.0.2") || strings.Contains(rest, "169.254") {
				t.Errorf("an address shows: %s", rest)
			}
		})
	}
	// The controls: the victim is there, and a proxy that may reach it does.
	open := newWorld(t, proxy.Config{}, "victim.test", "127.0.0.2")
	if statuses, _ := open.say(t, "CONNECT victim.test:PORT HTTP/1.1\r\nHost: x\r\n\r\n"+tunnelled); !cmp.Equal(statuses, []int{200}) || len(open.victim.asked()) != 1 {
		t.Errorf("the control: %v", statuses)
	}
}

// A name that means another machine the second time.
func TestRebinding(t *testing.T) {
	w := newWorld(t, proxy.Config{}, "rebind.test", "127.0.0.1")
	connect := "CONNECT rebind.test:PORT HTTP/1.1\r\nHost: x\r\n\r\n" + tunnelled
	if statuses, _ := w.say(t, connect); !cmp.Equal(statuses, []int{200}) || len(w.allowed.asked()) != 1 || w.names.Asked("rebind.test") != 1 {
		t.Errorf("first: %v", statuses)
	}
	if statuses, _ := w.say(t, connect); !cmp.Equal(statuses, []int{403}) || w.victim.asked() != nil {
		t.Errorf("second: %v", statuses)
	}
	if statuses, _ := w.say(t, "GET http://rebind.test:PORT/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !cmp.Equal(statuses, []int{403}) || w.victim.asked() != nil {
		t.Errorf("plain: %v", statuses)
	}
}

// Go's own client, through the proxy, over TLS as well.
func TestClient(t *testing.T) {
	w := newWorld(t, proxy.Config{}, "127.0.0.1")
	secure := httptest.NewTLSServer(w.allowed)
	defer secure.Close()
	client := secure.Client()
	client.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) {
		return &url.URL{Scheme: "http", Host: w.proxy}, nil
	}
	for _, where := range []string{secure.URL, "http://127.0.0.1:" + w.port} {
		resp, err := client.Post(where+"/x", "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || string(text) != "hello" || resp.Body.Close() != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if diff := cmp.Diff([]string{`POST /x host=127.0.0.1 body="body"`, `POST /x host=127.0.0.1 body="body"`}, w.allowed.asked()); diff != "" {
		t.Error(diff)
	}
	client.CloseIdleConnections()
}

// dialTunnel opens a tunnel to a service that says nothing.
func dialTunnel(t *testing.T, w *world, port string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", w.proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: x\r\n\r\n", port); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("HTTP/1.1 200 OK\r\n\r\n"))
	if _, err := io.ReadFull(conn, answer); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Fatalf("%q, %v", answer, err)
	}
	return conn
}

// silent accepts connections and gives each to the test.
func silent(t *testing.T) (port string, conns <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c := make(chan net.Conn, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c <- conn
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, c
}

// A tunnel carries both directions, ends one at a time, and ends when nobody
// says anything.
func TestTunnel(t *testing.T) {
	port, conns := silent(t)
	w := newWorld(t, proxy.Config{}, "127.0.0.1")
	near := dialTunnel(t, w, port)
	far := <-conns
	if _, err := io.WriteString(near, "ping"); err != nil || near.(*net.TCPConn).CloseWrite() != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(far); err != nil || string(text) != "ping" {
		t.Errorf("far heard %q, %v", text, err)
	}
	if _, err := io.WriteString(far, "pong"); err != nil || far.Close() != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(near); err != nil || string(text) != "pong" {
		t.Errorf("near heard %q, %v", text, err)
	}

	w = newWorld(t, proxy.Config{Idle: 50 * time.Millisecond}, "127.0.0.1")
	near = dialTunnel(t, w, port)
	far = <-conns
	for name, conn := range map[string]net.Conn{"near": near, "far": far} {
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: %d bytes of a silent tunnel", name, n)
		}
	}
}

// With its context a proxy ends all that it carries, and then itself.
func TestEnd(t *testing.T) {
	port, conns := silent(t)
	w := newWorld(t, proxy.Config{}, "127.0.0.1")
	near := dialTunnel(t, w, port)
	far := <-conns
	plain, err := net.Dial("tcp", w.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := fmt.Fprintf(plain, "GET http://127.0.0.1:%s/ HTTP/1.1\r\nHost: x\r\n\r\n", port); err != nil {
		t.Fatal(err)
	}
	asked := <-conns
	w.end()
	for name, conn := range map[string]net.Conn{"near": near, "far": far, "plain": plain, "asked": asked} {
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A proxy ends when no place is free too, though nobody leaves: neither the
// program nor the host that it has talked into saying nothing.
func TestEndWhenFull(t *testing.T) {
	port, conns := silent(t)
	w := newWorld(t, proxy.Config{Idle: time.Hour}, "127.0.0.1")
	var open []net.Conn
	for range proxy.MaxConnections {
		open = append(open, dialTunnel(t, w, port), <-conns)
	}
	w.end()
	for _, conn := range open {
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
}

// There are so many connections at a time and no more; a place that becomes
// free is taken.
func TestManyConnections(t *testing.T) {
	port, conns := silent(t)
	w := newWorld(t, proxy.Config{}, "127.0.0.1")
	var open []net.Conn
	for range proxy.MaxConnections {
		open = append(open, dialTunnel(t, w, port))
		<-conns
	}
	waiting, err := net.Dial("tcp", w.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(waiting, "CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: x\r\n\r\n", port)
		if err == nil {
			_, err = waiting.Read(make([]byte, 1))
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("one connection more was served: %v", err)
	case <-conns:
		t.Fatal("one connection more was made")
	case <-time.After(100 * time.Millisecond): // the control below shows that it would have been there
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	<-conns
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
