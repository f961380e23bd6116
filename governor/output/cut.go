package output

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// cut keeps as much of r.Text as fits, with a note behind it.
//
// The cut is moved to the left until sanitizing what is left would change
// nothing: half of a harmless text can look like something personal (1.2.3.4567
// without its end is an address), and a result that goes through this twice must
// not change.
func (o *Output) cut(r *Result) {
	if len(r.Text) <= o.maxBytes {
		return
	}
	full := r.Text
	note := o.note(r.OriginalBytes)
	keep := 0
	if note != "" { // never a cut that does not show
		keep = boundary(full, o.maxBytes-len(note))
	}
	for range maxRounds {
		text := full[:keep] + note
		again := o.clean(text, 0, counts{})
		if again == text {
			break
		}
		keep = boundary(full, min(keep-1, common(again, text)))
		if keep <= 0 {
			keep = 0
			break
		}
	}
	r.Text, r.JSON, r.Truncated = full[:keep]+note, false, true
	if keep > 0 && o.clean(r.Text, 0, counts{}) != r.Text {
		r.Text = note
	}
}

// note gives the longest note about a result of that size that there is room
// for; "" if there is none.
func (o *Output) note(size int64) string {
	for _, note := range []string{
		"\n[cut: the result has " + strconv.FormatInt(size, 10) + " bytes]",
		"[cut: " + strconv.FormatInt(size, 10) + " bytes]",
		"[cut]",
		"…",
	} {
		if len(note) <= o.maxBytes {
			return note
		}
	}
	return ""
}

// boundary gives the last place in text, up to n, where it can be cut: between
// two characters, not in an escape of JSON and not in a placeholder.
func boundary(text string, n int) int {
	n = max(0, min(n, len(text)))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	// The longest escape is \uD83D\uDE00 and the longest placeholder [REMOVED].
	const reach = 12
	from := max(0, n-reach)
	if open := strings.LastIndexByte(text[from:n], '['); open >= 0 && !strings.Contains(text[from+open:n], "]") {
		for _, p := range placeholders {
			if strings.HasPrefix(text[from+open:], p) {
				return from + open
			}
		}
	}
	return beforeEscape(text, n)
}

var placeholders = []string{"[EMAIL]", "[PHONE]", "[CARD]", "[IBAN]", "[IP]", "[SSN]", dropped}

// beforeEscape moves n in front of the backslash whose escape it would cut.
func beforeEscape(text string, n int) int {
	for back := 1; back <= 5 && n-back >= 0; back++ {
		i := n - back
		if text[i] != '\\' {
			continue
		}
		slashes := 1
		for slashes <= 64 && i-slashes >= 0 && text[i-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return n // the backslash is itself escaped
		}
		if back == 1 || i+1 < len(text) && text[i+1] == 'u' {
			return i
		}
		return n
	}
	return n
}

// common gives how many bytes a and b begin with together.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
