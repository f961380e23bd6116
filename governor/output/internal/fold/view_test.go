package fold

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestView(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"ascii", "Plain Text 12", "plain text 12"},
		{"controls", "a\x00b\x1bc\td\n", "abc\td\n"},
		{"soft hyphen", "ig\u00adnore", "ignore"},
		{"joiners", "a\u200b\u200c\u200d\u2060\ufeffb", "ab"},
		{"bidi", "a\u202e\u2066b\u061cc", "abc"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"selectors", "a\ufe0f\U000e0101b", "ab"},
		{"wide", "Ｕｓｅｒ＠Ｅｘａｍｐｌｅ．ｃｏｍ", "user@example.com"},
		{"mathematical", "𝐈𝐠𝐧𝐨𝐫𝐞 𝟙𝟚", "ignore 12"},
		{"circled", "ⓘⒼ", "ig"},
		{"digits", "٤١١١ ४२ ၉ ๕", "4111 42 9 5"},
		{"spaces and dashes", "1\u00a02\u202f3\u20134\u22125", "1 2 3-4-5"},
		{"lower", "ÀÉ Ωμέγα ДА", "àé ωμέγα да"},
		{"kelvin", "\u212aey", "key"},
		{"escapes of URLs", "a%40b%2Ecom %zz %4 100%", "a@b.com %zz %4 100%"},
		{"escapes of JSON", `a\u0040b \u004A \u2028 \u00e9 \u00`, `a@b j \u2028 \u00e9 \u00`},
		{"escapes of HTML", "a&#64;b&#x2e;c&commat;d &#64 &#; &#1; &#x110000;", "a@b.c@d &#64 &#; &#1; &#x110000;"},
		{"lower of another size", "Ⱥ x", "Ⱥ x"},
	}
	for _, tt := range tests {
		if got := string(New(tt.source).Text); got != tt.want {
			t.Errorf("%s: view of %q is %q, want %q", tt.name, tt.source, got, tt.want)
		}
	}
}

func TestSource(t *testing.T) {
	source := "é \u200bＡ\u00adＢ\u200b 漢x"
	v := New(source)
	if got, want := string(v.Text), "é ab 漢x"; got != want {
		t.Fatalf("view %q, want %q", got, want)
	}
	tests := []struct {
		start, end int
		want       string
		hides      bool
	}{
		{0, 2, "é", false},
		{3, 5, "Ａ\u00adＢ", true},
		{3, 4, "Ａ", false},
		{6, 9, "漢", false},
		{9, 10, "x", false},
		{0, 10, source, true},
		{4, 4, "", false},
	}
	for _, tt := range tests {
		from, to := v.Source(tt.start, tt.end)
		if got := source[from:to]; got != tt.want {
			t.Errorf("Source(%d, %d) is %q, want %q", tt.start, tt.end, got, tt.want)
		}
		if got := v.Hides(tt.start, tt.end); got != tt.hides {
			t.Errorf("Hides(%d, %d) is %v", tt.start, tt.end, got)
		}
	}
}

// An escape goes as a whole, and so does what stands for several bytes.
func TestSourceOfEscapes(t *testing.T) {
	source := `x a%40b&#46;c\u006F y`
	v := New(source)
	if got, want := string(v.Text), "x a@b.co y"; got != want {
		t.Fatalf("view %q, want %q", got, want)
	}
	tests := []struct {
		start, end int
		want       string
	}{
		{2, 8, `a%40b&#46;c\u006F`},
		{2, 4, "a%40"},
		{3, 4, "%40"},
		{4, 6, "b&#46;"},
		{8, 10, " y"},
	}
	for _, tt := range tests {
		from, to := v.Source(tt.start, tt.end)
		if got := source[from:to]; got != tt.want {
			t.Errorf("Source(%d, %d) is %q, want %q", tt.start, tt.end, got, tt.want)
		}
	}
}

// Every decimal digit has a value, and the rows in the tables are whole.
func TestDigits(t *testing.T) {
	n := 0
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) {
			continue
		}
		n++
		if c := digit(r); c < '0' || c > '9' {
			t.Errorf("digit(%U) = %q", r, c)
		}
	}
	if n < 500 || digit('٠') != '0' || digit('٩') != '9' || digit('𝟗') != '9' || digit('𝟎') != '0' {
		t.Errorf("%d digits; some have a wrong value", n)
	}
}

// Visible characters stay visible: letters, marks, numbers and symbols of the
// scripts people write.
func TestInvisible(t *testing.T) {
	for _, r := range "aé漢かカ한ΩЖ؀אहி💥\t\n\r ·\u00a0\ufffd" {
		if Invisible(r) {
			t.Errorf("%U is invisible", r)
		}
	}
	for _, r := range []rune{0, 0x1b, 0x7f, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x200e, 0x202e, 0x2063, 0x2069, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0041, 0xe0100} {
		if !Invisible(r) {
			t.Errorf("%U is visible", r)
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if unicode.Is(unicode.Cf, r) && !seenFormat(r) && !Invisible(r) {
			t.Errorf("%U is a format character and visible", r)
		}
	}
}
