package runtime

import (
	"regexp"
	"slices"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
)

// maxSpanArguments is how much of a call's arguments stands in its span, in bytes.
const maxSpanArguments = 1024

// maxReadArguments is how long arguments may be that are looked through, in bytes:
// a call must not take longer because somebody may look at its span.
const maxReadArguments = 64 << 10

// withheld stands in a span in place of an argument.
const withheld = "[WITHHELD]"

// credentialName tells names of what is secret, whatever a schema says of it.
var credentialName = regexp.MustCompile(`(?i)passw(or)?d|passphrase|passcode|secret|token|credential|authorization|cookie|api[-_ ]?key|(private|access|signing)[-_ ]?key|^(auth|pwd|pin|otp|cvv|cvc)$`)

// spanArguments is what the span of a call that was allowed may say of its
// arguments; empty: nothing, unless the operator named the tool. What a schema or
// its own name marks as secret is withheld, and what is left goes through the vault
// and the redaction of personal data, whatever the tool's own manifest wants for
// results: a collector keeps more, and shows it to more people, than a model does.
// Whatever cannot be looked through is withheld as a whole.
func (r *Runtime) spanArguments(t *manifests.Tool, args governor.Arguments) string {
	o := r.set.Harness.Trace.OTLP
	if o == nil || !slices.Contains(o.ArgumentsOf, t.Metadata.Name) {
		return ""
	}
	tree, err := canonjson.Parse([]byte(args.Text()), canonjson.Limits{MaxBytes: maxReadArguments})
	members, isObject := tree.(map[string]any)
	if err != nil || !isObject {
		return withheld
	}
	text, err := canonjson.Append(nil, withoutSecret(members, t.Spec.InputSchema))
	if err != nil {
		return withheld
	}
	if s := r.vault.scrubber(); s != nil {
		if text, _, err = s.JSON(text); err != nil {
			return withheld
		}
	}
	redact, err := output.New(output.Policy{MaxBytes: maxSpanArguments, Sanitizers: []string{output.RedactPII}})
	if err != nil {
		return withheld
	}
	out, err := redact.JSON(text)
	if err != nil {
		return withheld
	}
	return out.Text
}

// withoutSecret withholds the members of arguments that a schema marks, and those
// whose names say what they are. A member is given or withheld as a whole: how a
// mark below it applies to a value can depend on other parts of the schema. So
// does one that stands beside the properties, and then nothing is given.
func withoutSecret(members, schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	elsewhere := false
	for keyword, value := range schema {
		elsewhere = elsewhere || keyword != "properties" && isMarked(map[string]any{keyword: value})
	}
	clean := make(map[string]any, len(members))
	for name, value := range members {
		if elsewhere || isMarked(properties[name]) || credentialName.MatchString(name) {
			clean[name] = withheld
			continue
		}
		clean[name] = withoutCredentials(value)
	}
	return clean
}

// isMarked reports whether a schema, or a part of it, says that a value is not for
// showing.
func isMarked(schema any) bool {
	switch s := schema.(type) {
	case map[string]any:
		if s["writeOnly"] == true {
			return true
		}
		for _, part := range s {
			if isMarked(part) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(s, isMarked)
	}
	return false
}

// withoutCredentials withholds members by their names, at any depth.
func withoutCredentials(value any) any {
	switch v := value.(type) {
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, member := range v {
			if credentialName.MatchString(name) {
				clean[name] = withheld
				continue
			}
			clean[name] = withoutCredentials(member)
		}
		return clean
	case []any:
		clean := make([]any, len(v))
		for i, item := range v {
			clean[i] = withoutCredentials(item)
		}
		return clean
	}
	return value
}
