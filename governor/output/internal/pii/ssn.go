package pii

// ssn takes a US social security number: 123-45-6789, or with other
// separators, or none, where it is called one.
func (f *finder) ssn(n *number) int {
	if n.plus || n.open || n.joinedBefore() {
		return 0
	}
	if n.lengths(3, 2, 4) && !n.joinedAfter(3) {
		sep := n.sameSep(3, "-", " ", ".")
		sure := sep == "-" || sep != "" && f.calledSSN(n)
		if sure && assigned(n.digits(3)) {
			return n.end(3)
		}
	}
	if n.lengths(9) && !n.joinedAfter(1) && assigned(n.digits(1)) && f.calledSSN(n) {
		return n.end(1)
	}
	return 0
}

func (f *finder) calledSSN(n *number) bool {
	return f.context.has(SSNKey) || f.called(n.start, ssnWords)
}

// assigned reports whether a number of nine digits can have been given out.
func assigned(d []byte) bool {
	area := string(d[:3])
	return area != "000" && area != "666" && area[0] != '9' && string(d[3:5]) != "00" && string(d[5:]) != "0000"
}
