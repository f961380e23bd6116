package rows

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestArrowOthers reads what writers in other languages made; see write.mjs.
func TestArrowOthers(t *testing.T) {
	files := otherArrows(t)
	javascript := table(names("i", "u", "f", "ok", "text", "big", "word", "day", "at", "local", "list", "rec", "raw"),
		[]any{int64(-128), int64(0), 0.1, true, "é", "x", "north", "2024-02-29", "2024-02-29T12:30:00.123+00:00", "2024-02-29T12:30:00.123",
			[]any{int64(1), int64(2)}, map[string]any{"x": "y"}, []byte{0, 255}},
		[]any{int64(0), big10("18446744073709551615"), math.Copysign(0, -1), false, "", "y", "south", "1970-01-01", "1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00",
			[]any{}, map[string]any{"x": nil}, []byte{}},
		[]any{nil, int64(1), nil, nil, nil, nil, "north", nil, nil, nil, nil, nil, nil},
		[]any{int64(127), nil, 1e300, true, "longer than twelve bytes", "z", nil, "1969-12-31", "1969-12-31T23:59:59.999+00:00", "1969-12-31T23:59:59.999",
			[]any{int64(3)}, map[string]any{"x": "z"}, []byte{1}},
	)
	polars := table(names("n", "text", "word", "day", "at", "list", "dec"),
		[]any{int64(1), "é", "a", "2024-02-29", "2024-02-29T12:30:00.123", []any{1.0, 2.0}, "1.25"},
		[]any{int64(2), "longer than twelve bytes", "b", nil, nil, []any{}, nil},
		[]any{nil, nil, "a", "1970-01-01", "1969-12-31T23:59:59.999", nil, "-0.50"},
	)
	many := table(names("n", "text"))
	for range 2000 {
		many.Rows = append(many.Rows, []any{int64(7), "the same text in every row"})
	}
	for name, want := range map[string]any{
		"javascript-file": javascript, "javascript-stream": javascript, "polars-file": polars, "polars-stream": polars, "many-lz4": many, "many-zstd": many,
	} {
		got, err := Read(strings.NewReader(files[name]), Options{})
		if err != nil {
			t.Errorf("%s: %v (%v)", name, err, errors.Unwrap(err))
			continue
		}
		if diff := cmp.Diff(want, any(got.Table), cmpRows); diff != "" || got.Format != Arrow {
			t.Errorf("%s as %s:\n%s", name, got.Format, diff)
		}
	}
	if plain, packed := len(files["many-lz4"]), 2000*(8+16); packed < 2*plain {
		t.Errorf("the packed file has %d bytes: nothing in it is packed", plain)
	}
}

func otherArrows(t testing.TB) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/arrow/others.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range archive.Files {
		text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(f.Data), "\n", ""))
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		files[f.Name] = string(text)
	}
	return files
}

