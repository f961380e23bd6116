package pii

// cardGroups are the ways in which card numbers are printed.
var cardGroups = [][]int{
	{4, 4, 4, 4, 3}, {4, 4, 4, 4, 2}, {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 5, 6}, {4, 4, 5},
}

// card takes the number of a payment card: the check digit and the issuer must
// be right, and it is grouped like one, is called one, or has invisible
// characters between its digits.
func (f *finder) card(n *number) int {
	if n.plus || n.open || n.afterCountry() {
		return 0
	}
	for _, want := range cardGroups {
		count := len(want)
		if !n.lengths(want...) || n.sameSep(count, " ", "-", ".") == "" {
			continue
		}
		if issued(n.digits(count)) && !f.digitFollows(n.end(count)) && !n.joinedAfterBySame(count) {
			return n.end(count)
		}
	}
	if n.lengths(len1(n)) && issued(n.digits(1)) && !n.joinedBefore() && !n.joinedAfter(1) {
		if f.context.has(CardKey) || f.called(n.start, cardWords) || f.view.Hides(n.start, n.end(1)) {
			return n.end(1)
		}
	}
	if f.context.has(CardKey) {
		for count := len(n.groups); count > 1; count-- {
			if d := n.digits(count); issued(d) {
				return n.end(count)
			}
		}
	}
	return 0
}

func len1(n *number) int { return n.groups[0].end - n.groups[0].start }

func (f *finder) digitFollows(i int) bool { return i < len(f.text) && isDigit(f.text[i]) }

// joinedAfterBySame reports whether the row goes on with the same hyphen or
// dot, so that it is a longer number of some other kind.
func (n *number) joinedAfterBySame(count int) bool {
	return len(n.groups) > count && n.groups[count].sep == n.groups[1].sep && n.groups[1].sep != " "
}

// issued reports whether digits can be the number of a card: the length, the
// first digits, and the check digit.
func issued(digits []byte) bool {
	if len(digits) < 13 || len(digits) > maxDigits {
		return false
	}
	d := func(n int) int {
		v := 0
		for _, c := range digits[:n] {
			v = v*10 + int(c-'0')
		}
		return v
	}
	network := false
	switch digits[0] {
	case '2':
		network = d(4) >= 2200 && d(4) <= 2204 || d(4) >= 2221 && d(4) <= 2720
	case '3':
		network = d(2) == 34 || d(2) == 35 || d(2) == 36 || d(2) == 37 || d(2) == 38 || d(2) == 39 || d(2) == 30
	case '4', '6':
		network = true
	case '5':
		network = digits[1] != '9'
	case '9':
		network = d(4) == 9792
	}
	return network && luhn(digits)
}

func luhn(digits []byte) bool {
	sum := 0
	for i, c := range digits {
		v := int(c - '0')
		if (len(digits)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}
