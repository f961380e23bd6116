package rows

import (
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// table is shorthand for rows of a table.
func table(columns []string, rows ...[]any) *sandbox.Table {
	return &sandbox.Table{Columns: columns, Rows: rows}
}

func names(n ...string) []string { return n }

func big10(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic("not an integer: " + text)
	}
	return n
}

var cmpRows = cmp.Options{
	cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
	// No rows are no rows, however they are spelled.
	cmp.Transformer("rows", func(r [][]any) []any {
		out := []any{}
		for _, row := range r {
			out = append(out, row)
		}
		return out
	}),
}

func TestTables(t *testing.T) {
	tests := []struct {
		name  string
		input string
		opts  Options
		want  *sandbox.Table
	}{
		{"csv", "a,b\n1,x\n2,y\n", Options{Format: CSV},
			table(names("a", "b"), []any{int64(1), "x"}, []any{int64(2), "y"})},
		{"csv without a last line end", "a,b\n1,x", Options{Format: CSV},
			table(names("a", "b"), []any{int64(1), "x"})},
		{"csv last cell empty at the end of the text", "a,b\n1,", Options{Format: CSV},
			table(names("a", "b"), []any{int64(1), nil})},
		{"csv CRLF", "a,b\r\n1,x\r\n", Options{Format: CSV},
			table(names("a", "b"), []any{int64(1), "x"})},
		{"csv CR", "a,b\r1,x\r2,y", Options{Format: CSV},
			table(names("a", "b"), []any{int64(1), "x"}, []any{int64(2), "y"})},
		{"csv byte order mark", "\ufeffa\n1\n", Options{Format: CSV},
			table(names("a"), []any{int64(1)})},
		{"csv byte order mark before a quoted name", "\ufeff\"a\"\n1\n", Options{Format: CSV},
			table(names("a"), []any{int64(1)})},
		{"csv quoted line ends, separators, quotes", "a,b\n\"1\r\n2,\"\"3\"\"\",\"\"\"\"\n", Options{Format: CSV},
			table(names("a", "b"), []any{"1\r\n2,\"3\"", `"`})},
		{"csv blank lines are skipped", "\n\na\n\n1\n\r\n\n2\n\n", Options{Format: CSV},
			table(names("a"), []any{int64(1)}, []any{int64(2)})},
		{"csv a quoted empty cell is a row", "a\n\"\"\n2\n", Options{Format: CSV},
			table(names("a"), []any{nil}, []any{int64(2)})},
		{"csv header only", "a,b\n", Options{Format: CSV}, table(names("a", "b"))},
		{"csv names that are missing", ",b,\n1,2,3\n", Options{Format: CSV},
			table(names("column_1", "b", "column_3"), []any{int64(1), int64(2), int64(3)})},
		{"csv names are kept as they are", " a ,A\n1,2\n", Options{Format: CSV},
			table(names(" a ", "A"), []any{int64(1), int64(2)})},
		{"csv semicolons", "a;b\n1,5;x\n", Options{Format: CSV},
			table(names("a", "b"), []any{"1,5", "x"})},
		{"csv semicolons beside commas are text", "a;b,c\nx;y,2\n", Options{Format: CSV},
			table(names("a;b", "c"), []any{"x;y", int64(2)})},
		{"tsv", "a\tb\n1\tx,y\n", Options{Format: TSV},
			table(names("a", "b"), []any{int64(1), "x,y"})},
		{"tsv bare quotes are text", "a\tb\n5\" disk\tx\"\n", Options{Format: TSV},
			table(names("a", "b"), []any{`5" disk`, `x"`})},
		{"tsv quoted tab", "a\tb\n\"x\ty\"\t1\n", Options{Format: TSV},
			table(names("a", "b"), []any{"x\ty", int64(1)})},

		{"strings", "a,b\n1,\ntrue,2.5\n", Options{Format: CSV, Strings: true},
			table(names("a", "b"), []any{"1", ""}, []any{"true", "2.5"})},

		{"json", `[{"a":1,"b":"x"},{"a":2.5,"b":null}]`, Options{Format: JSON},
			table(names("a", "b"), []any{int64(1), "x"}, []any{2.5, nil})},
		{"json white space and escapes", " [ {\"\\u0061\" : \"\\n\\ud83d\\ude00\"} ,\r\n{\"\\u0061\":true}\t] \n", Options{Format: JSON},
			table(names("a"), []any{"\n😀"}, []any{true})},
		{"json integers are exact", `[{"a":9007199254740993},{"a":-9223372036854775808},{"a":123456789012345678901234567890},{"a":-0}]`, Options{Format: JSON},
			table(names("a"), []any{int64(9007199254740993)}, []any{int64(-9223372036854775808)}, []any{big10("123456789012345678901234567890")}, []any{int64(0)})},
		{"json floats", `[{"a":1e2},{"a":-0.0},{"a":1E-400},{"a":0.1}]`, Options{Format: JSON},
			table(names("a"), []any{100.0}, []any{math.Copysign(0, -1)}, []any{0.0}, []any{0.1})},
		{"json lines", "{\"a\":1}\n\n{\"a\":2}\r\n", Options{Format: JSONLines},
			table(names("a"), []any{int64(1)}, []any{int64(2)})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.input), tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			want := Rows{Format: tt.opts.Format, Len: len(tt.want.Rows), Table: tt.want}
			if diff := cmp.Diff(want, got, cmpRows); diff != "" {
				t.Errorf("Read(%q) (-want +got):\n%s", tt.input, diff)
			}
		})
	}
}

