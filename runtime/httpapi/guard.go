package httpapi

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// fromHere refuses requests that a page of another site made a browser send, and
// those for a name that a stranger gave this address (DNS rebinding).
func (s *Server) fromHere(r *http.Request) *refused {
	host := hostName(r.Host)
	if !s.isOurs(host) {
		return refuse(http.StatusMisdirectedRequest, "host", "Host", "the server is not known by this name; mayfly serve --host adds one")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) || u.Path != "" || u.User != nil {
			return crossSite("Origin")
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	return crossSite("Sec-Fetch-Site")
}

func crossSite(header string) *refused {
	return refuse(http.StatusForbidden, "cross_site", header, "requests from pages of other sites are refused")
}

func (s *Server) isOurs(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		// A name can be made to point here, an address is what it is.
		return ip.IsLoopback() || slices.ContainsFunc(s.config.Hosts, func(h string) bool { return ip.Equal(net.ParseIP(h)) })
	}
	return host != "" && slices.ContainsFunc(s.config.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// hostName is a Host header without port and brackets.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
