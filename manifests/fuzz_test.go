package manifests

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// fuzzSeeds gives the files of all stories and examples.
func fuzzSeeds(f *testing.F, add func(name string, text []byte)) {
	f.Helper()
	stories, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, story := range stories {
		ar, err := txtar.ParseFile(story)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range ar.Files {
			add(file.Name, unescapeStory(file.Data))
		}
	}
	examples, err := filepath.Glob("testdata/examples/shop/tools/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(examples, "testdata/examples/shop/harness.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(name, text)
	}
}

// FuzzParse: no text makes Parse panic; what it accepts can be written and read
// back as the same tool with the same digest; what it refuses has errors with
// places inside of the text.
func FuzzParse(f *testing.F) {
	fuzzSeeds(f, func(name string, text []byte) { f.Add(strings.HasSuffix(name, ".json"), text) })
	f.Fuzz(func(t *testing.T, isJSON bool, text []byte) { checkParse(t, isJSON, text) })
}

func checkParse(t *testing.T, isJSON bool, text []byte) {
	name := "f.yaml"
	if isJSON {
		name = "f.json"
	}
	docs, err := Parse(name, text)
	if err != nil {
		errs, ok := errors.AsType[Errors](err)
		if !ok || len(errs) == 0 {
			t.Fatalf("error %v is no Errors", err)
		}
		lines := len(newSource(text).lines)
		for _, e := range errs {
			if e.Code == "" || e.Reason == "" || e.Line > lines || e.Line > 0 && e.Column < 1 {
				t.Errorf("error %+v in a text of %d lines", e, lines)
			}
		}
		return
	}
	for _, tool := range docs.Tools {
		if digest, err := tool.Definition().Digest(); err != nil || digest != tool.Digest() {
			t.Errorf("digest %s, taken again %s (%v)", tool.Digest(), digest, err)
		}
		checkRoundTrip(t, tool)
	}
	for _, h := range docs.Harnesses {
		checkHarnessRoundTrip(t, h)
	}
	if _, err := NewSet(NewHarness(), docs.Tools); err != nil {
		if errs, ok := errors.AsType[Errors](err); !ok || errs[0].Code != CodeDuplicate && errs[0].Code != CodeUnknownSecret {
			t.Errorf("set: %v", err)
		}
	}
}

// FuzzPin: what can be pinned matches its pin afterwards, is pinned for good,
// and is otherwise the same text.
func FuzzPin(f *testing.F) {
	fuzzSeeds(f, func(name string, text []byte) { f.Add(strings.HasSuffix(name, ".json"), text) })
	f.Fuzz(func(t *testing.T, isJSON bool, text []byte) {
		name := "f.yaml"
		if isJSON {
			name = "f.json"
		}
		out, err := Pin(name, text, "")
		if err != nil {
			return
		}
		// Pin looks at tools only: what else is in the text may have errors.
		r := &reporter{file: name}
		tools := 0
		for _, doc := range readNodes(r, name, out) {
			if documentKind(r, doc) != KindTool {
				continue
			}
			tools++
			if tool := readTool(r, doc); !tool.Pinned() || !tool.PinMatches() {
				t.Errorf("%q is not pinned after pinning\n%s", tool.Metadata.Name, out)
			}
		}
		if len(r.errs) > 0 || tools == 0 {
			t.Errorf("%d tools after pinning, and errors: %v\n%s", tools, r.errs, out)
		}
		if again, err := Pin(name, out, ""); err != nil || !bytes.Equal(again, out) {
			t.Errorf("pinning again changes the text (%v)\n%s", err, out)
		}
		if grown := len(out) - len(text); grown > tools*160+len(text) {
			t.Errorf("the text grew by %d bytes for %d tools", grown, tools)
		}
	})
}

// FuzzPlain: no plain YAML value has another meaning than the library's own,
// unless it is refused.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"yes", "010", "1e3", "1.0e+3", "true", "~", "12:30", "2024-01-01", "x", "-", ".", "0x1", "-0", "1_0", "+1", ".5", "NaN", "1.", "<<", "="} {
		f.Add(s)
	}
	f.Fuzz(checkPlain)
}
