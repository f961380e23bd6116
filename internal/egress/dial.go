package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// Dialer connects to what its policy allows, over TCP. It uses no proxy.
type Dialer struct {
	// Policy says whom. The zero one allows nobody.
	Policy Policy
	// Resolver resolves names. Default: Go's own, by the system's settings.
	Resolver *net.Resolver
	// Timeout bounds name resolution and connecting together. Default 10s.
	Timeout time.Duration
}

var systemResolver = &net.Resolver{PreferGo: true}

// DialContext connects to host:port, as net/http asks for it. What the policy
// does not allow ends in a [*RefusedError] before anything is sent.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, errors.New("egress: only TCP is dialled")
	}
	t, err := ParseTarget(address)
	if err != nil {
		return nil, &RefusedError{"an address", err.Error()}
	}
	return d.Dial(ctx, t)
}

// Dial connects to a target.
func (d *Dialer) Dial(ctx context.Context, t Target) (net.Conn, error) {
	timeout := d.Timeout
	if timeout <= 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own, err := machineAddrs()
	if err != nil {
		return nil, err
	}
	addrs, err := d.Policy.check(t, own)
	if err != nil {
		return nil, err
	}
	if addrs == nil {
		if addrs, err = d.resolve(ctx, t); err != nil {
			return nil, err
		}
	}
	var refused, failed error
	for i, addr := range addrs {
		if err := d.Policy.checkAddr(t, addr, own); err != nil {
			refused = err
			continue
		}
		conn, err := connect(ctx, addr.Unmap(), t.port, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		failed = err
	}
	switch {
	case failed != nil:
		return nil, failed
	case refused != nil:
		return nil, refused
	}
	return nil, fmt.Errorf("connect to %s: the name has no address", t)
}

func (d *Dialer) resolve(ctx context.Context, t Target) ([]netip.Addr, error) {
	resolver := d.Resolver
	if resolver == nil {
		resolver = systemResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", t.name)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t, err)
	}
	return addrs, nil
}

// connect connects to the one address that was checked. It takes its share of
// the time that is left, so that one dead address leaves some to the others.
func connect(ctx context.Context, addr netip.Addr, port uint16, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	want := netip.AddrPortFrom(addr, port)
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		// The last look before the kernel connects: it must be what was checked.
		if got, err := netip.ParseAddrPort(address); err != nil || netip.AddrPortFrom(got.Addr().Unmap(), got.Port()) != want {
			return errors.New("BUG(mayfly): another address than the one that was checked")
		}
		return nil
	}}
	dialer.SetMultipathTCP(false)
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), strconv.Itoa(int(port))))
}
