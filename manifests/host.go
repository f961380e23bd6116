package manifests

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Host names where data may go: a host name, *.name for every host below it,
// an IP address, or * for everywhere, each with an optional :port.
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
	name, port := splitPort(strings.ToLower(s))
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
			return "", hostWords
		}
		port = ":" + port
	}
	switch bare, wild := strings.CutPrefix(name, "*."); {
	case name == "*":
	case strings.HasPrefix(name, "["):
		ip, err := netip.ParseAddr(strings.TrimSuffix(name[1:], "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" || !strings.HasSuffix(name, "]") {
			return "", hostWords
		}
		name = "[" + ip.String() + "]"
	case isDotted(bare):
		if ip, err := netip.ParseAddr(bare); err != nil || !ip.Is4() || wild {
			return "", hostWords
		}
	case !isHostName(bare):
		return "", hostWords
	}
	return Host(name + port), ""
}

// splitPort cuts a port off, which may be empty.
func splitPort(s string) (name, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return s, ""
	}
	if i == len(s)-1 {
		return "", ""
	}
	return s[:i], s[i+1:]
}

// isDotted reports whether s would be read as an IPv4 address by something:
// its last label is a number.
func isDotted(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	return last != "" && digit(last[0]) && strings.Trim(last, "0123456789abcdefx") == ""
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !isLower(c) && !digit(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// Covers reports whether every place that other names is one that h names.
func (h Host) Covers(other Host) bool {
	name, port := splitPort(string(h))
	otherName, otherPort := splitPort(string(other))
	if port != "" && port != otherPort {
		return false
	}
	if name == "*" || name == otherName {
		return true
	}
	below, wild := strings.CutPrefix(name, "*")
	return wild && strings.HasSuffix(strings.TrimPrefix(otherName, "*"), below)
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

func host(p *Host) slot {
	return formSlot[Host]{p: p, parse: parseHost, format: func(h Host) string { return string(h) },
		pattern: `^(\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?$`}
}

// address is an http or https URL.
var address = rule{pattern: `^https?://[^@#\s]+$`, check: func(s string) string {
	if _, why := parseAddress(s); why != "" {
		return why
	}
	return ""
}}

// parseAddress reads a URL. Errors of net/url quote it, so they are not used.
func parseAddress(s string) (*url.URL, string) {
	const words = "must be an http or https URL with a host, without user, password and fragment"
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" || strings.Contains(s, "#") || u.Opaque != "" {
		return nil, words
	}
	h := u.Host
	if h == "" || strings.HasPrefix(h, "*") {
		return nil, words
	}
	if _, why := parseHost(h); why != "" {
		return nil, words
	}
	return u, ""
}

// addressHost is where a URL that keeps the rule leads, with its port.
func addressHost(s string) Host {
	u, why := parseAddress(s)
	if why != "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	name, _ := splitPort(u.Host)
	h, _ := parseHost(name + ":" + port)
	return h
}

// plaintext reports whether a URL sends data in the clear to another machine.
func plaintext(s string) bool {
	u, why := parseAddress(s)
	if why != "" || u.Scheme != "http" {
		return false
	}
	name := u.Hostname()
	if ip, err := netip.ParseAddr(name); err == nil {
		return !ip.IsLoopback()
	}
	return name != "localhost" && !strings.HasSuffix(name, ".localhost")
}
