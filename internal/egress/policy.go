package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Policy says whom a tool may reach. The zero Policy is nobody.
type Policy struct {
	patterns []Pattern
	// operator is set for a place that the operator names for the host's own use.
	operator bool
}

// NewPolicy allows what the patterns name. It fails for one that is none.
func NewPolicy(patterns []string) (Policy, error) {
	var p Policy
	for _, s := range patterns {
		parsed, ok := ParsePattern(s)
		if !ok {
			return Policy{}, fmt.Errorf("egress: entry %d is not a host name, *.name, an IP address or *, with an optional port", len(p.patterns))
		}
		p.patterns = append(p.patterns, parsed)
	}
	return p, nil
}

// Operator allows one target that the operator's own settings name, wherever it
// is: in private networks and on this machine too. Addresses with a special use
// stay closed, by whatever name.
func Operator(t Target) Policy {
	return Policy{patterns: []Pattern{t.pattern()}, operator: true}
}

// RefusedError is a connection that a policy does not allow. Nothing was sent.
type RefusedError struct {
	// Target is host and port.
	Target string
	// Reason says why, and what would allow it.
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string { return "no connection to " + e.Target + ": " + e.Reason }

// Check says whether a target may be reached, as far as that can be said before
// its name is resolved; nil if it may. Refusals are of type [*RefusedError].
func (p Policy) Check(t Target) error {
	_, err := p.check(t, nil)
	return err
}

// check also gives the addresses of a target that needs no resolver.
func (p Policy) check(t Target, own []netip.Addr) ([]netip.Addr, error) {
	if !slices.ContainsFunc(p.patterns, func(pattern Pattern) bool { return pattern.Covers(t.pattern()) }) {
		return nil, &RefusedError{t.String(), "egress does not list it"}
	}
	if t.name == localhost {
		if !p.lists(t) {
			return nil, &RefusedError{t.String(), "this machine is reached only if egress lists localhost itself"}
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, p.checkAddr(t, t.addr, own)
	}
	return nil, nil
}

const localhost = "localhost"

// lists reports whether a pattern names the host of a target in full.
func (p Policy) lists(t Target) bool {
	return slices.ContainsFunc(p.patterns, func(pattern Pattern) bool {
		return pattern.kind == matchName && pattern.Covers(t.pattern())
	})
}

// checkAddr says whether a connection to a target, which has been checked, may
// go to an address.
func (p Policy) checkAddr(t Target, addr netip.Addr, own []netip.Addr) error {
	r := reachOf(addr, own)
	listed := Pattern{kind: matchAddr, addr: addr, port: t.port}
	switch {
	case r == reachGlobal:
		return nil
	case r == reachNever:
	case p.operator && r != reachPrivate && r != reachHere:
		return &RefusedError{t.String(), fmt.Sprintf("%s %s", addr, r)}
	case slices.ContainsFunc(p.patterns, func(pattern Pattern) bool { return pattern.kind == matchAddr && pattern.Covers(listed) }):
		return nil
	case t.name == localhost && within(addr, loopback):
		return nil
	case r == reachPrivate && isPrivateName(t.name) && p.lists(t):
		return nil
	case p.operator && (r == reachPrivate || r == reachHere):
		return nil
	default:
		return &RefusedError{t.String(), fmt.Sprintf("%s %s; egress has to list that address itself", addr, r)}
	}
	return &RefusedError{t.String(), fmt.Sprintf("%s %s", addr, r)}
}

// isPrivateName reports whether only a private network can have the name.
func isPrivateName(name string) bool {
	return strings.HasSuffix(name, ".internal") || strings.HasSuffix(name, ".home.arpa")
}
