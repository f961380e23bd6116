package output_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor/output"
)

// hostile are texts that were built, or found by fuzzing, to break a promise.
func hostile(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/hostile.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range bytes.Lines(file) {
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, s)
	}
	return list
}

// policyOf makes a policy of two fuzzed numbers.
func policyOf(t testing.TB, maxBytes uint16, which uint8) *output.Output {
	t.Helper()
	return newOutput(t, int64(maxBytes%2000)+1, sanitizersOf(which)...)
}

func sanitizersOf(which uint8) []string {
	sets := [][]string{both, {output.RedactPII}, {output.StripInstructions}, {output.StripInstructions, output.RedactPII}, nil}
	return sets[int(which)%len(sets)]
}

const unbounded = 1 << 40

// The promises, each as a function that says what is wrong; "" if it holds.

func idempotent(o *output.Output, value []byte) string {
	first := o.Apply(value)
	if second := o.Apply([]byte(first.Text)); second.Text != first.Text {
		return "twice is not once:\n" + first.Text + "\n" + second.Text
	}
	return ""
}

func bounded(o *output.Output, value []byte, maxBytes uint16) string {
	r := o.Apply(value)
	switch {
	case !utf8.ValidString(r.Text):
		return "not UTF-8: " + r.Text
	case len(r.Text) > int(maxBytes%2000)+1:
		return "too long: " + r.Text
	}
	return ""
}

// withoutNote takes the note about a cut off.
func withoutNote(text string) string {
	for _, begin := range []string{"\n[cut: the result has ", "[cut: ", "[cut]", "…"} {
		if i := strings.LastIndex(text, begin); i >= 0 {
			return text[:i]
		}
	}
	return text
}

// hidesAll wants a cut text to be the beginning of the whole one, sanitized.
func hidesAll(cut, full output.Result) string {
	switch {
	case !cut.Truncated && cut.Text != full.Text:
		return "not cut, but not whole:\n" + cut.Text + "\n" + full.Text
	case cut.Truncated && !strings.HasPrefix(full.Text, withoutNote(cut.Text)):
		return "the cut shows what is not in the whole:\n" + cut.Text + "\n" + full.Text
	}
	return ""
}

func staysJSON(o *output.Output, value []byte) string {
	r := o.Apply(value)
	if !r.JSON {
		if jsontext.Value(value).IsValid() && !r.Truncated {
			return "JSON became text: " + r.Text
		}
		return ""
	}
	if v := jsontext.Value(r.Text); !v.IsValid() { // with keys that differ
		return "not JSON, or a key is there twice: " + r.Text
	}
	return ""
}

func FuzzIdempotent(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add([]byte(s), uint16(1999), uint8(0))
		f.Add([]byte(s), uint16(len(s)), uint8(0))
		f.Add([]byte(s), uint16(max(0, len(s)-3)), uint8(3))
	}
	f.Fuzz(func(t *testing.T, value []byte, maxBytes uint16, which uint8) {
		if wrong := idempotent(policyOf(t, maxBytes, which), value); wrong != "" {
			t.Error(wrong)
		}
	})
}

func FuzzBounded(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add([]byte(s), uint16(len(s)/2), uint8(0))
	}
	f.Add([]byte("\xff\xfe\xed\xa0\x80"), uint16(1), uint8(0))
	f.Fuzz(func(t *testing.T, value []byte, maxBytes uint16, which uint8) {
		if wrong := bounded(policyOf(t, maxBytes, which), value, maxBytes); wrong != "" {
			t.Error(wrong)
		}
	})
}

func FuzzCutHides(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add([]byte(s), uint16(len(s)/2), uint8(0))
		f.Add([]byte(s), uint16(len(s)*3/4), uint8(1))
	}
	f.Fuzz(func(t *testing.T, value []byte, maxBytes uint16, which uint8) {
		full := newOutput(t, unbounded, sanitizersOf(which)...).Apply(value)
		if wrong := hidesAll(policyOf(t, maxBytes, which).Apply(value), full); wrong != "" {
			t.Error(wrong)
		}
	})
}

func FuzzStaysJSON(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add([]byte(s), uint8(0))
		quoted, err := json.Marshal(map[string]any{s: []string{s}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(quoted, uint8(0))
	}
	f.Fuzz(func(t *testing.T, value []byte, which uint8) {
		if wrong := staysJSON(newOutput(t, unbounded, sanitizersOf(which)...), value); wrong != "" {
			t.Error(wrong)
		}
	})
}

// The promises hold for large texts too: those of the benchmark, and JSON that is
// deep, has a huge key or twenty thousand keys that become one.
func TestHostile(t *testing.T) {
	values := map[string]string{
		"deep":      strings.Repeat(`[{"a@example.com":`, 4900) + "1" + strings.Repeat("}]", 4900),
		"too deep":  strings.Repeat("[", 50000) + `"a@example.com"` + strings.Repeat("]", 50000),
		"huge key":  `{"` + strings.Repeat("a@example.com ", 5000) + `":1}`,
		"many keys": "{" + strings.Repeat(`"a@example.com":1,`, 20000) + `"b":2}`,
		"not UTF-8": strings.Repeat("a@example.com\xff", 2000),
	}
	for _, a := range adversarial {
		values[a.name] = strings.Repeat(a.unit, 1<<15/len(a.unit))
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			whole := newOutput(t, unbounded, both...)
			full := whole.Apply([]byte(value))
			if strings.Contains(full.Text, "a@example.com") {
				t.Error("an address came through")
			}
			for _, wrong := range []string{
				idempotent(whole, []byte(value)),
				staysJSON(whole, []byte(value)),
				bounded(newOutput(t, 1001, both...), []byte(value), 1000),
				idempotent(newOutput(t, 1001, both...), []byte(value)),
				hidesAll(newOutput(t, 1001, both...).Apply([]byte(value)), full),
			} {
				if wrong != "" {
					t.Errorf("%.200s", wrong)
				}
			}
		})
	}
}

// The oracles see what is wrong.
func TestOracles(t *testing.T) {
	whole := output.Result{Text: "pay [CARD] now"}
	tests := []struct {
		name string
		cut  output.Result
		ok   bool
	}{
		{"whole", whole, true},
		{"cut", output.Result{Text: "pay [cut]", Truncated: true}, true},
		{"cut before sanitizing", output.Result{Text: "pay 4111 1111[cut]", Truncated: true}, false},
		{"not cut, not whole", output.Result{Text: "pay"}, false},
	}
	for _, tt := range tests {
		if wrong := hidesAll(tt.cut, whole); (wrong == "") != tt.ok {
			t.Errorf("%s: %q", tt.name, wrong)
		}
	}
	if withoutNote(newOutput(t, 40).Text(strings.Repeat("x", 100)).Text) != "xxxxxxxx" {
		t.Error("the note of a cut is not known")
	}
}
