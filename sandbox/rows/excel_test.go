package rows

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sheetSpace = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// book is a workbook with two sheets, whose parts a test may replace.
func book(t testing.TB, parts map[string]string) string {
	t.Helper()
	all := map[string]string{
		"xl/workbook.xml":            `<workbook` + sheetSpace + `><sheets><sheet name="First" sheetId="1" r:id="rId1"/><sheet name="Second" sheetId="2" r:id="rId2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       `<sst><si><t>name</t></si><si><r><t>tea </t></r><r><t>&amp; cake</t></r><rPh><t>kana</t></rPh></si><si><t>a_x000D_b</t></si></sst>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="0.00 &quot;days&quot;"/></numFmts>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/><xf numFmtId="166"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet><sheetData><row><c t="inlineStr"><is><t>only</t></is></c></row><row><c><v>1</v></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet` + sheetSpace + `><sheetData>` +
			`<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="str"><v>n</v></c><c r="D2" t="inlineStr"><is><t>when</t></is></c></row>` +
			`<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><f>1+2</f><v>3</v></c><c r="D3" s="1"><v>45351</v></c></row>` +
			`<row r="4"/>` +
			`<row r="5"><c r="A5" t="s"><v>2</v></c><c r="B5"><v>2.5</v></c><c r="C5" t="b"><v>1</v></c><c r="D5" s="2"><v>45351.520833333336</v></c></row>` +
			`<row r="6"><c r="A6" t="e"><v>#N/A</v></c><c r="B6"><v>9007199254740993</v></c><c r="D6" s="4"><v>0.75</v></c></row>` +
			`<row r="7"><c r="B7" s="5"><v>3</v></c><c r="D7" s="3"><v>1.5</v></c></row>` +
			`<row r="8"><c r="B8"><v>1E+20</v></c><c r="D8" s="1"><v>1</v></c></row>` +
			`</sheetData></worksheet>`,
	}
	maps.Copy(all, parts)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range all {
		if text == "" {
			continue
		}
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

func sheet(rows string) map[string]string {
	return map[string]string{"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`}
}

func TestExcel(t *testing.T) {
	want := table(names("name", "n", "column_3", "when"),
		[]any{"tea & cake", int64(3), nil, "2024-02-29"},
		[]any{"a\rb", 2.5, true, "2024-02-29T12:30:00"},
		[]any{"#N/A", int64(9007199254740993), nil, "18:00:00"},
		[]any{nil, int64(3), nil, 1.5},
		[]any{nil, 1e20, nil, "1900-01-01"},
	)
	got, err := Read(strings.NewReader(book(t, nil)), Options{})
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" || got.Format != Excel {
		t.Error(diff)
	}
	got, err = Read(strings.NewReader(book(t, nil)), Options{Sheet: "Second"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table(names("only"), []any{int64(1)}), got.Table, cmpRows); diff != "" {
		t.Error(diff)
	}
	old := book(t, map[string]string{"xl/workbook.xml": `<workbook` + sheetSpace + `><workbookPr date1904="1"/><sheets><sheet name="First" r:id="rId1"/></sheets></workbook>`})
	if got, err = Read(strings.NewReader(old), Options{}); err != nil || got.Table.Rows[0][3] != "2028-03-01" {
		t.Errorf("a workbook that counts from 1904: %v, %v", got.Table, err)
	}
}

func TestExcelRefusals(t *testing.T) {
	const head = `<row><c t="str"><v>a</v></c></row>`
	for _, c := range []struct {
		name, text string
		opts       Options
		code       Code
	}{
		{"not a zip archive", "PK\x03\x04 nothing", Options{}, Syntax},
		{"another zip archive", book(t, map[string]string{"xl/workbook.xml": ""}), Options{}, Syntax},
		{"a sheet that is not there", book(t, map[string]string{"xl/worksheets/sheet1.xml": ""}), Options{}, Syntax},
		{"a name that no sheet has", book(t, nil), Options{Sheet: "x"}, Unreadable},
		{"no rows", book(t, sheet("")), Options{}, Empty},
		{"XML that ends", book(t, map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData><row><c>"}), Options{}, Syntax},
		{"an entity", book(t, map[string]string{"xl/worksheets/sheet1.xml": `<!DOCTYPE x [<!ENTITY e "x">]><worksheet><sheetData>` + head + `<row><c t="str"><v>&e;</v></c></row></sheetData></worksheet>`}), Options{}, Syntax},
		{"a text that is not there", book(t, sheet(head+`<row><c t="s"><v>9</v></c></row>`)), Options{}, Syntax},
		{"a column beyond all", book(t, sheet(`<row><c r="XFE1"><v>1</v></c></row>`)), Options{}, Syntax},
		{"no number", book(t, sheet(head+`<row><c><v>x</v></c></row>`)), Options{}, Syntax},
		{"a cell beside the table", book(t, sheet(head+`<row><c><v>1</v></c><c><v>2</v></c></row>`)), Options{}, Ragged},
		{"two columns of one name", book(t, sheet(`<row><c t="str"><v>a</v></c><c t="str"><v>a</v></c></row>`)), Options{}, DuplicateName},
		{"a date that never was", book(t, sheet(head+`<row><c s="1"><v>60</v></c></row>`)), Options{}, Syntax},
		{"too many values", book(t, nil), Options{MaxCells: 3}, TooLarge},
		{"a bomb", book(t, sheet(head+strings.Repeat(`<row><c><v>1</v></c></row>`, 400_000))), Options{MaxBytes: 1 << 20}, TooLarge},
	} {
		got, err := Read(strings.NewReader(c.text), c.opts)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != c.code {
			t.Errorf("%s: %d rows, %v; want %s", c.name, got.Len, err, c.code)
		}
	}
}

// TestExcelHoldsLittle wants a document that is nothing in the archive to be little in
// memory too, whatever it repeats.
func TestExcelHoldsLittle(t *testing.T) {
	const (
		head = `<row><c t="str"><v>a</v></c></row>`
		size = 4 << 20
	)
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, c := range []struct {
		name string
		file map[string]string
		code Code // empty: it is read
	}{
		{"elements in elements", map[string]string{"xl/worksheets/sheet1.xml": repeat("<a>")}, Syntax},
		{"elements in a text", map[string]string{"xl/sharedStrings.xml": "<sst><si>" + repeat("<a>")}, Syntax},
		{"elements in the workbook", map[string]string{"xl/workbook.xml": "<workbook>" + repeat("<a>")}, Syntax},
		{"a long tag", sheet(head + "<row " + repeat(`a=""`) + "/>"), TooLarge},
		{"many attributes", sheet(head + "<row " + strings.Repeat(`a="" `, maxAttributes+1) + "/>"), Syntax},
		{"empty cells far to the right", sheet(head + strings.Repeat(`<row><c r="XFD1"/></row>`, 2000)), ""},
	} {
		text := book(t, c.file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := Read(strings.NewReader(text), Options{})
		runtime.ReadMemStats(&after)
		if c.code == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if e, ok := errors.AsType[*Error](err); c.code != "" && (!ok || e.Code != c.code) {
			t.Errorf("%s: %d rows, %v; want %s", c.name, got.Len, err, c.code)
		}
		const most = 64 << 20 // one unpacked document, and what its reader makes of it
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d MiB for %d bytes", c.name, n>>20, len(text))
		}
	}
	styles := book(t, map[string]string{"xl/styles.xml": "<styleSheet><cellXfs>" + strings.Repeat("<xf/>", maxElements) + "</cellXfs></styleSheet>"})
	if _, err := Read(strings.NewReader(styles), Options{}); err == nil {
		t.Error("a document of any number of elements was read as a whole")
	}
	// What holds no more than others do.
	rows := sheet(head + `<row><c r="XFD1"/><c r="A1"><v>1</v></c><c r="C1"/></row><row><c r="A1"><v>2</v></c><c r="XFD1"/></row>`)
	got, err := Read(strings.NewReader(book(t, rows)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table(names("a"), []any{int64(1)}, []any{int64(2)}), got.Table, cmpRows); diff != "" {
		t.Error(diff)
	}
}

func TestExcelFormats(t *testing.T) {
	for code, want := range map[string]dateStyle{
		"General": isNumber, "0.00": isNumber, "#,##0;[Red]-#,##0": isNumber, `0 "days"`: isNumber, `0\d`: isNumber, "[h]:mm:ss": isNumber,
		"yyyy-mm-dd": isDate, "d/m/yy": isDate, "mmm": isDate, "[$-409]d mmmm yyyy": isDate, "h:mm AM/PM": isClock, "hh:mm:ss.000": isClock,
		"dd.mm.yyyy hh:mm": isMoment, "0.0E+00": isNumber, "[Red]0": isNumber,
	} {
		if got := styleOf(code); got != want {
			t.Errorf("styleOf(%q) = %d, want %d", code, got, want)
		}
	}
}
