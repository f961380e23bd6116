package egress

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Target is one place to connect to. It has one spelling only, so that what is
// checked is what is reached.
type Target struct {
	name string
	addr netip.Addr // of a target that is an address; an IPv4 one is one here
	port uint16
}

// errTarget does not quote what was given: it may come from a stranger.
var errTarget = errors.New("the host is not a plain host name or IP address with a port (no user, no zone, no other spelling of an address, no dot at the end, ASCII only)")

// ParseTarget reads host:port, with IPv6 addresses in brackets.
func ParseTarget(s string) (Target, error) {
	p, ok := ParsePattern(s)
	if !ok || p.port == 0 || p.kind != matchName && p.kind != matchAddr {
		return Target{}, errTarget
	}
	return Target{name: p.name, addr: p.addr.Unmap(), port: p.port}, nil
}

// TargetOf is where a URL leads. It must be an http or https URL without user
// and password. The port is that of the scheme unless the URL has one.
func TargetOf(u *url.URL) (Target, error) {
	host := u.Host
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, errors.New("the URL is neither http nor https")
	case u.User != nil || u.Opaque != "":
		return Target{}, errTarget
	case strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']'):
	case u.Scheme == "http":
		host += ":80"
	default:
		host += ":443"
	}
	return ParseTarget(host)
}

// Host is the name or the address, without brackets.
func (t Target) Host() string {
	if t.addr.IsValid() {
		return t.addr.String()
	}
	return t.name
}

// Port is the port.
func (t Target) Port() uint16 { return t.port }

// String gives host:port.
func (t Target) String() string { return net.JoinHostPort(t.Host(), strconv.Itoa(int(t.port))) }

// pattern is the pattern that names this target and no other.
func (t Target) pattern() Pattern {
	if t.addr.IsValid() {
		return Pattern{kind: matchAddr, addr: t.addr, port: t.port}
	}
	return Pattern{kind: matchName, name: t.name, port: t.port}
}
