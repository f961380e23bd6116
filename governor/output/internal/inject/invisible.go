package inject

import (
	"unicode"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/governor/output/internal/fold"
	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// invisible finds the characters that nobody sees and that no script or emoji
// needs where they stand. Characters in a row are one span.
func (f *finder) invisible(text string) {
	if f.view.Same() {
		return
	}
	rtl := -1 // not looked yet
	before := rune(-1)
	open := -1
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		gone := false
		switch {
		case !fold.Invisible(r):
		case fold.Tag(r) != 0 || r == cancelTag:
			gone = !inFlag(text, i)
		default:
			after, _ := utf8.DecodeRuneInString(text[i+size:])
			if i+size == len(text) {
				after = -1
			}
			if mark(r) {
				if rtl < 0 {
					rtl = rightToLeft(text)
				}
				gone = rtl == 0 || before >= 0 && fold.Invisible(before) || plainLetter(before) && plainLetter(after)
			} else {
				gone = !needed(r, before, after)
			}
		}
		switch {
		case gone && open < 0:
			open = i
		case !gone && open >= 0:
			f.found = append(f.found, span.Span{Start: open, End: i, Kind: Invisible})
			open = -1
		}
		if !gone {
			before = r
		}
	}
	if open >= 0 {
		f.found = append(f.found, span.Span{Start: open, End: len(text), Kind: Invisible})
	}
}

const cancelTag = 0xe007f

// mark reports whether r only says which way the text around it runs.
func mark(r rune) bool { return r == 0x200e || r == 0x200f || r == 0x061c }

// rightToLeft gives 1 if a text has a letter of a script that runs to the left.
func rightToLeft(text string) int {
	for _, r := range text {
		if r >= 0x0590 && r <= 0x08ff && unicode.IsLetter(r) || r >= 0xfb1d && r <= 0xfefc && unicode.IsLetter(r) {
			return 1
		}
	}
	return 0
}

func plainLetter(r rune) bool {
	return r >= 0 && r < 0x0590 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// needed reports whether r, between these two, does something that a reader
// sees. -1 is the beginning or the end.
func needed(r, before, after rune) bool {
	switch {
	case r == 0x200d: // joiner
		return joins(before) || emojiEnd(before) && emoji(after)
	case r == 0x200c: // non-joiner
		return joins(before) && (joins(after) || unicode.IsSpace(after) || unicode.IsPunct(after))
	case r == 0x200b: // where a line may break
		return breaksLines(before) && breaksLines(after)
	case r == 0x034f: // keeps points apart
		return unicode.IsMark(before) && before != 0x034f && !fold.Invisible(before)
	case r >= 0x180b && r <= 0x180f:
		return before >= 0x1820 && before <= 0x18aa
	case r == 0x115f:
		return after >= 0x1160 && after <= 0x11a7
	case r == 0x1160:
		return before >= 0x1100 && before <= 0x115f
	case r == 0xfe0e || r == 0xfe0f:
		return emojiBase(before)
	case r >= 0xfe00 && r <= 0xfe0d:
		return ideograph(before) || unicode.Is(unicode.Sm, before) || before >= 0xa840 && before <= 0xa877 || before >= 0x1000 && before <= 0x109f
	case r >= 0xe0100 && r <= 0xe01ef:
		return ideograph(before)
	}
	return false
}

// joins reports whether r is of a script in which letters change shape with
// their neighbours.
func joins(r rune) bool {
	if r < 0x0600 || !unicode.IsLetter(r) && !unicode.IsMark(r) || fold.Invisible(r) {
		return false
	}
	switch {
	case r <= 0x08ff, // Arabic, Syriac, N'Ko and their like
		r >= 0x0900 && r <= 0x0dff,                             // the scripts of India
		r >= 0x0f00 && r <= 0x109f,                             // Tibetan, Burmese
		r >= 0x1780 && r <= 0x18af,                             // Khmer, Mongolian
		r >= 0x1b00 && r <= 0x1b7f, r >= 0xa980 && r <= 0xa9df, // Balinese, Javanese
		r >= 0xa8e0 && r <= 0xa8ff, r >= 0xfb50 && r <= 0xfefc,
		r >= 0x11000 && r <= 0x11fff, r >= 0x1e900 && r <= 0x1e95f:
		return true
	}
	return false
}

// breaksLines reports whether r is of a script in which only a dictionary tells
// where a line may break.
func breaksLines(r rune) bool {
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

func ideograph(r rune) bool {
	return unicode.Is(unicode.Han, r) || unicode.Is(unicode.Unified_Ideograph, r)
}

// emoji reports whether a sequence of emoji can go on with r.
func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0x3030 || r == 0x303d
}

// emojiEnd reports whether an emoji can end in r.
func emojiEnd(r rune) bool { return emoji(r) || r == 0xfe0f || r == 0x20e3 }

// emojiBase reports whether r can be drawn as a picture or as text.
func emojiBase(r rune) bool {
	return emoji(r) || r == '#' || r == '*' || r >= '0' && r <= '9' || r == 0xa9 || r == 0xae ||
		r == 0x203c || r == 0x2049 || r >= 0x2100 && r <= 0x214f || r == 0x3297 || r == 0x3299
}

// inFlag reports whether the tag character at i is part of the flag of a
// region: a black flag, two letters and up to three more characters, and the
// end.
func inFlag(text string, i int) bool {
	const longest = 5 // characters of four bytes
	start := i
	for n := 0; n <= longest; n++ {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if r == 0x1f3f4 {
			return flagAt(text, start, i)
		}
		if fold.Tag(r) == 0 {
			return false
		}
		start -= size
	}
	return false
}

// flagAt reports whether a whole flag is tagged from start on, reaching i.
func flagAt(text string, start, i int) bool {
	n := 0
	for j, r := range text[start:min(len(text), start+6*4)] {
		c := fold.Tag(r)
		switch {
		case r == cancelTag:
			return n >= 3 && start+j >= i
		case c >= 'a' && c <= 'z', n >= 2 && c >= '0' && c <= '9':
			n++
		default:
			return false
		}
		if n > 5 {
			return false
		}
	}
	return false
}
