package rows

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

var jsonSeeds = []string{
	`[]`, `[{}]`, `[1]`, `[{"a":1}]`, `[{"a":1,"b":"x"},{"a":2.5,"b":null}]`, `[{"a":1},{"b":1}]`, `[{"a":1,"a":2}]`,
	`[{"a":{"b":1}}]`, ` [ {"a" : true } ] `, `[{"a":1e400}]`, `[{"a":"\ud800"}]`, `[{"\u0061":"\n"},{"\u0061":"é"}]`,
	"{\"a\":1}\n{\"a\":2}\n", "{\"a\":\n1}", "\n\r\n{\"a\":-0.5e-7}\r\n", `[{"a":01}]`, `[{"a":-}]`, `[{"a":1.}]`, `[{"a":tru}]`,
	`[{"a":9007199254740993},{"a":123456789012345678901234567890}]`, "[{\"a\":\"x\x7f\u0085\"}]", `[{"a":1}]]`, "\ufeff[{\"a\":1}]",
}

func FuzzJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add(s)
	}
	f.Fuzz(checkJSON)
}

// checkJSON reads text as JSON and as JSON Lines and compares with what the
// JSON library alone makes of it.
func checkJSON(t *testing.T, text string) {
	for _, format := range []Format{JSON, JSONLines} {
		got, err := Read(strings.NewReader(text), Options{Format: format})
		plain := strings.TrimPrefix(text, "\ufeff")
		if format == JSONLines {
			var values []string
			for line := range strings.Lines(plain) {
				if line = strings.Trim(line, " \t\r\n"); line != "" {
					values = append(values, line)
				}
			}
			plain = "[" + strings.Join(values, ",") + "]"
		}
		elements, valid := referenceJSON(plain)
		if err != nil {
			if valid && format == JSON {
				t.Errorf("%q as %s: refused with %v, but the library takes it", text, format, err)
			}
			continue
		}
		if !valid {
			t.Errorf("%q as %s: taken, but the library refuses %q", text, format, plain)
			continue
		}
		if got.Len != len(elements) {
			t.Errorf("%q as %s: %d rows, want %d", text, format, got.Len, len(elements))
		}
		if got.Table == nil {
			again, ok := referenceJSON(string(got.JSON))
			if diff := cmp.Diff(elements, again); !ok || diff != "" {
				t.Errorf("%q as %s: text %q differs:\n%s", text, format, got.JSON, diff)
			}
			continue
		}
		for i, row := range got.Table.Rows {
			var members []string
			for j, v := range row {
				members = append(members, fmt.Sprintf("%q:%s", got.Table.Columns[j], render(v)))
			}
			if row := "{" + strings.Join(members, ",") + "}"; row != elements[i] {
				t.Errorf("%q as %s: row %d is %s, want %s", text, format, i, row, elements[i])
			}
		}
	}
}

// referenceJSON renders each element of an array, read by the library alone,
// and says whether the text is an array that rows should take.
func referenceJSON(text string) (elements []string, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, false
	}
	for dec.PeekKind() != ']' {
		e, ok := referenceValue(dec)
		if !ok {
			return nil, false
		}
		elements = append(elements, e)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	_, err := dec.ReadToken()
	return elements, err == io.EOF && !strings.ContainsRune(text, 0)
}

func referenceValue(dec *jsontext.Decoder) (string, bool) {
	tok, err := dec.ReadToken()
	if err != nil {
		return "", false
	}
	switch tok.Kind() {
	case '[', '{':
		open, end := tok.Kind(), jsontext.Kind(']')
		if open == '{' {
			end = '}'
		}
		var parts []string
		for dec.PeekKind() != end {
			part, ok := referenceValue(dec)
			if ok && open == '{' {
				var v string
				v, ok = referenceValue(dec)
				part += ":" + v
			}
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		_, err := dec.ReadToken()
		return string(byte(open)) + strings.Join(parts, ",") + string(byte(end)), err == nil
	case '"':
		return render(tok.String()), true
	case '0':
		text := tok.String()
		if strings.ContainsAny(text, ".eE") {
			n, err := strconv.ParseFloat(text, 64)
			return render(n), err == nil
		}
		n, _ := new(big.Int).SetString(text, 10)
		return render(n), len(strings.TrimPrefix(text, "-")) <= maxDigits
	case 't', 'f':
		return render(tok.Bool()), true
	}
	return render(nil), true
}

// render spells a value so that values of different kinds differ.
func render(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case float64:
		return fmt.Sprintf("float(%x)", math.Float64bits(v))
	}
	return fmt.Sprint(v)
}

