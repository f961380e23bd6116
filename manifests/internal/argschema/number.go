package argschema

import (
	"cmp"
	"math"
	"math/big"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// compare compares two numbers of a JSON tree exactly.
func compare(a, b any) int {
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return cmp.Compare(i, j)
		}
	}
	f, exactF := asFloat(a)
	g, exactG := asFloat(b)
	if exactF && exactG {
		return cmp.Compare(f, g)
	}
	return exactly(a).Cmp(exactly(b))
}

// asFloat gives a number as a float if that is the same number.
func asFloat(v any) (f float64, exact bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), v > -1<<53 && v < 1<<53
	}
	return 0, false
}

// exactly gives a number as the fraction that it is.
func exactly(v any) *big.Rat {
	r := new(big.Rat)
	switch v := v.(type) {
	case int64:
		r.SetInt64(v)
	case *big.Int:
		r.SetInt(v)
	case float64:
		r.SetFloat64(v)
	}
	return r
}

// isMultiple reports whether v is a whole number of times m. Both count as the
// decimals they are written as: 0.3 is three times 0.1, though the floats of
// those names are not.
func isMultiple(v, m any) bool {
	if v, ok := v.(int64); ok {
		if m, ok := m.(int64); ok {
			return v%m == 0
		}
	}
	d := decimal(m)
	if d.Sign() == 0 {
		return false
	}
	return new(big.Rat).Quo(decimal(v), d).IsInt()
}

// decimal gives a number as the decimal of its canonical text.
func decimal(v any) *big.Rat {
	if f, ok := v.(float64); ok && f != math.Trunc(f) {
		if text, err := canonjson.Append(nil, v); err == nil {
			if r, ok := new(big.Rat).SetString(string(text)); ok {
				return r
			}
		}
	}
	return exactly(v)
}
