package scrub

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is [Scrubber.Text] for a JSON value: strings and keys are scrubbed for
// what they say, whatever they are written with, and the result is JSON. A
// number that holds a value becomes a string. Keys that become the same are
// both kept. An error says that value is not one JSON value.
func (s *Scrubber) JSON(value []byte) ([]byte, int, error) {
	if s == nil {
		return value, 0, nil
	}
	out := bytes.NewBuffer(make([]byte, 0, len(value)))
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	e := jsontext.NewEncoder(out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
	total, m := 0, new(scratch)
	for {
		n, err := s.token(m, d, e)
		if err != nil {
			return nil, 0, notJSON(d, err)
		}
		total += n
		if d.StackDepth() == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, 0, notJSON(d, errors.New("more than one value"))
	}
	if total == 0 {
		return value, 0, nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), total, nil
}

// token copies one token, scrubbed.
func (s *Scrubber) token(m *scratch, d *jsontext.Decoder, e *jsontext.Encoder) (int, error) {
	switch d.PeekKind() {
	case '"':
		raw, err := d.ReadValue()
		if err != nil {
			return 0, err
		}
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil && text == nil {
			return 0, err
		}
		clean, n := s.text(m, text, false)
		if n == 0 {
			return 0, e.WriteValue(raw)
		}
		return n, e.WriteToken(jsontext.String(string(bytes.ToValidUTF8(clean, []byte("\uFFFD")))))
	case '0':
		raw, err := d.ReadValue()
		if err != nil {
			return 0, err
		}
		if clean, n := s.text(m, raw, false); n > 0 {
			return n, e.WriteToken(jsontext.String(string(clean)))
		}
		return 0, e.WriteValue(raw)
	}
	t, err := d.ReadToken()
	if err != nil {
		return 0, err
	}
	return 0, e.WriteToken(t)
}

// notJSON says where value stops being JSON, and nothing of what it holds.
func notJSON(d *jsontext.Decoder, err error) error {
	what := "it is not one JSON value"
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = "it ends too early"
	}
	return fmt.Errorf("scrub: read JSON: %s, at byte %d or behind it", what, d.InputOffset())
}
