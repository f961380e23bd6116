package rows

import (
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is how many digits an integer may have. CPython reads no more
// from text either: conversion takes time that grows faster than the length.
const maxDigits = 4300

// isInteger reports whether text is 0, or digits without a leading zero and
// with an optional minus sign.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > maxDigits {
		return false
	}
	if digits[0] == '0' {
		return text == "0"
	}
	return allDigits(digits)
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// integer converts what isInteger accepts: int64 where it fits, else *big.Int.
func integer(text string) any {
	if len(text) <= 18 {
		negative := text[0] == '-'
		var n int64
		for i := range len(text) {
			if c := text[i]; c != '-' {
				n = n*10 + int64(c-'0')
			}
		}
		if negative {
			n = -n
		}
		return n
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

// maxExactInteger is the largest integer up to which float64 holds all.
const maxExactInteger = 1 << 53

// exactAsFloat reports whether an integer stays itself as a float64.
func exactAsFloat(text string) bool {
	if len(text) <= 15 {
		return true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && -maxExactInteger <= n && n <= maxExactInteger
}

// isDecimal reports whether text is an integer part as isInteger wants it (or
// -0), a point and at least one digit, and whether a float64 gives the same
// digits back (but for zeros at the end).
func isDecimal(text string) bool {
	whole, fraction, found := strings.Cut(text, ".")
	if !found || fraction == "" || !allDigits(fraction) {
		return false
	}
	if whole != "-0" && !isInteger(whole) {
		return false
	}
	fraction = strings.TrimRight(fraction, "0")
	// Any decimal of up to 15 digits survives a float64 (within its exponents,
	// which so few characters cannot leave).
	if len(whole)+len(fraction) <= 15 {
		return true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	want := whole
	if fraction != "" {
		want += "." + fraction
	}
	return strconv.FormatFloat(f, 'f', -1, 64) == want
}
