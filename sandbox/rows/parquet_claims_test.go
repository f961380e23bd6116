package rows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
)

// compact writes structs in Thrift's compact protocol.
type compact struct {
	b    []byte
	last int
}

func (c compact) head(id int, kind byte) compact {
	c.b = append(c.b, byte(id-c.last)<<4|kind)
	c.last = id
	return c
}

func (c compact) number(id int, kind byte, n int64) compact {
	c = c.head(id, kind)
	c.b = binary.AppendVarint(c.b, n)
	return c
}

func (c compact) i32(id int, n int64) compact { return c.number(id, thriftInt32, n) }
func (c compact) i64(id int, n int64) compact { return c.number(id, thriftInt64, n) }

func (c compact) text(id int, s string) compact {
	c = c.head(id, thriftBinary)
	c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...)
	return c
}

func (c compact) inner(id int, of compact) compact {
	c = c.head(id, thriftStruct)
	c.b = append(append(c.b, of.b...), 0)
	return c
}

// list adds a list that claims n elements.
func (c compact) list(id int, kind byte, n uint64, elements ...[]byte) compact {
	c = c.head(id, thriftList)
	c.b = binary.AppendUvarint(append(c.b, 0xf0|kind), n)
	for _, e := range elements {
		c.b = append(c.b, e...)
	}
	return c
}

func (c compact) end() []byte { return append(bytes.Clone(c.b), 0) }

// parquetOf puts a file together of pages and metadata.
func parquetOf(pages, footer []byte) string {
	text := append([]byte(parquetMark), pages...)
	text = append(text, footer...)
	return string(append(binary.LittleEndian.AppendUint32(text, uint32(len(footer))), parquetMark...))
}

// onePage is a file of one column of numbers, of one page whose header says that it
// has so many values, in an encoding.
func onePage(values, encoding int64, body []byte) string {
	page := compact{}.i32(1, 0).i32(2, int64(len(body))).i32(3, int64(len(body))).
		inner(5, compact{}.i32(1, values).i32(2, encoding).i32(3, encodingRLE).i32(4, encodingRLE)).end()
	page = append(page, body...)
	size := int64(len(page))
	column := compact{}.i32(1, 2).list(2, thriftInt32, 1, binary.AppendVarint(nil, encoding)).list(3, thriftBinary, 1, []byte("\x01x")).
		i32(4, 0).i64(5, values).i64(6, size).i64(7, size).i64(9, int64(len(parquetMark)))
	group := compact{}.list(1, thriftStruct, 1, compact{}.i64(2, 4).inner(3, column).end()).i64(2, size).i64(3, 2)
	return parquetOf(page, footerOf(2, 1).list(4, thriftStruct, 1, group.end()).end())
}

// footerOf is metadata with a column of numbers, of a root that claims children.
func footerOf(rows, children int64) compact {
	return compact{}.i32(1, 1).list(2, thriftStruct, 2, compact{}.text(4, "root").i32(5, children).end(), compact{}.i32(1, 2).i32(3, 0).text(4, "x").end()).i64(3, rows)
}

// deltas is two numbers, the same twice, packed in a block of so many.
func deltas(block uint64) []byte {
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(b, 1)
	b = binary.AppendUvarint(b, 2)
	b = binary.AppendVarint(b, 7)
	return append(binary.AppendVarint(b, 0), 0)
}

