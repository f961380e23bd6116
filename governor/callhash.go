package governor

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
)

// hashVersion starts the text that is hashed, so that a later form cannot be
// taken for this one.
const hashVersion = "mayfly.call/1"

// callHash stands for exactly one call. Neither the call's ID nor the order of
// keys is in it; everything that could make a person answer differently is.
func callHash(tool *manifests.Tool, args Arguments, s Subject) string {
	var stack [512]byte
	b := append(stack[:0], '[')
	for _, text := range []string{hashVersion, tool.Metadata.Name, tool.Metadata.Version, tool.Digest(), s.Principal, s.Tenant, s.Task} {
		b = appendText(b, text)
		b = append(b, ',')
	}
	// In a list, so that missing arguments and null are two things.
	b = append(b, '[')
	if args.given {
		b = appendExact(b, args.tree)
	}
	b = append(b, ']', ']')
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// appendExact appends JSON that tells apart what canonical JSON does not: 1.0
// stays a float.
func appendExact(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case float64:
		if v == 0 && math.Signbit(v) {
			return append(b, "-0.0"...)
		}
		b = appendCanonical(b, v)
		if v == math.Trunc(v) {
			b = append(b, ".0"...)
		}
		return b
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendExact(b, item)
		}
		return append(b, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, name)
			b = append(b, ':')
			b = appendExact(b, v[name])
		}
		return append(b, '}')
	}
	return appendCanonical(b, v)
}

// appendText appends a JSON string. Text that is plain needs no help.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendCanonical(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendCanonical appends a value that Parse gave. What has no canonical form
// (a name given in Go that is not UTF-8) gets one that no JSON has, byte by byte,
// so that two of them stay two.
func appendCanonical(b []byte, v any) []byte {
	out, err := canonjson.Append(b, v)
	if err == nil {
		return out
	}
	if s, ok := v.(string); ok {
		b = append(b, 'x')
		return hex.AppendEncode(b, []byte(s))
	}
	return append(b, '?')
}