var csvSeeds = []string{
	"", "a", "a,b\n1,2\n", "a,b\r\n1,2\r\n", "a\r1\r", "\ufeffa\n1", "a,b\n1\n", "a\n\"x\n", "a\n\"x\"\"y\"\n", "a\n\"x\"y\n", "a\nx\"y\n",
	",\n,\n", "a,\n1,\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "a,a\n", "\"\"\n\"\"\n", "c\n1\n-2\n\n9007199254740993\n", "c\n0.1\n1\n", "c\ntrue\nFALSE\n",
	"c\n007\n", "c\n0.30000000000000004\n9007199254740993\n", "c\n-0.0\n-0\n", "\n\na\n\n", "a\n\xff", "a\n\x00",
}

func FuzzSeparated(f *testing.F) {
	for _, s := range csvSeeds {
		f.Add(s)
	}
	f.Fuzz(checkSeparated)
}

// checkSeparated reads text as CSV and TSV: the strings must be those that
// the standard library reads, where the rules are the same, and no typed value
// may differ from its string.
func checkSeparated(t *testing.T, text string) {
	for _, format := range []Format{CSV, TSV} {
		plain, err := Read(strings.NewReader(text), Options{Format: format, Strings: true})
		typed, typedErr := Read(strings.NewReader(text), Options{Format: format})
		if fmt.Sprint(err) != fmt.Sprint(typedErr) {
			t.Fatalf("%q as %s: errors %v and %v", text, format, err, typedErr)
		}
		if format == CSV {
			compareWithStandardLibrary(t, text, plain, err)
		}
		if err != nil {
			continue
		}
		for i, row := range typed.Table.Rows {
			if len(row) != len(typed.Table.Columns) {
				t.Fatalf("%q as %s: row %d has %d cells", text, format, i, len(row))
			}
			for j, v := range row {
				if cell := plain.Table.Rows[i][j].(string); !sameValue(v, cell) {
					t.Errorf("%q as %s: cell %q became %#v", text, format, cell, v)
				}
			}
		}
	}
}

func compareWithStandardLibrary(t *testing.T, text string, got Rows, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.ContainsAny(text, "\r\x00") || strings.ToValidUTF8(text, "") != text {
		return // rules differ: line ends inside cells, and what text is
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = rune(csvSeparator(text))
	want, wantErr := r.ReadAll()
	if err == nil && wantErr != nil {
		t.Fatalf("%q: taken, but the standard library says %v", text, wantErr)
	}
	if err != nil {
		if e := err.(*Error); wantErr == nil && e.Code != DuplicateName && e.Code != Empty {
			t.Fatalf("%q: refused with %v, but the standard library takes it", text, err)
		}
		return
	}
	var cells [][]string
	for _, row := range got.Table.Rows {
		var record []string
		for _, v := range row {
			record = append(record, v.(string))
		}
		cells = append(cells, record)
	}
	want = want[1:]
	if len(want) == 0 {
		want = nil
	}
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Errorf("%q (-standard library +rows):\n%s", text, diff)
	}
}

// sameValue reports whether a typed value says what its cell says.
func sameValue(v any, cell string) bool {
	switch v := v.(type) {
	case nil:
		return cell == ""
	case bool:
		return strings.EqualFold(cell, strconv.FormatBool(v))
	case float64:
		digits := cell
		if strings.Contains(cell, ".") {
			digits = strings.TrimSuffix(strings.TrimRight(cell, "0"), ".")
		}
		return strconv.FormatFloat(v, 'f', -1, 64) == digits
	case string:
		return v == cell && cell != ""
	}
	return fmt.Sprint(v) == cell
}
