package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor/output/internal/pii"
)

// rewriter goes through a JSON text once, token by token, so that depth costs
// no stack, and numbers are never read as numbers.
type rewriter struct {
	output   *Output
	counts   counts
	out      []byte
	original int64 // size of the compact form as it came
	scratch  []byte
	keys     map[keyPlace]pii.Context // of keys that nothing is taken out of
	stack    []frame
}

// keyPlace is a key and what stands above it: rows have the same keys.
type keyPlace struct {
	key   string
	above pii.Context
}

// maxKeys and maxKey bound what is remembered of keys.
const (
	maxKeys = 1024
	maxKey  = 64
)

// frame is an open object or array.
type frame struct {
	object  bool
	isKey   bool // an object whose next token is a key
	some    bool // it has elements
	context pii.Context
	value   pii.Context // in an object: what the last key says
	names   names
}

// rewrite gives the sanitized compact form of value, and the size of the
// compact form as it came.
func (o *Output) rewrite(value []byte, c counts) (text string, original int64, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w := &rewriter{output: o, counts: c, out: make([]byte, 0, len(value)), keys: make(map[keyPlace]pii.Context)}
	for {
		t, err := d.ReadToken()
		if err != nil {
			return "", 0, notJSON(d, err)
		}
		w.token(t)
		if len(w.stack) == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return "", 0, notJSON(d, errors.New("more than one value"))
	}
	return string(w.out), w.original, nil
}

// notJSON says where value stops being JSON, and nothing of what it holds.
func notJSON(d *jsontext.Decoder, err error) error {
	what := "it is not one JSON value"
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = "it ends too early"
	}
	return fmt.Errorf("output: read the JSON result: %s, at byte %d or behind it", what, d.InputOffset())
}

func (w *rewriter) token(t jsontext.Token) {
	switch t.Kind() {
	case '}', ']':
		w.stack = w.stack[:len(w.stack)-1]
		w.raw(string(rune(t.Kind())))
		w.done()
		return
	}
	context, key := w.separate()
	switch t.Kind() {
	case '{', '[':
		w.raw(string(rune(t.Kind())))
		object := t.Kind() == '{'
		w.stack = append(w.stack, frame{object: object, isKey: object, context: context})
		return
	case '"':
		if key {
			w.key(t.String())
			return
		}
		w.string(t.String(), context)
	case '0':
		w.number(t.String(), context)
	default:
		w.raw(t.String())
	}
	w.done()
}

// separate writes the comma before a token, and gives what is known of it.
func (w *rewriter) separate() (context pii.Context, key bool) {
	if len(w.stack) == 0 {
		return 0, false
	}
	f := &w.stack[len(w.stack)-1]
	switch {
	case f.object && !f.isKey:
		return f.value, false
	case f.some:
		w.raw(",")
	}
	f.some = true
	return f.context, f.isKey
}

// done ends a value: in an object, a key comes next.
func (w *rewriter) done() {
	if len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		f.isKey = f.object
	}
}

func (w *rewriter) raw(s string) {
	w.out = append(w.out, s...)
	w.original += int64(len(s))
}

func (w *rewriter) quote(s, original string) {
	from := len(w.out)
	w.out = appendQuote(w.out, s)
	if s == original {
		w.original += int64(len(w.out) - from)
		return
	}
	w.scratch = appendQuote(w.scratch[:0], original)
	w.original += int64(len(w.scratch))
}

func (w *rewriter) key(key string) {
	f := &w.stack[len(w.stack)-1]
	place := keyPlace{key, f.context}
	clean := key
	value, known := w.keys[place]
	if !known && len(w.output.sanitizers) > 0 {
		clean = w.output.clean(key, 0, w.counts)
		value = pii.Key(clean, f.context)
		if clean == key && len(key) <= maxKey && len(w.keys) < maxKeys {
			w.keys[place] = value
		}
	}
	f.value = value
	w.quote(f.names.unique(clean), key)
	w.raw(":")
	f.isKey = false
}

func (w *rewriter) string(s string, context pii.Context) {
	w.quote(w.output.clean(s, context, w.counts), s)
}

// number keeps the text of a number, unless it is something personal: then the
// placeholder is a string.
func (w *rewriter) number(s string, context pii.Context) {
	if context != 0 {
		if clean := w.output.clean(s, context, w.counts); clean != s {
			w.out = appendQuote(w.out, clean)
			w.original += int64(len(s))
			return
		}
	}
	w.raw(s)
}

// appendQuote writes a JSON string in its shortest form. s is valid UTF-8: the
// decoder and the sanitizers give nothing else.
func appendQuote(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		return append(dst, `"\ufffd"`...)
	}
	return out
}

// names keeps the keys of an object apart.
type names struct {
	used map[string]int // and the number that the next one of that name gets
}

// unique gives name, or name#2 and so on if it was used.
func (n *names) unique(name string) string {
	if n.used == nil {
		n.used = make(map[string]int)
	}
	next, taken := n.used[name]
	if !taken {
		n.used[name] = 2
		return name
	}
	for ; ; next++ {
		other := name + "#" + strconv.Itoa(next)
		if _, taken := n.used[other]; !taken {
			n.used[name], n.used[other] = next+1, 2
			return other
		}
	}
}