func arrowColumns() []arrow.Field {
	field := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	return []arrow.Field{
		field("u64", arrow.PrimitiveTypes.Uint64), field("i8", arrow.PrimitiveTypes.Int8), field("f", arrow.PrimitiveTypes.Float64),
		field("half", arrow.FixedWidthTypes.Float16), field("text", arrow.BinaryTypes.String), field("view", arrow.BinaryTypes.StringView),
		field("raw", arrow.BinaryTypes.Binary), field("id", &arrow.FixedSizeBinaryType{ByteWidth: 2}),
		field("day", arrow.FixedWidthTypes.Date32), field("day64", arrow.FixedWidthTypes.Date64),
		field("at", arrow.FixedWidthTypes.Timestamp_ms), field("local", &arrow.TimestampType{Unit: arrow.Nanosecond}),
		field("clock", arrow.FixedWidthTypes.Time32s), field("took", arrow.FixedWidthTypes.Duration_ms),
		field("price", &arrow.Decimal128Type{Precision: 10, Scale: 2}), field("sum", &arrow.Decimal256Type{Precision: 50, Scale: 0}),
		field("list", arrow.ListOf(arrow.PrimitiveTypes.Int64)), field("pair", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)),
		field("map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)),
		field("rec", arrow.StructOf(field("x", arrow.BinaryTypes.LargeString))),
		field("word", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		field("none", arrow.Null),
	}
}

// arrowBatch has two rows of many types.
func arrowBatch(t testing.TB) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(arrowColumns(), nil))
	defer b.Release()
	at := -1
	next := func() array.Builder { at++; return b.Field(at) }
	next().(*array.Uint64Builder).AppendValues([]uint64{1<<64 - 1, 1}, nil)
	next().(*array.Int8Builder).AppendValues([]int8{-128, 0}, []bool{true, false})
	next().(*array.Float64Builder).AppendValues([]float64{0.1, -2}, nil)
	next().(*array.Float16Builder).AppendValues([]float16.Num{float16.New(-1.5), float16.New(65504)}, nil)
	next().(*array.StringBuilder).AppendValues([]string{"é", ""}, nil)
	next().(*array.StringViewBuilder).AppendValues([]string{"short", "longer than twelve bytes"}, nil)
	next().(*array.BinaryBuilder).AppendValues([][]byte{{0, 255}, {}}, nil)
	next().(*array.FixedSizeBinaryBuilder).AppendValues([][]byte{{1, 2}, nil}, []bool{true, false})
	next().(*array.Date32Builder).AppendValues([]arrow.Date32{19782, 0}, nil)
	next().(*array.Date64Builder).AppendValues([]arrow.Date64{19782 * 86_400_000, -86_400_000}, nil)
	next().(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1709209800123, -1}, nil)
	next().(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1, 0}, nil)
	next().(*array.Time32Builder).AppendValues([]arrow.Time32{86399, 0}, nil)
	next().(*array.DurationBuilder).AppendValues([]arrow.Duration{93784500, -60000}, nil)
	next().(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(-5), decimal128.FromI64(12345)}, nil)
	next().(*array.Decimal256Builder).AppendValues([]decimal256.Num{decimal256.FromBigInt(big10("-12345678901234567890123456789012345678901234567890")), decimal256.FromI64(0)}, nil)
	list := next().(*array.ListBuilder)
	list.Append(true)
	list.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
	list.AppendNull()
	pair := next().(*array.FixedSizeListBuilder)
	pair.Append(true)
	pair.ValueBuilder().(*array.Int8Builder).AppendValues([]int8{3, 4}, nil)
	pair.AppendNull()
	dict := next().(*array.MapBuilder)
	dict.Append(true)
	dict.KeyBuilder().(*array.StringBuilder).Append("k")
	dict.ItemBuilder().(*array.Int64Builder).Append(5)
	dict.AppendNull()
	record := next().(*array.StructBuilder)
	record.Append(true)
	record.FieldBuilder(0).(*array.LargeStringBuilder).Append("y")
	record.AppendNull()
	word := next().(*array.BinaryDictionaryBuilder)
	for range 2 {
		if err := word.AppendString("w"); err != nil {
			t.Fatal(err)
		}
	}
	next().(*array.NullBuilder).AppendNulls(2)
	return b.NewRecordBatch()
}

var arrowWant = table(
	names("u64", "i8", "f", "half", "text", "view", "raw", "id", "day", "day64", "at", "local", "clock", "took", "price", "sum", "list", "pair", "map", "rec", "word", "none"),
	[]any{big10("18446744073709551615"), int64(-128), 0.1, -1.5, "é", "short", []byte{0, 255}, []byte{1, 2}, "2024-02-29", "2024-02-29",
		"2024-02-29T12:30:00.123+00:00", "1970-01-01T00:00:00.000000001", "23:59:59", "P1DT2H3M4.5S", "-0.05", "-12345678901234567890123456789012345678901234567890",
		[]any{int64(1), int64(2)}, []any{int64(3), int64(4)}, []any{map[string]any{"key": "k", "value": int64(5)}}, map[string]any{"x": "y"}, "w", nil},
	[]any{int64(1), nil, -2.0, 65504.0, "", "longer than twelve bytes", []byte{}, nil, "1970-01-01", "1969-12-31",
		"1969-12-31T23:59:59.999+00:00", "1970-01-01T00:00:00", "00:00:00", "-PT1M", "123.45", "0", nil, nil, nil, nil, "w", nil},
)

