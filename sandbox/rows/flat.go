package rows

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// layout is how rows of JSON follow one another.
type layout uint8

const (
	arrayOfRows layout = iota
	rowPerLine
)

// flatTable reads rows that are objects of plain values, all with the same
// names in the same order: what exports and queries produce, and an order of
// magnitude faster to read than by a general parser. It accepts nothing that is
// not strict JSON; on anything else whatsoever it reports false, and the
// caller goes through the text again with a real parser, which explains.
func (s *source) flatTable(l layout) (*sandbox.Table, bool) {
	f := &flatScanner{text: s.text, layout: l}
	if f.blank(); l == arrayOfRows && !f.take('[') {
		return nil, false
	}
	columns, ok := f.firstRow()
	if !ok || len(columns) == 0 || len(columns) > MaxColumns {
		return nil, false
	}
	width := len(columns)
	table := &sandbox.Table{Columns: columns}
	maxRows := s.opts.MaxCells / width
	perBlock := max(1, blockCells/width) * width
	block := make([]any, 0, perBlock)
	for {
		if len(table.Rows) == maxRows {
			return nil, false
		}
		if len(block) == perBlock {
			block = make([]any, 0, perBlock)
		}
		start := len(block)
		if block, ok = f.row(block); !ok {
			return nil, false
		}
		table.Rows = append(table.Rows, block[start:len(block):len(block)])
		more, ok := f.next()
		if !ok {
			return nil, false
		}
		if !more {
			return table, true
		}
	}
}

// flatScanner reads the text of flat rows. Preconditions: the text is UTF-8.
type flatScanner struct {
	text    string
	pos     int
	layout  layout
	names   []string // as in the text, with their quotes
	columns []recentStrings
}

// firstRow learns the names from the first row and goes back to its start.
func (f *flatScanner) firstRow() ([]string, bool) {
	f.blank()
	start := f.pos
	if !f.take('{') {
		return nil, false
	}
	var columns []string
	seen := make(map[string]bool)
	for {
		f.space()
		raw, plain, ok := f.stringToken()
		if !ok {
			return nil, false
		}
		name, ok := unquote(raw, plain)
		if !ok || seen[name] {
			return nil, false
		}
		seen[name] = true
		columns = append(columns, name)
		f.names = append(f.names, raw)
		if f.space(); !f.take(':') {
			return nil, false
		}
		f.space()
		if _, ok := f.value(&recentStrings{off: true}); !ok {
			return nil, false
		}
		f.space()
		if f.take('}') {
			break
		}
		if !f.take(',') {
			return nil, false
		}
	}
	f.pos = start
	f.columns = make([]recentStrings, len(columns))
	return columns, true
}

// row reads one object and appends its values.
func (f *flatScanner) row(values []any) ([]any, bool) {
	if f.blank(); !f.take('{') {
		return values, false
	}
	for i, name := range f.names {
		if i > 0 {
			if f.space(); !f.take(',') {
				return values, false
			}
		}
		f.space()
		if !strings.HasPrefix(f.text[f.pos:], name) {
			return values, false
		}
		f.pos += len(name)
		if f.space(); !f.take(':') {
			return values, false
		}
		f.space()
		v, ok := f.value(&f.columns[i])
		if !ok {
			return values, false
		}
		values = append(values, v)
	}
	f.space()
	return values, f.take('}')
}

// next reads what follows a row: whether another one comes, and whether the
// text is right so far.
func (f *flatScanner) next() (more, ok bool) {
	f.space()
	if f.layout == rowPerLine {
		if f.pos < len(f.text) && !f.take('\n') {
			return false, false
		}
		f.blank()
		return f.pos < len(f.text), true
	}
	if f.take(',') {
		return true, true
	}
	if !f.take(']') {
		return false, false
	}
	f.space()
	return false, f.pos == len(f.text)
}

func (f *flatScanner) take(c byte) bool {
	if f.pos < len(f.text) && f.text[f.pos] == c {
		f.pos++
		return true
	}
	return false
}

// blank skips white space between rows.
func (f *flatScanner) blank() {
	for f.pos < len(f.text) {
		switch f.text[f.pos] {
		case ' ', '\t', '\r', '\n':
			f.pos++
		default:
			return
		}
	}
}

// space skips white space inside a row, which must not leave the line if each
// row has its own.
func (f *flatScanner) space() {
	if f.pos < len(f.text) && f.text[f.pos] <= ' ' {
		f.skipSpace()
	}
}

func (f *flatScanner) skipSpace() {
	for f.pos < len(f.text) {
		switch f.text[f.pos] {
		case ' ', '\t', '\r':
		case '\n':
			if f.layout == rowPerLine {
				return
			}
		default:
			return
		}
		f.pos++
	}
}

// value reads one plain value.
func (f *flatScanner) value(recent *recentStrings) (any, bool) {
	if f.pos == len(f.text) {
		return nil, false
	}
	switch f.text[f.pos] {
	case '"':
		raw, plain, ok := f.stringToken()
		if !ok {
			return nil, false
		}
		s, ok := unquote(raw, plain)
		return recent.box(s), ok
	case 't':
		return true, f.word("true")
	case 'f':
		return false, f.word("false")
	case 'n':
		return nil, f.word("null")
	}
	return f.number()
}

func (f *flatScanner) word(w string) bool {
	if strings.HasPrefix(f.text[f.pos:], w) {
		f.pos += len(w)
		return true
	}
	return false
}

// stringToken reads a string with its quotes; plain means that it holds no
// escape.
func (f *flatScanner) stringToken() (raw string, plain, ok bool) {
	start := f.pos
	if !f.take('"') {
		return "", false, false
	}
	plain = true
	for i := f.pos; i < len(f.text); i++ {
		switch c := f.text[i]; {
		case c == '"':
			f.pos = i + 1
			return f.text[start:f.pos], plain, true
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return "", false, false
		}
	}
	return "", false, false
}

func unquote(raw string, plain bool) (string, bool) {
	if plain {
		return raw[1 : len(raw)-1], true
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	return string(s), err == nil
}

// number reads a JSON number: an integer of any size or a float.
func (f *flatScanner) number() (any, bool) {
	start := f.pos
	f.take('-')
	first := f.pos
	whole := f.digits()
	if whole == 0 || whole > 1 && f.text[first] == '0' {
		return nil, false
	}
	float := false
	if f.take('.') {
		float = true
		if f.digits() == 0 {
			return nil, false
		}
	}
	if f.take('e') || f.take('E') {
		float = true
		if !f.take('+') {
			f.take('-')
		}
		if f.digits() == 0 {
			return nil, false
		}
	}
	text := f.text[start:f.pos]
	if !float {
		if whole > maxDigits {
			return nil, false
		}
		return integer(text), true
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// digits skips digits and counts them.
func (f *flatScanner) digits() int {
	start := f.pos
	for f.pos < len(f.text) && '0' <= f.text[f.pos] && f.text[f.pos] <= '9' {
		f.pos++
	}
	return f.pos - start
}
