package pii

import (
	"bytes"
	"net/netip"
)

// ip4 takes an IPv4 address. One that names no machine in particular stays:
// loopback, 0.0.0.0, the broadcast address.
func (f *finder) ip4(n *number) int {
	if n.plus || n.open || len(n.groups) < 4 || !n.apart(4, ".") || f.joinedAddress(n) {
		return 0
	}
	addr, err := netip.ParseAddr(string(n.text[n.start:n.end(4)]))
	if err != nil || addr.As4()[0] == 0 || nobody(addr) || f.version(n) {
		return 0
	}
	return n.end(4)
}

// version reports whether four groups are a version or the number of a section:
// they are called that, or are part of a file's name.
func (f *finder) version(n *number) bool {
	if f.called(n.start, versionWords) {
		return true
	}
	if n.start < 2 || n.text[n.start-1] != '-' || !isLetter(n.text[n.start-2]) {
		return false
	}
	end := n.end(4)
	suffix := end+1 < len(n.text) && n.text[end] == '.' && isLetter(n.text[end+1])
	return suffix || f.called(n.start-1, versionWords)
}

// joinedAddress reports whether four groups are part of something longer, such
// as an object identifier or a version. A port, a prefix length or the end of a
// sentence is not that.
func (f *finder) joinedAddress(n *number) bool {
	if i := n.start - 1; i >= 1 && n.text[i] == '.' && isAlnum(n.text[i-1]) {
		return true
	}
	i := n.end(4)
	if i >= len(n.text) || len(n.groups) >= 6 && n.groups[4].sep == "-" && n.groups[5].sep == "." {
		return false // the end, or the first of a range
	}
	c := n.text[i]
	if isAlnum(c) {
		return true
	}
	return i+1 < len(n.text) && (c == '.' || c == '-') && isDigit(n.text[i+1])
}

// nobody reports whether an address stands for no machine in particular.
func nobody(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsUnspecified() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// maxIP6 is the longest text of an IPv6 address, one with an IPv4 address at
// its end.
const maxIP6 = 45

// ip6 takes an IPv6 address with its zone.
func ip6(text []byte, i int) int {
	end, colons := i, 0
	for end < len(text) && (isHex(text[end]) || text[end] == ':' || text[end] == '.') {
		if text[end] == ':' {
			colons++
		}
		if end++; end-i > maxIP6+2 {
			return 0
		}
	}
	if colons < 2 || end < len(text) && isAlnum(text[end]) {
		return 0
	}
	// A sentence may go on behind the address.
	for end > i+1 && (text[end-1] == '.' || text[end-1] == ':' && text[end-2] != ':') {
		end--
	}
	if i > 0 && text[i] == ':' && (isAlnum(text[i-1]) || text[i-1] == ':' || text[i-1] == '_') {
		return 0 // the middle of a path of names
	}
	if groupBefore(text, i) {
		return 0
	}
	addr, err := netip.ParseAddr(string(text[i:end]))
	if err != nil || !addr.Is6() || nobody(addr) || !likeIP6(text[i:end]) {
		return 0
	}
	return zoneEnd(text, end)
}

// groupBefore reports whether another group and a colon stand before i, so that
// what starts there is the rest of something longer.
func groupBefore(text []byte, i int) bool {
	if i < 2 || text[i-1] != ':' {
		return false
	}
	j := i - 1
	for j > 0 && i-j <= 6 && isHex(text[j-1]) {
		j--
	}
	size := i - 1 - j
	return size >= 1 && size <= 4 && (j == 0 || !isAlnum(text[j-1]))
}

// likeIP6 keeps what only happens to parse: names in a programming language
// (face::feed) and hardware addresses of eight pairs.
func likeIP6(s []byte) bool {
	groups, pairs, digits := 0, 0, false
	for g := range bytes.SplitSeq(s, []byte(":")) {
		if len(g) > 0 {
			groups++
		}
		if len(g) == 2 {
			pairs++
		}
		digits = digits || bytes.ContainsAny(g, "0123456789")
	}
	if !digits || pairs == 8 {
		return false
	}
	known := len(s) > 4 && s[4] == ':' &&
		(s[0] == '2' || s[0] == '3' || s[0] == 'f' && (s[1] == 'c' || s[1] == 'd' || s[1] == 'e' || s[1] == 'f'))
	return known || groups >= 3 || bytes.HasPrefix(s, []byte("::")) && bytes.IndexByte(s, '.') > 0
}

func zoneEnd(text []byte, end int) int {
	if end+1 >= len(text) || text[end] != '%' || !isAlnum(text[end+1]) {
		return end
	}
	for end++; end < len(text) && isAlnum(text[end]); {
		end++
	}
	return end
}