// arrowBytes writes batches with the library that Go has.
func arrowBytes(t testing.TB, stream bool, batches []arrow.RecordBatch, options ...ipc.Option) string {
	t.Helper()
	var out bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	options = append(options, ipc.WithSchema(batches[0].Schema()))
	if stream {
		w = ipc.NewWriter(&out, options...)
	} else {
		f, err := ipc.NewFileWriter(&out, options...)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	for _, batch := range batches {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		batch.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func typedArrow(t testing.TB, stream bool, options ...ipc.Option) string {
	return arrowBytes(t, stream, []arrow.RecordBatch{arrowBatch(t)}, options...)
}

func TestArrow(t *testing.T) {
	for name, text := range map[string]string{
		"file": typedArrow(t, false), "stream": typedArrow(t, true), "zstd": typedArrow(t, false, ipc.WithZstd()), "lz4": typedArrow(t, true, ipc.WithLZ4()),
		"packed": zipped(t, typedArrow(t, true)),
	} {
		got, err := Read(strings.NewReader(text), Options{})
		if err != nil {
			t.Errorf("%s: %v (%v)", name, err, errors.Unwrap(err))
			continue
		}
		if diff := cmp.Diff(arrowWant, got.Table, cmpRows); diff != "" || got.Format != Arrow {
			t.Errorf("%s as %s:\n%s", name, got.Format, diff)
		}
	}
}

// TestArrowBatches: dictionaries can grow, and be replaced in a stream.
func TestArrowBatches(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "w", Nullable: true, Type: typ}}, nil)
	batch := func(words []string, values ...uint16) arrow.RecordBatch {
		dict, at := array.NewStringBuilder(memory.DefaultAllocator), array.NewUint16Builder(memory.DefaultAllocator)
		dict.AppendValues(words, nil)
		at.AppendValues(values, nil)
		return array.NewRecordBatch(schema, []arrow.Array{array.NewDictionaryArray(typ, at.NewArray(), dict.NewArray())}, int64(len(values)))
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"grows", arrowBytes(t, true, []arrow.RecordBatch{batch([]string{"a", "b"}, 0, 1), batch([]string{"a", "b", "c"}, 1, 2, 0)}, ipc.WithDictionaryDeltas(true)), []string{"a", "b", "b", "c", "a"}},
		{"is replaced", arrowBytes(t, true, []arrow.RecordBatch{batch([]string{"a", "b"}, 0, 1), batch([]string{"other", "c"}, 0, 1)}), []string{"a", "b", "other", "c"}},
	} {
		want := table(names("w"))
		for _, w := range c.want {
			want.Rows = append(want.Rows, []any{w})
		}
		got, err := Read(strings.NewReader(c.text), Options{})
		if err != nil {
			t.Errorf("%s: %v (%v)", c.name, err, errors.Unwrap(err))
			continue
		}
		if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestArrowRefusals(t *testing.T) {
	good, stream := typedArrow(t, false), typedArrow(t, true)
	one := func(typ arrow.DataType, build func(array.Builder)) string {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil))
		defer b.Release()
		build(b.Field(0))
		return arrowBytes(t, true, []arrow.RecordBatch{b.NewRecordBatch()})
	}
	texts := func(list ...string) string {
		return one(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).AppendValues(list, nil) })
	}
	for _, c := range []struct {
		name, text string
		opts       Options
		code       Code
		says       string
	}{
		{"cut", good[:len(good)/2], Options{}, Syntax, ""},
		{"only a head", "ARROW1\x00\x00", Options{}, Syntax, ""},
		{"a stream that is cut", stream[:400], Options{}, Syntax, ""},
		{"a stream with more behind it", stream + "x", Options{}, Syntax, ""},
		{"a message of 2 GiB", "\xff\xff\xff\xff\xff\xff\xff\x7f", Options{}, Syntax, ""},
		{"a footer that is longer than the file", good[:len(good)-10] + "\xff\xff\xff\x7fARROW1", Options{}, Syntax, ""},
		{"a file with a message that is not listed", good[:8] + stream[:len(stream)-8] + good[8:], Options{}, Syntax, ""},
		{"too many values", good, Options{MaxCells: 5}, TooLarge, ""},
		{"too many rows", one(arrow.Null, func(b array.Builder) { b.AppendNulls(1000) }), Options{MaxCells: 999}, TooLarge, ""},
		{"more text than may be", texts("aaaa", "bbbb"), Options{MaxBytes: 7}, TooLarge, ""},
		{"text that is none", texts("\xff"), Options{}, Encoding, ""},
		{"a date far away", one(arrow.FixedWidthTypes.Date32, func(b array.Builder) { b.(*array.Date32Builder).Append(1 << 30) }), Options{}, Syntax, "outside of the years"},
		{"intervals", one(arrow.FixedWidthTypes.MonthInterval, func(b array.Builder) { b.AppendNull() }), Options{}, Syntax, "intervals are not read"},
		{"unions", one(arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.Null}}, []arrow.UnionTypeCode{0}), func(array.Builder) {}), Options{}, Syntax, "unions are not read"},
		{"Feather of old", "FEA1\x00\x00\x00\x00FEA1", Options{Format: Arrow}, Unreadable, "version 2"},
		{"two columns of one name", twoColumns(t), Options{}, DuplicateName, ""},
	} {
		got, err := Read(strings.NewReader(c.text), c.opts)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != c.code || !strings.Contains(e.Reason, c.says) {
			t.Errorf("%s: %d rows, %v; want %s, %q", c.name, got.Len, err, c.code, c.says)
		}
	}
	// What begins like a file of these can be a table with headings.
	for _, text := range []string{"ARROW1,ARROW2\n1,2\n", "FEA1,FEA2\n1,2\n"} {
		if got, err := Read(strings.NewReader(text), Options{}); err != nil || got.Format != CSV {
			t.Errorf("%q: %s, %v", text, got.Format, err)
		}
	}
}

