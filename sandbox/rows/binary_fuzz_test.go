package rows

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// checkBinary reads anything as a binary format: it is a table whose rows are as
// long as its columns, or an error of this package.
func checkBinary(t *testing.T, format Format, text string) {
	got, err := Read(strings.NewReader(text), Options{Format: format, MaxBytes: 4 << 20, MaxCells: 1 << 18})
	if err != nil {
		if _, ok := err.(*Error); !ok {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	if got.Table == nil || got.Len != len(got.Table.Rows) {
		t.Fatalf("%d rows, table %v", got.Len, got.Table)
	}
	for _, row := range got.Table.Rows {
		if len(row) != len(got.Table.Columns) {
			t.Fatalf("a row of %d cells, %d columns", len(row), len(got.Table.Columns))
		}
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(parquetFile(f, typedFields, compress.Codecs.Snappy, typedData()))
	f.Add(parquetFile(f, typedFields, compress.Codecs.Uncompressed, typedData()))
	f.Fuzz(func(t *testing.T, text string) { checkBinary(t, Parquet, text) })
}

func FuzzExcelSheet(f *testing.F) {
	f.Add(`<row><c t="str"><v>a</v></c></row><row><c><v>1</v></c></row>`)
	f.Add(`<row><c r="B1" t="inlineStr"><is><t>a_x000D_</t></is></c></row><row><c r="B2" s="1"><v>45351.5</v></c></row>`)
	f.Fuzz(func(t *testing.T, rows string) { checkBinary(t, Excel, book(t, sheet(rows))) })
}

func FuzzArrow(f *testing.F) {
	for _, text := range otherArrows(f) {
		f.Add(text)
	}
	f.Add(typedArrow(f, false, ipc.WithZstd()))
	f.Add(typedArrow(f, true, ipc.WithLZ4()))
	f.Add(sharedSchema(3))
	f.Fuzz(func(t *testing.T, text string) { checkBinary(t, Arrow, text) })
}
