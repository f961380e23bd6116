package pii

import (
	"slices"
)

// number is a row of groups of digits, as numbers for people are written: "+1
// (415) 555-0132". It has at most maxGroups of them, which can be compared with
// the ways that cards and phones are grouped.
type number struct {
	text   []byte
	start  int
	plus   bool
	open   bool    // with a parenthesis before the first group
	groups []group // at least one
	buffer [maxGroups * maxDigits]byte
}

type group struct {
	start, end int
	sep        string // between the group before and this one
}

const (
	maxGroups = 10
	maxDigits = 19
	// maxRow is how many groups are read at once. A number can start at each, so
	// a long row would be read again and again otherwise.
	maxRow = 8 * maxGroups
)

// row is what was read last.
type row struct {
	groups []group
	whole  bool // nothing goes on behind the last group
	next   int  // the group that comes next
}

// separators that can stand between two groups, longest first.
var separators = []string{") - ", ") -", ")-", ") ", ")", " (0)", " (", "-(", "(", " - ", ". ", " ", "-", ".", "/"}

// number reads the number that starts at i; nil if none does.
func (f *finder) number(text []byte, i int) *number {
	n := &f.current
	n.text, n.start, n.plus, n.open = text, i, false, false
	if text[i] == '+' {
		n.plus = true
		i++
	}
	if i < len(text) && text[i] == '(' {
		n.open = true
		i++
	}
	if i >= len(text) || !isDigit(text[i]) {
		return nil
	}
	r := &f.row
	for r.next < len(r.groups) && r.groups[r.next].start < i {
		r.next++
	}
	known := r.next < len(r.groups) && r.groups[r.next].start == i
	if !known || !r.whole && len(r.groups)-r.next < maxGroups {
		r.read(text, i)
	}
	if len(r.groups) == 0 {
		return nil
	}
	n.groups = r.groups[r.next:min(len(r.groups), r.next+maxGroups)]
	return n
}

// read reads the row of groups that starts at i.
func (r *row) read(text []byte, i int) {
	r.groups, r.next, r.whole = r.groups[:0], 0, true
	for sep := ""; ; {
		start := i
		for i < len(text) && isDigit(text[i]) && i-start <= maxDigits {
			i++
		}
		if i-start > maxDigits {
			return
		}
		if len(r.groups) == maxRow {
			r.whole = false
			return
		}
		r.groups = append(r.groups, group{start, i, sep})
		if sep = separator(text, i); sep == "" {
			return
		}
		i += len(sep)
	}
}

// separator gives what stands at i, between two groups; "" if no group follows.
func separator(text []byte, i int) string {
	if i+1 >= len(text) {
		return ""
	}
	switch text[i] {
	case ' ', '-', '.', '/', '(', ')':
	default:
		return ""
	}
	for _, s := range separators {
		if j := i + len(s); j < len(text) && isDigit(text[j]) && string(text[i:j]) == s {
			return s
		}
	}
	return ""
}

// lengths reports whether the first groups have these lengths.
func (n *number) lengths(want ...int) bool {
	if len(n.groups) < len(want) {
		return false
	}
	for i, w := range want {
		if n.groups[i].end-n.groups[i].start != w {
			return false
		}
	}
	return true
}

// apart reports whether sep, and nothing else, is between the first count
// groups.
func (n *number) apart(count int, sep string) bool {
	for _, g := range n.groups[1:count] {
		if g.sep != sep {
			return false
		}
	}
	return true
}

// sameSep gives the one separator between the first count groups if it is one
// of allowed, else "".
func (n *number) sameSep(count int, allowed ...string) string {
	if count < 2 || len(n.groups) < count {
		return ""
	}
	sep := n.groups[1].sep
	if !slices.Contains(allowed, sep) || !n.apart(count, sep) {
		return ""
	}
	return sep
}

// digits gives the digits of the first count groups, until it is called again.
func (n *number) digits(count int) []byte {
	d := n.buffer[:0]
	for _, g := range n.groups[:count] {
		d = append(d, n.text[g.start:g.end]...)
	}
	return d
}

func (n *number) end(count int) int { return n.groups[count-1].end }

// joinedBefore reports whether the number is the rest of something longer:
// 2026-415-555-0132, 3.4155550132, sku-212-555-0199.
func (n *number) joinedBefore() bool {
	i := n.start - 1
	return i >= 1 && (n.text[i] == '-' || n.text[i] == '.' || n.text[i] == '/') && isAlnum(n.text[i-1])
}

// afterCountry reports whether the number goes on from letters as those of an
// IBAN: "DE89 3704 …". If that was none, its digits are no number of their own.
func (n *number) afterCountry() bool {
	i := n.start
	return i >= 5 && n.text[i-1] == ' ' && isDigit(n.text[i-2]) && isDigit(n.text[i-3]) &&
		isLetter(n.text[i-4]) && isLetter(n.text[i-5]) && (i == 5 || !isAlnum(n.text[i-6]))
}

// goesOn reports whether the number follows another one after a space.
func (n *number) goesOn() bool {
	i := n.start
	return i >= 2 && n.text[i-1] == ' ' && isDigit(n.text[i-2])
}

// joinedAfter reports whether something goes on behind the first count groups.
func (n *number) joinedAfter(count int) bool {
	i := n.end(count)
	if i >= len(n.text) {
		return false
	}
	c := n.text[i]
	if isAlnum(c) || c == '_' {
		return true
	}
	return i+1 < len(n.text) && (c == '-' || c == '.' || c == '/') && isDigit(n.text[i+1])
}
