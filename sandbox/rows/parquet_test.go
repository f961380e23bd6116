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

	"github.com/mayfly-run/mayfly/sandbox"
)

// leafData is what a test writes into a column.
type leafData struct {
	values      any
	definitions []int16
	repetitions []int16
}

// parquetFile writes a file with one row group for each set of columns.
func parquetFile(t testing.TB, fields schema.FieldList, codec compress.Compression, groups ...[]leafData) string {
	t.Helper()
	return parquetFileWith(t, fields, []parquet.WriterProperty{parquet.WithCompression(codec)}, groups...)
}

func parquetFileWith(t testing.TB, fields schema.FieldList, properties []parquet.WriterProperty, groups ...[]leafData) string {
	t.Helper()
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := file.NewParquetWriterWithError(&out, root, file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range groups {
		rg, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for at, c := range columns {
			cw, err := rg.NextColumn()
			if err != nil {
				t.Fatal("column", at, err)
			}
			switch cw := cw.(type) {
			case *file.BooleanColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]bool), c.definitions, c.repetitions)
			case *file.Int32ColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]int32), c.definitions, c.repetitions)
			case *file.Int64ColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]int64), c.definitions, c.repetitions)
			case *file.Float32ColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]float32), c.definitions, c.repetitions)
			case *file.Float64ColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]float64), c.definitions, c.repetitions)
			case *file.ByteArrayColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]parquet.ByteArray), c.definitions, c.repetitions)
			case *file.FixedLenByteArrayColumnChunkWriter:
				_, err = cw.WriteBatch(c.values.([]parquet.FixedLenByteArray), c.definitions, c.repetitions)
			default:
				t.Fatalf("no column of type %T", cw)
			}
			if err == nil {
				err = cw.Close()
			}
			if err != nil {
				t.Fatal("column", at, err)
			}
		}
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	required = parquet.Repetitions.Required
	optional = parquet.Repetitions.Optional
	repeated = parquet.Repetitions.Repeated
)

func leaf(name string, r parquet.Repetition, l schema.LogicalType, p parquet.Type, size int) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, r, l, p, size, -1))
}

func byteArrays(texts ...string) (list []parquet.ByteArray) {
	for _, s := range texts {
		list = append(list, parquet.ByteArray(s))
	}
	return list
}

// typedFields and typedData have one column of each kind, with two rows.
var typedFields = schema.FieldList{
	schema.NewBooleanNode("bool", required, -1),
	schema.NewInt64Node("i64", required, -1),
	leaf("u64", required, schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0),
	leaf("u8", required, schema.NewIntLogicalType(8, false), parquet.Types.Int32, 0),
	schema.NewFloat32Node("f32", required, -1),
	schema.NewFloat64Node("f64", optional, -1),
	leaf("text", optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0),
	schema.NewByteArrayNode("raw", required, -1),
	leaf("date", required, schema.DateLogicalType{}, parquet.Types.Int32, 0),
	leaf("at", required, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, 0),
	leaf("local", required, schema.NewTimestampLogicalType(false, schema.TimeUnitNanos), parquet.Types.Int64, 0),
	leaf("clock", required, schema.NewTimeLogicalType(false, schema.TimeUnitMillis), parquet.Types.Int32, 0),
	leaf("price", required, schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0),
	leaf("large", required, schema.NewDecimalLogicalType(38, 10), parquet.Types.FixedLenByteArray, 16),
	leaf("id", required, schema.UUIDLogicalType{}, parquet.Types.FixedLenByteArray, 16),
}

func typedData() []leafData {
	large := func(high, low uint64) parquet.FixedLenByteArray {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)
	}
	return []leafData{
		{values: []bool{true, false}},
		{values: []int64{1<<63 - 1, -1 << 63}},
		{values: []int64{-1, 7}},
		{values: []int32{200, 0}},
		{values: []float32{0.5, -1.25}},
		{values: []float64{0.1}, definitions: []int16{1, 0}},
		{values: byteArrays("é"), definitions: []int16{0, 1}},
		{values: byteArrays("\x00\xff", "")},
		{values: []int32{19782, -1}},
		{values: []int64{1709209800123456, 0}},
		{values: []int64{1709209800000000001, -1}},
		{values: []int32{45296789, 0}},
		{values: []int32{-5, 12345}},
		{values: []parquet.FixedLenByteArray{large(0, 12345678901234567890), large(1<<64-1, 1<<64-1)}},
		{values: []parquet.FixedLenByteArray{large(0x0123456789abcdef, 0x0123456789abcdef), large(0, 1)}},
	}
}

var typedWant = table(
	names("bool", "i64", "u64", "u8", "f32", "f64", "text", "raw", "date", "at", "local", "clock", "price", "large", "id"),
	[]any{true, int64(1<<63 - 1), big10("18446744073709551615"), int64(200), 0.5, 0.1, nil, []byte{0, 255}, "2024-02-29",
		"2024-02-29T12:30:00.123456+00:00", "2024-02-29T12:30:00.000000001", "12:34:56.789", "-0.05", "1234567890.1234567890",
		"01234567-89ab-cdef-0123-456789abcdef"},
	[]any{false, int64(-1 << 63), int64(7), int64(0), -1.25, nil, "é", []byte{}, "1969-12-31",
		"1970-01-01T00:00:00+00:00", "1969-12-31T23:59:59.999999999", "00:00:00", "123.45", "-0.0000000001", "00000000-0000-0000-0000-000000000001"},
)

