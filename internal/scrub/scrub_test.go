package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secret has a character of every kind that encodings treat in their own way.
const secret = "s3cr\"t\\ké/+<&>'€😀%41 x"

// encodings are the ways in which a value can come back.
var encodings = map[string]func(string) string{
	"plain":             func(s string) string { return s },
	"JSON":              func(s string) string { return marshal(s) },
	"JSON in JSON":      func(s string) string { return marshal(marshal(s)) },
	"JSON, ASCII":       func(s string) string { return strconv.QuoteToASCII(s) },
	"JSON, all escaped": escapeAll,
	"JSON, slashes":     func(s string) string { return strings.ReplaceAll(marshal(s), "/", `\/`) },
	"bytes of Python":   func(s string) string { return hexEscapes(s, `\x%02x`) },
	"octal":             func(s string) string { return hexEscapes(s, `\%03o`) },
	"URL":               url.QueryEscape,
	"URL path":          url.PathEscape,
	"URL, all":          func(s string) string { return hexEscapes(s, "%%%02X") },
	"HTML":              html.EscapeString,
	"HTML, numbers":     func(s string) string { return entitiesOf(s) },
	"base64":            func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, 1 before":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "tail")) },
	"base64, 2 before":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s + "t")) },
	"base64, URLs":      func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("?>" + s)) },
	"base64, lines":     func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 7, "\r\n") },
	"base64, in JSON": func(s string) string {
		return marshal(lines(base64.StdEncoding.EncodeToString([]byte(s)), 7, "\n"))
	},
	"base64, in a URL": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"hex":              func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, upper":       func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex, groups":      func(s string) string { return lines(hex.EncodeToString([]byte(s)), 2, ":") },
	"hex dump":         func(s string) string { return lines(hex.EncodeToString([]byte(s)), 4, " ") },
}

func marshal(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xffff {
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

func hexEscapes(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func entitiesOf(s string) string {
	var b strings.Builder
	for i, r := range s {
		fmt.Fprintf(&b, []string{"&#%d;", "&#x%x;"}[i%2], r)
	}
	return b.String()
}

func lines(s string, every int, between string) string {
	var b strings.Builder
	for i := 0; i < len(s); i += every {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(s[i:min(i+every, len(s))])
	}
	return b.String()
}

func TestEncodings(t *testing.T) {
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			for _, value := range []string{secret, "correct horse battery staple", "sk-0123456789abcdef"} {
				s := New([]Value{{"KEY", value}})
				text := "before " + encode(value) + " after"
				got, n := s.Text([]byte(text))
				if n == 0 || !strings.Contains(string(got), "[SECRET:KEY]") {
					t.Errorf("%q was not found in %q", value, text)
				}
				if !strings.HasPrefix(string(got), "before ") || !strings.HasSuffix(string(got), " after") {
					t.Errorf("more was taken out than the value: %q", got)
				}
				again, n := s.Text(got)
				if n != 0 || !bytes.Equal(again, got) {
					t.Errorf("scrubbed again it changes: %q", again)
				}
				// What is left of it is at most what a character of base64 shares with
				// its neighbours.
				if left := len(got) - len("before [SECRET:KEY] after"); left > 10 && !strings.Contains(name, "base64") {
					t.Errorf("left: %q", got)
				}
			}
		})
	}
}

