package egress_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
)

// listen accepts connections and says who it is; it gives the port.
func listen(t *testing.T, address, says string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, says)
			_ = conn.Close()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func heard(t *testing.T, d *egress.Dialer, address string) string {
	t.Helper()
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func refused(t *testing.T, d *egress.Dialer, address string) {
	t.Helper()
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if _, ok := errors.AsType[*egress.RefusedError](err); !ok {
		t.Errorf("%s: connection %v, %v", address, conn, err)
	}
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func TestDial(t *testing.T) {
	port := listen(t, "127.0.0.1:0", "one")
	names := egresstest.NewNames(t, func(name string, _ int) []netip.Addr {
		switch name {
		case "one.test":
			return addrs("127.0.0.1")
		case "mixed.test":
			return addrs("127.0.0.2", "127.0.0.1", "::1")
		case "metadata.test":
			return addrs("169.254.169.254")
		}
		return nil
	})
	with := func(patterns ...string) *egress.Dialer {
		return &egress.Dialer{Policy: policy(t, patterns...), Resolver: names.Resolver()}
	}
	if got := heard(t, with("127.0.0.1"), "127.0.0.1:"+port); got != "one" {
		t.Errorf("heard %q", got)
	}
	if got := heard(t, with("localhost"), "LocalHost:"+port); got != "one" {
		t.Errorf("heard %q", got)
	}
	if got := heard(t, with("one.test", "127.0.0.1:"+port), "one.test:"+port); got != "one" {
		t.Errorf("heard %q", got)
	}
	// Of several addresses only the granted one is connected to.
	if got := heard(t, with("mixed.test", "127.0.0.1"), "mixed.test:"+port); got != "one" {
		t.Errorf("heard %q", got)
	}
	target, err := egress.ParseTarget("one.test:" + port)
	if err != nil {
		t.Fatal(err)
	}
	if got := heard(t, &egress.Dialer{Policy: egress.Operator(target), Resolver: names.Resolver()}, "one.test:"+port); got != "one" {
		t.Errorf("heard %q", got)
	}

	refused(t, with("one.test"), "one.test:"+port) // resolves to this machine
	refused(t, with("*"), "one.test:"+port)
	refused(t, with("one.test", "127.0.0.1:1"), "one.test:"+port)
	refused(t, with("one.test", "127.0.0.2"), "one.test:"+port)
	refused(t, with("*"), "127.0.0.1:"+port)
	refused(t, with("*"), "localhost:"+port)
	refused(t, with("127.0.0.1"), "one.test:"+port)
	refused(t, with("*"), "metadata.test:80")
	refused(t, &egress.Dialer{Policy: egress.Operator(target), Resolver: names.Resolver()}, "metadata.test:80")
	refused(t, &egress.Dialer{}, "one.test:"+port)
	for _, odd := range []string{"0x7f.0.0.1:" + port, "2130706433:" + port, "127.1:" + port, "one.test.:" + port, "127.0.0.1", ""} {
		refused(t, with("*", "127.0.0.1", "localhost"), odd)
	}
	if n := names.Asked("localhost"); n != 0 {
		t.Errorf("localhost was looked up %d times", n)
	}
	if conn, err := with("*").DialContext(t.Context(), "udp", "one.test:53"); err == nil {
		t.Errorf("udp: %v", conn)
	}
}

// An operator's own URL may lead to this machine, and still not to a metadata
// address that its name turns into.
func TestOperatorMetadata(t *testing.T) {
	names := egresstest.NewNames(t, func(string, int) []netip.Addr { return addrs("169.254.169.254") })
	target, err := egress.ParseTarget("judge.test:80")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, &egress.Dialer{Policy: egress.Operator(target), Resolver: names.Resolver()}, "judge.test:80")
	// Checked only: nothing may be sent there.
	for _, literal := range []string{"169.254.169.254:80", "[fd00:ec2::254]:80", "[::ffff:169.254.169.254]:80"} {
		target, err := egress.ParseTarget(literal)
		if err != nil {
			continue // such a form is no target at all
		}
		if err := egress.Operator(target).Check(target); err == nil {
			t.Errorf("%s is allowed", literal)
		}
	}
	target, err = egress.ParseTarget("10.1.2.3:80")
	if err != nil {
		t.Fatal(err)
	}
	if err := egress.Operator(target).Check(target); err != nil {
		t.Error(err)
	}
}

// A name that resolves to another address the second time: what was checked is
// what is connected to, and the second connection is checked again.
func TestRebinding(t *testing.T) {
	port := listen(t, "127.0.0.1:0", "allowed")
	listen(t, "127.0.0.2:"+port, "victim")
	names := egresstest.NewNames(t, func(_ string, nth int) []netip.Addr {
		if nth == 1 {
			return addrs("127.0.0.1")
		}
		return addrs("127.0.0.2")
	})
	d := &egress.Dialer{Policy: policy(t, "rebind.test", "127.0.0.1"), Resolver: names.Resolver()}
	if got := heard(t, d, "rebind.test:"+port); got != "allowed" {
		t.Errorf("heard %q", got)
	}
	if n := names.Asked("rebind.test"); n != 1 {
		t.Errorf("the name was looked up %d times for one connection", n)
	}
	refused(t, d, "rebind.test:"+port)

	// The control: a dialer that does not check gets to the victim.
	conn, err := (&net.Dialer{Resolver: names.Resolver()}).DialContext(t.Context(), "tcp", "rebind.test:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, _ := io.ReadAll(conn); string(text) != "victim" {
		t.Errorf("the control heard %q", text)
	}
}

// The machine's own addresses are this machine, whatever range they are in.
func TestOwnAddress(t *testing.T) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() || prefix.Addr().IsLinkLocalUnicast() {
			continue
		}
		own := prefix.Addr()
		port := listen(t, net.JoinHostPort(own.String(), "0"), "own")
		names := egresstest.NewNames(t, func(string, int) []netip.Addr { return []netip.Addr{own} })
		refused(t, &egress.Dialer{Policy: policy(t, "*", "own.internal"), Resolver: names.Resolver()}, "own.internal:"+port)
		return
	}
	t.Skip("this machine has no address but the loopback interface's")
}

// A name that does not exist is no refusal: it may exist later.
func TestNoSuchName(t *testing.T) {
	names := egresstest.NewNames(t, func(string, int) []netip.Addr { return nil })
	d := &egress.Dialer{Policy: policy(t, "*"), Resolver: names.Resolver(), Timeout: time.Minute}
	conn, err := d.DialContext(t.Context(), "tcp", "nowhere.test:80")
	if err == nil {
		t.Fatalf("a name that does not exist: %v", conn)
	}
	if _, is := errors.AsType[*egress.RefusedError](err); is {
		t.Errorf("a name that does not exist is refused: %v", err)
	}
}
