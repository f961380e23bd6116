package runtime

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/internal/scrub"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// maxSecret is how many bytes a secret may have.
const maxSecret = 64 << 10

// maxRemembered is how many values of one name are remembered: those that it had
// last, and beyond them those of calls that still run.
const maxRemembered = 16

// vault fetches secrets when a call needs them. It remembers every value that it
// gave away, of all tools, and takes them out of whatever comes back: what one
// tool was handed can come back from another one.
type vault struct {
	harness   *manifests.Harness
	lookupEnv func(name string) (string, bool)
	testMode  bool

	mu     sync.Mutex
	given  map[string][]string // by name, the latest last
	using  map[secretValue]int // how many calls that run have it
	remove *scrub.Scrubber     // of all that was given
}

// secretValue is one value that a secret has, or had.
type secretValue struct{ name, value string }

// secretError says why a secret could not be had: its name and a reason, never
// anything of its value.
type secretError struct {
	name, reason string
	notSetUp     bool // it stays so until somebody does something about it
}

func (e *secretError) Error() string { return "secret " + e.name + ": " + e.reason }

// fetch gives the values of a tool's secrets. None of them is forgotten before
// done is called, which must be when nothing comes back from the call any more.
func (v *vault) fetch(ctx context.Context, t *manifests.Tool) (values map[string]string, done func(), err error) {
	names := v.harness.SecretsOf(t)
	if len(names) == 0 {
		return nil, func() {}, nil
	}
	values = make(map[string]string, len(names))
	for _, name := range names {
		value, err := v.value(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		values[name] = value
	}
	v.use(values, 1)
	for name, value := range values {
		v.remember(name, value)
	}
	return values, func() { v.use(values, -1) }, nil
}

// use counts the calls that have these values.
func (v *vault) use(values map[string]string, calls int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.using == nil {
		v.using = make(map[secretValue]int)
	}
	for name, value := range values {
		s := secretValue{name, value}
		if v.using[s] += calls; v.using[s] == 0 {
			delete(v.using, s)
		}
	}
}

// value gives the value of one secret.
func (v *vault) value(ctx context.Context, name string) (string, error) {
	secret, ok := v.harness.Secrets[name]
	if !ok {
		return "", &secretError{name, "the harness does not say where it comes from", true}
	}
	var value, reason string
	lasts := true // until somebody does something about it
	switch {
	case secret.Env != "":
		if value, ok = v.lookupEnv(secret.Env); !ok {
			reason = "the environment variable " + secret.Env + " is not set; set it where Mayfly runs, or say in spec.secrets of the harness where the value comes from"
		}
	case secret.File != "":
		value, reason = v.fromFile(secret.File)
	case secret.Command != nil:
		value, reason, lasts = v.fromCommand(ctx, secret)
	default:
		reason = "the harness does not say where it comes from"
	}
	if reason == "" {
		reason = unusable(value)
	}
	if reason != "" {
		return "", &secretError{name, reason, lasts}
	}
	return value, nil
}

// unusable says why a value cannot be handed over; empty: it can.
func unusable(value string) string {
	switch {
	case len(value) > maxSecret:
		return fmt.Sprintf("its value has more than %d bytes", maxSecret)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "its value is not UTF-8 text without zero bytes; encode it, for instance in base64"
	case len(value) < scrub.MinLength:
		return fmt.Sprintf("its value has fewer than %d bytes, too few to be recognized and taken out of results", scrub.MinLength)
	}
	return ""
}

// oneLine takes off the line end that tools put behind a value.
func oneLine(value string) string {
	return strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r")
}

// remember makes sure that a value does not come back.
func (v *vault) remember(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.given[name]
	if i := slices.Index(known, value); i >= 0 { // it is the latest again
		v.given[name] = append(slices.Delete(known, i, i+1), value)
		return
	}
	if v.given == nil {
		v.given = make(map[string][]string)
	}
	tooMany := len(known) + 1 - maxRemembered
	v.given[name] = append(slices.DeleteFunc(known, func(old string) bool {
		if tooMany <= 0 || v.using[secretValue{name, old}] > 0 {
			return false
		}
		tooMany--
		return true
	}), value)
	var all []scrub.Value
	for _, name := range slices.Sorted(maps.Keys(v.given)) {
		for _, value := range v.given[name] {
			all = append(all, scrub.Value{Name: name, Text: value})
		}
	}
	v.remove = scrub.New(all)
}

// scrubber takes out everything that was given away until now; nil if there is
// nothing.
func (v *vault) scrubber() *scrub.Scrubber {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.remove
}

// headers reads the values of headers from the environment. They are as secret as
// secrets are, but for those that are too short for it.
func (v *vault) headers(names map[string]string) (http.Header, error) {
	h, err := headersFrom(v.lookupEnv, names)
	if err != nil {
		return nil, err
	}
	for _, secret := range secretsOf(h, names) {
		if len(secret.Text) >= scrub.MinLength {
			v.remember(secret.Name, secret.Text)
		}
	}
	return h, nil
}

// redactedSecret counts secrets among what was taken out of a result.
const redactedSecret = "secret"

// clean takes everything that was given away out of a reply, and counts it.
func (v *vault) clean(rep *reply) (int, error) {
	s := v.scrubber()
	if s == nil {
		return 0, nil
	}
	total := 0
	if rep.json != nil {
		text, n, err := s.JSON(rep.json)
		if err != nil {
			return 0, err
		}
		rep.json, total = text, n
	}
	if f := rep.failure; f != nil {
		rep.failure = &Failure{Type: s.String(f.Type), Message: s.String(f.Message)}
	}
	if rep.sandbox != nil {
		result, err := cleanResult(s, *rep.sandbox)
		if err != nil {
			return 0, err
		}
		files, n := cleanArtifacts(s, result.Artifacts)
		result.Artifacts, total = files, total+n
		rep.sandbox = &result
	}
	return total, nil
}

// cleanApproval is clean for what a person is asked about.
func (v *vault) cleanApproval(a *Approval) {
	s := v.scrubber()
	if s == nil {
		return
	}
	for _, text := range []*string{&a.Args, &a.EditedArgs} {
		if clean, _, err := s.JSON([]byte(*text)); err == nil {
			*text = string(clean)
		} else {
			*text = s.String(*text) // it is empty, or not the store's own
		}
	}
	a.Reason = s.String(a.Reason)
}

// cleanResult is clean for what code left.
func cleanResult(s *scrub.Scrubber, r sandbox.Result) (sandbox.Result, error) {
	cut := func(text []byte, full int64) []byte {
		clean := s.Text
		if full > 0 {
			clean = s.CutText
		}
		text, _ = clean(text)
		return text
	}
	t := sandbox.Truncated{}
	if r.Truncated != nil {
		t = *r.Truncated
	}
	r.Stdout, r.Stderr = cut(r.Stdout, t.Stdout), cut(r.Stderr, t.Stderr)
	r.ValuePrefix = string(cut([]byte(r.ValuePrefix), t.Value))
	if r.Value != nil {
		value, _, err := s.JSON(r.Value)
		if err != nil {
			return r, err
		}
		r.Value = value
	}
	if r.Error != nil {
		e := *r.Error
		for _, text := range []*string{&e.Type, &e.Message, &e.Source, &e.Path, &e.Traceback} {
			*text = s.String(*text)
		}
		r.Error = &e
	}
	return r, nil
}
