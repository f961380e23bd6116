// Package inject finds what is in a text for the model that reads it instead of
// for a person: characters that nobody sees, the control tokens of chat
// templates, lines that pretend to be another speaker, and orders.
//
// Orders are found by what makes them one: a verb, what it is about, and words
// that can stand between. That tells "ignore all previous instructions" from
// "ignore the previous error", and cannot tell an attack from an article that
// quotes one. An order that is paraphrased, encoded or spelled out letter by
// letter is not found: this makes attacks harder, it does not make a text safe.
// Time is linear in the length of the text: every look ahead or back is bounded.
package inject

import (
	"github.com/mayfly-run/mayfly/governor/output/internal/fold"
	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// The kinds that [Find] gives.
const (
	Invisible span.Kind = "invisible"
	Token     span.Kind = "template_token"
	Role      span.Kind = "role_marker"
	Order     span.Kind = "injection"
)

// Kinds are all of them.
var Kinds = []span.Kind{Invisible, Token, Role, Order}

// Removed stands for what was taken out. Were it nothing, what stands left and
// right of it could become the next token.
const Removed = "[REMOVED]"

// Find finds what is for a model in text, which must be valid UTF-8. The spans
// are sorted and apart.
func Find(text string) []span.Span {
	if nothing(text) {
		return nil
	}
	return find(text)
}

// nothing reports whether a look is enough to see that a text, as many keys and
// values, has nothing for find: no more than one word of ASCII, or none at all.
func nothing(text string) bool {
	words := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if i == 0 || !isLetter(text[i-1]) {
				words++
			}
		case c >= '0' && c <= '9':
		case c == ' ' || c == '_' || c == '-' || c == '.' || c == ',' || c == '/' || c == '+':
		default:
			return false
		}
		if words > 1 {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func find(text string) []span.Span {
	v := fold.New(text)
	f := finder{view: v, text: v.Text}
	f.scan()
	f.invisible(text)
	return span.Sort(f.found)
}

type finder struct {
	view   *fold.View
	text   []byte // the view's
	found  []span.Span
	words  words
	clause clause
	last   int // where the last match ended, in the view
}

func (f *finder) add(kind span.Kind, start, end int) {
	from, to := f.view.Source(start, end)
	f.found = append(f.found, span.Span{Start: from, End: to, Kind: kind, With: Removed})
}

// scan goes over the view once.
func (f *finder) scan() {
	f.words.text = f.text
	for i := 0; i < len(f.text); {
		if kind, start, end := f.match(i); kind != "" {
			f.add(kind, start, end)
			f.words.restart()
			i, f.last = end, end
			continue
		}
		if end := wordEnd(f.text, i); end > i {
			f.words.push(i, end)
			i = end
			continue
		}
		f.words.gap(f.text, i)
		i++
	}
}

// match tries everything that can start at i. An order in a language whose verb
// comes last starts before i, but not before the last match.
func (f *finder) match(i int) (kind span.Kind, start, end int) {
	if end := token(f.text, i); end > 0 {
		return Token, i, end
	}
	if lineStart(f.text, i) {
		if end := role(f.text, i); end > 0 {
			return Role, i, end
		}
	}
	if start, end := f.order(i); end > 0 {
		return Order, start, end
	}
	return "", 0, 0
}
