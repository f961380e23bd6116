package rows

import (
	"fmt"
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
)

// bareQuotes says what a quote inside an unquoted cell means.
type bareQuotes bool

const (
	refuseBareQuotes bareQuotes = false
	keepBareQuotes   bareQuotes = true
)

// splitter cuts separated text into cells, one after another.
type splitter struct {
	src    *source
	sep    byte
	quotes bareQuotes
	pos    int
}

// readSeparated reads CSV or TSV.
func (s *source) readSeparated(sep byte, quotes bareQuotes) (Rows, error) {
	sp := &splitter{src: s, sep: sep, quotes: quotes}
	header, err := sp.header()
	if err != nil {
		return Rows{}, err
	}
	body, err := sp.body(len(header))
	if err != nil {
		return Rows{}, err
	}
	columns := make([]column, len(header))
	for i := range columns {
		columns[i].kind = body.kinds[i].column()
		if s.opts.Strings {
			columns[i].kind = stringsColumn
		}
	}
	table := &sandbox.Table{Columns: header, Rows: body.convert(columns)}
	return Rows{Len: len(table.Rows), Table: table}, nil
}

// header reads the first record and makes column names of it.
func (sp *splitter) header() ([]string, error) {
	if !sp.skipBlankLines() {
		return nil, &Error{Name: sp.src.opts.Name, Code: Empty, Reason: "is empty; the first line must name the columns"}
	}
	var names []string
	first := make(map[string]int)
	for more := true; more; {
		at := sp.pos
		var name string
		var err error
		if name, more, err = sp.cell(); err != nil {
			return nil, err
		}
		if len(names) == MaxColumns {
			return nil, sp.src.tooManyColumns()
		}
		if name == "" {
			name = fmt.Sprintf("column_%d", len(names)+1)
		}
		if earlier, ok := first[name]; ok {
			return nil, sp.src.errorAt(at, DuplicateName, "column %d has the same name as column %d", len(names)+1, earlier)
		}
		names = append(names, name)
		first[name] = len(names)
	}
	return names, nil
}

// body is the cells of all records, in blocks of whole records so that a
// large file costs few allocations and no copying.
type body struct {
	width  int
	blocks [][]string
	kinds  []kinds
	rows   int
}

// blockCells is about how many cells a block holds.
const blockCells = 16_384

func (sp *splitter) body(width int) (*body, error) {
	b := &body{width: width, kinds: make([]kinds, width)}
	maxRows := sp.src.opts.MaxCells / width
	blockRows := max(1, blockCells/width)
	var block []string
	for sp.skipBlankLines() {
		if b.rows == maxRows {
			return nil, sp.src.tooManyCells()
		}
		if len(block) == cap(block) {
			if block != nil {
				b.blocks = append(b.blocks, block)
			}
			block = make([]string, 0, blockRows*width)
		}
		start, count := sp.pos, 0
		for more := true; more; count++ {
			var cell string
			var err error
			if cell, more, err = sp.cell(); err != nil {
				return nil, err
			}
			if count >= width {
				continue // counted for the message, not kept
			}
			block = append(block, cell)
			if b.kinds[count]&sawText == 0 {
				b.kinds[count] |= kindOf(cell)
			}
		}
		if count != width {
			return nil, sp.src.errorAt(start, Ragged, "%s, but the header names %s", plural(count, "cell"), plural(width, "column"))
		}
		b.rows++
	}
	if block != nil {
		b.blocks = append(b.blocks, block)
	}
	return b, nil
}

// convert gives every cell its column's type.
func (b *body) convert(columns []column) [][]any {
	rows := make([][]any, 0, b.rows)
	for _, block := range b.blocks {
		values := make([]any, len(block))
		for i := 0; i < len(block); i += b.width {
			row := values[i : i+b.width : i+b.width]
			for j := range row {
				row[j] = columns[j].value(block[i+j])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// skipBlankLines moves to the start of a record and reports whether there is
// one.
func (sp *splitter) skipBlankLines() bool {
	for text := sp.src.text; sp.pos < len(text); sp.pos++ {
		if c := text[sp.pos]; c != '\n' && c != '\r' {
			return true
		}
	}
	return false
}

// cell reads one cell and what ends it, and reports whether another cell of
// the same record follows.
func (sp *splitter) cell() (cell string, more bool, err error) {
	text := sp.src.text
	start := sp.pos
	if start < len(text) && text[start] == '"' {
		return sp.quoted()
	}
	i := start
	for ; i < len(text); i++ {
		c := text[i]
		if c == sp.sep || c == '\n' || c == '\r' {
			break
		}
		if c == '"' && sp.quotes == refuseBareQuotes {
			return "", false, sp.src.errorAt(i, Syntax, `a quote inside a cell that is not quoted; quote the whole cell and write "" for a quote`)
		}
	}
	more = sp.end(i)
	return text[start:i], more, nil
}

// quoted reads a cell that begins with a quote.
func (sp *splitter) quoted() (cell string, more bool, err error) {
	text := sp.src.text
	open := sp.pos
	start := open + 1
	var joined []byte // the parts so far, if a quote had to be taken out
	for {
		n := strings.IndexByte(text[start:], '"')
		if n < 0 {
			return "", false, sp.src.errorAt(open, Syntax, "a quoted cell that never ends")
		}
		end := start + n
		if end+1 < len(text) && text[end+1] == '"' {
			joined = append(joined, text[start:end+1]...)
			start = end + 2
			continue
		}
		cell = text[start:end]
		if joined != nil {
			cell = string(append(joined, cell...))
		}
		if end+1 < len(text) {
			if c := text[end+1]; c != sp.sep && c != '\n' && c != '\r' {
				return "", false, sp.src.errorAt(end+1, Syntax, "text after the closing quote of a cell")
			}
		}
		return cell, sp.end(end + 1), nil
	}
}

// end moves past what ends a cell at offset i, and reports whether it was a
// separator. Of CRLF it takes the CR; the LF is a blank line to the next
// record.
func (sp *splitter) end(i int) (separator bool) {
	text := sp.src.text
	if i == len(text) {
		sp.pos = i
		return false
	}
	sp.pos = i + 1
	return text[i] == sp.sep
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
