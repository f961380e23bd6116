package egress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// reach is what kind of place an address leads to.
type reach uint8

const (
	// reachNever: no single peer has such an address.
	reachNever reach = iota
	// reachSpecial: link-local, metadata, reserved, transition mechanisms.
	reachSpecial
	// reachHere: this machine.
	reachHere
	// reachPrivate: a private network.
	reachPrivate
	// reachGlobal: the Internet.
	reachGlobal
)

// String says it in the words of an error.
func (r reach) String() string {
	return [...]string{
		"is not the address of a single host",
		"has a special use (link-local, metadata service, reserved, or IPv4 in IPv6)",
		"is this machine",
		"is on a private network",
		"is on the Internet",
	}[r]
}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// The ranges, from the registries of special-purpose addresses. For IPv6 the
// Internet is what has been given out for it, and nothing else.
var (
	loopback = prefixes("127.0.0.0/8", "::1/128")
	// metadata holds the addresses at which clouds give credentials to machines
	// and that are not link-local.
	metadata = prefixes("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128")
	private  = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
	special4 = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4")
	global6 = prefixes("2000::/3")
	// special6 is not the Internet: protocol assignments (with Teredo),
	// documentation, 6to4.
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
	// nat64 holds an IPv4 address in its last four bytes.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func within(addr netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// reachOf classifies an address; own are the machine's.
func reachOf(addr netip.Addr, own []netip.Addr) reach {
	addr = addr.Unmap()
	switch {
	case !addr.IsValid() || addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return reachNever
	case within(addr, loopback) || slices.Contains(own, addr):
		return reachHere
	case within(addr, metadata):
		return reachSpecial
	case within(addr, private):
		return reachPrivate
	case addr.Is4() && within(addr, special4):
		return reachSpecial
	case addr.Is4():
		return reachGlobal
	case nat64.Contains(addr):
		b := addr.As16()
		if reachOf(netip.AddrFrom4([4]byte(b[12:])), own) == reachGlobal {
			return reachGlobal
		}
		return reachSpecial
	case within(addr, global6) && !within(addr, special6):
		return reachGlobal
	}
	return reachSpecial
}

// machineAddrs gives this machine's addresses.
func machineAddrs() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list this machine's addresses: %w", err)
	}
	own := make([]netip.Addr, 0, len(list))
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap().WithZone(""))
		}
	}
	return own, nil
}
