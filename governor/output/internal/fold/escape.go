package fold

import "strings"

// escape gives the printable ASCII character that s begins with in escaped
// form, and how many bytes that takes; 0 if it does not. The forms are %40 of
// URLs, \u0040 of JSON and of many languages, and &#64; and &#x40; of HTML.
func escape(s string) (char byte, size int) {
	switch s[0] {
	case '%':
		return printable(number(s[1:], 16, 2, 2, 1))
	case '\\':
		if strings.HasPrefix(s, `\u00`) {
			return printable(number(s[4:], 16, 2, 2, 4))
		}
	case '&':
		switch {
		case strings.HasPrefix(s, "&#x"), strings.HasPrefix(s, "&#X"):
			return printable(closed(s, 3, 16))
		case strings.HasPrefix(s, "&#"):
			return printable(closed(s, 2, 10))
		case strings.HasPrefix(s, "&commat;"):
			return '@', len("&commat;")
		}
	}
	return 0, 0
}

// closed reads a number that starts at skip and that a semicolon ends.
func closed(s string, skip, base int) (value, size int) {
	value, size = number(s[skip:], base, 2, 6, skip)
	if size == 0 || size >= len(s) || s[size] != ';' {
		return 0, 0
	}
	return value, size + 1
}

// number reads the digits that s begins with, from least to most of them. The
// size is theirs and that of what was before.
func number(s string, base, least, most, before int) (value, size int) {
	n := 0
	for n < len(s) && n < most {
		d := digitValue(s[n])
		if d < 0 || d >= base {
			break
		}
		value = value*base + d
		n++
	}
	if n < least {
		return 0, 0
	}
	return value, before + n
}

func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func printable(value, size int) (byte, int) {
	if size == 0 || value < ' ' || value > '~' {
		return 0, 0
	}
	return byte(value), size
}
