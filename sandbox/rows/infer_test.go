package rows

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumnTypes(t *testing.T) {
	tests := []struct {
		name  string
		cells []string
		want  []any
	}{
		{"integers", []string{"0", "-1", "42"}, []any{int64(0), int64(-1), int64(42)}},
		{"integers and empty", []string{"1", "", "3"}, []any{int64(1), nil, int64(3)}},
		{"empty", []string{"", ""}, []any{nil, nil}},
		{"integers beyond 2^53", []string{"9007199254740993", "1"}, []any{int64(9007199254740993), int64(1)}},
		{"the ends of int64", []string{"9223372036854775807", "-9223372036854775808"}, []any{int64(math.MaxInt64), int64(math.MinInt64)}},
		{"beyond int64", []string{"9223372036854775808", "-9223372036854775809"}, []any{big10("9223372036854775808"), big10("-9223372036854775809")}},
		{"eighteen and nineteen characters", []string{"999999999999999999", "-99999999999999999", "1000000000000000000"},
			[]any{int64(999999999999999999), int64(-99999999999999999), int64(1000000000000000000)}},
		{"floats", []string{"1.5", "-0.25", "3.00"}, []any{1.5, -0.25, 3.0}},
		{"floats and integers", []string{"1.5", "2", ""}, []any{1.5, 2.0, nil}},
		{"negative zero", []string{"-0.0", "1"}, []any{math.Copysign(0, -1), 1.0}},
		{"seventeen digits that survive", []string{"0.30000000000000004"}, []any{0.30000000000000004}},
		{"zeros at the end do not count", []string{"0.3000000000000000400000"}, []any{0.30000000000000004}},
		{"2^53 beside a float", []string{"9007199254740992", "0.5"}, []any{9007199254740992.0, 0.5}},
		{"booleans", []string{"true", "False", "TRUE", ""}, []any{true, false, true, nil}},

		{"a long integer beside a float", []string{"9007199254740993", "0.5"}, []any{"9007199254740993", "0.5"}},
		{"a decimal that a float rounds", []string{"0.1234567890123456789", "1"}, []any{"0.1234567890123456789", "1"}},
		{"a decimal that is no float at all", []string{"0." + strings.Repeat("0", 400) + "1"}, []any{"0." + strings.Repeat("0", 400) + "1"}},
		{"a whole part that a float rounds", []string{"9007199254740993.0"}, []any{"9007199254740993.0"}},
		{"an integer of too many digits", []string{strings.Repeat("1", maxDigits+1)}, []any{strings.Repeat("1", maxDigits+1)}},
		{"one cell that is no number", []string{"1", "2", "n/a"}, []any{"1", "2", "n/a"}},
		{"booleans beside numbers", []string{"true", "1"}, []any{"true", "1"}},
		{"text and empty", []string{"x", ""}, []any{"x", nil}},
	}
	for _, text := range []string{
		"007", "00", "-0", "-007", "00.5", "+49301234", "+1", "+1.5", "1_000", "1,000", "1.000.000", "0x10", "1e5", "1E5",
		"1.5e3", ".5", "5.", "-.5", "-", "nan", "NaN", "inf", "-inf", "Infinity", "2024-01-31", "12:30", " 1", "1 ", "1.5 ",
		"1\u00a0000", "\u0661\u0662", "½", "1.5.2", "--1", "tru", "truee", "yes", "t", "None", "null", "5%", "$5", "1/2", "'1",
	} {
		tests = append(tests, struct {
			name  string
			cells []string
			want  []any
		}{"text " + text, []string{text, "1"}, []any{text, "1"}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("c\n")
			for _, c := range tt.cells {
				b.WriteString(`"` + c + "\"\n")
			}
			rows, err := Read(strings.NewReader(b.String()), Options{Format: CSV})
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			for _, row := range rows.Table.Rows {
				got = append(got, row[0])
			}
			if diff := cmp.Diff(tt.want, got, cmpRows); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.cells, diff)
			}
			for i := range got {
				if w, ok := tt.want[i].(float64); ok && math.Signbit(w) != math.Signbit(got[i].(float64)) {
					t.Errorf("%q: sign of %v", tt.cells[i], got[i])
				}
			}
		})
	}
}

// A column that does not repeat itself must not keep paying for the attempt.
func TestRecentStrings(t *testing.T) {
	var r recentStrings
	for i := range 3 * trial {
		if got := r.box(string(rune('a' + i%3))); got != string(rune('a'+i%3)) {
			t.Fatalf("box gave %v", got)
		}
	}
	if r.off {
		t.Error("gave up on a column of three strings")
	}
	var unique recentStrings
	for i := range 3 * trial {
		s := strings.Repeat("x", i)
		if got := unique.box(s); got != s {
			t.Fatalf("box gave %v", got)
		}
	}
	if !unique.off {
		t.Error("did not give up on a column of different strings")
	}
}
