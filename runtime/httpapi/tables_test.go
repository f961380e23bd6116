package httpapi_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// parquetOf is a Parquet file with the columns region and amount.
func parquetOf(t *testing.T, regions []parquet.ByteArray, amounts []int64) string {
	t.Helper()
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("region", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)),
		schema.NewInt64Node("amount", parquet.Repetitions.Required, -1),
	}, -1)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := file.NewParquetWriterWithError(&out, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd))))
	if err != nil {
		t.Fatal(err)
	}
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	column := func() file.ColumnChunkWriter {
		c, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := column().(*file.ByteArrayColumnChunkWriter)
	if _, err = first.WriteBatch(regions, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := column().(*file.Int64ColumnChunkWriter)
	if _, err = second.WriteBatch(amounts, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, close := range []func() error{second.Close, group.Close, w.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func parquetOrders(t *testing.T) string {
	t.Helper()
	return parquetOf(t, []parquet.ByteArray{[]byte("north"), []byte("south")}, []int64{9007199254740993, 4})
}

// workbook is an Excel file with two sheets.
func workbook(t *testing.T) string {
	t.Helper()
	sheet := func(region, amount string) string {
		return `<worksheet><sheetData><row><c t="inlineStr"><is><t>region</t></is></c><c t="inlineStr"><is><t>amount</t></is></c></row>` +
			`<row><c t="inlineStr"><is><t>` + region + `</t></is></c><c><v>` + amount + `</v></c></row></sheetData></worksheet>`
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range map[string]string{
		"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` +
			`<sheet name="First" sheetId="1" r:id="a"/><sheet name="Second" sheetId="2" r:id="b"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/><Relationship Id="b" Target="worksheets/sheet2.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   sheet("west", "11"),
		"xl/worksheets/sheet2.xml":   sheet("east", "22"),
	} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// execTable is a request for code over a table with data.
func execTable(name, data, more string) string {
	return `{"code":"table","tables":{"rows":{"name":"` + name + `","data":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"` + more + `}}}`
}

// TestTables: a table over HTTP is read as the command line reads a file.
func TestTables(t *testing.T) {
	w := newWorld(t, nil)
	const orders = `"value":[["region","amount"],["north",9007199254740993],["south",4]]`
	const csv = "region;amount\nnorth;9007199254740993\nsouth;4\n"
	for name, tt := range map[string]struct{ body, want string }{
		"parquet":        {execTable("orders.parquet", parquetOrders(t), ""), orders},
		"by its content": {execTable("", parquetOrders(t), ""), orders},
		"excel":          {execTable("orders.xlsx", workbook(t), ""), `"value":[["region","amount"],["west",11]]`},
		"another sheet":  {execTable("orders.xlsx", workbook(t), `,"sheet":"Second"`), `"value":[["region","amount"],["east",22]]`},
		"gzip":           {execTable("orders.csv.gz", gzipped(t, csv), ""), orders},
		"by the ending":  {execTable("orders.tsv.gz", gzipped(t, strings.ReplaceAll(csv, ";", "\t")), ""), orders},
		"by the format":  {execTable("", strings.ReplaceAll(csv, ";", "\t"), `,"format":"tsv"`), orders},
	} {
		if got := w.must(200, "agent", "POST", "/v1/exec", tt.body); !strings.Contains(got.text, tt.want) {
			t.Errorf("%s: %s", name, got.text)
		}
	}
	for name, tt := range map[string]struct {
		status     int
		body, want string
	}{
		"no such sheet":   {422, execTable("orders.xlsx", workbook(t), `,"sheet":"Third"`), "orders.xlsx"},
		"damaged":         {422, execTable("a.parquet", "PAR1", ""), "/tables/rows/data"},
		"a bad ending":    {422, execTable("a.csv.gz", gzipped(t, csv)[:20], ""), "a.csv.gz"},
		"text and data":   {400, execTable("a", "x", `,"text":"x"`), "not both"},
		"a sheet of CSV":  {400, execTable("a.csv", "a\n1\n", `,"sheet":"First"`), "/tables/rows/sheet"},
		"a long name":     {400, execTable(strings.Repeat("a", 5000), "x", ""), "too long"},
		"no base64":       {400, `{"code":"1","tables":{"rows":{"data":"*"}}}`, "/tables/rows/data"},
		"a format of old": {400, execTable("a", "x", `,"format":"xls"`), "the format is one of"},
	} {
		if got := w.must(tt.status, "agent", "POST", "/v1/exec", tt.body); !strings.Contains(got.text, tt.want) {
			t.Errorf("%s: %s", name, got.text)
		}
	}
}

// TestTablesUnpack: a small body is no way to much memory. What it unpacks to is
// bounded, is counted beside other requests, and is given back.
func TestTablesUnpack(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.MaxBody, w.config.MaxMemory = 1<<20, 40<<20 })
	same := make([]parquet.ByteArray, 600_000)
	for i := range same {
		same[i] = []byte("x")
	}
	for name, data := range map[string]string{
		"gzip":            gzipped(t, "a,b\n"+strings.Repeat("1,2\n", 300_000)),
		"a Parquet table": parquetOf(t, same, make([]int64, len(same))),
		"a workbook":      "PK\x03\x04" + strings.Repeat("x", 100), // damaged: no place is kept for it either
	} {
		body := execTable("", data, "")
		if len(body) > 1<<18 {
			t.Fatalf("%s is not small: %d bytes", name, len(body))
		}
		for range 20 {
			if got := w.must(422, "agent", "POST", "/v1/exec", body); !strings.Contains(got.text, "bad_table") {
				t.Errorf("%s: %s", name, got.text)
			}
		}
	}
	// Two tables share what one may have.
	most := gzipped(t, "a\n"+strings.Repeat("100\n", 200_000))
	w.must(200, "agent", "POST", "/v1/exec", execTable("", most, ""))
	encoded := base64.StdEncoding.EncodeToString([]byte(most))
	w.must(422, "agent", "POST", "/v1/exec", `{"code":"table","tables":{"rows":{"data":"`+encoded+`"},"more":{"data":"`+encoded+`"}}}`)
	// While others take all the room, there is none.
	for w.server.Held() > 0 { // until the answered ones have left
		runtime.Gosched()
	}
	give, ok := w.server.Hold(28 << 20)
	if !ok {
		t.Fatal("there is no room for others")
	}
	if got := w.must(503, "agent", "POST", "/v1/exec", execTable("", most, "")); got.header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %s", got.text)
	}
	w.must(200, "agent", "POST", "/v1/exec", `{"code":"1"}`)
	give()
	w.must(200, "agent", "POST", "/v1/exec", execTable("", most, ""))
	w.stop()
	if held := w.server.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}
