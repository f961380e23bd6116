package manifests

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// MaxName is how long a tool's name, a role, a scope and the like may be, in
// bytes.
const MaxName = 128

// rule is what a string must look like.
type rule struct {
	// check returns "" when s is fine, else what it must be.
	check func(s string) string
	// pattern is the same for JSON Schema. It takes everything that check does.
	pattern string
	// code is the error's. Default CodeValue.
	code Code
}

var (
	// anyText is a string without a rule.
	anyText = rule{check: func(string) string { return "" }}

	// toolName is what a tool may be called.
	toolName = matches(`^[A-Za-z_.-][A-Za-z0-9_.-]{0,127}$`, "letters, digits, _, . and -, not starting with a digit",
		func(c byte) bool { return letter(c) || c == '_' || c == '.' || c == '-' },
		func(c byte) bool { return letter(c) || digit(c) || c == '_' || c == '.' || c == '-' })

	// label is a role, a scope or the id of a rule.
	label = matches(`^[A-Za-z0-9_][A-Za-z0-9_.:/@*-]{0,127}$`, "letters, digits and _ . : / @ * -, starting with a letter, a digit or _",
		func(c byte) bool { return letter(c) || digit(c) || c == '_' },
		func(c byte) bool { return letter(c) || digit(c) || isOneOf(c, "_.:/@*-") })

	// variable is the name of an environment variable or of a secret. What it
	// names may be secret, and people paste that here: the words say so.
	variable = matches(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`, "the name of a variable (letters, digits, _), never the secret itself",
		func(c byte) bool { return letter(c) || c == '_' },
		func(c byte) bool { return letter(c) || digit(c) || c == '_' })

	// line is text for people, on one line.
	line = rule{pattern: `^.{1,256}$`, check: func(s string) string {
		if s == "" {
			return "must not be empty"
		}
		if len(s) > 256 {
			return "must have at most 256 bytes"
		}
		for _, c := range s {
			if !unicode.IsPrint(c) {
				return "must be printable text on one line"
			}
		}
		return ""
	}}

	// dataClass is an entry of data_access. The governor acts on pii:*, so that
	// another spelling of it must not pass.
	dataClass = rule{pattern: `^[a-z][a-z0-9_-]*(:[A-Za-z0-9_.*/-]+)?$`, check: func(s string) string {
		const words = "must be lower-case words such as pii:customer"
		class, rest, qualified := strings.Cut(s, ":")
		if len(s) > MaxName || class == "" || !isLower(class[0]) || qualified && rest == "" {
			return words
		}
		for i := range len(class) {
			if c := class[i]; !isLower(c) && !digit(c) && !isOneOf(c, "_-") {
				return words
			}
		}
		for i := range len(rest) {
			if c := rest[i]; !letter(c) && !digit(c) && !isOneOf(c, "_.*/-") {
				return words
			}
		}
		if class == "pii" && !qualified {
			return "must say whose: pii:customer, or pii:* for any"
		}
		return ""
	}}
)

// matches makes a rule of a check by character: first and rest say which may
// stand first and later, and words describe them.
func matches(pattern, words string, first, rest func(c byte) bool) rule {
	check := func(s string) string {
		if s == "" {
			return "must not be empty"
		}
		if len(s) > MaxName {
			return "must have at most " + strconv.Itoa(MaxName) + " characters"
		}
		for i := range len(s) {
			if i == 0 && !first(s[0]) || i > 0 && !rest(s[i]) {
				return fmt.Sprintf("must be %s", words)
			}
		}
		return ""
	}
	return rule{check: check, pattern: pattern}
}

func letter(c byte) bool  { return isLower(c) || c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func digit(c byte) bool   { return c >= '0' && c <= '9' }

func isOneOf(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }
