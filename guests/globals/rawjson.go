package globals

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// json writes JSON text as the value it stands for. It is read in one pass and
// never held as a tree.
func (e *encoder) json(text sandbox.RawJSON, depth int) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if err := e.jsonValue(d, depth); err != nil {
		return describeJSON(d, err)
	}
	switch _, err := d.ReadToken(); {
	case err == io.EOF:
		return nil
	case err == nil:
		return errors.New("is followed by more than one JSON value")
	default:
		return describeJSON(d, err)
	}
}

// describeJSON puts a parser's error into words that hold nothing of the text.
func describeJSON(d *jsontext.Decoder, err error) error {
	if _, ok := errors.AsType[*placed](err); ok {
		return err
	}
	var reason error
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		reason = errors.New("has an object with the same name twice")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		reason = errors.New("is JSON text that ends too early")
	case isSyntax:
		reason = fmt.Errorf("is not valid JSON at byte %d", syntax.ByteOffset)
	default:
		reason = err
	}
	where := d.StackPointer()
	if isSyntax && syntax.JSONPointer != "" {
		where = syntax.JSONPointer
	}
	place := error(&placed{reason: reason})
	for _, token := range slices.Backward(slices.Collect(where.Tokens())) {
		place = at(token, place)
	}
	return place
}

func (e *encoder) jsonValue(d *jsontext.Decoder, depth int) error {
	switch d.PeekKind() {
	case '{':
		return e.jsonObject(d, depth)
	case '[':
		return e.jsonArray(d, depth)
	}
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n':
		e.buf = append(e.buf, tagNone)
	case 't':
		e.buf = append(e.buf, tagTrue)
	case 'f':
		e.buf = append(e.buf, tagFalse)
	case '"':
		text, err := e.unquote(raw)
		if err != nil {
			return err
		}
		e.stringBytes(text)
	default:
		return e.jsonNumber(raw)
	}
	return nil
}

func (e *encoder) jsonArray(d *jsontext.Decoder, depth int) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if depth >= e.maxDepth {
		return errDepth(e.maxDepth)
	}
	// The count comes first but is known last, so it takes a fixed five bytes.
	e.buf = append(e.buf, tagList, 0, 0, 0, 0, 0)
	count := len(e.buf)
	n := uint64(0)
	for d.PeekKind() != ']' {
		if err := e.jsonValue(d, depth+1); err != nil {
			return err
		}
		n++
	}
	putFixedUvarint(e.buf[count-5:count], n)
	_, err := d.ReadToken()
	return err
}

// putFixedUvarint writes n, below 2^35, as an uvarint of exactly len(p) bytes.
func putFixedUvarint(p []byte, n uint64) {
	for i := range p {
		p[i] = byte(n)&0x7F | 0x80
		n >>= 7
	}
	p[len(p)-1] &= 0x7F
}

func (e *encoder) jsonObject(d *jsontext.Decoder, depth int) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if depth >= e.maxDepth {
		return errDepth(e.maxDepth)
	}
	object := e.beginDict()
	for d.PeekKind() != '}' {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		name, err := e.unquote(raw)
		if err != nil {
			return err
		}
		object.keyBytes(name)
		if err := e.jsonValue(d, depth+1); err != nil {
			return err
		}
	}
	e.endDict(object)
	_, err := d.ReadToken()
	return err
}

// unquote gives the text of a JSON string, which the decoder has checked. It
// is good until the next call of the decoder.
func (e *encoder) unquote(raw jsontext.Value) ([]byte, error) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	return jsontext.AppendUnquote(nil, raw)
}

// jsonNumber keeps what looks like an integer exact; a fraction or an exponent
// makes a float.
func (e *encoder) jsonNumber(raw []byte) error {
	integer := true
	for _, c := range raw {
		if c == '.' || c == 'e' || c == 'E' {
			integer = false
			break
		}
	}
	if !integer {
		v, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return errRange
		}
		e.float(v)
		return nil
	}
	if len(raw) <= 18 {
		v, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return err
		}
		e.int(v)
		return nil
	}
	v, ok := new(big.Int).SetString(string(raw), 10)
	if !ok {
		return errors.New("is not a number")
	}
	e.bigInt(v)
	return nil
}
