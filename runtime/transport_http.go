package runtime

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/internal/scrub"
	"github.com/mayfly-run/mayfly/manifests"
)

// web reaches http tools: it posts their arguments to their URL. Every call has
// a connection of its own, so that nothing is sent twice without a word and no
// call gets what another one left on the line.
type web struct {
	funcs    funcs // of a host in test mode
	testMode bool
	resolver *net.Resolver
	roots    *x509.CertPool
	vault    *vault
	now      func() time.Time
}

// errTestMode is why a host in test mode calls nobody.
var errTestMode = errors.New("the host is in test mode and calls nobody; give it a Go function of the tool's name in place of the service")

// errRunID is why a run's calls cannot be sent: its own fault, and nobody else's.
var errRunID = errors.New("the run's ID holds characters that cannot stand in an Idempotency-Key header; start runs with IDs of printable ASCII")

// prepare finds what is missing before anything is written down or sent.
func (w *web) prepare(ctx context.Context, t *manifests.Tool) *reply {
	if _, ok := w.standIn(t); ok {
		return nil
	}
	if _, err := w.exchange(t, ""); err != nil {
		r := unavailable(err)
		return &r
	}
	return nil
}

// standIn is the function that a host in test mode has in place of a service.
func (w *web) standIn(t *manifests.Tool) (Func, bool) {
	fn, ok := w.funcs[t.Metadata.Name]
	return fn, ok && w.testMode
}

func (w *web) invoke(ctx context.Context, in invocation) reply {
	if _, ok := w.standIn(in.tool); ok {
		return w.funcs.invoke(ctx, in)
	}
	x, err := w.exchange(in.tool, in.key)
	if err != nil {
		return unavailable(err)
	}
	x.parent = in.parent.Traceparent
	rep := x.run(ctx, in.args.Text())
	if rep.failure != nil { // its end may have been cut off
		message, _ := w.vault.scrubber().CutText([]byte(rep.failure.Message))
		rep.failure = &Failure{Type: rep.failure.Type, Message: string(message)}
	}
	return rep
}

// exchange makes ready what a call of a tool needs.
func (w *web) exchange(t *manifests.Tool, key string) (*exchange, error) {
	if w.testMode {
		return nil, errTestMode
	}
	policy, err := policyOf(t.Spec.EgressAllowed)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(t.Spec.URL)
	if err != nil {
		return nil, errors.New("the tool's URL cannot be read") // the error would quote it
	}
	x := &exchange{dialer: egress.Dialer{Policy: policy, Resolver: w.resolver}, roots: w.roots, to: to, now: w.now}
	if x.headers, err = w.vault.headers(t.Spec.HeadersEnv); err != nil {
		return nil, err
	}
	if key != "" {
		if !isFieldValue(key) {
			return nil, errRunID
		}
		x.key = key
	}
	return x, nil
}

// policyOf is whom hosts let a tool reach.
func policyOf(hosts []manifests.Host) (egress.Policy, error) {
	list := make([]string, len(hosts))
	for i, h := range hosts {
		list[i] = string(h)
	}
	return egress.NewPolicy(list)
}

// headersFrom reads the values of headers from the environment. A header
// without a value is an error: what is sent without its credential fails, at a
// place where nobody knows why.
func headersFrom(lookup func(string) (string, bool), names map[string]string) (http.Header, error) {
	h := make(http.Header, len(names))
	for _, header := range slices.Sorted(maps.Keys(names)) {
		variable := names[header]
		value, ok := lookup(variable)
		switch {
		case !ok:
			return nil, fmt.Errorf("header %s: the environment variable %s is not set; set it where Mayfly runs, or change headers_env", header, variable)
		case value == "":
			return nil, fmt.Errorf("header %s: the environment variable %s is empty; set it where Mayfly runs, or change headers_env", header, variable)
		case !isFieldValue(value):
			return nil, fmt.Errorf("header %s: the value of the environment variable %s cannot stand in a header (a line break, or a space at its end?)", header, variable)
		}
		h.Set(header, value)
	}
	return h, nil
}

// isFieldValue reports whether a text can be sent as the value of a header and
// arrives as it is.
func isFieldValue(s string) bool {
	return s != "" && s == strings.Trim(s, " \t") &&
		!strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' })
}

// secretsOf finds what in the headers' values is secret: a service may send it
// back.
func secretsOf(h http.Header, names map[string]string) []scrub.Value {
	var list []scrub.Value
	for header, variable := range names {
		value := h.Get(header)
		list = append(list, scrub.Value{Name: variable, Text: value})
		scheme, rest, found := strings.Cut(value, " ")
		if !found {
			continue
		}
		list = append(list, scrub.Value{Name: variable, Text: strings.TrimSpace(rest)})
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(pair), ":")
			list = append(list, scrub.Value{Name: variable, Text: password})
		}
	}
	return list
}
