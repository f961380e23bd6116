// Package corpus measures the sanitizers on texts that say what is in them.
//
// Each line of the files in testdata is one text. In pii.jsonl and
// instructions.jsonl it comes with what a person would take out, also where no
// sanitizer finds it; benign.jsonl holds texts, in many scripts, in which nothing
// is to be found. The bounds of bounds.json are what was reached before: a change
// may raise them, and has to say why if it lowers one.
//
// The numbers flatter: most of these texts were known when the sanitizers were
// written. Of two lists of orders that were made afterwards and tried once, 25 of
// 45 and 19 of 30 were found at first; of a list of 53 pieces of personal data, 50.
// Those lists are part of the corpus since.
package corpus

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor/output"
)

//go:embed testdata/*.jsonl testdata/bounds.json
var files embed.FS

// Text is one text of the corpus.
type Text struct {
	// Script is the ISO 15924 code of what it is written in.
	Script string `json:"script"`
	Text   string `json:"text"`
	// Spans are what is to be found, in order; none in a benign text.
	Spans []Span `json:"spans"`
}

// Span is a part of a text that is to be found.
type Span struct {
	Kind string `json:"kind"`
	// Text is how it reads: its first occurrence behind the span before.
	Text string `json:"text"`
}

// Score is how one kind was found.
type Score struct {
	Kind string
	// Expected spans are in the corpus; Found of them were found; Wrong findings
	// are of none.
	Expected, Found, Wrong int
}

// Precision is the share of findings that are right; 1 without findings.
func (s Score) Precision() float64 { return share(s.Found, s.Found+s.Wrong) }

// Recall is the share of what there is that is found; 1 if there is nothing.
func (s Score) Recall() float64 { return share(s.Found, s.Expected) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// Report is what a measurement gives.
type Report struct {
	Scores []Score // by sanitizer, then by kind
	// Benign texts there are, in Scripts scripts; Changed are those that did not
	// come through both sanitizers byte for byte.
	Benign, Scripts int
	Changed         []string
	// Mistakes say what was missed or found wrongly.
	Mistakes []string
}

// Bound is what a kind must reach.
type Bound struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// labelled are the files with spans, and what is to find them.
var labelled = []struct{ file, sanitizer string }{
	{"testdata/pii.jsonl", output.RedactPII},
	{"testdata/instructions.jsonl", output.StripInstructions},
}

// Measure runs the sanitizers over the corpus.
func Measure() (Report, error) {
	var r Report
	benign, err := read("testdata/benign.jsonl")
	if err != nil {
		return r, err
	}
	for _, l := range labelled {
		texts, err := read(l.file)
		if err != nil {
			return r, err
		}
		scores, mistakes, err := score(l.sanitizer, append(texts, benign...))
		if err != nil {
			return r, fmt.Errorf("%s: %w", l.file, err)
		}
		r.Scores = append(r.Scores, scores...)
		r.Mistakes = append(r.Mistakes, mistakes...)
	}
	r.Benign = len(benign)
	r.Changed, err = changed(benign)
	scripts := make(map[string]bool)
	for _, t := range benign {
		scripts[t.Script] = true
	}
	r.Scripts = len(scripts)
	return r, err
}

func read(name string) ([]Text, error) {
	file, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var texts []Text
	n := 0
	for line := range bytes.Lines(file) {
		n++
		var t Text
		if err := json.Unmarshal(line, &t, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// score compares what a sanitizer finds in texts with what there is. Personal
// data must be found from end to end; of what is for a model at least all.
func score(sanitizer string, texts []Text) (scores []Score, mistakes []string, err error) {
	by := make(map[string]*Score)
	for _, kind := range output.Kinds(sanitizer) {
		by[kind] = &Score{Kind: kind}
	}
	exact := sanitizer == output.RedactPII
	for _, t := range texts {
		expected, err := locate(t)
		if err != nil {
			return nil, nil, err
		}
		found := output.Find(sanitizer, t.Text)
		for _, e := range expected {
			if by[e.Kind] == nil {
				return nil, nil, fmt.Errorf("%q: there is no kind %q", t.Text, e.Kind)
			}
			by[e.Kind].Expected++
			i := slices.IndexFunc(found, func(f output.Finding) bool { return fits(f, e, exact) })
			if i < 0 {
				mistakes = append(mistakes, fmt.Sprintf("missed %s %q in %q", e.Kind, t.Text[e.Start:e.End], t.Text))
				continue
			}
			by[e.Kind].Found++
			found = slices.Delete(found, i, i+1)
		}
		for _, f := range found {
			by[f.Kind].Wrong++
			mistakes = append(mistakes, fmt.Sprintf("wrong %s %q in %q", f.Kind, t.Text[f.Start:f.End], t.Text))
		}
	}
	for _, kind := range output.Kinds(sanitizer) {
		scores = append(scores, *by[kind])
	}
	return scores, mistakes, nil
}

func fits(found, expected output.Finding, exact bool) bool {
	if exact {
		return found == expected
	}
	return found.Kind == expected.Kind && found.Start <= expected.Start && found.End >= expected.End
}

// locate finds the spans of a text in it.
func locate(t Text) ([]output.Finding, error) {
	var list []output.Finding
	at := 0
	for _, s := range t.Spans {
		i := strings.Index(t.Text[at:], s.Text)
		if i < 0 || s.Text == "" {
			return nil, fmt.Errorf("%q has no %q behind byte %d", t.Text, s.Text, at)
		}
		list = append(list, output.Finding{Start: at + i, End: at + i + len(s.Text), Kind: s.Kind})
		at += i + len(s.Text)
	}
	return list, nil
}

// changed gives the texts that do not come through unchanged.
func changed(texts []Text) ([]string, error) {
	o, err := output.New(output.Policy{MaxBytes: 1 << 20, Sanitizers: []string{output.RedactPII, output.StripInstructions}})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, t := range texts {
		if r := o.Text(t.Text); r.Text != t.Text {
			list = append(list, fmt.Sprintf("%q became %q", t.Text, r.Text))
		}
	}
	return list, nil
}

// Check gives what falls below the recorded bounds, and which kinds have none.
func (r Report) Check() ([]string, error) {
	file, err := files.ReadFile("testdata/bounds.json")
	if err != nil {
		return nil, err
	}
	var bounds map[string]Bound
	if err := json.Unmarshal(file, &bounds, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("testdata/bounds.json: %w", err)
	}
	return r.below(bounds), nil
}

func (r Report) below(bounds map[string]Bound) []string {
	var list []string
	unused := maps.Clone(bounds)
	for _, s := range r.Scores {
		b, ok := bounds[s.Kind]
		delete(unused, s.Kind)
		switch {
		case !ok:
			list = append(list, "bounds.json says nothing of "+s.Kind)
		case s.Expected == 0:
			list = append(list, "the corpus has no "+s.Kind)
		}
		if s.Precision() < b.Precision {
			list = append(list, fmt.Sprintf("%s: precision %.4f is below %.4f", s.Kind, s.Precision(), b.Precision))
		}
		if s.Recall() < b.Recall {
			list = append(list, fmt.Sprintf("%s: recall %.4f is below %.4f", s.Kind, s.Recall(), b.Recall))
		}
	}
	for _, kind := range slices.SortedFunc(maps.Keys(unused), cmp.Compare) {
		list = append(list, "bounds.json knows a kind that there is not: "+kind)
	}
	for _, c := range r.Changed {
		list = append(list, "a benign text was changed: "+c)
	}
	return list
}

// Write prints the report as a table.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-15s %8s %6s %6s %10s %7s\n", "kind", "expected", "found", "wrong", "precision", "recall")
	for _, s := range r.Scores {
		fmt.Fprintf(&b, "%-15s %8d %6d %6d %10.4f %7.4f\n", s.Kind, s.Expected, s.Found, s.Wrong, s.Precision(), s.Recall())
	}
	fmt.Fprintf(&b, "\nbenign: %d texts in %d scripts, %d changed\n", r.Benign, r.Scripts, len(r.Changed))
	_, err := io.WriteString(w, b.String())
	return err
}
