package manifests

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/mayfly-run/mayfly/internal/egress"
)

// Host names where data may go: a host name, *.name for every host below it,
// an IP address, or * for everywhere, each with an optional :port. Names and *
// stand for addresses of the Internet. This machine, private networks and
// addresses with a special use are listed as what they are: an address,
// localhost, or, for a private network, a whole name below .internal or
// .home.arpa.
type Host string

const hostWords = "must be a host name, *.name, an IP address ([::1] for IPv6) or *, with an optional :port; no scheme, no path"

// ParseHost reads a host in lower case.
func ParseHost(s string) (Host, error) {
	h, why := parseHost(s)
	if why != "" {
		return "", &Error{File: "host", Code: CodeValue, Reason: why}
	}
	return h, nil
}

func parseHost(s string) (Host, string) {
	p, ok := egress.ParsePattern(s)
	if !ok {
		return "", hostWords
	}
	return Host(p.String()), ""
}

// Covers reports whether every place that other names is one that h names.
func (h Host) Covers(other Host) bool {
	a, okA := egress.ParsePattern(string(h))
	b, okB := egress.ParsePattern(string(other))
	return okA && okB && a.Covers(b)
}

// coveredBy reports whether any of the hosts covers h.
func (h Host) coveredBy(hosts []Host) bool {
	for _, other := range hosts {
		if other.Covers(h) {
			return true
		}
	}
	return false
}

// hostTexts gives hosts as what they are written as.
func hostTexts(hosts []Host) []string {
	list := make([]string, len(hosts))
	for i, h := range hosts {
		list[i] = string(h)
	}
	return list
}

func host(p *Host) slot {
	return formSlot[Host]{p: p, parse: parseHost, format: func(h Host) string { return string(h) },
		pattern: `^(\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?$`}
}

// address is an http or https URL.
var address = rule{pattern: `^https?://[^@#\s]+$`, check: func(s string) string {
	_, _, why := parseAddress(s)
	return why
}}

// parseAddress reads a URL. Errors of net/url quote it, so they are not used.
func parseAddress(s string) (*url.URL, egress.Target, string) {
	const words = "must be an http or https URL with a host, without user, password and fragment"
	u, err := url.Parse(s)
	if err != nil || strings.Contains(s, "#") || strings.HasSuffix(u.Host, ":") {
		return nil, egress.Target{}, words
	}
	t, err := egress.TargetOf(u)
	if err != nil {
		return nil, t, words
	}
	return u, t, ""
}

// addressHost is where a URL that keeps the rule leads, with its port.
func addressHost(s string) Host {
	_, t, why := parseAddress(s)
	if why != "" {
		return ""
	}
	h, _ := parseHost(t.String())
	return h
}

// plaintext reports whether a URL sends data in the clear to another machine.
func plaintext(s string) bool {
	u, _, why := parseAddress(s)
	if why != "" || u.Scheme != "http" {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil {
		return !ip.IsLoopback()
	}
	return name != "localhost" && !strings.HasSuffix(name, ".localhost")
}