func twoColumns(t *testing.T) string {
	field := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{field, field}, nil))
	defer b.Release()
	return arrowBytes(t, true, []arrow.RecordBatch{b.NewRecordBatch()})
}

// TestNothingCounts: columns of nulls take no room in a file, and as much as others
// in memory.
func TestNothingCounts(t *testing.T) {
	const rows = 600_000
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.Null, Nullable: true}}, nil))
	defer b.Release()
	b.Field(0).AppendNulls(rows)
	for name, text := range map[string]string{
		"arrow": arrowBytes(t, true, []arrow.RecordBatch{b.NewRecordBatch()}),
		"parquet": parquetFile(t, schema.FieldList{schema.NewInt64Node("x", optional, -1)}, compress.Codecs.Uncompressed,
			[]leafData{{values: []int64{}, definitions: make([]int16, rows)}}),
	} {
		if len(text) > 4096 {
			t.Errorf("%s: the file has %d bytes", name, len(text))
		}
		if got, err := Read(strings.NewReader(text), Options{}); err != nil || got.Len != rows {
			t.Errorf("%s: %d rows, %v", name, got.Len, err)
		}
		ours := allocated(func() {
			_, err := Read(strings.NewReader(text), Options{MaxBytes: 1 << 20})
			if e, ok := errors.AsType[*Error](err); !ok || e.Code != TooLarge {
				t.Errorf("%s, with room for a megabyte: %v", name, err)
			}
		})
		if ours > 4<<20 {
			t.Errorf("%s: %d bytes before it was refused", name, ours)
		}
	}
}

