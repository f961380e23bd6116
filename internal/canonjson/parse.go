package canonjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits bound what [Parse] takes. Zero fields have defaults; no value means
// unlimited.
type Limits struct {
	// MaxBytes is how long the text may be. Default [DefaultMaxBytes].
	MaxBytes int
	// MaxDepth is how deeply arrays and objects may nest; [[1]] nests 2 deep.
	// Default [DefaultMaxDepth]; more than 10,000 counts as 10,000.
	MaxDepth int
}

// Defaults of [Limits].
const (
	DefaultMaxBytes = 1 << 20
	DefaultMaxDepth = 64
)

// libraryDepth is how deep the JSON library goes.
const libraryDepth = 10_000

// Parse reads exactly one JSON value. A returned error is an *[Error].
func Parse(text []byte, limits Limits) (any, error) {
	p, err := newParser(text, limits)
	if err != nil {
		return nil, err
	}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return v, nil
}

// newParser makes a parser. It fails if the text is too long.
func newParser(text []byte, limits Limits) (*parser, error) {
	if limits.MaxBytes <= 0 {
		limits.MaxBytes = DefaultMaxBytes
	}
	if limits.MaxDepth <= 0 {
		limits.MaxDepth = DefaultMaxDepth
	}
	if len(text) > limits.MaxBytes {
		return nil, &Error{Code: TooLarge, Offset: limits.MaxBytes, Reason: fmt.Sprintf("more than %d bytes of JSON", limits.MaxBytes)}
	}
	return &parser{text: text, dec: jsontext.NewDecoder(bytes.NewBuffer(text)), maxDepth: min(limits.MaxDepth, libraryDepth)}, nil
}

// end sees to it that nothing follows the value.
func (p *parser) end() error {
	end := p.dec.InputOffset()
	if _, err := p.dec.ReadToken(); err != io.EOF {
		rest := p.text[end:]
		at := int(end) + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
		return &Error{Code: Syntax, Offset: at, Reason: "text after the end of the value"}
	}
	return nil
}

type parser struct {
	text     []byte
	dec      *jsontext.Decoder
	maxDepth int
}

func (p *parser) value() (any, error) {
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, p.refuse(err)
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return p.number(tok.String())
	}
	if depth := p.dec.StackDepth(); depth > p.maxDepth {
		return nil, p.errorf(TooDeep, "nested more than %d deep", p.maxDepth)
	}
	if tok.Kind() == '[' {
		return p.array()
	}
	return p.object()
}

func (p *parser) array() (any, error) {
	list := []any{}
	for p.dec.PeekKind() != ']' {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, p.refuse(err)
	}
	return list, nil
}

func (p *parser) object() (any, error) {
	object := map[string]any{}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return nil, p.refuse(err)
		}
		key := name.String()
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		object[key] = v
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, p.refuse(err)
	}
	return object, nil
}

func (p *parser) number(literal string) (any, error) {
	v, broken := ParseNumber(literal)
	if broken != "" {
		e := p.errorf(Number, "%s", broken)
		e.Offset -= len(literal)
		return nil, e
	}
	return v, nil
}

// errorf makes an error at the token that was just read.
func (p *parser) errorf(code Code, format string, args ...any) *Error {
	return &Error{
		Code: code, Pointer: string(p.dec.StackPointer()), Offset: int(p.dec.InputOffset()),
		Reason: fmt.Sprintf(format, args...),
	}
}

// refuse turns the JSON library's error into ours. Its own words may quote the
// text, so they are not used.
func (p *parser) refuse(err error) *Error {
	e := &Error{Code: Syntax, Pointer: string(p.dec.StackPointer()), Offset: len(p.text), Reason: "the text ends inside a value"}
	se, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.Trim(p.text, " \t\r\n")) == 0 {
			e.Reason = "no JSON value"
		}
		return e
	}
	e.Pointer = string(se.JSONPointer)
	e.Offset = min(int(se.ByteOffset), len(p.text))
	if errors.Is(err, jsontext.ErrDuplicateName) {
		e.Code, e.Reason = DuplicateName, "an object has this name twice"
		return e
	}
	rest := p.text[e.Offset:]
	switch r, size := utf8.DecodeRune(rest); {
	case size == 0:
		e.Reason = "the text ends inside a value"
	case r == utf8.RuneError && size == 1:
		e.Code, e.Reason = Encoding, "not UTF-8"
	case bytes.HasPrefix(rest, []byte(`\u`)) && isSurrogate(rest):
		e.Code, e.Reason = Encoding, "half of a surrogate pair"
	case p.dec.StackDepth() >= p.maxDepth && strings.ContainsRune("[{", r):
		e.Code, e.Reason = TooDeep, fmt.Sprintf("nested more than %d deep", p.maxDepth)
	default:
		e.Reason = "unexpected character"
	}
	return e
}

// isSurrogate reports whether an escape that starts rest is \ud800 to \udfff.
func isSurrogate(rest []byte) bool {
	return len(rest) >= 6 && (rest[2] == 'd' || rest[2] == 'D') && strings.IndexByte("89abcdefABCDEF", rest[3]) >= 0
}
