package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// pyYAML reads texts with PyYAML, or skips the test where there is none.
func pyYAML(t *testing.T, texts []string) [][]string {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
		t.Skipf("needs python3 with PyYAML, a reader of YAML 1.1 to compare with: %v", err)
	}
	cmd := exec.Command("python3", "testdata/oracle/pyyaml.py")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read [][]string
	if err := json.Unmarshal(out, &read); err != nil || len(read) != len(texts) {
		t.Fatalf("%d answers to %d texts (%v)", len(read), len(texts), err)
	}
	return read
}

// TestOneMeaning shows what the refusals of plain values are for: what is left
// means the same to a reader of YAML 1.1 as to ours.
func TestOneMeaning(t *testing.T) {
	var texts []string
	for _, words := range [][]string{
		{"", "-", "+"}, {"", "0", "1", "9", "01", "0b1", "0o7", "0x1f", "1_0", "007", "90", "y", "n", "yes", "No", "ON", "off", "true", "False", "null", "~", "nan", "inf", "e", "x"},
		{"", ".", ".0", ".5", ".5_0", ":30", ":5:30", ":60", "-01-02", "-1-2", "_"}, {"", "e3", "e+3", "E-3", "e", "T01:02:03Z", " 01:02:03", "s", "/m"},
	} {
		if texts == nil {
			texts = words
			continue
		}
		var longer []string
		for _, t := range texts {
			for _, w := range words {
				longer = append(longer, t+w)
			}
		}
		texts = longer
	}
	var documents []string
	for _, s := range texts {
		documents = append(documents, "v: "+s+"\n")
	}
	accepted := 0
	for i, want := range pyYAML(t, documents) {
		docs := newSource([]byte(documents[i])).readYAML(&reporter{})
		if len(docs) != 1 {
			continue
		}
		tree, ok := docs[0].tree()
		if !ok {
			continue // refused
		}
		accepted++
		got, err := canonjson.Append(nil, tree)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil || want[0] != string(got) {
			t.Errorf("%q is %s here and %v to PyYAML", documents[i], got, want)
		}
	}
	if accepted < len(documents)/4 || len(documents)-accepted < 300 {
		t.Errorf("%d of %d values were accepted", accepted, len(documents))
	}
	t.Logf("%d of %d plain values are accepted, with one meaning", accepted, len(documents))
}

// TestSameTrees holds every valid YAML text of the stories, and the examples,
// against PyYAML: the same documents, so the same digests.
func TestSameTrees(t *testing.T) {
	var names, texts []string
	add := func(name string, text []byte) {
		if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
			if docs, err := Parse(name, text); err == nil && len(docs.Tools)+len(docs.Harnesses) > 0 {
				names, texts = append(names, name), append(texts, strings.TrimPrefix(string(text), "\ufeff"))
			}
		}
	}
	stories, err := filepath.Glob("testdata/valid/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		ar, err := txtar.ParseFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			add(f.Name, unescapeStory(f.Data))
		}
	}
	examples, err := filepath.Glob("testdata/examples/shop/tools/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(examples, "testdata/examples/shop/harness.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		add(name, text)
	}
	if len(texts) < 20 {
		t.Fatalf("only %d texts found", len(texts))
	}
	for i, want := range pyYAML(t, texts) {
		var got []string
		for _, doc := range newSource([]byte(texts[i])).readYAML(&reporter{}) {
			tree, _ := doc.tree()
			text, err := canonjson.Append(nil, tree)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-PyYAML +here):\n%s", names[i], diff)
		}
	}
}
