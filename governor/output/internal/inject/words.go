package inject

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordEnd gives where the word that starts at i ends; i if none starts there.
// An apostrophe between letters is part of a word: don't.
func wordEnd(text []byte, i int) int {
	start := i
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			inner := c == '\'' && i > 0 && i+1 < len(text) && isWord(text[i-1]) && isWord(text[i+1])
			if !isWord(c) && !inner {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			return i
		case !unspaced(r):
			i += size
		case i == start:
			return i + size
		default:
			return i
		}
	}
	return i
}

// unspaced reports whether r is of a script that does not put spaces between
// words. There each character counts as a word.
func unspaced(r rune) bool {
	return r >= 0x0e00 && r <= 0x0eff || r >= 0x3005 && r <= 0x9fff || r >= 0x20000 && r <= 0x3ffff
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// recent is how many words are remembered for orders whose verb comes last.
const recent = 8

// maxWord is how long a word is looked up, in bytes.
const maxWord = 64

// words remembers the last words of the sentence.
type words struct {
	text []byte
	ring [recent]word
	n    int // in all since the sentence began
}

type word struct{ start, end int }

func (w *words) push(start, end int) {
	w.ring[w.n%recent] = word{start, end}
	w.n++
}

func (w *words) restart() { w.n = 0 }

// back gives the word k words ago; k is 1 for the last.
func (w *words) back(k int) (word, bool) {
	if k > w.n || k > recent {
		return word{}, false
	}
	return w.ring[(w.n-k)%recent], true
}

// gap ends the sentence if i ends it.
func (w *words) gap(text []byte, i int) {
	if endsSentence(text, i) {
		w.restart()
	}
}

// endsSentence reports whether the character at i ends a sentence: a full stop
// with something that is no word behind it, or an empty line.
func endsSentence(text []byte, i int) bool {
	switch text[i] {
	case '.', '!', '?':
		return i+1 >= len(text) || !isWord(text[i+1]) && text[i+1] != '/' && text[i+1] != '_'
	case '\n':
		return i+1 < len(text) && text[i+1] == '\n'
	case 0xe3, 0xe0, 0xd8, 0xdb:
		for _, stop := range []string{"。", "।", "؟", "۔"} {
			if bytes.HasPrefix(text[i:], []byte(stop)) {
				return true
			}
		}
	}
	return false
}

// lookup gives the word as the tables have it: without accents, and with letters
// of another alphabet that look Latin, in a word that is Latin otherwise, made
// Latin; so are digits that stand for letters.
func lookup(w []byte) string {
	if len(w) > maxWord {
		return ""
	}
	hasLatin, hasOther, hasDigit := false, false, false
	for _, c := range w {
		hasLatin = hasLatin || c >= 'a' && c <= 'z'
		hasOther = hasOther || c >= utf8.RuneSelf
		hasDigit = hasDigit || c >= '0' && c <= '9'
	}
	if !hasOther && !hasDigit {
		return string(w)
	}
	return strings.Map(func(r rune) rune {
		if l, ok := plainLatin[r]; ok {
			return l
		}
		if l, ok := lookalikes[r]; ok && hasLatin {
			return l
		}
		if hasLatin && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, string(w))
}

// plainLatin takes the accents off, after lower case.
var plainLatin = pairs(`àa áa âa ãa äa åa āa ăa ąa çc ćc čc ďd đd èe ée êe ëe ēe ėe ęe ěe ğg ìi íi îi ïi īi ıi ķk ĺl ľl łl ñn ńn ňn
	òo óo ôo õo öo øo ōo őo ơo ŕr řr śs šs şs șs ťt țt ùu úu ûu üu ūu ůu űu ưu ýy ÿy źz żz žz
	ạa ảa ấa ầa ẩa ẫa ậa ắa ằa ẳa ẵa ặa ẹe ẻe ẽe ếe ềe ểe ễe ệe ỉi ịi ọo ỏo ốo ồo ổo ỗo ộo ớo ờo ởo ỡo ợo ụu ủu ứu ừu ửu ữu ựu ỳy ỵy ỷy ỹy`)

// lookalikes are letters that a reader takes for a Latin one.
var lookalikes = pairs(`аa ɑa αa вb сc ԁd еe єe ҽe ɡg һh нh іi їi ιi ɩi јj кk κk ӏl мm пn ոn оo οo օo ρp рp ԛq гr ѕs тt τt υu սu νv ѵv ԝw ωw хx χx уy γy ʏy 0o 1i 3e 4a 5s 7t`)

func pairs(list string) map[rune]rune {
	m := make(map[rune]rune)
	for p := range strings.FieldsSeq(list) {
		from, size := utf8.DecodeRuneInString(p)
		to, _ := utf8.DecodeRuneInString(p[size:])
		m[from] = to
	}
	return m
}

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[lookup([]byte(w))] = true
	}
	return m
}
