// Package pii finds what identifies a person, or reaches their money, in a
// text: e-mail addresses, phone numbers, payment cards, IBANs, IP addresses and
// US social security numbers.
//
// A number by itself says nothing about what it is. So each kind needs a proof
// beyond its digits: a check sum, a way to group digits that only it has, or a
// word in front of it (or the key above it) that says so. Time is linear in the
// length of the text: every scan is bounded, or goes over text that no other
// scan looks at.
package pii

import (
	"strings"

	"github.com/mayfly-run/mayfly/governor/output/internal/fold"
	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// The kinds that [Find] gives.
const (
	Email span.Kind = "email"
	Phone span.Kind = "phone"
	Card  span.Kind = "card"
	IBAN  span.Kind = "iban"
	IP    span.Kind = "ip"
	SSN   span.Kind = "ssn"
)

// Kinds are all of them.
var Kinds = []span.Kind{Email, Phone, Card, IBAN, IP, SSN}

var placeholders = map[span.Kind]string{
	Email: "[EMAIL]", Phone: "[PHONE]", Card: "[CARD]", IBAN: "[IBAN]", IP: "[IP]", SSN: "[SSN]",
}

// Find finds what is personal in text, which must be valid UTF-8. The context
// is what the key above it says about it. The spans are sorted and apart.
func Find(text string, context Context) []span.Span {
	if nothing(text) {
		return nil
	}
	return find(text, context)
}

// nothing reports whether a look is enough to see that a text, as most keys and
// many values, has nothing for find: plain ASCII without an @, an escape or a
// colon, and with fewer digits than the shortest number and dots than an address
// need.
func nothing(text string) bool {
	digits, dots := 0, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case isDigit(c):
			digits++
		case c == '.':
			dots++
		case c < ' ' || c > '~' || c == '@' || c == ':' || c == '%' || c == '&' || c == '\\':
			return false
		}
		if digits >= minPhone || digits >= 4 && dots >= 3 {
			return false
		}
	}
	return true
}

func find(text string, context Context) []span.Span {
	v := fold.New(text)
	f := finder{view: v, text: v.Text, context: context}
	f.emails()
	f.others()
	f.tags(text)
	return span.Sort(f.found)
}

type finder struct {
	view    *fold.View
	text    []byte // the view's
	context Context
	found   []span.Span // in the source
	mails   []reach     // in the view, in order
	row     row
	current number
}

// reach is a part of the view.
type reach struct{ start, end int }

func (f *finder) add(kind span.Kind, start, end int) {
	from, to := f.view.Source(start, end)
	f.found = append(f.found, span.Span{Start: from, End: to, Kind: kind, With: placeholders[kind]})
}

// others goes over what no e-mail address took.
func (f *finder) others() {
	mails := f.mails
	end := 0 // of the last match
	for i := 0; i < len(f.text); {
		if len(mails) > 0 && i >= mails[0].start {
			i = max(i, mails[0].end)
			end, mails = i, mails[1:]
			continue
		}
		c := f.text[i]
		starts := i == end || !isAlnum(f.text[i-1])
		if !starts || !(isAlnum(c) || c == '+' || c == '(' || c == ':') {
			i++
			continue
		}
		limit := len(f.text)
		if len(mails) > 0 {
			limit = mails[0].start
		}
		if kind, to := f.match(i, limit); kind != "" {
			f.add(kind, i, to)
			i, end = to, to
			continue
		}
		i = f.skip(i, limit)
	}
}

// skip goes past a run of digits that nothing matched, however long.
func (f *finder) skip(i, limit int) int {
	i++
	for i < limit && isDigit(f.text[i]) && isDigit(f.text[i-1]) {
		i++
	}
	return i
}

// match tries everything that can start at i and end by limit.
func (f *finder) match(i, limit int) (kind span.Kind, end int) {
	text := f.text[:limit]
	if isAlnum(text[i]) {
		if end := iban(text, i); end > 0 {
			return IBAN, end
		}
	}
	if isHex(text[i]) || text[i] == ':' {
		if end := ip6(text, i); end > 0 {
			return IP, end
		}
	}
	if !isDigit(text[i]) && text[i] != '+' && text[i] != '(' {
		return "", 0
	}
	n := f.number(text, i)
	if n == nil {
		return "", 0
	}
	if end := f.ssn(n); end > 0 {
		return SSN, end
	}
	if end := f.card(n); end > 0 {
		return Card, end
	}
	if end := f.ip4(n); end > 0 {
		return IP, end
	}
	if end := f.phone(n); end > 0 {
		return Phone, end
	}
	return "", 0
}

// tags looks into text that is written in tag characters only, which nobody
// sees: if it holds something personal, all of the run goes.
func (f *finder) tags(text string) {
	if !strings.Contains(text, "\xf3\xa0") { // how each of them begins
		return
	}
	var hidden []byte
	start := 0
	flush := func(end int) {
		if len(hidden) > 0 {
			if inside := Find(string(hidden), 0); len(inside) > 0 {
				f.found = append(f.found, span.Span{Start: start, End: end, Kind: inside[0].Kind, With: inside[0].With})
			}
		}
		hidden = hidden[:0]
	}
	for i, r := range text {
		c := fold.Tag(r)
		if c == 0 {
			flush(i)
			continue
		}
		if len(hidden) == 0 {
			start = i
		}
		hidden = append(hidden, c)
	}
	flush(len(text))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }
