package corpus

import (
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor/output"
)

func TestBounds(t *testing.T) {
	report, err := Measure()
	if err != nil {
		t.Fatal(err)
	}
	below, err := report.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range below {
		t.Error(b)
	}
	if len(below) > 0 {
		t.Log(strings.Join(report.Mistakes, "\n"))
	}
	if report.Benign < 300 || report.Scripts < 10 {
		t.Errorf("%d benign texts in %d scripts", report.Benign, report.Scripts)
	}
}

// Whatever is in a text, doing it twice is doing it once, at every size, and a
// cut text begins like the whole one.
func TestCuts(t *testing.T) {
	newOutput := func(n int64) *output.Output {
		o, err := output.New(output.Policy{MaxBytes: n, Sanitizers: []string{output.RedactPII, output.StripInstructions}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	whole := newOutput(1 << 20)
	cuts := 0
	for _, name := range []string{"testdata/benign.jsonl", "testdata/pii.jsonl", "testdata/instructions.jsonl"} {
		texts, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			quoted, err := json.Marshal(map[string]string{text.Text: text.Text})
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range [][]byte{[]byte(text.Text), quoted} {
				full := whole.Apply(value)
				if again := whole.Apply([]byte(full.Text)); again.Text != full.Text || again.JSON != full.JSON {
					t.Errorf("%q: %q, then %q", value, full.Text, again.Text)
				}
				for n := 1; n <= len(full.Text); n += 5 {
					r := newOutput(int64(n)).Apply(value)
					if !r.Truncated && len(full.Text) > n || len(r.Text) > n {
						t.Errorf("%q in %d bytes: %+v", value, n, r)
					}
					if again := newOutput(int64(n)).Apply([]byte(r.Text)); again.Text != r.Text {
						t.Errorf("%q in %d bytes: %q, then %q", value, n, r.Text, again.Text)
					}
					kept, _, cut := strings.Cut(r.Text, "\n[cut: the result has ")
					if cut && r.Truncated {
						cuts++
						if !strings.HasPrefix(full.Text, kept) {
							t.Errorf("%q in %d bytes: %q is not the beginning of %q", value, n, kept, full.Text)
						}
					}
				}
			}
		}
	}
	if cuts < 1000 {
		t.Errorf("only %d cuts", cuts)
	}
}

// TestScore is the positive control: misses, false alarms and wrong ends count.
func TestScore(t *testing.T) {
	texts := []Text{
		{Text: "a@example.com b@example.com", Spans: []Span{{"email", "a@example.com"}, {"email", "b@example.com"}}},
		{Text: "nobody at nowhere", Spans: []Span{{"email", "nobody at nowhere"}}},
		{Text: "c@example.com"},
		{Text: "to d@example.com", Spans: []Span{{"email", "to d@example.com"}}},
		{Text: "192.0.2.1", Spans: []Span{{"phone", "192.0.2.1"}}},
	}
	scores, mistakes, err := score(output.RedactPII, texts)
	if err != nil {
		t.Fatal(err)
	}
	want := []Score{{"email", 4, 2, 2}, {"phone", 1, 0, 0}, {"card", 0, 0, 0}, {"iban", 0, 0, 0}, {"ip", 0, 0, 1}, {"ssn", 0, 0, 0}}
	if diff := cmp.Diff(want, scores); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(mistakes) != 6 {
		t.Errorf("%d mistakes: %q", len(mistakes), mistakes)
	}
	if p, r := scores[0].Precision(), scores[0].Recall(); p != 0.5 || r != 0.5 {
		t.Errorf("precision %v, recall %v", p, r)
	}
}

func TestScoreRefuses(t *testing.T) {
	for _, text := range []Text{
		{Text: "a", Spans: []Span{{"email", "b"}}},
		{Text: "a a", Spans: []Span{{"email", "a"}, {"email", "a"}, {"email", "a"}}},
		{Text: "a", Spans: []Span{{"email", ""}}},
		{Text: "a", Spans: []Span{{"mail", "a"}}},
	} {
		if _, _, err := score(output.RedactPII, []Text{text}); err == nil {
			t.Errorf("%+v is taken", text)
		}
	}
}

// A result below its bound, a kind without one, a bound without a kind and a
// benign text that changed are all told.
func TestBelow(t *testing.T) {
	r := Report{
		Scores:  []Score{{"good", 10, 9, 1}, {"low", 10, 5, 5}, {"new", 1, 1, 0}, {"empty", 0, 0, 0}},
		Changed: []string{"x"},
	}
	got := r.below(map[string]Bound{"good": {0.9, 0.9}, "low": {0.6, 0.6}, "old": {}, "empty": {}})
	want := []string{
		"low: precision 0.5000 is below 0.6000",
		"low: recall 0.5000 is below 0.6000",
		"bounds.json says nothing of new",
		"the corpus has no empty",
		"bounds.json knows a kind that there is not: old",
		"a benign text was changed: x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChanged(t *testing.T) {
	got, err := changed([]Text{{Text: "same"}, {Text: "a@example.com"}, {Text: "a\u200bb"}})
	if err != nil || len(got) != 2 {
		t.Errorf("changed: %q, %v", got, err)
	}
}

// The scripts that the texts name are those that they are written in.
func TestScripts(t *testing.T) {
	tables := map[string][]string{
		"Latn": {"Latin"}, "Cyrl": {"Cyrillic"}, "Grek": {"Greek"}, "Arab": {"Arabic"}, "Hebr": {"Hebrew"}, "Deva": {"Devanagari"},
		"Beng": {"Bengali"}, "Taml": {"Tamil"}, "Hans": {"Han"}, "Jpan": {"Han", "Hiragana", "Katakana"}, "Kore": {"Hangul"},
		"Thai": {"Thai"}, "Khmr": {"Khmer"}, "Geor": {"Georgian"}, "Armn": {"Armenian"}, "Ethi": {"Ethiopic"}, "Mong": {"Mongolian"},
		"Sinh": {"Sinhala"}, "Mlym": {"Malayalam"},
	}
	for _, name := range []string{"testdata/benign.jsonl", "testdata/pii.jsonl", "testdata/instructions.jsonl"} {
		texts, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if text.Script == "Latn" || text.Script == "Zsye" { // numbers, code and emoji
				continue
			}
			in := func(r rune) bool {
				for _, table := range tables[text.Script] {
					if unicode.Is(unicode.Scripts[table], r) {
						return true
					}
				}
				return false
			}
			if strings.IndexFunc(text.Text, in) < 0 {
				t.Errorf("%s: %q is not in %s", name, text.Text, text.Script)
			}
		}
	}
}