// Text that has nothing to do with a value stays as it is, byte by byte.
func TestOtherTextStays(t *testing.T) {
	const secret = "s3cr\"t\\k/+<&>%41"
	s := New([]Value{{"KEY", secret}, {"SHORT", "1"}, {"SEVEN", "1234567"}})
	for _, text := range []string{"", "1", "1234567", secret[1:], secret[:len(secret)-1], `\`, `\u`, `\ud83d`, "%", "%4", "&", "&#;", "&#x110000;", "a\x00b\xff",
		strings.Repeat(secret[:len(secret)-1], 50)} {
		if got, n := s.Text([]byte(text)); n != 0 || string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if s := New([]Value{{"SHORT", "1234567"}}); s != nil {
		t.Error("a scrubber for nothing but short values does something")
	}
}

func TestParts(t *testing.T) {
	for _, tt := range []struct{ name, value, leak string }{
		{"a line of a key", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n-----END KEY-----\n", "BKcwggSjAgEAAoIBAQC7"},
		{"the token of a header", "Bearer abcdefghijklmnop", "abcdefghijklmnop"},
		{"a string of a JSON value", `{"type":"x","private_key":"line one of it\nline-two-of-the-key"}`, "line one of it\nline-two-of-the-key"},
		{"a word of a string of a JSON value", `{"type":"x","private_key":"line one of it\nline-two-of-the-key"}`, "line-two-of-the-key"},
		{"the password of a URL", "postgres://app:p%40ssword@db/x", "p@ssword"},
		{"without space around it", "  a value with room \n", "a value with room"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New([]Value{{"KEY", tt.value}})
			if got := s.String("error: " + tt.leak + "!"); got != "error: [SECRET:KEY]!" {
				t.Errorf("%q", got)
			}
		})
	}
}

// What a cut leaves of a value goes too, in whatever way it was written; but
// only at the end, and only if the text was cut.
func TestCut(t *testing.T) {
	s := New([]Value{{"KEY", "sk-0123456789abcdef"}})
	for name, encode := range encodings {
		whole := "before " + encode("sk-0123456789abcdef")
		for keep := len("before ") + 1; keep < len(whole); keep++ {
			got, _ := s.CutText([]byte(whole[:keep]))
			rest := strings.Replace(strings.TrimPrefix(string(got), "before "), "[SECRET:KEY]", "", 1)
			if len(rest) > 8 {
				t.Errorf("%s: cut to %q, left %q", name, whole[:keep], got)
			}
		}
	}
	if got, n := s.Text([]byte("ends in sk-0")); n != 0 {
		t.Errorf("%q", got)
	}
	if got, _ := s.CutText([]byte("sk-0 is not at the end")); string(got) != "sk-0 is not at the end" {
		t.Errorf("%q", got)
	}
}

func TestSeveral(t *testing.T) {
	s := New([]Value{{"A", "aaaaaaaaaa"}, {"B", "aaaaaaaaaabbbbb"}, {"C", "bbbbbccccc"}})
	for text, want := range map[string]string{
		"aaaaaaaaaa":             "[SECRET:A]",
		"xaaaaaaaaaabbbbbx":      "x[SECRET:B]x",
		"aaaaaaaaaabbbbbccccc":   "[SECRET:B]",
		"aaaaaaaaaaaaaaaaaaaaaa": "[SECRET:A]",
		"aaaaaaaaaa bbbbbccccc":  "[SECRET:A] [SECRET:C]",
	} {
		if got := s.String(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	s := New([]Value{{"KEY", "pass\"word\n1"}, {"NUMBER", "1234567890"}, {"DOTTED", "12345.6789"}})
	for _, tt := range []struct{ in, want string }{
		{`{"a":"pass\"word\n1"}`, `{"a":"[SECRET:KEY]"}`},
		{`{"a":"\u0070\u0061ss\u0022word\u000a1"}`, `{"a":"[SECRET:KEY]"}`},
		{`{"x pass\"word\n1 y":1,"pass\"word\n1":2}`, `{"x [SECRET:KEY] y":1,"[SECRET:KEY]":2}`},
		{`[1234567890,{"n":-1234567890.5}]`, `["[SECRET:NUMBER]",{"n":"-[SECRET:NUMBER].5"}]`},
		{`12345.6789e3`, `"[SECRET:DOTTED]e3"`},
		{`"in it: {\"k\":\"pass\\\"word\\n1\"}"`, `"in it: {\"k\":\"[SECRET:KEY]\"}"`},
		{`{"a":"\u00e9","n":1.50,"e":1E2}`, `{"a":"\u00e9","n":1.50,"e":1E2}`},
		{` {"a" : "x" } `, ` {"a" : "x" } `},
		{`{"b":"\u00e9","a":"1234567890","n":1.50,"z":null,"l":[]}`, `{"b":"\u00e9","a":"[SECRET:NUMBER]","n":1.50,"z":null,"l":[]}`},
		{`{"1234567890":1,"x":{"1234567890":2}}`, `{"[SECRET:NUMBER]":1,"x":{"[SECRET:NUMBER]":2}}`},
	} {
		got, _, err := s.JSON([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []string{``, `{`, `{"a":1} x`, `{"a":1}{}`, `1234567890x`, `["pass`} {
		if got, _, err := s.JSON([]byte(bad)); err == nil {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// A nil scrubber is one for no values.
func TestNil(t *testing.T) {
	var s *Scrubber
	if got, n := s.Text([]byte("x")); string(got) != "x" || n != 0 {
		t.Errorf("%q", got)
	}
	if got, _, err := s.JSON([]byte("{")); string(got) != "{" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s.String("x") != "x" || s.Has([]byte("x")) {
		t.Error("it does something")
	}
}

// However the text is made, twice as much of it takes about twice as many steps:
// each byte that is read costs a bounded number of them.
func TestStepsAreLinear(t *testing.T) {
	value := strings.Repeat("a", 4000) + "b"
	a := newAutomaton()
	a.add([]byte(value), 0)
	a.finish()
	for _, text := range []string{strings.Repeat("a", 100_000), strings.Repeat(value[1:], 25), strings.Repeat("ab", 50_000)} {
		steps, at := 0, int32(0)
		for _, b := range []byte(text) {
			for {
				steps++
				if to := a.step(at, b); to != 0 || at == 0 {
					at = to
					break
				}
				at = a.nodes[at].fail
			}
		}
		if steps > 2*len(text) {
			t.Errorf("%d steps for %d bytes", steps, len(text))
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("s3cret-value", "before ", " after")
	f.Add(secret, `\`, `%`)
	f.Add("aaaaaaaaaaaa", "aaaa", "aaaa")
	f.Add("&amp;&amp;&amp;", "&", ";")
	f.Fuzz(func(t *testing.T, value, before, after string) {
		const name = "~" // in no value below
		if len(value) < MinLength || strings.ContainsAny(value, "~[]") || strings.Contains("SECRET:", value) {
			t.Skip("too short to be a secret, or part of the marker itself")
		}
		s := New([]Value{{name, value}})
		for way, encode := range encodings {
			if strings.ToValidUTF8(value, "?") != value && strings.Contains(way, "JSON") || strings.Contains(way, "HTML") && strings.ContainsAny(value, "\x00\r") {
				continue // it does not come back from there
			}
			text := before + encode(value) + after
			got, _ := s.Text([]byte(text))
			if bytes.Contains(got, []byte(value)) {
				t.Errorf("%s: %q is still in %q", way, value, got)
			}
			if encoded := encode(value); len(before)+len(after) == 0 && bytes.Contains(got, []byte(encoded)) {
				t.Errorf("%s: %q is still in %q", way, encoded, got)
			}
		}
		if text, _, err := s.JSON([]byte(before)); err == nil {
			if !json.Valid(text) && json.Valid([]byte(before)) {
				t.Errorf("%q became %q", before, text)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := New([]Value{{"KEY", "sk-0123456789abcdefghijklmnopqrstuvwxyz"}})
	for name, text := range map[string]string{
		"plain":   strings.Repeat("The quick brown fox jumps over the lazy dog. ", 2000),
		"escapes": strings.Repeat(`\u0073\u006b%2d&#48;\\n`, 4000),
		"near":    strings.Repeat("sk-0123456789abcdefghijklmnopqrstuvwxy", 2400),
	} {
		b.Run("text="+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Text([]byte(text))
			}
		})
	}
}
