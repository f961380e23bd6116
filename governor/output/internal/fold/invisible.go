package fold

import "unicode"

// Invisible reports whether a reader sees nothing of r although a program, or
// a model, reads it: control and format characters, variation selectors, tag
// characters, fillers and the like. Whether it has a purpose where it stands
// is another question.
func Invisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0x7f:
		return false
	case r <= 0xa0:
		return r != 0x85 && r != 0xa0 // C1 controls, but not the line and the space
	case r < 0x034f:
		return r == 0xad // soft hyphen
	}
	switch {
	case r == 0x034f, // combining grapheme joiner
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, // Hangul fillers
		r == 0x17b4, r == 0x17b5, // Khmer vowels that are not written
		r >= 0x180b && r <= 0x180f,   // Mongolian selectors and the vowel separator
		r >= 0x2060 && r <= 0x206f,   // word joiner, invisible operators, isolates, old format characters
		r >= 0xfe00 && r <= 0xfe0f,   // variation selectors
		r >= 0xfff0 && r <= 0xfffb,   // unassigned specials and annotations
		r >= 0xe0000 && r <= 0xe0fff: // tags, further variation selectors, and what is reserved there
		return true
	case r >= 0x2100 && r <= 0xd7ff: // most of the letters there are
		return false
	}
	return unicode.Is(unicode.Cf, r) && !seenFormat(r)
}

// seenFormat reports whether r is a format character that is drawn, such as
// the Arabic number sign, or that a script cannot be written without.
func seenFormat(r rune) bool {
	switch {
	case r >= 0x0600 && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x0890, r == 0x0891, r == 0x08e2,
		r == 0x110bd, r == 0x110cd,
		r >= 0x13430 && r <= 0x1345f: // Egyptian quadrats
		return true
	}
	return false
}

// Tag gives the ASCII character that a tag character stands for; 0 if r is
// none. Whole sentences can be hidden in them.
func Tag(r rune) byte {
	if r >= 0xe0020 && r <= 0xe007e {
		return byte(r - 0xe0000)
	}
	return 0
}