func TestParquetTypes(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli} {
		text := parquetFile(t, typedFields, codec, typedData(), typedData())
		got, err := Read(strings.NewReader(text), Options{})
		if err != nil {
			t.Fatalf("%v: %v (%v)", codec, err, errors.Unwrap(err))
		}
		want := &sandbox.Table{Columns: typedWant.Columns, Rows: append(typedWant.Rows[:2:2], typedWant.Rows...)}
		if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" {
			t.Errorf("%v:\n%s", codec, diff)
		}
		if got.Format != Parquet || got.Len != 4 {
			t.Errorf("%v: %s with %d rows", codec, got.Format, got.Len)
		}
	}
}

// TestParquetNested: what is repeated, what is empty and what is missing are told
// apart, in the forms that writers have had.
func TestParquetNested(t *testing.T) {
	must := func(n *schema.GroupNode, err error) schema.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	number := func(name string, r parquet.Repetition) schema.Node { return schema.NewInt64Node(name, r, -1) }
	fields := schema.FieldList{
		must(schema.ListOf(number("l", optional), optional, -1)), // [1, null], null, []
		must(schema.NewGroupNode("s", optional, schema.FieldList{number("a", optional), number("b", required)}, -1)),
		number("bare", repeated), // no list around it
		must(schema.MapOf("m", leaf("key", required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0), number("value", optional), optional, -1)),
		must(schema.ListOf(must(schema.ListOf(number("ll", required), optional, -1)), optional, -1)),
	}
	text := parquetFile(t, fields, compress.Codecs.Uncompressed, []leafData{
		{values: []int64{1}, definitions: []int16{3, 2, 0, 1}, repetitions: []int16{0, 1, 0, 0}},
		{values: []int64{5}, definitions: []int16{2, 1, 0}, repetitions: nil},
		{values: []int64{1, 2}, definitions: []int16{1, 1, 0}},
		{values: []int64{10, 11}, definitions: []int16{1, 1, 0, 0}, repetitions: []int16{0, 1, 0, 0}},
		{values: byteArrays("k", "k2"), definitions: []int16{2, 2, 0, 1}, repetitions: []int16{0, 1, 0, 0}},
		{values: []int64{7}, definitions: []int16{3, 2, 0, 1}, repetitions: []int16{0, 1, 0, 0}},
		{values: []int64{1, 2, 3}, definitions: []int16{4, 4, 4, 0, 3}, repetitions: []int16{0, 2, 1, 0, 0}},
	})
	got, err := Read(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	pair := func(k string, v any) any { return map[string]any{"key": k, "value": v} }
	want := table(names("l", "s", "bare", "m", "ll"),
		[]any{[]any{int64(1), nil}, map[string]any{"a": int64(5), "b": int64(1)}, []any{int64(10), int64(11)},
			[]any{pair("k", int64(7)), pair("k2", nil)}, []any{[]any{int64(1), int64(2)}, []any{int64(3)}}},
		[]any{nil, map[string]any{"a": nil, "b": int64(2)}, []any{}, nil, nil},
		[]any{[]any{}, nil, []any{}, []any{}, []any{[]any{}}},
	)
	if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" {
		t.Error(diff)
	}
}

// TestParquetRefusals: what is wrong with a file is said, and nothing is made of
// it.
func TestParquetRefusals(t *testing.T) {
	good := parquetFile(t, typedFields, compress.Codecs.Snappy, typedData())
	if _, err := Read(strings.NewReader(good), Options{}); err != nil {
		t.Fatal(err) // the control
	}
	text := func(values ...string) string {
		return parquetFile(t, schema.FieldList{leaf("a", required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0)}, compress.Codecs.Gzip, []leafData{{values: byteArrays(values...)}})
	}
	date := func(n int32) string {
		return parquetFile(t, schema.FieldList{leaf("a", required, schema.DateLogicalType{}, parquet.Types.Int32, 0)}, compress.Codecs.Uncompressed, []leafData{{values: []int32{n}}})
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = strings.Repeat("x", 1<<20)
	}
	for _, c := range []struct {
		name, text string
		opts       Options
		code       Code
	}{
		{"cut", good[:len(good)/2], Options{}, Syntax},
		{"no footer", good[:len(good)-8], Options{}, Syntax},
		{"only a head", "PAR1", Options{}, Syntax},
		{"a footer that is longer than the file", good[:len(good)-8] + "\xff\xff\xff\x7fPAR1", Options{}, Syntax},
		{"a footer of nothing", "PAR1\x00\x00\x00\x00PAR1", Options{}, Syntax},
		{"encrypted", good[:len(good)-4] + "PARE", Options{}, Syntax},
		{"text that is none", text("\xff"), Options{}, Encoding},
		{"a date far away", date(1 << 30), Options{}, Syntax},
		{"too many values", text("a", "b", "c"), Options{MaxCells: 2}, TooLarge},
		{"a file that unpacks to much", text(many...), Options{MaxBytes: 1 << 20}, TooLarge},
	} {
		got, err := Read(strings.NewReader(c.text), c.opts)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != c.code {
			t.Errorf("%s: %v, %v; want %s", c.name, got.Len, err, c.code)
		}
	}
}

// TestParquetDamage: a file with any one byte changed is read or refused.
func TestParquetDamage(t *testing.T) {
	good := []byte(parquetFile(t, typedFields, compress.Codecs.Snappy, typedData()))
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= byte(1 << (at % 8))
		got, err := Read(bytes.NewReader(bad), Options{Format: Parquet, MaxBytes: 16 << 20, MaxCells: 1 << 20})
		if err == nil && got.Len != len(got.Table.Rows) {
			t.Fatalf("byte %d: %d rows, %d in the table", at, got.Len, len(got.Table.Rows))
		}
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}