// allocated is how many bytes f asks for, in all.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestArrowClaims: what a file says of itself costs nothing before it is there. The
// library that Go has makes room for what a schema claims, whatever its limits and
// allocator: that is the control, and why it is not the reader here.
func TestArrowClaims(t *testing.T) {
	const claim, most = 1 << 20, 4 << 20
	stream := []byte(twoFields(t))
	f := &flatbuffer{text: string(stream[8:])}
	at := 8 + f.root().table(2).vector(1, 4).at - 4
	if binary.LittleEndian.Uint32(stream[at:]) != 2 {
		t.Fatal("the list of two fields is elsewhere")
	}
	bad := bytes.Clone(stream)
	binary.LittleEndian.PutUint32(bad[at:], claim)
	control := allocated(func() {
		mem := &budget{left: most}
		if _, err := ipc.NewReader(bytes.NewReader(bad), ipc.WithAllocator(mem), ipc.WithMetadataSizeLimit(most), ipc.WithBodySizeLimit(most)); err == nil {
			t.Error("the library reads a list of fields that is not there")
		}
	})
	if control < 16*claim {
		t.Errorf("the control has %d bytes for %d fields: the library may do now", control, claim)
	}
	ours := allocated(func() {
		if _, err := Read(bytes.NewReader(bad), Options{}); err == nil {
			t.Error("a list of fields that is not there is read")
		}
	})
	if ours > most {
		t.Errorf("%d bytes for a list of fields that is not there", ours)
	}
	if _, err := Read(bytes.NewReader(stream), Options{}); err != nil {
		t.Errorf("the file that was not changed: %v", err)
	}
}

func twoFields(t testing.TB) string {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "b", Type: arrow.PrimitiveTypes.Int8},
	}, nil))
	defer b.Release()
	return arrowBytes(t, true, []arrow.RecordBatch{b.NewRecordBatch()})
}

// TestArrowPackedClaims: a buffer that claims to unpack to more than there can be
// in it gets no room.
func TestArrowPackedClaims(t *testing.T) {
	const most = 4 << 20
	for _, name := range []string{"many-lz4", "many-zstd"} {
		good := otherArrows(t)[name]
		if _, err := Read(strings.NewReader(good), Options{MaxBytes: 64 << 10}); err == nil {
			t.Errorf("%s: 80,000 bytes of text are read where 65,536 may be", name)
		}
		if _, err := Read(strings.NewReader(good), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		size := binary.LittleEndian.AppendUint64(nil, 2000*8) // of the column of numbers
		if strings.Count(good, string(size)) == 0 {
			t.Fatalf("%s: no buffer says that it has %d bytes", name, 2000*8)
		}
		for _, claim := range []uint64{2000*8 + 8, 100 << 20, 1 << 62, 1<<64 - 2} {
			bad := strings.ReplaceAll(good, string(size), string(binary.LittleEndian.AppendUint64(nil, claim)))
			ours := allocated(func() {
				if _, err := Read(strings.NewReader(bad), Options{}); err == nil {
					t.Errorf("%s: a claim of %d bytes is read", name, claim)
				}
			})
			if ours > most+leastWindow {
				t.Errorf("%s: %d bytes for a claim of %d", name, ours, claim)
			}
		}
	}
}

// flatWriter writes a FlatBuffers message from its root on, so that tables can
// refer to one another as no library lets them.
type flatWriter struct{ b []byte }

// table adds a table with fields of so many bytes; 0: it is not there. It gives where
// the table and its fields are.
func (w *flatWriter) table(sizes ...int) (at int, fields []int) {
	entries := len(w.b)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*len(sizes)))
	total := 4
	for _, n := range sizes {
		total += n
	}
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(total))
	at = entries + 4 + 2*len(sizes)
	offset := 4
	for _, n := range sizes {
		if n == 0 {
			w.b = append(w.b, 0, 0)
			fields = append(fields, 0)
			continue
		}
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(offset))
		fields = append(fields, at+offset)
		offset += n
	}
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(at-entries))
	w.b = append(w.b, make([]byte, total-4)...)
	return at, fields
}

