// Package fold gives a text as matching should see it, and the way back.
//
// What hides a word from a program but not from a reader is undone: invisible
// characters are left out, wide, mathematical and circled letters, digits of
// every script and the many spaces, dashes and quotes become ASCII, letters become
// lower-case, and what is escaped for a URL, HTML or JSON becomes what it stands for. What was found in the view is then cut out of the text
// itself.
package fold

import (
	"sort"
	"unicode"
	"unicode/utf8"
)

// View is a text made ready for matching.
type View struct {
	// Text is what to match, as UTF-8. A position in it is not one in the
	// source; see [View.Source].
	Text []byte

	source string
	marks  []mark // in order; none: positions are the same
}

// mark says that from here on view and source run side by side.
type mark struct{ view, source int }

// New makes the view of source, which must be valid UTF-8.
func New(source string) *View {
	v := &View{Text: make([]byte, 0, len(source)), source: source}
	shift := 0
	for i := 0; i < len(source); {
		c := source[i]
		if c < utf8.RuneSelf {
			if char, size := escape(source[i:]); size > 0 {
				v.mark(i, &shift)
				v.Text = append(v.Text, lower(char))
				i += size
				continue
			}
			if c >= ' ' && c != 0x7f || c == '\n' || c == '\t' || c == '\r' {
				v.mark(i, &shift)
				v.Text = append(v.Text, lower(c))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(source[i:])
		if !Invisible(r) {
			v.mark(i, &shift)
			v.add(r, source[i:i+size])
		}
		i += size
	}
	return v
}

// mark notes where the next byte comes from, unless it follows from the last.
func (v *View) mark(i int, shift *int) {
	if s := i - len(v.Text); s != *shift {
		*shift = s
		v.marks = append(v.marks, mark{view: len(v.Text), source: i})
	}
}

func (v *View) add(r rune, as string) {
	if c := ascii(r); c != 0 {
		v.Text = append(v.Text, c)
		return
	}
	l := unicode.ToLower(r)
	switch {
	case l == r:
		v.Text = append(v.Text, as...)
	case l < utf8.RuneSelf: // the Kelvin sign
		v.Text = append(v.Text, byte(l))
	case utf8.RuneLen(l) == len(as):
		v.Text = utf8.AppendRune(v.Text, l)
	default: // the way back counts bytes
		v.Text = append(v.Text, as...)
	}
}

// Source gives the part of the source that view.Text[start:end] was made of.
// Invisible characters inside belong to it, those around it do not.
func (v *View) Source(start, end int) (from, to int) {
	from = v.at(start)
	if end <= start {
		return from, from
	}
	last := v.at(end - 1)
	if _, size := escape(v.source[last:]); size > 0 {
		return from, last + size
	}
	if !utf8.RuneStart(v.source[last]) {
		return from, last + 1
	}
	_, size := utf8.DecodeRuneInString(v.source[last:])
	return from, last + size
}

// Same reports whether the view has a byte for each byte of the source, so that
// nothing was left out.
func (v *View) Same() bool { return len(v.Text) == len(v.source) }

// Hides reports whether an invisible character stands inside of
// view.Text[start:end].
func (v *View) Hides(start, end int) bool {
	from, to := v.Source(start, end)
	for _, r := range v.source[from:to] {
		if Invisible(r) {
			return true
		}
	}
	return false
}

func (v *View) at(i int) int {
	n := sort.Search(len(v.marks), func(k int) bool { return v.marks[k].view > i })
	if n == 0 {
		return i
	}
	m := v.marks[n-1]
	return m.source + i - m.view
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// ascii gives the ASCII character that r is another form of, in lower case; 0
// if there is none.
func ascii(r rune) byte {
	switch {
	case r < 0x2000:
		return asciiBelow2000(r)
	case r >= 0xff01 && r <= 0xff5e: // wide
		return lower(byte(r - 0xff01 + '!'))
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical alphabets
		return 'a' + byte((r-0x1d400)%26)
	case r >= 0x24b6 && r <= 0x24e9: // circled
		return 'a' + byte((r-0x24b6)%26)
	case r >= 0x3040 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7ff:
		return 0
	}
	if c := asciiPunctuation(r); c != 0 {
		return c
	}
	return digit(r)
}

func asciiBelow2000(r rune) byte {
	switch r {
	case 0xa0, 0x1680:
		return ' '
	case 0x85:
		return '\n'
	case 0xab, 0xbb:
		return '"'
	case 0xb4:
		return '\''
	}
	if r < 0x0660 {
		return 0
	}
	return digit(r)
}

func asciiPunctuation(r rune) byte {
	switch {
	case r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	case r == 0x2028, r == 0x2029:
		return '\n'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xfe58, r == 0xfe63:
		return '-'
	case r >= 0x2018 && r <= 0x201b, r == 0x2032:
		return '\''
	case r >= 0x201c && r <= 0x201f, r == 0x2033:
		return '"'
	case r == 0x2024, r == 0xfe52:
		return '.'
	case r == 0xfe6b:
		return '@'
	case r == 0x2044:
		return '/'
	}
	return 0
}

// digit gives the ASCII digit for a decimal digit of any script.
func digit(r rune) byte {
	if !unicode.Is(unicode.Nd, r) {
		return 0
	}
	// Each script has its ten in a row, and the tables list whole rows.
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	return 0
}
