package argschema

import (
	"math"
	"math/big"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// canonicalText is equal for values that are equal by JSON Schema's rules, and
// for no others.
func canonicalText(v any) string {
	text, err := canonjson.Append(nil, v)
	if err != nil {
		panic("BUG(mayfly): a JSON tree has no canonical form: " + err.Error())
	}
	return string(text)
}

// libraryKnows reports whether the library reads every number in v as what it
// is. It has no type of ours for integers beyond 64 bits, and takes the float
// 1e23 for 10^23, which that float is not.
func libraryKnows(v any) bool {
	switch v := v.(type) {
	case *big.Int:
		return false
	case float64:
		return math.Abs(v) < 1<<53
	case []any:
		for _, v := range v {
			if !libraryKnows(v) {
				return false
			}
		}
	case map[string]any:
		for _, v := range v {
			if !libraryKnows(v) {
				return false
			}
		}
	}
	return true
}