func (w *flatWriter) refer(from, to int) {
	binary.LittleEndian.PutUint32(w.b[from:], uint32(to-from))
}

// vector adds a list of n elements.
func (w *flatWriter) vector(n, elemBytes int) (at int) {
	at = len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n))
	w.b = append(w.b, make([]byte, n*elemBytes)...)
	return at
}

// sharedSchema is a stream of a schema with one column that has two parts, both of
// which have the same two parts, and so on: two to the power of depth of them, in a
// few bytes for each level.
func sharedSchema(depth int) string {
	w := &flatWriter{make([]byte, 4)}
	root, message := w.table(2, 1, 4)
	w.refer(0, root)
	w.b[message[0]], w.b[message[1]] = 4, arrowSchemaMessage
	schema, parts := w.table(0, 4)
	w.refer(message[2], schema)
	list := w.vector(1, 4)
	w.refer(parts[1], list)
	names := []string{"x"}
	for level := range depth + 1 {
		var next []int // what refers to the list of the next level
		for i, name := range names {
			field, f := w.table(4, 0, 1, 4, 0, 4)
			w.refer(list+4+4*i, field)
			w.b[f[2]] = byte(arrowStruct)
			if level == depth {
				w.b[f[2]] = byte(arrowBool)
			}
			at := w.vector(1, 1)
			w.b[at+4] = name[0]
			w.refer(f[0], at)
			typ, _ := w.table()
			w.refer(f[3], typ)
			next = append(next, f[5])
		}
		names = []string{"a", "b"}
		if level == depth {
			names = nil
		}
		list = w.vector(len(names), 4)
		for _, at := range next {
			w.refer(at, list)
		}
	}
	text := arrowContinue + string(binary.LittleEndian.AppendUint32(nil, uint32(len(w.b)))) + string(w.b)
	return text + arrowContinue + "\x00\x00\x00\x00"
}

// arrowMessageOf is a message with a header that the function adds.
func arrowMessageOf(kind byte, body string, header func(w *flatWriter) int) string {
	w := &flatWriter{make([]byte, 4)}
	root, f := w.table(2, 1, 4, 8)
	w.refer(0, root)
	w.b[f[0]], w.b[f[1]] = 4, kind
	binary.LittleEndian.PutUint64(w.b[f[3]:], uint64(len(body)))
	w.refer(f[2], header(w))
	return arrowContinue + string(binary.LittleEndian.AppendUint32(nil, uint32(len(w.b)))) + string(w.b) + body
}

// viewsOf is a stream of a column of views without rows, which has buffers at these
// places, packed by zstd.
func viewsOf(body string, places [][2]int) string {
	schema := arrowMessageOf(arrowSchemaMessage, "", func(w *flatWriter) int {
		schema, parts := w.table(0, 4)
		list := w.vector(1, 4)
		w.refer(parts[1], list)
		field, f := w.table(4, 0, 1, 4)
		w.refer(list+4, field)
		w.b[f[2]] = byte(arrowTextView)
		name := w.vector(1, 1)
		w.b[name+4] = 'x'
		w.refer(f[0], name)
		typ, _ := w.table()
		w.refer(f[3], typ)
		return schema
	})
	batch := arrowMessageOf(arrowBatchMessage, body, func(w *flatWriter) int {
		batch, f := w.table(8, 4, 4, 4, 4)
		w.refer(f[1], w.vector(1, 16))
		list := w.vector(2+len(places), 16)
		w.refer(f[2], list)
		for i, place := range places {
			binary.LittleEndian.PutUint64(w.b[list+4+16*(2+i):], uint64(place[0]))
			binary.LittleEndian.PutUint64(w.b[list+12+16*(2+i):], uint64(place[1]))
		}
		packed, codec := w.table(1)
		w.b[codec[0]] = 1
		w.refer(f[3], packed)
		views := w.vector(1, 8)
		binary.LittleEndian.PutUint64(w.b[views+4:], uint64(len(places)))
		w.refer(f[4], views)
		return batch
	})
	return schema + batch + arrowContinue + "\x00\x00\x00\x00"
}

