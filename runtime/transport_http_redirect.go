package runtime

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mayfly-run/mayfly/internal/egress"
)

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// ambiguousRedirect reports whether a redirect that is not followed leaves open
// what was done. 307 and 308 say that another place is to be asked to do it; of
// the others nobody knows.
func ambiguousRedirect(status int) bool {
	return status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect
}

// follow gives the request that a redirect asks for. 307 and 308 repeat the
// request elsewhere; 303 says that it was carried out and where the result is.
// 301 and 302 mean either, so they are not followed for arguments.
func (x *exchange) follow(h *hop, resp *http.Response) (*hop, error) {
	next := &hop{method: h.method, body: h.body}
	switch status := resp.StatusCode; {
	case status == http.StatusSeeOther:
		x.done = true
		next.method, next.body = http.MethodGet, ""
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
	case h.method == http.MethodGet && (status == http.StatusMovedPermanently || status == http.StatusFound):
	default:
		return nil, fmt.Errorf("status %d does not say whether the arguments are to be sent again; the service has to answer with 307 or 308, or with 303 when it is done", status)
	}
	given := resp.Header.Values("Location")
	if len(given) != 1 {
		return nil, fmt.Errorf("a redirect with %d Location headers", len(given))
	}
	where, err := url.Parse(given[0])
	if err != nil {
		return nil, errors.New("a redirect to what is no URL")
	}
	next.to = h.to.ResolveReference(where)
	next.to.Fragment, next.to.RawFragment = "", ""
	if next.target, err = egress.TargetOf(next.to); err != nil {
		return nil, fmt.Errorf("a redirect: %w", err)
	}
	if h.to.Scheme == "https" && next.to.Scheme != "https" {
		return nil, errors.New("a redirect from https to http")
	}
	if err := x.dialer.Policy.Check(next.target); err != nil {
		return nil, fmt.Errorf("a redirect: %w", err)
	}
	next.known = h.known && next.to.Scheme == h.to.Scheme && next.target == h.target
	return next, nil
}
