package globals

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// anyName stands for a language in which everything is a name.
func anyName(string) error { return nil }

func bigInt(tb testing.TB, text string) *big.Int {
	tb.Helper()
	v, ok := new(big.Int).SetString(text, 0)
	if !ok {
		tb.Fatalf("%q is not a number", text)
	}
	return v
}

func TestEncode(t *testing.T) {
	r := startReader(t)
	rows := func(n int) []any {
		var list []any
		for i := range n {
			list = append(list, map[string]any{"id": i, "name": fmt.Sprint("n", i%3), "ok": i%2 == 0})
		}
		return list
	}
	wide := map[string]any{}
	for i := range 3 * maxShapeKeys {
		wide[fmt.Sprintf("k%03d", i)] = i
	}
	deep := any(nil)
	for range 64 {
		deep = []any{deep}
	}
	tests := []struct {
		name  string
		value any
		want  any // nil: the value itself
	}{
		{name: "scalars", value: []any{nil, true, false}},
		{name: "ints", value: []any{0, 1, 127, 128, -1, -128, 255, 1 << 31, -1 << 31, math.MaxInt64, math.MinInt64}},
		{name: "int types", value: []any{int8(-3), int16(-3), int32(-3), int64(-3), uint(200), uint8(200), uint16(200), uint32(200), uint64(math.MaxUint64), uintptr(9)}},
		{name: "big ints", value: []any{
			bigInt(t, "0"), bigInt(t, "-1"), bigInt(t, "9223372036854775808"), bigInt(t, "-9223372036854775809"),
			bigInt(t, "0xff000000000000000000"), bigInt(t, "-0x800000000000000000"), bigInt(t, "0x7fffffffffffffffffff"),
			new(big.Int).Lsh(big.NewInt(1), 100_003), new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 8*20)),
		}},
		{name: "floats", value: []any{0.0, math.Copysign(0, -1), 0.1, math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}},
		{name: "strings", value: []any{"", "a", "é", "ascii", "grüße", "😀", "a\x00b", strings.Repeat("x", maxKept), strings.Repeat("x", maxKept+1), strings.Repeat("é", 300)}},
		{name: "repeated strings", value: []any{"north", "north", "süd", "süd", "n", "n", "north"}},
		{name: "strings of one slot", value: sameSlot()},
		{name: "bytes", value: []any{[]byte{}, []byte("raw\x00\xff")}},
		{name: "maps", value: rows(10)},
		{name: "keys that grow", value: []any{
			map[string]any{"a": 1}, map[string]any{"a": 1, "b": 2}, map[string]any{"a": 1}, map[string]any{"b": 1}, map[string]any{},
		}},
		{name: "a shape in itself", value: map[string]any{"a": map[string]any{"a": map[string]any{"a": 1}}}},
		{name: "many keys", value: []any{wide, wide}},
		{name: "odd keys", value: map[string]any{"": 1, "a b": 2, "__x__": 3, "é": 4, "class": 5}},
		{name: "table", value: &sandbox.Table{
			Columns: []string{"z", "a", "", "é"},
			Rows:    [][]any{{1, "x", nil, 2.5}, {2, "x", []any{1}, map[string]any{"z": 1}}},
		}},
		{name: "empty table", value: &sandbox.Table{Columns: []string{"a"}}},
		{name: "table without columns", value: &sandbox.Table{Rows: [][]any{{}, {}}}},
		{name: "table in a list", value: []any{&sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}}}}},
		{name: "deepest", value: deep},
		{name: "json scalars", value: sandbox.RawJSON(" [null, true, false, 0, -0, 1, -1, 127, 128, 1e2, 1.0, -0.0, 1E-2] "),
			want: []any{nil, true, false, 0, 0, 1, -1, 127, 128, 100.0, 1.0, math.Copysign(0, -1), 0.01}},
		{name: "json numbers", value: sandbox.RawJSON("[9007199254740993,9223372036854775807,-9223372036854775808,18446744073709551616,-123456789012345678901234567890,1e308,1e-400,5e-324,999999999999999999,-99999999999999999]"),
			want: []any{9007199254740993, math.MaxInt64, math.MinInt64, bigInt(t, "18446744073709551616"), bigInt(t, "-123456789012345678901234567890"), 1e308, 0.0, 5e-324, 999999999999999999, -99999999999999999}},
		{name: "json strings", value: sandbox.RawJSON(`["", "a", "\u00e9\"\\\/\b\n", "\ud83d\ude00", "é", "` + strings.Repeat("long ", 40) + `", "` + strings.Repeat(`\u0041`, 60) + `"]`),
			want: []any{"", "a", "é\"\\/\b\n", "😀", "é", strings.Repeat("long ", 40), strings.Repeat("A", 60)}},
		{name: "json objects", value: sandbox.RawJSON(`[{"b":1,"a":"x"},{"b":2,"a":"x"},{"a":3},{"\u0062":4,"a":{"b":5,"a":6}},{}]`),
			want: []any{
				ordered{[]string{"b", "a"}, []any{1, "x"}}, ordered{[]string{"b", "a"}, []any{2, "x"}}, ordered{[]string{"a"}, []any{3}},
				ordered{[]string{"b", "a"}, []any{4, ordered{[]string{"b", "a"}, []any{5, 6}}}}, ordered{},
			}},
		{name: "json after maps", value: []any{rows(2)[0], sandbox.RawJSON(`{"id":0,"name":"n0","ok":true}`)},
			want: []any{rows(2)[0], rows(2)[0]}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			globals := map[string]any{"x": test.value}
			data, err := Encode(globals, 64, anyName)
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			if want == nil {
				want = test.value
			}
			if diff := cmp.Diff(canonical(map[string]any{"x": want}), r.read(t, data)); diff != "" {
				t.Errorf("what was read differs from what was written (-want +got):\n%s", diff)
			}
			again, err := Encode(globals, 64, anyName)
			if err != nil || !bytes.Equal(data, again) {
				t.Errorf("the same globals gave other bytes, error %v", err)
			}
		})
	}
}

