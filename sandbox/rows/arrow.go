package rows

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Arrow's IPC formats are a series of messages: a schema, dictionaries, batches of
// records. Each is some metadata, a FlatBuffers table, and a body of buffers. A
// file is such a stream between two marks, with a list of the messages behind it.
// See the columnar format's specification, "Serialization and Interprocess
// Communication".

const (
	arrowMark     = "ARROW1"
	featherMark   = "FEA1" // what Feather was before it was Arrow IPC
	arrowContinue = "\xff\xff\xff\xff"
)

// The kinds of messages.
const (
	arrowSchemaMessage     = 1
	arrowDictionaryMessage = 2
	arrowBatchMessage      = 3
)

// arrowReader reads one file or stream.
type arrowReader struct {
	b            *builder
	text         string
	at           int
	file         bool  // not a stream
	left         int64 // bytes that buffers may still be unpacked to
	zstd         *zstd.Decoder
	window       int64 // what it may hold beside what it unpacks
	fields       []*arrowField
	fieldsLeft   int
	dictionaries map[int64]*arrowDictionary
	found        [2][]arrowBlock // of a file: the dictionaries and batches that came by
}

// arrowBlock is where a message of a file is.
type arrowBlock struct{ at, metadata, body int64 }

func (b *builder) readArrow(text string) error {
	a := &arrowReader{
		b: b, text: text, left: b.opts.MaxBytes, fieldsLeft: MaxColumns, dictionaries: make(map[int64]*arrowDictionary),
	}
	defer a.close()
	if err := a.read(); err != nil {
		return damaged(b.opts, Arrow, err)
	}
	return nil
}

