package egress

import (
	"net/netip"
	"strconv"
	"strings"
)

// Pattern is one entry of a list of hosts: a host name, *.name for every name
// below it, an IP address, or * for every name and address, each with an optional
// port. The zero Pattern matches nothing.
type Pattern struct {
	kind patternKind
	// name is the host of an exact pattern, and what follows *. of a wild one.
	name string
	addr netip.Addr
	port uint16 // 0: every port
}

type patternKind uint8

const (
	matchNone patternKind = iota
	matchAll
	matchBelow
	matchName
	matchAddr
)

// ParsePattern reads a pattern; letters of either case are the same. It reports
// false for everything that could mean two things: only a dotted quad is an IPv4
// address, IPv6 addresses stand in brackets and have no zone, names are ASCII
// and do not end in a dot.
func ParsePattern(s string) (Pattern, bool) {
	name, port, ok := splitPort(s)
	if !ok {
		return Pattern{}, false
	}
	p := Pattern{port: port}
	if name == "*" {
		p.kind = matchAll
		return p, true
	}
	bare, below := strings.CutPrefix(name, "*.")
	p.name, p.addr, ok = parseHost(bare)
	switch {
	case !ok || below && p.addr.IsValid():
		return Pattern{}, false
	case below:
		p.kind = matchBelow
	case p.addr.IsValid():
		p.kind = matchAddr
	default:
		p.kind = matchName
	}
	return p, true
}

// splitPort cuts a port off and checks it; 0 if there is none.
func splitPort(s string) (name string, port uint16, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return s, 0, true
	}
	text := s[i+1:]
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '0' || text[0] == '+' {
		return "", 0, false
	}
	return s[:i], uint16(n), true
}

// parseHost reads a host name, which it gives in lower case, or an address.
func parseHost(s string) (name string, addr netip.Addr, ok bool) {
	if inner, v6 := strings.CutPrefix(s, "["); v6 {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return "", addr, closed && err == nil && addr.Is6() && addr.Zone() == ""
	}
	name = lower(s)
	if isDotted(name) {
		addr, err := netip.ParseAddr(name)
		return "", addr, err == nil && addr.Is4()
	}
	return name, netip.Addr{}, isHostName(name)
}

// lower is for ASCII only: Unicode has letters whose lower case is an ASCII one.
func lower(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, s)
}

// isDotted reports whether something would read s as an IPv4 address: its last
// label is a number.
func isDotted(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	return last != "" && last[0] >= '0' && last[0] <= '9' && strings.Trim(last, "0123456789abcdefx") == ""
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// String gives the pattern in its one spelling.
func (p Pattern) String() string {
	name := p.name
	switch p.kind {
	case matchNone:
		return ""
	case matchAll:
		name = "*"
	case matchBelow:
		name = "*." + p.name
	case matchAddr:
		name = hostText(p.addr)
	}
	if p.port != 0 {
		name += ":" + strconv.Itoa(int(p.port))
	}
	return name
}

// hostText is an address as it stands in a URL.
func hostText(addr netip.Addr) string {
	if addr.Is6() {
		return "[" + addr.String() + "]"
	}
	return addr.String()
}

// Covers reports whether every place that other names is one that p names.
func (p Pattern) Covers(other Pattern) bool {
	if other.kind == matchNone || p.port != 0 && p.port != other.port {
		return false
	}
	switch p.kind {
	case matchAll:
		return true
	case matchBelow:
		below := "." + p.name
		return other.kind == matchBelow && (other.name == p.name || strings.HasSuffix(other.name, below)) ||
			other.kind == matchName && strings.HasSuffix(other.name, below)
	case matchName:
		return other.kind == matchName && other.name == p.name
	case matchAddr:
		return other.kind == matchAddr && other.addr.Unmap() == p.addr.Unmap()
	}
	return false
}
