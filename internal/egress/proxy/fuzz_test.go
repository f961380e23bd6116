package proxy_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/internal/egress/proxy"
)

// FuzzRequests: whatever a client says, no name but the listed one is even looked
// up, and nobody but who answers to it is connected to.
func FuzzRequests(f *testing.F) {
	for _, s := range []string{
		"CONNECT allowed.test:80 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT victim.test:80 HTTP/1.1\r\nHost: allowed.test:80\r\n\r\n",
		"GET http://allowed.test/ HTTP/1.1\r\nHost: victim.test\r\n\r\n",
		"GET http://allowed.test@victim.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://victim.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://127.0.0.2:80/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://2130706434/ HTTP/1.0\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	victim, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		f.Fatal(err)
	}
	defer victim.Close()
	reached := make(chan net.Addr, 1)
	go func() {
		for {
			conn, err := victim.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			select {
			case reached <- conn.RemoteAddr():
			default:
			}
		}
	}()
	// Of each name, and so of the allowed one, the victim is one address, which
	// the policy does not list.
	names := egresstest.NewNames(f, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.2")} })
	policy, err := egress.NewPolicy([]string{"allowed.test"})
	if err != nil {
		f.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		proxy.Serve(ctx, l, proxy.Config{Dialer: egress.Dialer{Policy: policy, Resolver: names.Resolver()}})
	}()
	defer func() {
		cancel()
		<-done
	}()
	_, port, err := net.SplitHostPort(victim.Addr().String())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		said = bytes.ReplaceAll(said, []byte(":80"), []byte(":"+port))
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(said)
		answer, _ := io.ReadAll(conn)
		if bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) {
			t.Fatalf("%q was answered %q", said, answer)
		}
		select {
		case who := <-reached:
			t.Fatalf("%q reached the victim from %s", said, who)
		default:
		}
		if all := names.All(); len(all) > 1 || len(all) == 1 && all[0] != "allowed.test" {
			t.Fatalf("%q had %q looked up", said, all)
		}
	})
}