func (a *arrowReader) read() error {
	if strings.HasPrefix(a.text, featherMark) {
		return &Error{Name: a.b.opts.Name, Code: Unreadable, Reason: "is Feather of version 1, which is not read; write it again as version 2, or as Parquet"}
	}
	var footer *flatbuffer
	if strings.HasPrefix(a.text, arrowMark) {
		a.file, a.at = true, 8
		var err error
		if a.text, footer, err = arrowFooter(a.text); err != nil {
			return err
		}
		// The schema is here. Some writers repeat it as the first message, some do not.
		if err := a.schema(footer, footer.root().table(1)); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		m, err := a.message()
		if err != nil {
			return err
		}
		if m == nil {
			break
		}
		switch {
		case m.kind == arrowSchemaMessage && first && a.file:
		case m.kind == arrowSchemaMessage && first:
			err = a.schema(m.f, m.header)
		case m.kind == 4 || m.kind == 5:
			err = a.refuse("holds tensors, which are not read")
		case a.fields == nil:
			err = errors.New("the schema is not the first message")
		case m.kind == arrowDictionaryMessage:
			err = a.dictionary(m)
		case m.kind == arrowBatchMessage:
			err = a.batch(m)
		default:
			err = fmt.Errorf("a message of kind %d, at the wrong place", m.kind)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case a.file:
		return a.checkFooter(footer)
	case a.fields == nil:
		return errors.New("there is no schema")
	case a.at != len(a.text):
		return errors.New("there is something behind the end")
	}
	return nil
}

// refuse is the error for what is no damage, and is not read all the same.
func (a *arrowReader) refuse(format string, args ...any) error {
	return &Error{Name: a.b.opts.Name, Code: Syntax, Reason: fmt.Sprintf(format, args...)}
}

// arrowFooter parts a file into its messages and the list of them.
func arrowFooter(text string) (messages string, footer *flatbuffer, err error) {
	const behind = 4 + len(arrowMark)
	if len(text) < 8+behind || !strings.HasSuffix(text, arrowMark) {
		return "", nil, errors.New("the file ends too early")
	}
	end := len(text) - behind
	size := int(littleEndian(text[end : end+4]))
	if size > end-8 {
		return "", nil, errors.New("the footer is longer than the file")
	}
	return text[:end-size], &flatbuffer{text: text[end-size : end]}, nil
}

// arrowMessage is a message whose metadata and body are there.
type arrowMessage struct {
	f      *flatbuffer
	kind   int
	header flatTable
	body   string
}

// message reads the next message; nil: there is none.
func (a *arrowReader) message() (*arrowMessage, error) {
	start := a.at
	size, ok := a.length()
	if ok && strings.HasPrefix(a.text[start:], arrowContinue) {
		size, ok = a.length()
	}
	if !ok {
		if start == len(a.text) {
			return nil, nil // a stream may just stop
		}
		return nil, errors.New("a message ends too early")
	}
	if size == 0 {
		return nil, nil
	}
	if size > len(a.text)-a.at {
		return nil, errors.New("a message is longer than the file")
	}
	m := &arrowMessage{f: &flatbuffer{text: a.text[a.at : a.at+size]}}
	a.at += size
	metadata := int64(a.at - start)
	root := m.f.root()
	version, body := root.int16(0, 0), root.int64(3)
	m.kind, m.header = root.byte(1), root.table(2)
	if m.f.bad || m.header.f == nil {
		return nil, errors.New("a message is damaged")
	}
	if version < 3 || version > 4 { // V4 and V5
		return nil, a.refuse("is Arrow IPC of version %d, which is not read; write it again with a current library", version+1)
	}
	if body < 0 || body > int64(len(a.text)-a.at) {
		return nil, errors.New("the body of a message is longer than the file")
	}
	m.body = a.text[a.at : a.at+int(body)]
	a.at += int(body)
	if i := m.kind - arrowDictionaryMessage; a.file && (i == 0 || i == 1) {
		a.found[i] = append(a.found[i], arrowBlock{int64(start), metadata, body})
	}
	return m, nil
}

// length reads four bytes.
func (a *arrowReader) length() (int, bool) {
	if len(a.text)-a.at < 4 {
		return 0, false
	}
	a.at += 4
	return int(littleEndian(a.text[a.at-4 : a.at])), true
}

// checkFooter compares a file's list with what came by, so that nobody who reads by
// the list sees other rows.
func (a *arrowReader) checkFooter(f *flatbuffer) error {
	root := f.root()
	for i, found := range a.found {
		blocks := root.vector(2+i, 24)
		if blocks.n != len(found) {
			return errors.New("the footer does not list what is in the file")
		}
		for at, block := range found {
			if (arrowBlock{blocks.int64(at, 0), int64(blocks.int32(at, 8)), blocks.int64(at, 16)}) != block {
				return errors.New("the footer does not list what is in the file")
			}
		}
	}
	if f.bad {
		return errors.New("the footer is damaged")
	}
	return nil
}

// batch reads some rows.
func (a *arrowReader) batch(m *arrowMessage) error {
	d, err := a.decoder(m.f, m.header, m.body)
	if err != nil {
		return err
	}
	if err := a.b.expect(d.rows); err != nil {
		return err
	}
	if err := a.b.expect(d.rows + int64(len(a.b.table.Rows))); err != nil {
		return err
	}
	columns := make([]*arrowColumn, 0, len(a.fields))
	for _, field := range a.fields {
		c, err := d.column(field)
		if err != nil {
			return a.b.in(field.name, err)
		}
		if int64(c.n) != d.rows {
			return a.b.in(field.name, errors.New("it has more or fewer values than there are rows"))
		}
		columns = append(columns, c)
	}
	if err := d.done(); err != nil {
		return err
	}
	n, width := int(d.rows), len(columns)
	cells := make([]any, n*width)
	for i, c := range columns {
		for r := range n {
			v, err := c.value(a.b, r)
			if err != nil {
				return a.b.in(c.field.name, err)
			}
			cells[r*width+i] = v
		}
	}
	for r := range n {
		a.b.table.Rows = append(a.b.table.Rows, cells[r*width:(r+1)*width:(r+1)*width])
	}
	return nil
}

// arrowDictionary holds values that columns refer to by number.
type arrowDictionary struct {
	field  *arrowField // of the values
	values []any
	sizes  []int // bytes that a value weighs in a table
	read   bool
}

// dictionary reads a dictionary, or what is new of one.
func (a *arrowReader) dictionary(m *arrowMessage) error {
	id, more := m.header.int64(0), m.header.bool(2)
	dict := a.dictionaries[id]
	if dict == nil {
		return errors.New("a dictionary that no column has")
	}
	d, err := a.decoder(m.f, m.header.table(1), m.body)
	if err != nil {
		return err
	}
	if dict.read && !more {
		if a.file {
			return errors.New("a dictionary comes twice")
		}
		dict.values, dict.sizes = nil, nil
	}
	if d.rows < 0 || d.rows > math.MaxInt32 {
		return errors.New("a dictionary of an impossible length")
	}
	c, err := d.column(dict.field)
	if err == nil && int64(c.n) != d.rows {
		err = errors.New("a dictionary has more or fewer values than it says")
	}
	if err == nil {
		err = d.done()
	}
	if err != nil {
		return err
	}
	for i := range c.n {
		before := a.b.bytes
		v, err := c.value(a.b, i)
		if err != nil {
			return err
		}
		dict.values, dict.sizes = append(dict.values, v), append(dict.sizes, int(a.b.bytes-before))
	}
	dict.read = true
	return nil
}

func (a *arrowReader) close() {
	if a.zstd != nil {
		a.zstd.Close()
	}
}
