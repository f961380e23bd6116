package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":    "plain\ttext\n",
		"ä 😀 \u200d":       "ä 😀 \u200d",
		"\x1b]0;x\x07":     `\x1b]0;x\x07`,
		"a\r\nb\x08\x00":   `a\r` + "\n" + `b\x08\x00`,
		"\x7f\u0085\u009b": `\x7f\u0085\u009b`,
		"\x9b31m\xff\xc3":  `\x9b31m\xff\xc3`,
		"\u202eabc\u2069":  `\u202eabc\u2069`,
		"\u200e\u061c":     `\u200e\u061c`,
		"\u2028\u2029":     `\u2028\u2029`,
		"\U000e0041":       `\U000e0041`,
		"\ufffd":           "\ufffd",
	} {
		if got := string(visible([]byte(in))); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlainJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[true,null]}`:            `{"b":1,"a":[true,null]}`,
		`"\u00e9\u20ac \u4e2d \ud83d\ude00"`: `"é€ 中 😀"`,
		`"\u202e\u200b\u00ad\u2028"`:         `"\u202e\u200b\u00ad\u2028"`,
		`"\u00a0\ufeff\ufffd"`:               `"\u00a0\ufeff\ufffd"`,
		`"\udb40\udc41"`:                     `"\udb40\udc41"`,
		`"\u001b[2J\n\t\u007f"`:              `"\u001b[2J\n\t\u007f"`,
		"no JSON\x1b":                        `no JSON\x1b`,
	} {
		if got := plainJSON(in, ""); got != want {
			t.Errorf("plainJSON(%s) = %s, want %s", in, got, want)
		}
	}
	if got, want := plainJSON(`{"a":{"b":[1]}}`, "  "), "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}"; got != want {
		t.Errorf("with an indent: %s, want %s", got, want)
	}
}

// FuzzPlainJSON: the meaning stays, and everything can be seen.
func FuzzPlainJSON(f *testing.F) {
	for _, s := range []string{`{"a":"\u202e"}`, `"\ud83d\ude00"`, `[1.0,1e400,"\u001b"]`, "\"\u200b\"", `"\ufffd"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		value := jsontext.Value(in)
		if !value.IsValid() {
			return
		}
		shown := plainJSON(in, "  ")
		for _, r := range shown {
			if r != '\n' && (!unicode.IsPrint(r) || drives(r)) {
				t.Errorf("plainJSON(%q) = %q shows %U", in, shown, r)
			}
		}
		want, got := value.Clone(), jsontext.Value(shown)
		if err := want.Canonicalize(); err != nil {
			t.Skipf("has no canonical form to compare: %v", err)
		}
		if err := got.Canonicalize(); err != nil {
			t.Fatalf("plainJSON(%q) = %q: %v", in, shown, err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("plainJSON(%q) changed the value:\n%s", in, diff)
		}
	})
}

// FuzzVisible: nothing that drives a terminal is left, text that is harmless
// stays as it is, and JSON keeps its meaning.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\r\n", "\U000e0001", "\x1b[2J", "\xff\u202e", "\"\\u001b\u009b\"", "[1,\r\n\"\u2028\U000e0041\"]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := string(in)
		out := string(visible(in))
		if string(in) != before {
			t.Fatalf("visible changed its argument %q", before)
		}
		if !utf8.ValidString(out) || strings.ContainsFunc(out, drives) {
			t.Errorf("visible(%q) = %q", in, out)
		}
		if utf8.ValidString(before) && !strings.ContainsFunc(before, drives) && out != before {
			t.Errorf("visible(%q) = %q", in, out)
		}
		value := jsontext.Value(in)
		if !value.IsValid() {
			return
		}
		shown := jsontext.Value(visibleJSON([]byte(before)))
		if strings.ContainsFunc(string(shown), drives) {
			t.Errorf("visibleJSON(%q) = %q", in, shown)
		}
		want, got := value.Clone(), shown.Clone()
		if err := want.Canonicalize(); err != nil {
			t.Skipf("has no canonical form to compare: %v", err)
		}
		if err := got.Canonicalize(); err != nil {
			t.Fatalf("visibleJSON(%q) = %q: %v", in, shown, err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("visibleJSON(%q) changed the value:\n%s", in, diff)
		}
	})
}

// drives is drivesTerminal, written in another way.
func drives(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f ||
		unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) ||
		0xfff9 <= r && r <= 0xfffb || r>>7 == 0xe0000>>7
}
