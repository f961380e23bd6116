package inject

import (
	"bytes"
	"unicode/utf8"
)

// order gives the order that the word at i is the verb of: from its first word
// to the end of its sentence, since what follows is mostly more of it.
func (f *finder) order(i int) (start, end int) {
	if start, end := f.unspacedOrder(i); end > 0 {
		return start, sentenceEnd(f.text, end)
	}
	to := wordEnd(f.text, i)
	if to == i {
		return 0, 0
	}
	t := triggerOf(f.text[i:to])
	if t == nil {
		return 0, 0
	}
	sentence := f.following(i)
	for _, p := range t.phrases {
		if p.negatable && f.negated() {
			continue
		}
		if n := p.match(sentence); n > 0 {
			return i, sentenceEnd(f.text, sentence.at[n-1].end)
		}
	}
	for _, l := range t.verbs {
		if end := l.after(sentence); end > 0 {
			return i, sentenceEnd(f.text, end)
		}
		if start := f.before(l); start >= 0 {
			return start, sentenceEnd(f.text, to)
		}
	}
	return 0, 0
}

// trigger is what a word can be the beginning, or the verb, of.
type trigger struct {
	phrases []*phrase
	verbs   []*language
}

var triggers = func() map[string]*trigger {
	m := make(map[string]*trigger)
	of := func(w string) *trigger {
		if m[w] == nil {
			m[w] = &trigger{}
		}
		return m[w]
	}
	for w, p := range compile(english) {
		of(w).phrases = p
	}
	for _, l := range spaced {
		for w := range l.verbs {
			of(w).verbs = append(of(w).verbs, l)
		}
	}
	return m
}()

// triggerOf gives what a word of the view triggers; nil for nearly all.
func triggerOf(w []byte) *trigger {
	if plainWord(w) {
		return triggers[string(w)] // makes no string
	}
	return triggers[lookup(w)]
}

// plainWord reports whether lookup would not change a word.
func plainWord(w []byte) bool {
	for _, c := range w {
		if c >= utf8.RuneSelf || c >= '0' && c <= '9' {
			return false
		}
	}
	return true
}

// ahead is how many words an order is looked for in.
const ahead = 18

// maxAhead bounds them in bytes.
const maxAhead = 320

// clause is the words from a verb on, to the end of the sentence at most. They
// are read as they are asked for: mostly the second word tells.
type clause struct {
	text  []byte
	next  int // where to read on
	limit int
	lower []string
	at    []word
}

// following gives the clause that starts at i. It is good until the next call.
func (f *finder) following(i int) *clause {
	c := &f.clause
	c.text, c.next, c.limit = f.text, i, min(len(f.text), i+maxAhead)
	c.lower, c.at = c.lower[:0], c.at[:0]
	return c
}

// has reports whether the clause has a word k.
func (c *clause) has(k int) bool {
	for k >= len(c.at) && k < ahead && c.next < c.limit {
		end := wordEnd(c.text[:c.limit], c.next)
		switch {
		case end > c.next:
			c.lower = append(c.lower, lookup(c.text[c.next:end]))
			c.at = append(c.at, word{c.next, end})
			c.next = end
		case endsSentence(c.text, c.next):
			c.limit = c.next
		default:
			c.next++
		}
	}
	return k < len(c.at)
}

// negations turn an order into a warning.
var negations = set(`not never don't dont cannot can't won't didn't doesn't shouldn't mustn't nor without`)

// negated reports whether one of the two words before says that it is not to be
// done.
func (f *finder) negated() bool {
	for k := 1; k <= 2; k++ {
		w, ok := f.words.back(k)
		if ok && negations[lookup(f.text[w.start:w.end])] {
			return true
		}
	}
	return false
}

// before finds an order whose verb comes last. -1: there is none.
func (f *finder) before(l *language) int {
	which, what, first := false, false, -1
	for k := 1; k <= recent; k++ {
		w, ok := f.words.back(k)
		if !ok {
			break
		}
		text := lookup(f.text[w.start:w.end])
		isWhich, isWhat := l.which.has(text), l.what.has(text)
		which, what = which || isWhich, what || isWhat
		if isWhich || isWhat {
			first = w.start
		}
	}
	if which && what {
		return first
	}
	return -1
}

// maxSentence is how far an order is removed when its sentence does not end.
const maxSentence = 400

// sentenceEnd gives where the sentence that goes on at i ends. What closes it
// stays.
func sentenceEnd(text []byte, i int) int {
	limit := min(len(text), i+maxSentence)
	for j := i; j < limit; {
		r, size := utf8.DecodeRune(text[j:])
		switch {
		case r == '\n' || r == '\r' || r == '"' || r == '<' || r == '`':
			return trimRight(text, i, j)
		case endsSentence(text, j), r == '」' || r == '』' || r == '”':
			return trimRight(text, i, j)
		}
		j += size
	}
	if limit == len(text) {
		return trimRight(text, i, limit)
	}
	for limit > i && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}

func trimRight(text []byte, from, to int) int {
	return from + len(bytes.TrimRight(text[from:to], " \t"))
}
