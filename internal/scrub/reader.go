package scrub

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unit is one byte of a text as it is read, and where in the text it stood: an
// escape is longer than what it stands for.
type unit struct {
	start, end int
	b          byte
}

// reader gives a text byte by byte.
type reader interface{ next() (unit, bool) }

// rawReader gives a text as it is.
type rawReader struct {
	text []byte
	at   int
}

func (r *rawReader) next() (unit, bool) {
	if r.at == len(r.text) {
		return unit{}, false
	}
	u := unit{r.at, r.at + 1, r.text[r.at]}
	r.at++
	return u, true
}

// mapReader gives each byte another one. It leaves out those that become 0.
type mapReader struct {
	from reader
	to   *[256]byte
}

func (r *mapReader) next() (unit, bool) {
	for {
		u, ok := r.from.next()
		if !ok {
			return u, false
		}
		if u.b = r.to[u.b]; u.b != 0 {
			return u, true
		}
	}
}

var (
	// urlAlphabet makes the alphabet of URLs the other one.
	urlAlphabet      = table(map[byte]byte{'-': '+', '_': '/'}, "")
	urlAlphabetLines = table(map[byte]byte{'-': '+', '_': '/'}, " \t\r\n")
	lowerCase        = table(map[byte]byte{'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f'}, "")
	lowerCaseGroups  = table(map[byte]byte{'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f'}, " \t\r\n:-,")
)

func table(change map[byte]byte, leaveOut string) (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	t[0] = 1 // no pattern in these alphabets has it
	for from, to := range change {
		t[from] = to
	}
	for _, b := range []byte(leaveOut) {
		t[b] = 0
	}
	return t
}

// longestEscape is a pair of surrogates: \ud83d\ude00.
const longestEscape = 12

// escape decodes what a text starts with: it appends the bytes that it stands
// for, at least one and at most four, and says how many it is written with; 0: it
// is no escape.
type escape func(ahead []byte, out []byte) (decoded []byte, size int)

// decoder gives what a text with escapes stands for.
type decoder struct {
	from   reader
	escape escape

	// What is read and not given yet: as units, and their bytes.
	units    [8 * longestEscape]unit
	bytes    [8 * longestEscape]byte
	at, read int

	// What is decoded and not given yet.
	decoded     [utf8.UTFMax]byte
	given, left int
	place       unit

	// cut: the text was cut, perhaps in an escape. The text ends before it then.
	cut bool
}

func newDecoder(from reader, e escape, cut bool) *decoder {
	return &decoder{from: from, escape: e, cut: cut}
}

func (d *decoder) next() (unit, bool) {
	if d.left > 0 {
		return d.give(), true
	}
	if d.read-d.at < longestEscape {
		d.fill()
		if d.read == d.at {
			return unit{}, false
		}
	}
	first := d.units[d.at]
	decoded, size := d.escape(d.bytes[d.at:d.read], d.decoded[:0])
	if d.cut && (size == 0 || size == d.read-d.at) && d.read-d.at < longestEscape && isLead(first.b) {
		d.at = d.read // it may go on behind the cut
		return unit{}, false
	}
	if size == 0 {
		d.at++
		return first, true
	}
	d.place = unit{start: first.start, end: d.units[d.at+size-1].end}
	d.given, d.left = 0, len(decoded)
	d.at += size
	return d.give(), true
}

// isLead reports whether a byte can begin an escape.
func isLead(b byte) bool { return b == '\\' || b == '%' || b == '&' }

// give gives the next byte of an escape; each stands for the whole of it.
func (d *decoder) give() unit {
	u := d.place
	u.b = d.decoded[d.given]
	d.given++
	d.left--
	return u
}

// fill reads ahead by as much as there is room for.
func (d *decoder) fill() {
	copy(d.bytes[:], d.bytes[d.at:d.read])
	d.read, d.at = copy(d.units[:], d.units[d.at:d.read]), 0
	for d.read < len(d.units) {
		u, ok := d.from.next()
		if !ok {
			return
		}
		d.units[d.read], d.bytes[d.read] = u, u.b
		d.read++
	}
}

// backslash decodes the escapes of JSON, JavaScript, Python and C.
func backslash(a, out []byte) ([]byte, int) {
	if len(a) < 2 || a[0] != '\\' {
		return nil, 0
	}
	switch c := a[1]; c {
	case '\\', '"', '\'', '/', '`', '$':
		return append(out, c), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'v':
		return append(out, '\v'), 2
	case 'a':
		return append(out, '\a'), 2
	case 'x':
		if v, ok := hexDigits(a, 2, 2); ok {
			return append(out, byte(v)), 4
		}
	case 'u':
		v, ok := hexDigits(a, 2, 4)
		if !ok {
			return nil, 0
		}
		if low, ok := hexDigits(a, 8, 4); ok && a[6] == '\\' && a[7] == 'u' {
			if r := utf16.DecodeRune(v, low); r != utf8.RuneError {
				return utf8.AppendRune(out, r), 12
			}
		}
		if utf16.IsSurrogate(v) && len(a) < longestEscape {
			return nil, 0 // half of a character
		}
		return utf8.AppendRune(out, v), 6
	case 'U':
		if v, ok := hexDigits(a, 2, 8); ok {
			return utf8.AppendRune(out, v), 10
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, size := rune(0), 1
		for size < 4 && size < len(a) && a[size] >= '0' && a[size] <= '7' {
			v = v<<3 | rune(a[size]-'0')
			size++
		}
		return append(out, byte(v)), size
	}
	return nil, 0
}

// percent decodes what is encoded for URLs, but for spaces as +.
func percent(a, out []byte) ([]byte, int) {
	if a[0] == '%' {
		if v, ok := hexDigits(a, 1, 2); ok {
			return append(out, byte(v)), 3
		}
	}
	return nil, 0
}

// form decodes what is encoded for forms.
func form(a, out []byte) ([]byte, int) {
	if a[0] == '+' {
		return append(out, ' '), 1
	}
	return percent(a, out)
}

// entities are those that text is escaped with for HTML and XML.
var entities = []struct {
	name string
	b    byte
}{{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}

func entity(a, out []byte) ([]byte, int) {
	if a[0] != '&' {
		return nil, 0
	}
	for _, e := range entities {
		if len(a) >= len(e.name) && string(a[:len(e.name)]) == e.name {
			return append(out, e.b), len(e.name)
		}
	}
	if len(a) < 4 || a[1] != '#' {
		return nil, 0
	}
	at, base := 2, rune(10)
	if a[2] == 'x' || a[2] == 'X' {
		at, base = 3, 16
	}
	v := rune(0)
	for i := at; i < len(a) && i < longestEscape-1; i++ {
		if a[i] == ';' && i > at {
			return utf8.AppendRune(out, v), i + 1
		}
		d := digit(a[i])
		if d < 0 || d >= base || v > utf8.MaxRune {
			return nil, 0
		}
		v = v*base + d
	}
	return nil, 0
}

// hexDigits reads n digits.
func hexDigits(a []byte, at, n int) (v rune, ok bool) {
	if len(a) < at+n {
		return 0, false
	}
	for _, b := range a[at : at+n] {
		d := digit(b)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | d
	}
	return v, true
}

func digit(b byte) rune {
	switch {
	case b >= '0' && b <= '9':
		return rune(b - '0')
	case b >= 'a' && b <= 'f':
		return rune(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return rune(b-'A') + 10
	}
	return -1
}
