package manifests

import "strings"

// headersSlot is a map from headers to the environment variables that hold
// their values.
type headersSlot struct{ mapSlot[string] }

func headers(p *map[string]string) slot {
	return headersSlot{mapSlot[string]{p, headerName, func(p *string) slot { return textSlot{p, variable} }}}
}

// read also refuses two spellings of one header.
func (h headersSlot) read(r *reporter, n *node) {
	h.mapSlot.read(r, n)
	seen := map[string]bool{}
	for _, key := range n.keys {
		name := strings.ToLower(key.text)
		if key.kind == textNode && seen[name] {
			r.at(key, CodeDuplicateKey, "names a header that stands here already; case does not count")
		}
		seen[name] = true
	}
}

// headerName is a header that a manifest may set: not one that the host sets,
// nor one that changes where a request goes or ends.
var headerName = rule{pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", check: func(s string) string {
	if s == "" || len(s) > MaxName {
		return "must be the name of a header"
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && !digit(c) && !isOneOf(c, "!#$%&'*+.^_`|~-") {
			return "must be the name of a header"
		}
	}
	switch strings.ToLower(s) {
	case "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "accept-encoding", "connection", "keep-alive", "upgrade", "te",
		"trailer", "expect", "proxy-connection", "idempotency-key":
		return "is a header that the host sets"
	}
	return ""
}}
