package canonjson

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	huge, _ := new(big.Int).SetString("-9223372036854775809", 10)
	tests := []struct {
		name, text string
		want       any
	}{
		{"an integer stays an integer", `9007199254740993`, int64(9007199254740993)},
		{"an integer past 64 bits", `-9223372036854775809`, huge},
		{"a float stays a float", `1.0`, float64(1)},
		{"containers are never nil", `{"a":[],"b":{}}`, map[string]any{"a": []any{}, "b": map[string]any{}}},
		{"null is a value", `{"a":null}`, map[string]any{"a": nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, text string
		limits     Limits
		want       Error
	}{
		{"number, with its place", `{"a":[1, 1e999]}`, Limits{}, Error{Number, "/a/1", 9, "a number too large for a 64-bit float"}},
		{"duplicate, at the second name", `{"a":1, "a":2}`, Limits{}, Error{DuplicateName, "/a", 8, "an object has this name twice"}},
		{"surrogate, at its escape", `["ok", "x\ud800y"]`, Limits{}, Error{Encoding, "/1", 9, "half of a surrogate pair"}},
		{"trailing text, at its first byte", `1  2`, Limits{}, Error{Syntax, "", 3, "text after the end of the value"}},
		{"depth, at the bracket that is too many", `[[[1]]]`, Limits{MaxDepth: 2}, Error{TooDeep, "/0/0", 3, "nested more than 2 deep"}},
		{"size, before anything is read", `"123"`, Limits{MaxBytes: 4}, Error{TooLarge, "", 4, "more than 4 bytes of JSON"}},
		{"nesting beyond what the library takes", strings.Repeat("[", 20_000), Limits{MaxDepth: 50_000}, Error{TooDeep, strings.Repeat("/0", 10_000), 10_000, "nested more than 10000 deep"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text), tt.limits)
			got, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, want an *Error", err)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestErrorsHoldNoValue plants a word in every place a value can stand.
func TestErrorsHoldNoValue(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		`"hunter2`, `["hunter2\x"]`, `"hunter2" "hunter2"`, `{"a":"hunter2","a":"hunter2"}`, `["hunter2",1e999]`, `hunter2`,
		`["hunter2\ud800"]`, "\"hunter2\xff\"", `{"a":hunter2}`,
	} {
		_, err := Parse([]byte(text), Limits{})
		if err == nil {
			t.Errorf("%q: accepted", text)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%q: the error holds the value: %v", text, err)
		}
	}
}

func TestAppendErrors(t *testing.T) {
	deep := map[string]any{"a~/b": []any{int64(0), math.NaN()}}
	tests := []struct {
		name string
		tree any
		want Error
	}{
		{"NaN, with its place", deep, Error{Number, "/a~0~1b/1", -1, "NaN and the infinities are not JSON"}},
		{"infinity", math.Inf(-1), Error{Number, "", -1, "NaN and the infinities are not JSON"}},
		{"a string that is not UTF-8", []any{"\xff"}, Error{Encoding, "/0", -1, "a string that is not UTF-8"}},
		{"a surrogate in a Go string", "\xed\xa0\x80", Error{Encoding, "", -1, "a string that is not UTF-8"}},
		{"a name that is not UTF-8", map[string]any{"\xff": nil}, Error{Encoding, "/\ufffd", -1, "a string that is not UTF-8"}},
		{"a foreign type", []any{struct{}{}}, Error{Type, "/0", -1, "a Go struct {} is not part of a JSON tree"}},
		{"a nil integer", (*big.Int)(nil), Error{Type, "", -1, "a nil *big.Int"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst, err := Append([]byte("kept"), tt.tree)
			got, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, want an *Error", err)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if string(dst) != "kept" {
				t.Errorf("dst is %q, want it as it was", dst)
			}
			if _, err := Digest(tt.tree); err == nil {
				t.Error("Digest accepted it")
			}
		})
	}
}

func TestParseNumberRefusesWhatIsNoNumber(t *testing.T) {
	for _, s := range []string{"", "-", "+1", "01", "-01", "1.", ".5", "1.e1", "1e", "1e+", "0x1", "1_000", " 1", "1 ", "NaN", "Inf", "1e1e1", "1.2.3", "１"} {
		if v, broken := ParseNumber(s); broken == "" {
			t.Errorf("ParseNumber(%q) = %v, want a refusal", s, v)
		}
	}
}

// TestNumbersTakeLinearTime would not end if a number's exponent were ever
// written out in full.
func TestNumbersTakeLinearTime(t *testing.T) {
	digits := strings.Repeat("7", 1<<19)
	for _, s := range []string{
		"1e-999999999", "0e999999999", "0." + strings.Repeat("0", 1<<19) + "1e524289", digits + ".0e-524200", digits + "e-524288", "0." + digits,
	} {
		if v, broken := ParseNumber(s); broken == "" {
			if _, err := Append(nil, v); err != nil {
				t.Error(err)
			}
		}
	}
}
