package pii

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// emails finds every address of the view. Scans go back from an @ to the one
// before it at most, and forward to the next.
func (f *finder) emails() {
	last := 0
	for at := 0; at < len(f.text); at++ {
		next := bytes.IndexByte(f.text[at:], '@')
		if next < 0 {
			return
		}
		at += next
		start := localStart(f.text, last, at)
		if start == at {
			continue
		}
		end := domainEnd(f.text, at+1)
		if end == 0 || notAddress(f.text[start:at], f.text[at+1:end], f.text[end:]) {
			continue
		}
		f.mails = append(f.mails, reach{start, end})
		f.add(Email, start, end)
		last = end
	}
}

// class of letters: an address in a text without spaces ends where the script
// changes.
type class uint8

const (
	neutral class = iota
	latin
	ideographs // and kana, bopomofo, Hangul
	otherLetters
	none // ends an address
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if isLetter(byte(r)) {
			return latin
		}
		if isDigit(byte(r)) || r == '-' {
			return neutral
		}
		return none
	case unicode.IsMark(r):
		return neutral
	case !unicode.IsLetter(r):
		return none
	case r >= 0x3040 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7ff, r >= 0xf900 && r <= 0xfaff, r >= 0x20000:
		return ideographs
	case unicode.Is(unicode.Latin, r):
		return latin
	}
	return otherLetters
}

// localStart gives where the part before the @ starts, not before limit; at
// if there is none.
func localStart(text []byte, limit, at int) int {
	if at > limit && text[at-1] == '"' {
		if open := bytes.LastIndexByte(text[max(limit, at-66):at-1], '"'); open >= 0 {
			return max(limit, at-66) + open
		}
	}
	start, is := at, neutral
	for start > limit {
		r, size := utf8.DecodeLastRune(text[limit:start])
		c := classOf(r)
		if r < utf8.RuneSelf && strings.IndexByte("._+%~'&!#$*^`{|}", byte(r)) >= 0 {
			c = neutral
		}
		if c == none || c != neutral && is != neutral && c != is {
			break
		}
		if c != neutral {
			is = c
		}
		start -= size
	}
	// What only quotes, emphasises or lists the address stays.
	for start < at && strings.IndexByte(".'*`{|}&!#$^-~", text[start]) >= 0 {
		start++
	}
	return start
}

// domainEnd gives where the domain that starts at i ends; 0 if there is none
// with a top level.
func domainEnd(text []byte, i int) int {
	if i < len(text) && text[i] == '[' {
		return literalEnd(text, i)
	}
	end, labels := 0, 0
	for {
		start := i
		i = labelEnd(text, i)
		if i == start {
			return end
		}
		labels++
		if labels > 1 {
			if top := topLevelEnd(text[start:i]); top > 0 {
				end = start + top
			}
		}
		if i+1 >= len(text) || text[i] != '.' {
			return end
		}
		i++
	}
}

func labelEnd(text []byte, i int) int {
	start, is := i, neutral
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		c := classOf(r)
		if c == none || c != neutral && is != neutral && c != is {
			break
		}
		if c != neutral {
			is = c
		}
		i += size
	}
	for i > start && text[i-1] == '-' {
		i--
	}
	return i
}

// topLevelEnd gives how much of a label can be a top-level domain.
func topLevelEnd(label []byte) int {
	if bytes.HasPrefix(label, []byte("xn--")) {
		return len(label)
	}
	for _, top := range ideographTops {
		if bytes.HasPrefix(label, []byte(top)) {
			return len(top)
		}
	}
	n, letters := 0, 0
	for n < len(label) {
		r, size := utf8.DecodeRune(label[n:])
		if r < utf8.RuneSelf && !isLetter(byte(r)) {
			break
		}
		n += size
		letters++
	}
	if letters < 2 {
		return 0
	}
	return n
}

// ideographTops are top-level domains in scripts without spaces, where the text
// goes on right behind the address.
var ideographTops = []string{
	"中国", "中國", "香港", "台湾", "台灣", "澳門", "澳门", "新加坡", "公司", "网络", "網絡", "在线", "网址", "商城", "集团", "我爱你", "한국", "닷컴", "닷넷", "コム", "みんな",
}

// literalEnd takes an address in brackets: user@[192.0.2.1].
func literalEnd(text []byte, i int) int {
	window := text[i:min(len(text), i+60)]
	n := bytes.IndexByte(window, ']')
	if n < 8 {
		return 0
	}
	for _, c := range window[1:n] {
		if !isHex(c) && c != '.' && c != ':' && c != 'i' && c != 'p' && c != 'v' {
			return 0
		}
	}
	return i + n + 1
}

// notAddress tells what looks like an address but names a file, a version or
// a repository.
func notAddress(local, domain, behind []byte) bool {
	first, others, _ := bytes.Cut(domain, []byte("."))
	second, _, more := bytes.Cut(others, []byte("."))
	top := domain[bytes.LastIndexByte(domain, '.')+1:]
	switch {
	case len(first) == 2 && isDigit(first[0]) && first[1] == 'x' && imageSuffix[string(top)]:
		return true // logo@2x.png
	case more && allDigits(bytes.TrimPrefix(first, []byte("v"))) && allDigits(second):
		return true // left-pad@1.3.0-rc.one
	case string(local) == "git" && bytes.HasPrefix(behind, []byte(":")):
		return true // git@host.example:group/name.git
	}
	return false
}

var imageSuffix = map[string]bool{
	"png": true, "jpg": true, "jpeg": true, "gif": true, "webp": true, "svg": true, "avif": true, "heic": true, "ico": true, "bmp": true,
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}