func TestJSONThatIsNoTable(t *testing.T) {
	tests := []struct {
		name   string
		format Format
		input  string
		want   string
		len    int
	}{
		{"no rows", JSON, `[]`, `[]`, 0},
		{"plain values", JSON, `[1, "x", null]`, `[1, "x", null]`, 3},
		{"arrays", JSON, "[[1,2],\n[3]]", "[[1,2],\n[3]]", 2},
		{"other names", JSON, `[{"a":1},{"b":1}]`, `[{"a":1},{"b":1}]`, 2},
		{"other order", JSON, `[{"a":1,"b":2},{"b":2,"a":1}]`, `[{"a":1,"b":2},{"b":2,"a":1}]`, 2},
		{"a name missing", JSON, `[{"a":1,"b":2},{"a":1}]`, `[{"a":1,"b":2},{"a":1}]`, 2},
		{"a name more", JSON, `[{"a":1},{"a":1,"b":2}]`, `[{"a":1},{"a":1,"b":2}]`, 2},
		{"nested", JSON, `[{"a":{"z":1,"b":[true]}}]`, `[{"a":{"z":1,"b":[true]}}]`, 1},
		{"no names", JSON, `[{},{}]`, `[{},{}]`, 2},
		{"lines of nothing", JSONLines, "\n \r\n", `[]`, 0},
		{"lines of anything", JSONLines, "{\"a\":1}\r\n\n [1]\n\"x\"", `[{"a":1}, [1],"x"]`, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.input), Options{Format: tt.format})
			if err != nil {
				t.Fatal(err)
			}
			want := Rows{Format: tt.format, Len: tt.len, JSON: sandbox.RawJSON(tt.want)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Read(%q) (-want +got):\n%s", tt.input, diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	long := strings.Repeat("7", maxDigits+1)
	tests := []struct {
		name  string
		input string
		opts  Options
		code  Code
		want  string
	}{
		{"csv empty", "", Options{Format: CSV}, Empty, `in.x: is empty; the first line must name the columns`},
		{"csv only line ends", "\r\n\n", Options{Format: CSV}, Empty, `in.x: is empty; the first line must name the columns`},
		{"csv too few cells", "a,b\n1,2\n3\n", Options{Format: CSV}, Ragged, `in.x:3:1: 1 cell, but the header names 2 columns`},
		{"csv too many cells", "a\n\n1\n\"x\ny\",2,3\n", Options{Format: CSV}, Ragged, `in.x:4:1: 3 cells, but the header names 1 column`},
		{"csv two names alike", "é,b,é\n", Options{Format: CSV}, DuplicateName, `in.x:1:5: column 3 has the same name as column 1`},
		{"csv a made name is taken", "column_2,\n", Options{Format: CSV}, DuplicateName, `in.x:1:10: column 2 has the same name as column 1`},
		{"csv open quote", "a\n1\n\"x\n", Options{Format: CSV}, Syntax, `in.x:3:1: a quoted cell that never ends`},
		{"csv text after a quote", "a\r\n\"x\" \r\n", Options{Format: CSV}, Syntax, `in.x:2:4: text after the closing quote of a cell`},
		{"csv bare quote", "a\n5\" disk\n", Options{Format: CSV}, Syntax, `in.x:2:2: a quote inside a cell that is not quoted; quote the whole cell and write "" for a quote`},
		{"csv line numbers with CR", "a\r1\r2,3\r", Options{Format: CSV}, Ragged, `in.x:3:1: 2 cells, but the header names 1 column`},
		{"tsv too few cells", "a\tb\n1\n", Options{Format: TSV}, Ragged, `in.x:2:1: 1 cell, but the header names 2 columns`},
		{"invalid UTF-8", "a\né\xff\n", Options{Format: CSV}, Encoding, `in.x:2:2: invalid UTF-8; convert the text to UTF-8 first`},
		{"a real U+FFFD is fine, the half one is not", "a\n\ufffd\xef\xbf\n", Options{Format: CSV}, Encoding, `in.x:2:2: invalid UTF-8; convert the text to UTF-8 first`},
		{"NUL", "a\n1\x00\n", Options{Format: CSV}, Encoding, `in.x:2:2: a NUL byte; this is not text`},
		{"UTF-16", "\xff\xfea\x00", Options{Format: CSV}, Encoding, `in.x: is UTF-16 text; convert it to UTF-8 first`},
		{"gzip", "\x1f\x8b\x08", Options{}, Syntax, `in.x: is gzip data that ends too early`},
		{"too many cells", "a,b\n1,2\n3,4\n", Options{Format: CSV, MaxCells: 3}, TooLarge, `in.x: has more than 3 values`},
		{"too many columns", strings.Repeat(",", MaxColumns), Options{Format: CSV}, TooLarge, `in.x: has more than 16384 columns`},
		{"too large", "a\n1\n", Options{Format: CSV, MaxBytes: 3}, TooLarge, `in.x: has too many bytes; the limit is 3 bytes`},
		{"unknown format", "a", Options{Format: "xml"}, Unreadable, `in.x: unknown format "xml"; known are json, jsonl, csv, tsv, parquet, xlsx, arrow`},

		{"parquet empty", "", Options{Format: Parquet}, Empty, `in.x: is empty, and Parquet is not`},
		{"excel empty", "", Options{Format: Excel}, Empty, `in.x: is empty, and an Excel workbook (.xlsx) is not`},
		{"arrow empty", "", Options{Format: Arrow}, Empty, `in.x: is empty, and Arrow IPC is not`},
		{"json empty", " \n", Options{Format: JSON}, Empty, `in.x: is empty; JSON rows are an array`},
		{"json object", "\n {\"a\":1}", Options{Format: JSON}, Syntax, `in.x:2:2: JSON rows are one array, this is an object; for one value per line the format is jsonl`},
		{"json name twice", "[{\"a\":1},\n{\"b\":1, \"b\":2}]", Options{Format: JSON}, DuplicateName, `in.x:2:9: an object has this name twice`},
		{"json name twice, escaped", `[{"a":1,"\u0061":2}]`, Options{Format: JSON}, DuplicateName, `in.x:1:9: an object has this name twice`},
		{"json name twice, nested", `[[{"a":1,"a":2}]]`, Options{Format: JSON}, DuplicateName, `in.x:1:10: an object has this name twice`},
		{"json cut", `[{"a":1},`, Options{Format: JSON}, Syntax, `in.x:1:10: the text ends inside a value`},
		{"json text after", "[]\n[]", Options{Format: JSON}, Syntax, `in.x:2:1: text after the end of the array`},
		{"json float too large", `[{"a":1e400}]`, Options{Format: JSON}, Number, `in.x:1:7: a number that is too large for a float; write it as a string`},
		{"json float too large, nested", `[[1, -1e400]]`, Options{Format: JSON}, Number, `in.x:1:6: a number that is too large for a float; write it as a string`},
		{"json integer too long", "[{\"a\":\n" + long + "}]", Options{Format: JSON}, Number, `in.x:2:1: an integer of more than 4300 digits; write it as a string`},
		{"json lone surrogate", `[{"a":"\ud800"}]`, Options{Format: JSON}, Syntax, `in.x:1:8: not JSON: an escape that is none, or half of a surrogate pair`},
		{"json escape", `[{"a":"x\q"}]`, Options{Format: JSON}, Syntax, `in.x:1:9: not JSON: an escape that is none, or half of a surrogate pair`},
		{"json raw line end in a string", "[{\"a\":\"x\ny\"}]", Options{Format: JSON}, Syntax, `in.x:1:9: not JSON: unexpected '\n'`},
		{"json open string", `[{"a":"x`, Options{Format: JSON}, Syntax, `in.x:1:9: the text ends inside a value`},
		{"json NaN", `[NaN]`, Options{Format: JSON}, Syntax, `in.x:1:2: not JSON: unexpected 'N'`},
		{"json comma at the end", `[1,]`, Options{Format: JSON}, Syntax, `in.x:1:3: not JSON: unexpected ','`},
		{"json leading zero", `[{"a":01}]`, Options{Format: JSON}, Syntax, `in.x:1:8: not JSON: unexpected '1'`},
		{"json too many values", `[1,2,3]`, Options{Format: JSON, MaxCells: 3}, TooLarge, `in.x: has more than 3 values`},
		{"json too many cells", `[{"a":1},{"a":2},{"a":3}]`, Options{Format: JSON, MaxCells: 2}, TooLarge, `in.x: has more than 2 values`},
		{"json deep", strings.Repeat("[", 20_000), Options{Format: JSON}, Syntax, `in.x:1:10001: nested more than 10000 deep`},

		{"lines cut", "{\"a\":1}\n{\"a\":\n1}\n", Options{Format: JSONLines}, Syntax, `in.x:2:6: the line ends inside a value; JSON Lines has one whole value per line`},
		{"lines two values", "{\"a\":1}\n{\"a\":2} {\"a\":3}\n", Options{Format: JSONLines}, Syntax, `in.x:2:9: text after the end of the value of this line`},
		{"lines with commas", "{\"a\":1},\n", Options{Format: JSONLines}, Syntax, `in.x:1:8: text after the end of the value of this line`},
		{"lines name twice", "[]\n{\"a\":1,\"a\":1}", Options{Format: JSONLines}, DuplicateName, `in.x:2:8: an object has this name twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Name = "in.x"
			got, err := Read(strings.NewReader(tt.input), tt.opts)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("Read = %+v, %v; want an *Error", got, err)
			}
			if e.Code != tt.code {
				t.Errorf("code %q, want %q", e.Code, tt.code)
			}
			if diff := cmp.Diff(tt.want, e.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	tests := []struct {
		name, input string
		want        Format
	}{
		{"x.json", "a,b", JSON},
		{"X.JSON", "a,b", JSON},
		{"x.jsonl", "[1]", JSONLines},
		{"x.ndjson", "[1]", JSONLines},
		{"x.csv", "a\tb", CSV},
		{"x.tsv", "a,b", TSV},
		{"x.tab", "a,b", TSV},
		{"x.txt", " \n[1]", JSON},
		{"-", "\n{\"a\":1}", JSONLines},
		{"-", "a\tb,c\n", TSV},
		{"-", "a,b\nc\td", CSV},
		{"-", "\n\na\tb", TSV},
		{"-", "", CSV},
		{"-", "word", CSV},
	}
	for _, tt := range tests {
		if got := formatOf(tt.name, tt.input); got != tt.want {
			t.Errorf("formatOf(%q, %q) = %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.csv")
	if err := os.WriteFile(path, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Rows{Format: CSV, Len: 1, Table: table(names("a"), []any{int64(1)})}
	if diff := cmp.Diff(want, got, cmpRows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	_, err = ReadFile(dir, Options{Name: "d"})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != Unreadable || e.Reason != "is a directory; give a file" {
		t.Errorf("directory: %v", err)
	}
	_, err = ReadFile(filepath.Join(dir, "none"), Options{Name: "n"})
	if !errors.Is(err, os.ErrNotExist) || err.Error() != "n: cannot be read: no such file or directory" {
		t.Errorf("missing file: %v", err)
	}
}

// A file over the limit is refused by its size, a stream after one byte over.
func TestTooLargeIsNotReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	_, err := ReadFile(path, Options{Name: "sparse.csv"})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != TooLarge {
		t.Errorf("sparse file: %v", err)
	}

	endless := &endlessReader{}
	_, err = Read(endless, Options{MaxBytes: 1000})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != TooLarge {
		t.Errorf("endless stream: %v", err)
	}
	if endless.n > 1001 {
		t.Errorf("read %d bytes of an endless stream, the limit is 1000", endless.n)
	}
}

type endlessReader struct{ n int }

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	r.n += len(p)
	return len(p), nil
}

func TestReadErrorIsKept(t *testing.T) {
	_, err := Read(io.MultiReader(strings.NewReader("a\n"), failingReader{}), Options{})
	if !errors.Is(err, errDisk) {
		t.Errorf("error %v does not wrap the reader's", err)
	}
}

var errDisk = errors.New("disk on fire")

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errDisk }

// The reader's own "unexpected EOF" is a failure, not the end of the rows.
func TestCutStreamIsRefused(t *testing.T) {
	_, err := Read(io.MultiReader(strings.NewReader("a\n1\n"), cutReader{}), Options{})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v does not wrap the reader's", err)
	}
}

type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestSlowStream(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 200_000)
	got, err := Read(iotest.OneByteReader(strings.NewReader(text)), Options{})
	if err != nil || got.Len != 200_000 {
		t.Errorf("%d rows, %v", got.Len, err)
	}
}

func TestReadValue(t *testing.T) {
	for _, text := range []string{`1`, ` "x" `, `null`, `{"a":[1,{}]}`, "\ufeff[]", `9007199254740993`} {
		got, err := ReadValue(strings.NewReader(text), Options{})
		if want := strings.TrimPrefix(text, "\ufeff"); err != nil || string(got) != want {
			t.Errorf("ReadValue(%q) = %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		``:                `v:1:1: the text ends inside a value`,
		`word`:            `v:1:1: not JSON: unexpected 'w'`,
		`{"a":1}` + "\n1": `v:2:1: text after the end of the value`,
		`{"a":1,"a":1}`:   `v:1:8: an object has this name twice`,
		`1e999`:           `v:1:1: a number that is too large for a float; write it as a string`,
		"\xff":            `v:1:1: invalid UTF-8; convert the text to UTF-8 first`,
		`"0123456789"`:    `v: has too many bytes; the limit is 10 bytes`,
	} {
		opts := Options{Name: "v", MaxBytes: 100}
		if strings.HasPrefix(text, `"0`) {
			opts.MaxBytes = 10
		}
		got, err := ReadValue(strings.NewReader(text), opts)
		if err == nil || err.Error() != want {
			t.Errorf("ReadValue(%q) = %q, %v; want %s", text, got, err, want)
		}
	}
}
