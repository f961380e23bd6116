package python

import (
	"errors"
	"strings"

	"github.com/mayfly-run/mayfly/guests/globals"
)

// EncodeGlobals is [globals.Encode] for names that are Python identifiers of
// the caller's own.
func EncodeGlobals(values map[string]any, maxDepth int) ([]byte, error) {
	return globals.Encode(values, maxDepth, checkName)
}

// checkName reports why name cannot be a global variable that a caller sets.
//
// Python compares identifiers in their NFKC form. Letters that this form
// leaves alone are listed in letterRanges; whatever else Python would accept
// is refused, so that the code always finds an argument under the very name
// that it was given.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name")
	case strings.HasPrefix(name, "__"):
		return errors.New("has a name that Python reserves: it begins with two underscores")
	case keywords[name]:
		return errors.New("has a Python keyword for its name")
	}
	for i, r := range name {
		if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || i > 0 && '0' <= r && r <= '9' || isLetter(r) {
			continue
		}
		return errors.New("has a name that is not an identifier: use letters, digits and underscores, no digit first")
	}
	return nil
}

func isLetter(r rune) bool {
	for _, s := range letterRanges {
		if s[0] <= r && r <= s[1] {
			return true
		}
	}
	return false
}

// letterRanges are letters beyond ASCII that may begin an identifier and that
// NFKC does not change: Latin, Greek, Cyrillic, Hebrew, Arabic, kana, Han and
// Hangul.
var letterRanges = [][2]rune{
	{0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x00FF},
	{0x0100, 0x0131}, {0x0134, 0x013E}, {0x0141, 0x0148}, {0x014A, 0x017E},
	{0x0391, 0x03A1}, {0x03A3, 0x03A9}, {0x03AC, 0x03CE},
	{0x0400, 0x045F},
	{0x05D0, 0x05EA},
	{0x0621, 0x063A}, {0x0641, 0x064A},
	{0x3041, 0x3096}, {0x30A1, 0x30FA},
	{0x4E00, 0x9FFC},
	{0xAC00, 0xD7A3},
}

// keywords are the reserved words of Python 3.13. The soft ones (match, case,
// type, _) are ordinary names.
var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true,
	"await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true,
	"import": true, "in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true,
	"pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}
