package pii

import (
	"slices"
)

// number is a row of groups of digits, as numbers for people are written: "+1
// (415) 555-0132". At most maxGroups of them, whose digits, up to maxDigits a
// group, can be compared with the ways that cards and phones are grouped.
type number struct {
	text   []byte
	start  int
	plus   bool
	groups []group
	room   [maxGroups]group
}

type group struct {
	start, end int
	sep        string // before the group; of the first: what opens it
}

const (
	maxGroups = 10
	maxDigits = 19
)

// separators that can stand between two groups, longest first.
var separators = []string{") - ", ") -", ")-", ") ", ")", " (0)", " (", "-(", "(", " - ", ". ", " ", "-", ".", "/"}

func parseNumber(text []byte, i int) (*number, bool) {
	n := &number{text: text, start: i}
	n.groups = n.room[:0]
	sep := ""
	if text[i] == '+' {
		n.plus = true
		i++
	}
	if i < len(text) && text[i] == '(' {
		sep = "("
		i++
	}
	for len(n.groups) < maxGroups {
		start := i
		for i < len(text) && isDigit(text[i]) && i-start <= maxDigits {
			i++
		}
		if i == start || i-start > maxDigits {
			break
		}
		n.groups = append(n.groups, group{start, i, sep})
		sep = ""
		for _, s := range separators {
			if j := i + len(s); j < len(text) && string(text[i:j]) == s && isDigit(text[j]) {
				sep = s
				break
			}
		}
		if sep == "" {
			break
		}
		i += len(sep)
	}
	return n, len(n.groups) > 0
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

// digits gives the digits of the first count groups.
func (n *number) digits(count int) []byte {
	var d []byte
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
