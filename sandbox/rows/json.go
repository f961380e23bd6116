package rows

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// readJSON reads one array.
func (s *source) readJSON() (Rows, error) {
	if table, ok := s.flatTable(arrayOfRows); ok {
		return Rows{Len: len(table.Rows), Table: table}, nil
	}
	if strings.Trim(s.text, " \t\r\n") == "" {
		return Rows{}, &Error{Name: s.opts.Name, Code: Empty, Reason: "is empty; JSON rows are an array"}
	}
	n, err := newChecker(s).array()
	if err != nil {
		return Rows{}, err
	}
	return Rows{Len: n, JSON: sandbox.RawJSON(s.text)}, nil
}

// readJSONLines reads one value per line and, where they are no table, joins
// them into an array.
func (s *source) readJSONLines() (Rows, error) {
	if table, ok := s.flatTable(rowPerLine); ok {
		return Rows{Len: len(table.Rows), Table: table}, nil
	}
	c := newChecker(s)
	c.perLine = true
	array := make([]byte, 0, len(s.text)+2)
	array = append(array, '[')
	n := 0
	for at := 0; at < len(s.text); {
		line := s.text[at:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if strings.Trim(line, " \t\r") != "" {
			if err := c.line(line, at); err != nil {
				return Rows{}, err
			}
			if n > 0 {
				array = append(array, ',')
			}
			array = append(array, strings.TrimSuffix(line, "\r")...)
			n++
		}
		at += len(line) + 1
	}
	return Rows{Len: n, JSON: append(array, ']')}, nil
}

// checker goes through JSON text token by token and refuses what is not
// strict JSON or could not be kept.
type checker struct {
	src     *source
	dec     *jsontext.Decoder
	perLine bool
	base    int // offset in the source of the text that dec reads
	tokens  int
}

func newChecker(s *source) *checker {
	return &checker{src: s, dec: jsontext.NewDecoder(strings.NewReader(""))}
}

// array checks that the source is one array and counts its elements.
func (c *checker) array() (int, error) {
	text := c.src.text
	c.dec.Reset(strings.NewReader(text))
	if kind := c.dec.PeekKind(); kind != '[' && kind != 0 {
		at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		return 0, c.src.errorAt(at, Syntax, "JSON rows are one array, this is %s; for one value per line the format is jsonl", kindName(kind))
	}
	n := 0
	for {
		if c.dec.StackDepth() == 1 {
			_, length := c.dec.StackIndex(1)
			n = int(length)
		}
		if err := c.token(); err != nil {
			return 0, err
		}
		if c.dec.StackDepth() == 0 {
			return n, c.end("the array")
		}
	}
}

// line checks that one line at offset base is one value.
func (c *checker) line(line string, base int) error {
	c.base = base
	c.dec.Reset(strings.NewReader(line))
	for {
		if err := c.token(); err != nil {
			return err
		}
		if c.dec.StackDepth() == 0 {
			return c.end("the value of this line")
		}
	}
}

// value checks that the source is one value.
func (c *checker) value() error {
	c.dec.Reset(strings.NewReader(c.src.text))
	for {
		if err := c.token(); err != nil {
			return err
		}
		if c.dec.StackDepth() == 0 {
			return c.end("the value")
		}
	}
}

// token reads one token.
func (c *checker) token() error {
	tok, err := c.dec.ReadToken()
	if err != nil {
		return c.syntax(err)
	}
	if c.tokens++; c.tokens > c.src.opts.MaxCells {
		return c.src.tooManyCells()
	}
	if tok.Kind() != '0' {
		return nil
	}
	text := tok.String()
	at := c.base + int(c.dec.InputOffset()) - len(text)
	return c.src.number(text, at)
}

// end checks that nothing follows.
func (c *checker) end(what string) error {
	after := c.base + int(c.dec.InputOffset())
	if _, err := c.dec.ReadToken(); err == io.EOF {
		return nil
	}
	rest := c.src.text[after:]
	at := after + len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	return c.src.errorAt(at, Syntax, "text after the end of %s", what)
}

// syntax says where and why the JSON library stopped. Its own words may quote
// the text, so they are not used.
func (c *checker) syntax(err error) error {
	rest := c.src.text[c.base:]
	if c.perLine {
		rest, _, _ = strings.Cut(rest, "\n")
	}
	at := len(rest)
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		at = min(at, int(se.ByteOffset))
	}
	refuse := func(code Code, format string, args ...any) error {
		e := c.src.errorAt(c.base+at, code, format, args...)
		e.Err = err
		return e
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return refuse(DuplicateName, "an object has this name twice")
	case at == len(rest) && c.perLine:
		return refuse(Syntax, "the line ends inside a value; JSON Lines has one whole value per line")
	case at == len(rest):
		return refuse(Syntax, "the text ends inside a value")
	case c.dec.StackDepth() >= maxNesting:
		return refuse(Syntax, "nested more than %d deep", maxNesting)
	case rest[at] == '\\':
		return refuse(Syntax, "not JSON: an escape that is none, or half of a surrogate pair")
	}
	r, _ := utf8.DecodeRuneInString(rest[at:])
	return refuse(Syntax, "not JSON: unexpected %q", r)
}

// maxNesting is how deep the JSON library goes.
const maxNesting = 10_000

// number refuses numbers that cannot be kept.
func (s *source) number(text string, at int) error {
	if strings.ContainsAny(text, ".eE") {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return s.errorAt(at, Number, "a number that is too large for a float; write it as a string")
		}
		return nil
	}
	if len(strings.TrimPrefix(text, "-")) > maxDigits {
		return s.errorAt(at, Number, "an integer of more than %d digits; write it as a string", maxDigits)
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "something else"
}
