package canonjson

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// MaxDigits is how many digits an integer may have: CPython reads no more
// unless told to.
const MaxDigits = 4300

// ParseNumber reads one JSON number: int64 or *big.Int when it is written as
// an integer, else float64. The second result is the rule that literal breaks,
// "" if none.
func ParseNumber(literal string) (any, string) {
	if !isNumber(literal) {
		return nil, "is not a JSON number"
	}
	if strings.ContainsAny(literal, ".eE") {
		return parseFloat(literal)
	}
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return n, ""
	}
	if len(strings.TrimPrefix(literal, "-")) > MaxDigits {
		return nil, "an integer of more than " + strconv.Itoa(MaxDigits) + " digits"
	}
	n, ok := new(big.Int).SetString(literal, 10)
	if !ok {
		return nil, "is not a JSON number"
	}
	return n, ""
}

func parseFloat(literal string) (any, string) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, "a number too large for a 64-bit float"
	}
	if f != math.Trunc(f) {
		return f, ""
	}
	// f is an integer. It must be the one that was written, either exactly or
	// as the shortest text that stands for f (1e23 is not a float, but nobody
	// means another one by it).
	written := decimalOf(literal)
	if written == decimalOf(integer(f)) || written == decimalOf(strconv.FormatFloat(f, 'e', -1, 64)) {
		return f, ""
	}
	return nil, "a number that a 64-bit float would change to another integer"
}

// integer writes a float that has no fraction, with all its digits.
func integer(f float64) string {
	if f == 0 {
		return "0" // not "-0"
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// fraction writes a float that has a fraction as Python's repr does. The
// largest of them is below 2^53, so only small ones need an exponent.
func fraction(dst []byte, f float64) []byte {
	if math.Abs(f) < 1e-4 {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// decimal is a number as sign, digits without zeros at either end, and the
// power of ten of the first digit. Equal numbers have equal decimals.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf takes a JSON number apart in linear time, whatever its exponent.
func decimalOf(literal string) decimal {
	var d decimal
	literal, d.negative = strings.CutPrefix(literal, "-")
	mantissa, exp := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		// An exponent that int cannot hold makes the number infinite or zero,
		// which the caller has found out already, or belongs to a zero.
		exp, _ = strconv.Atoi(strings.TrimPrefix(literal[i+1:], "+"))
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	d.exponent = len(whole) - 1 + exp
	trimmed := strings.TrimLeft(digits, "0")
	d.exponent -= len(digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// isNumber reports whether s is a number by the grammar of RFC 8259.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || s[0] == '0' && len(s) > 1 && isDigit(s[1]) {
		return false
	}
	s, ok := skipDigits(s)
	if !ok {
		return false
	}
	if rest, found := strings.CutPrefix(s, "."); found {
		if s, ok = skipDigits(rest); !ok {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if s, ok = skipDigits(s); !ok {
			return false
		}
	}
	return s == ""
}

// skipDigits drops leading digits and reports whether there were any.
func skipDigits(s string) (string, bool) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[n:], n > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
