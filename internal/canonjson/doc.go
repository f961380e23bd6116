// Package canonjson reads JSON strictly and writes it in one canonical form,
// so that a hash of it covers exactly one value.
//
// The canonical form is the text that Python's
//
//	json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
//
// writes, with one rule on top: a float that has no fraction is written as the
// integer it is. So keys are sorted by code point; there is no white space;
// everything outside space to ~ is an escape, in lower-case hex; <, >, & and /
// stay as they are; 1.0 is 1, 1e20 is 100000000000000000000 and -0.0 is 0;
// other floats have the fewest digits that read back the same. It is not the
// form of RFC 8785, which sorts by UTF-16 unit and writes integers as floats.
//
// What has no such form is refused instead of being changed: names that occur
// twice in an object, half a surrogate pair, text that is not UTF-8, NaN and
// the infinities, and numbers that do not survive. A number written with a
// fraction or an exponent becomes the nearest float64; it survives unless that
// float is infinite, or is an integer other than the number that was written
// (1e-400 is not 0, and 9007199254740993.0 is not 9007199254740992). Integers
// written as such keep all their digits.
//
// [Parse] gives a tree of nil, bool, int64, *big.Int (what int64 cannot hold),
// float64, string, []any and map[string]any. Errors say where and which rule,
// never a value.
package canonjson
