package pii

// A phone number has from 7 to 15 digits.
const (
	minPhone = 7
	maxPhone = 15
)

// phone takes a phone number: one that starts with + or 00, has its area code in
// parentheses, is grouped as no other number is, or is called one.
func (f *finder) phone(n *number) int {
	end := international(n)
	if end == 0 {
		end = areaInParentheses(n)
	}
	if end == 0 {
		end = grouped(n)
	}
	if end == 0 {
		end = f.calledPhone(n)
	}
	if end == 0 {
		return 0
	}
	return extension(n.text, end)
}

// international takes +44 20 7946 0958 and 0044 20 7946 0958.
func international(n *number) int {
	first := n.text[n.groups[0].start:n.groups[0].end]
	zeros := len(first) >= 3 && len(first) <= 5 && first[0] == '0' && first[1] == '0' && first[2] != '0'
	if !n.plus && !zeros || n.joinedBefore() || n.plus && (first[0] == '0' || n.start > 0 && n.text[n.start-1] == ')') {
		return 0
	}
	most := maxPhone
	if n.plus && first[0] == '1' {
		most = 11 // North America
	}
	if zeros {
		most += 2
	}
	count, digits := n.take(most)
	switch {
	case count == 0 || n.decimal(count):
		return 0
	case n.plus && count == 1 && digits < 10, n.plus && digits < 8, zeros && (digits < 11 || count < 3 || n.goesOn() || n.text[n.groups[1].start] == '0' && n.groups[1].sep != " (0)"):
		return 0
	case n.joinedAfter(count):
		return 0
	}
	return n.end(count)
}

// take gives how many groups belong together, and their digits: at most most,
// and no short ones once there are enough. 0: a group has too many.
func (n *number) take(most int) (count, digits int) {
	for i, g := range n.groups {
		size := g.end - g.start
		enough := digits >= 10 && (size < 2 || g.sep == ". ")
		if i > 0 && (digits+size > most || enough) {
			break
		}
		digits += size
		count++
	}
	if digits > most {
		return 0, 0
	}
	return count, digits
}

// decimal reports whether a dot is between the groups as in a decimal number,
// not as the one separator of at least three.
func (n *number) decimal(count int) bool {
	for _, g := range n.groups[1:count] {
		if g.sep == "." {
			return count < 3 || !n.apart(count, ".")
		}
	}
	return false
}

// areaInParentheses takes (415) 555-0132, (020) 7946 0958, (11) 91234-5678.
func areaInParentheses(n *number) int {
	if n.plus || !n.open || len(n.groups) < 2 || n.groups[1].sep == "" || n.groups[1].sep[0] != ')' {
		return 0
	}
	if n.start > 0 && isAlnum(n.text[n.start-1]) {
		return 0 // f(415) 555
	}
	first := n.text[n.groups[0].start]
	switch {
	case n.lengths(3, 3, 4) && first >= '2' && n.text[n.groups[1].start] >= '2':
		return n.whole(3)
	case n.lengths(3, 7) && first >= '2':
		return n.whole(2)
	case n.lengths(2, 4, 4) || n.lengths(2, 5, 4):
		if n.groups[2].sep == "-" || first == '0' {
			return n.whole(3)
		}
	case first == '0' && len1(n) <= 5:
		if count, digits := n.take(12); count > 1 && digits >= 8 {
			return n.whole(count)
		}
	}
	return 0
}

func (n *number) whole(count int) int {
	if n.joinedAfter(count) {
		return 0
	}
	return n.end(count)
}

// grouped takes numbers by their groups: 415-555-0132, 415.555.0132,
// 1-415-555-0132, 138-1234-5678, 03-1234-5678.
func grouped(n *number) int {
	if n.plus || n.open || n.joinedBefore() {
		return 0
	}
	at := func(g int) byte { return n.text[n.groups[g].start] }
	switch {
	case n.lengths(3, 3, 4) && n.sameSep(3, "-", ".") != "":
		if at(0) >= '2' && at(1) >= '2' {
			return n.whole(3)
		}
	case n.lengths(1, 3, 3, 4) && n.sameSep(4, "-", ".") != "":
		if at(0) == '1' && at(1) >= '2' && at(2) >= '2' {
			return n.whole(4)
		}
	case n.lengths(3, 4, 4) && n.sameSep(3, "-") != "":
		if at(0) == '1' && n.text[n.groups[0].start+1] >= '3' {
			return n.whole(3)
		}
	}
	if len(n.groups) >= 3 && n.sameSep(3, "-") != "" && at(0) == '0' && len1(n) >= 2 && len1(n) <= 5 {
		second, third := n.groups[1].end-n.groups[1].start, n.groups[2].end-n.groups[2].start
		if total := len1(n) + second + third; second >= 3 && second <= 4 && third == 4 && total >= 9 && total <= 11 {
			return n.whole(3)
		}
	}
	return 0
}

// calledPhone takes what the key, or a word in front, says is a phone number.
func (f *finder) calledPhone(n *number) int {
	count, digits := n.take(maxPhone)
	if count == 0 || digits < minPhone || n.date() || n.decimal(count) || n.joinedAfter(count) || n.joinedBefore() {
		return 0
	}
	if f.context.has(PhoneKey) || f.called(n.start, phoneWords) {
		return n.end(count)
	}
	return 0
}

// date reports whether the number is one: 2026-08-12, 12.08.2026.
func (n *number) date() bool {
	return n.lengths(4, 2, 2) || n.lengths(2, 2, 4)
}

// extension takes what is dialled after the number.
func extension(text []byte, end int) int {
	for _, word := range []string{" ext. ", " ext ", " ext.", " x", "x"} {
		i := end + len(word)
		if i >= len(text) || string(text[end:i]) != word || !isDigit(text[i]) {
			continue
		}
		j := i
		for j < len(text) && isDigit(text[j]) && j-i <= 6 {
			j++
		}
		if j-i <= 6 && (j == len(text) || !isAlnum(text[j])) {
			return j
		}
	}
	return end
}
