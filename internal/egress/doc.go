// Package egress decides whom a tool may reach, and connects to nobody else.
//
// A [Policy] is a list of [Pattern], as a manifest's egress has them. A [Target]
// is a host in its only spelling, and a port. [Dialer] brings the two together:
// it asks the policy about the target's name, resolves the name itself, asks
// about each address, and connects to the very address that was checked. So a
// name that resolves to something else the next time gains nothing.
//
// A pattern that names a host, *.host or * gives what those names are for:
// addresses of the Internet. Everything else has to be named as what it is:
//
//   - an IP address that is listed is granted, whatever it is, both to itself
//     and to listed names that resolve to it;
//   - localhost, if it is listed, is granted and means 127.0.0.1 and ::1; it is
//     never looked up;
//   - a name below .internal or .home.arpa that is listed in full, without *,
//     may have addresses of private networks: the public DNS has no such names.
//
// Private are 10/8, 172.16/12, 192.168/16, 100.64/10 and fc00::/7. Loopback, the
// machine's own addresses, link-local addresses, the addresses at which clouds
// keep credentials, and ranges with a special use are reached only if listed,
// and also not in an IPv6 spelling that stands for an IPv4 address. Multicast,
// broadcast and unspecified addresses are never reached.
package egress
