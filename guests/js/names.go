package js

import (
	"errors"
	"unicode"

	"github.com/mayfly-run/mayfly/guests/globals"
)

// EncodeGlobals is [globals.Encode] for names that are JavaScript identifiers.
func EncodeGlobals(values map[string]any, maxDepth int) ([]byte, error) {
	return globals.Encode(values, maxDepth, checkName)
}

// checkName reports why name cannot be a global variable that a caller sets.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name")
	case reserved[name]:
		return errors.New("has a word that JavaScript reserves for its name")
	}
	for i, r := range name {
		if r == '$' || r == '_' || unicode.In(r, start...) || i > 0 && unicode.In(r, further...) {
			continue
		}
		return errors.New("has a name that is not an identifier: use letters, digits, _ and $, no digit first")
	}
	return nil
}

// The characters of ID_Start and ID_Continue.
var (
	start   = []*unicode.RangeTable{unicode.Letter, unicode.Nl, unicode.Other_ID_Start}
	further = []*unicode.RangeTable{unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue, unicode.Join_Control}
)

// reserved are the words that are no identifiers, in modules included, and the
// globals that cannot be defined anew.
var reserved = map[string]bool{
	"arguments": true, "await": true, "break": true, "case": true, "catch": true, "class": true, "const": true,
	"continue": true, "debugger": true, "default": true, "delete": true, "do": true, "else": true, "enum": true,
	"eval": true, "export": true, "extends": true, "false": true, "finally": true, "for": true, "function": true,
	"if": true, "implements": true, "import": true, "in": true, "instanceof": true, "interface": true, "let": true,
	"new": true, "null": true, "package": true, "private": true, "protected": true, "public": true, "return": true,
	"static": true, "super": true, "switch": true, "this": true, "throw": true, "true": true, "try": true,
	"typeof": true, "var": true, "void": true, "while": true, "with": true, "yield": true,

	"Infinity": true, "NaN": true, "undefined": true, "globalThis": true,
}
