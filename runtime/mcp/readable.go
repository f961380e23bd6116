package mcp

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// readable lays JSON out for a person who decides by it: what is approved must
// be what is seen.
func readable(text string) (string, error) {
	if text == "" {
		return "none", nil
	}
	value := jsontext.Value(text)
	if err := value.Format(jsontext.PreserveRawStrings(false), jsontext.WithIndent("  ")); err != nil {
		return "", err
	}
	return plain(string(value)), nil
}

// quoted is a JSON string that shows all there is in it.
func quoted(s string) string {
	text, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `"?"` // not UTF-8
	}
	return plain(string(text))
}

// plain makes an escape of every character of a JSON text that cannot be seen,
// or reorders what is. Such characters stand in strings only.
func plain(text string) string {
	var out []byte
	for _, c := range text {
		switch {
		case c == '\n' || unicode.IsPrint(c) && !unseen(c):
			out = utf8.AppendRune(out, c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return string(out)
}

// unseen are characters that count as printable and show as nothing, or as a
// sign that something is missing.
func unseen(c rune) bool {
	switch c {
	case unicode.ReplacementChar, 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return unicode.Is(unicode.Variation_Selector, c)
}