// TestArrowSharedBytes: bytes of a file belong to one buffer. A thousand that are the
// same megabyte of empty frames would be read a thousand times.
func TestArrowSharedBytes(t *testing.T) {
	const empty = "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
	packed := strings.Repeat("\x00", 8) + strings.Repeat(empty, 1000)
	for name, c := range map[string]struct {
		places [][2]int
		want   string // of the error
	}{
		"side by side":    {[][2]int{{0, len(packed)}, {len(packed), len(packed)}}, ""},
		"the same":        {[][2]int{{0, len(packed)}, {0, len(packed)}, {0, len(packed)}}, "in one another"},
		"outside":         {[][2]int{{len(packed), len(packed) + 1}}, "outside"},
		"one and nothing": {[][2]int{{0, len(packed)}, {0, 0}, {0, 0}}, ""},
	} {
		_, err := Read(strings.NewReader(viewsOf(packed+packed, c.places)), Options{})
		if why := errors.Unwrap(err); c.want == "" && err != nil || c.want != "" && (why == nil || !strings.Contains(why.Error(), c.want)) {
			t.Errorf("%s: %v (%v), want %q", name, err, why, c.want)
		}
	}
}

// TestArrowSharedFields: a schema of a kilobyte has no more fields than a table may
// have, however often it shows the same one.
func TestArrowSharedFields(t *testing.T) {
	for _, depth := range []int{0, 5} {
		if got, err := Read(strings.NewReader(sharedSchema(depth)), Options{}); err != nil || len(got.Table.Columns) != 1 {
			t.Fatalf("%d levels: %v, %v", depth, err, errors.Unwrap(err))
		}
	}
	for depth, want := range map[int]string{40: "more than", 70: "deeper than"} {
		text := sharedSchema(depth)
		ours := allocated(func() {
			_, err := Read(strings.NewReader(text), Options{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d levels: %v, want %q", depth, err, want)
			}
		})
		if most := int64(64 << 20); ours > most {
			t.Errorf("%d levels: %d bytes", depth, ours)
		}
	}
}

// TestArrowDamage: a file with any one byte changed is read or refused, and costs no
// more than it could have held.
func TestArrowDamage(t *testing.T) {
	files := otherArrows(t)
	files["go-zstd"], files["go-lz4"] = typedArrow(t, false, ipc.WithZstd()), typedArrow(t, true, ipc.WithLZ4())
	for name, good := range files {
		step := 1
		switch {
		case strings.HasPrefix(name, "many-"): // two thousand rows each time
			step = 97
		case testing.Short():
			step = 11
		}
		for at := 0; at < len(good); at += step {
			bad := []byte(good)
			bad[at] ^= byte(1 << (at % 8))
			got, err := Read(bytes.NewReader(bad), Options{Format: Arrow, MaxBytes: 1 << 20, MaxCells: 1 << 16})
			if err == nil && got.Len != len(got.Table.Rows) {
				t.Fatalf("%s, byte %d: %d rows, %d in the table", name, at, got.Len, len(got.Table.Rows))
			}
			if _, ok := errors.AsType[*Error](err); err != nil && !ok {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
		}
	}
}