// TestParquetClaims: what a file says of itself costs nothing before it is there. For
// each, the library alone is the control: it makes room first.
func TestParquetClaims(t *testing.T) {
	const claim, most = 4 << 20, 6 << 20
	plain := append(binary.LittleEndian.AppendUint64(nil, 7), binary.LittleEndian.AppendUint64(nil, 7)...)
	want := table(names("x"), []any{int64(7)}, []any{int64(7)})
	for name, good := range map[string]string{"plain": onePage(2, 0, plain), "differences": onePage(2, encodingDeltaBinary, deltas(128))} {
		got, err := Read(strings.NewReader(good), Options{})
		if err != nil {
			t.Fatalf("%s: %v (%v)", name, err, errors.Unwrap(err))
		}
		if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	for _, c := range []struct {
		name, text string
		control    int64 // bytes that the library makes room for
	}{
		{"columns in the schema", parquetOf(nil, compact{}.i32(1, 1).list(2, thriftStruct, claim).end()), 8 * claim},
		{"row groups", parquetOf(nil, footerOf(0, 1).list(4, thriftStruct, claim).end()), 8 * claim},
		{"children", parquetOf(nil, footerOf(0, claim).list(4, thriftStruct, 0).end()), 16 * claim},
		{"names and values", parquetOf(nil, footerOf(0, 1).list(4, thriftStruct, 0).list(5, thriftStruct, claim).end()), 8 * claim},
		{"a block of differences", onePage(2, encodingDeltaBinary, deltas(claim)), 8 * claim},
	} {
		if len(c.text) > 300 {
			t.Errorf("%s: the file has %d bytes", c.name, len(c.text))
		}
		control := allocated(func() { libraryReads(c.text) })
		if control < c.control {
			t.Errorf("%s: the library makes room for %d bytes, not %d: it may do now", c.name, control, c.control)
		}
		ours := allocated(func() {
			if _, err := Read(strings.NewReader(c.text), Options{}); err == nil {
				t.Errorf("%s: it is read", c.name)
			}
		})
		if ours > most {
			t.Errorf("%s: %d bytes for a file of %d", c.name, ours, len(c.text))
		}
	}
}

// TestParquetSharedPages: pages belong to one column. A thousand columns that are the same
// megabyte of pages without values would be as many megabytes to go through.
func TestParquetSharedPages(t *testing.T) {
	page := func(values int64, body []byte) []byte {
		head := compact{}.i32(1, 0).i32(2, int64(len(body))).i32(3, int64(len(body))).
			inner(5, compact{}.i32(1, values).i32(2, 0).i32(3, encodingRLE).i32(4, encodingRLE)).end()
		return append(head, body...)
	}
	pages := page(1, binary.LittleEndian.AppendUint64(nil, 7))
	for range 1000 {
		pages = append(pages, page(0, nil)...)
	}
	size := int64(len(pages))
	file := func(shift int64) string {
		elements, chunks := [][]byte{compact{}.text(4, "root").i32(5, 2).end()}, [][]byte{}
		for i, name := range []string{"a", "b"} {
			elements = append(elements, compact{}.i32(1, 2).i32(3, 0).text(4, name).end())
			column := compact{}.i32(1, 2).list(2, thriftInt32, 1, binary.AppendVarint(nil, 0)).list(3, thriftBinary, 1, []byte("\x01"+name)).
				i32(4, 0).i64(5, 1).i64(6, size).i64(7, size).i64(9, int64(len(parquetMark))+shift*int64(i))
			chunks = append(chunks, compact{}.i64(2, 4).inner(3, column).end())
		}
		group := compact{}.list(1, thriftStruct, 2, chunks...).i64(2, size).i64(3, 1).end()
		all := bytes.Repeat(pages, 1+int(shift/size))
		return parquetOf(all, compact{}.i32(1, 1).list(2, thriftStruct, 3, elements...).i64(3, 1).list(4, thriftStruct, 1, group).end())
	}
	got, err := Read(strings.NewReader(file(size)), Options{})
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if diff := cmp.Diff(table(names("a", "b"), []any{int64(7), int64(7)}), got.Table, cmpRows); diff != "" {
		t.Error(diff)
	}
	_, err = Read(strings.NewReader(file(0)), Options{})
	if why := errors.Unwrap(err); why == nil || !strings.Contains(why.Error(), "in one another") {
		t.Errorf("two columns of the same pages: %v (%v)", err, why)
	}
}

// libraryReads reads a file of one column as the library does it, with its errors.
func libraryReads(text string) {
	defer func() { _ = recover() }()
	r, err := file.NewParquetReader(strings.NewReader(text))
	if err != nil || r.NumRowGroups() == 0 {
		return
	}
	column, err := r.RowGroup(0).Column(0)
	if err != nil {
		return
	}
	_, _, _ = column.(*file.Int64ColumnChunkReader).ReadBatch(2, make([]int64, 2), nil, nil)
}

// TestParquetManyParts: metadata takes more memory than it has bytes, so its parts are
// counted.
func TestParquetManyParts(t *testing.T) {
	element := compact{}.text(4, "").end()
	elements := func(n int) string {
		return parquetOf(nil, compact{}.i32(1, 1).list(2, thriftStruct, uint64(n), bytes.Repeat(element, n)).i64(3, 0).list(4, thriftStruct, 0).end())
	}
	_, err := Read(strings.NewReader(elements(9000)), Options{MaxBytes: 1 << 20})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != TooLarge || !strings.Contains(e.Reason, "row groups") {
		t.Errorf("9,000 parts where there is room for 8,192: %v", err)
	}
	_, err = Read(strings.NewReader(elements(8000)), Options{MaxBytes: 1 << 20})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code == TooLarge {
		t.Errorf("8,000 parts: %v", err)
	}
	if _, err := Read(strings.NewReader(onePage(1<<30, 0, nil)), Options{}); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("a page that claims a thousand million values: %v", err)
	}
}

// TestParquetEncodings: every encoding that writers have is read, in pages of both
// versions.
func TestParquetEncodings(t *testing.T) {
	fields := schema.FieldList{
		schema.NewInt64Node("n", optional, -1), leaf("text", optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0),
	}
	var numbers []int64
	var texts []parquet.ByteArray
	var levels []int16
	want := table(names("n", "text"))
	for i := range 1000 {
		levels = append(levels, int16(min(1, i%5)))
		if i%5 == 0 {
			want.Rows = append(want.Rows, []any{nil, nil})
			continue
		}
		n, s := int64(i*i%977), strings.Repeat("ab", i%7)+string(rune('a'+i%26))
		numbers, texts = append(numbers, n), append(texts, parquet.ByteArray(s))
		want.Rows = append(want.Rows, []any{n, s})
	}
	data := []leafData{{values: numbers, definitions: levels}, {values: texts, definitions: levels}}
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for _, e := range []struct{ numbers, texts parquet.Encoding }{
			{parquet.Encodings.Plain, parquet.Encodings.Plain},
			{parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray},
			{parquet.Encodings.ByteStreamSplit, parquet.Encodings.DeltaByteArray},
		} {
			text := parquetFileWith(t, fields, []parquet.WriterProperty{
				parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(version), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageSize(2000),
				parquet.WithEncodingFor("n", e.numbers), parquet.WithEncodingFor("text", e.texts),
			}, data)
			got, err := Read(strings.NewReader(text), Options{})
			if err != nil {
				t.Errorf("%v, %v: %v (%v)", version, e, err, errors.Unwrap(err))
				continue
			}
			if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" {
				t.Errorf("%v, %v:\n%s", version, e, diff)
			}
		}
	}
}