// sameSlot finds strings that push each other out of one slot.
func sameSlot() []any {
	first := "string-0"
	for i := 1; ; i++ {
		if other := fmt.Sprintf("string-%d", i); slotOf(other) == slotOf(first) {
			return []any{first, other, first, first, other}
		}
	}
}

func TestEncodeRefusals(t *testing.T) {
	nest := func(n int) any {
		v := any(1)
		for range n {
			v = []any{v}
		}
		return v
	}
	type other string
	tests := []struct {
		name   string
		value  any
		path   string
		reason string
	}{
		{"unknown type", []any{1, struct{}{}}, "/x/1", "Go type struct {}"},
		{"named string", other("s"), "/x", "Go type globals.other"},
		{"typed slice", []string{"a"}, "/x", "Go type []string"},
		{"float32", float32(1), "/x", "Go type float32"},
		{"table by value", sandbox.Table{}, "/x", "Go type sandbox.Table"},
		{"nil table", (*sandbox.Table)(nil), "/x", "nil *Table"},
		{"nil big", []any{(*big.Int)(nil)}, "/x/0", "nil *big.Int"},
		{"bad utf-8", map[string]any{"k": "a\xffsecret"}, "/x/k", "not valid UTF-8"},
		{"surrogate", "\xed\xa0\x80", "/x", "not valid UTF-8"},
		{"bad key", map[string]any{"\xff": 1}, "/x/\uFFFD", "not valid UTF-8"},
		{"path is escaped", map[string]any{"a/b~": []any{func() {}}}, "/x/a~1b~0/0", "Go type func()"},
		{"list too deep", nest(4), "/x/0/0/0", "nests deeper than 3 levels"},
		{"map too deep", map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{}}}}, "/x/a/b/c", "nests deeper"},
		{"table too deep", nest(2).([]any)[:0:0], "", ""},
		{"rows too deep", []any{[]any{&sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}}}}}, "/x/0/0", "nests deeper"},
		{"value of a row too deep", &sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {nest(2)}}}, "/x/1/a/0", "nests deeper"},
		{"short row", &sandbox.Table{Columns: []string{"a", "b"}, Rows: [][]any{{1, 2}, {1}}}, "/x/1", "1 values for 2 columns"},
		{"equal columns", &sandbox.Table{Columns: []string{"a", "a"}}, "/x", "two columns of the same name"},
		{"column not utf-8", &sandbox.Table{Columns: []string{"\xff"}}, "/x", "not valid UTF-8"},
		{"bad value in a row", &sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}, {"\xff"}}}, "/x/1/a", "not valid UTF-8"},

		{"json: empty", sandbox.RawJSON(""), "/x", "ends too early"},
		{"json: cut", sandbox.RawJSON(`{"a":[1,`), "/x/a", "ends too early"},
		{"json: trailing", sandbox.RawJSON(`1 2`), "/x", "more than one JSON value"},
		{"json: trailing junk", sandbox.RawJSON(`[] x`), "/x", "not valid JSON at byte 3"},
		{"json: same name", sandbox.RawJSON(`{"r":{"a":1,"b":2,"a":3}}`), "/x/r/a", "same name twice"},
		{"json: same name, escaped", sandbox.RawJSON(`{"a":1,"\u0061":3}`), "/x/a", "same name twice"},
		{"json: utf-8", sandbox.RawJSON("[\"\xff\"]"), "/x/0", "not valid JSON"},
		{"json: lone surrogate", sandbox.RawJSON(`["\ud800"]`), "/x/0", "not valid JSON"},
		{"json: too large a float", sandbox.RawJSON(`[1,{"f":1e400}]`), "/x/1/f", "too large for a float"},
		{"json: nan", sandbox.RawJSON(`[NaN]`), "/x/0", "not valid JSON"},
		{"json: comment", sandbox.RawJSON(`[1/**/]`), "/x/0", "not valid JSON"},
		{"json: too deep", sandbox.RawJSON(`{"a":[[[1]]]}`), "/x/a/0/0", "nests deeper than 3 levels"},
		{"json: object too deep", sandbox.RawJSON(`[[[{}]]]`), "/x/0/0/0", "nests deeper than 3 levels"},
		{"json: in a list", []any{nil, sandbox.RawJSON(`{"k":tru}`)}, "/x/1/k", "not valid JSON"},
		{"json: secret name twice", sandbox.RawJSON(`{"a":{"hunter2":1,"hunter2":2}}`), "/x/a/hunter2", "same name twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Encode(map[string]any{"x": test.value}, 3, anyName)
			if test.reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e, ok := err.(*sandbox.ArgumentError)
			if !ok {
				t.Fatalf("got %v, want an *ArgumentError", err)
			}
			if e.Path != test.path || !strings.Contains(e.Reason, test.reason) {
				t.Errorf("got %q %q, want %q …%q…", e.Path, e.Reason, test.path, test.reason)
			}
			if strings.Contains(e.Reason, "secret") || strings.Contains(e.Reason, "hunter2") {
				t.Errorf("the reason holds the value: %q", e.Reason)
			}
		})
	}
}

// A shape costs memory in the guest, so hostile input must not make many.
func TestShapesAreBounded(t *testing.T) {
	var list []any
	for i := range 2 * maxNodes {
		list = append(list, map[string]any{fmt.Sprintf("k%d", i): i})
	}
	e := encoder{maxDepth: 3}
	if err := e.value(list, 0); err != nil {
		t.Fatal(err)
	}
	if got := len(e.shapes.nodes); got > maxNodes {
		t.Errorf("%d nodes, want at most %d", got, maxNodes)
	}
	data, err := Encode(map[string]any{"x": list}, 3, anyName)
	if err != nil {
		t.Fatal(err)
	}
	if got := startReader(t).read(t, data); got != canonical(map[string]any{"x": list}) {
		t.Error("what was read differs from what was written")
	}
}
