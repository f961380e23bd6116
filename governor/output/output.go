// Package output is what is done to a tool's result before anything else sees
// it: sanitize, then cut. (Whether the result is then labelled as somebody
// else's words is the governor's business.)
//
// What it guarantees, for every input: the text is valid UTF-8, has at most as
// many bytes as the policy allows, and says so when something was cut off. The
// cut comes after the sanitizers, so it never brings back what they took out,
// and never makes half a number look like a whole one of another kind. A JSON
// result that is not cut stays JSON, with every number that is not redacted
// written as it was. Doing it twice changes nothing more. It takes time linear in
// the size of the result.
//
// What it does not guarantee: that nothing personal and no order to a model is
// left. Sanitizers recognize forms; make corpus prints how well. Names, addresses
// of streets, free descriptions, and anything encoded pass through.
//
//	o, err := output.New(output.Policy{MaxBytes: 20000, Sanitizers: []string{output.RedactPII}})
//	…
//	r := o.JSON(result)
package output

import (
	"errors"
	"fmt"
	"slices"
)

// The sanitizers.
const (
	// RedactPII puts a placeholder in the place of e-mail addresses, phone
	// numbers, payment cards, IBANs, IP addresses and US social security numbers.
	RedactPII = "pii_redact"
	// StripInstructions takes out what is meant for a model instead of a reader.
	StripInstructions = "strip_instructions"
)

// Policy says what is done to the results of a tool.
type Policy struct {
	// MaxBytes is the most bytes of UTF-8 that a result has, including the note
	// that it was cut. At least 1.
	MaxBytes int64
	// Sanitizers run in this order, each at most once. Default: none.
	Sanitizers []string
}

// Output applies one policy. It can be used from several goroutines at once.
type Output struct {
	maxBytes   int
	sanitizers []sanitizer
}

// Result is what is left of a result.
type Result struct {
	// Text is valid UTF-8 of at most MaxBytes bytes.
	Text string
	// JSON says that Text is one JSON value. Text that was cut is not.
	JSON bool
	// Truncated says that something was cut off; Text then ends in a note that
	// says how large the result was, as far as there is room for one: from about 45
	// bytes on always, and below 3 bytes nothing is kept.
	Truncated bool
	// OriginalBytes is how large the result was before anything was done to it,
	// for JSON in its compact form.
	OriginalBytes int64
	// Redactions are how many places were taken out, by kind; nil if none were.
	// See [Kinds].
	Redactions map[string]int
}

// New checks a policy. All that is wrong with it is in the error.
func New(p Policy) (*Output, error) {
	var errs []error
	if p.MaxBytes < 1 {
		errs = append(errs, fmt.Errorf("output: max_bytes is %d; it must be at least 1", p.MaxBytes))
	}
	o := &Output{maxBytes: int(min(p.MaxBytes, maxInt))}
	for i, name := range p.Sanitizers {
		s, ok := sanitizers[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("output: there is no sanitizer %q; there are %s and %s", name, RedactPII, StripInstructions))
		case slices.Contains(p.Sanitizers[:i], name):
			errs = append(errs, fmt.Errorf("output: sanitizer %s is listed twice", name))
		default:
			o.sanitizers = append(o.sanitizers, s)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return o, nil
}

const maxInt = int64(^uint(0) >> 1)

// Apply treats value as JSON if the whole of it is one JSON value, else as text.
func (o *Output) Apply(value []byte) Result {
	if r, err := o.JSON(value); err == nil {
		return r
	}
	c := counts{}
	text := o.cleanText(string(value), c)
	if len(c) > 0 {
		// What stood around a JSON value may be gone now.
		if clean, _, err := o.rewrite([]byte(text), c); err == nil {
			return o.finish(clean, true, int64(len(value)), c)
		}
	}
	return o.finish(text, false, int64(len(value)), c)
}

// Sanitizes reports whether the policy has sanitizers.
func (o *Output) Sanitizes() bool { return len(o.sanitizers) > 0 }

// Whole sanitizes a text as [Output.Apply] does, and does not cut it. It gives
// how many places were taken out, by kind.
func (o *Output) Whole(value string) (string, map[string]int) {
	c := counts{}
	if text, _, err := o.rewrite([]byte(value), c); err == nil {
		if len(c) == 0 {
			return value, nil // as it was written
		}
		return text, c
	}
	c = counts{}
	return o.cleanText(value, c), c
}

// Text treats value as text. What is not UTF-8 in it becomes U+FFFD.
func (o *Output) Text(value string) Result {
	c := counts{}
	return o.finish(o.cleanText(value, c), false, int64(len(value)), c)
}

// JSON treats value as JSON: it is made compact, and strings and keys are
// sanitized one by one. Keys that become the same stay apart: [EMAIL],
// [EMAIL]#2; so do keys that were the same before. Half a surrogate pair, and
// what is not UTF-8, becomes U+FFFD. An error says that value is not one JSON
// value, or is nested deeper than 10000.
func (o *Output) JSON(value []byte) (Result, error) {
	c := counts{}
	text, original, err := o.rewrite(value, c)
	if err != nil {
		return Result{}, err
	}
	return o.finish(text, true, original, c), nil
}

// finish cuts what was sanitized.
func (o *Output) finish(text string, isJSON bool, original int64, c counts) Result {
	r := Result{Text: text, JSON: isJSON, OriginalBytes: original}
	if len(c) > 0 {
		r.Redactions = c
	}
	o.cut(&r)
	return r
}

// counts are redactions by kind.
type counts = map[string]int
