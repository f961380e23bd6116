package manifests

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestAddManifest runs the stories in testdata/add: harnesses, and what they
// are after the file of the line "add: FILE" in the header is added.
func TestAddManifest(t *testing.T) {
	files, err := filepath.Glob("testdata/add/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, add, _ := strings.Cut(string(ar.Comment), "add: ")
			add = strings.TrimSuffix(add, "\n")
			var b strings.Builder
			for _, f := range ar.Files {
				if f.Name == "want" {
					continue
				}
				in := unescapeStory(f.Data)
				if i := bytes.Index(in, []byte("<END>")); i >= 0 {
					in = in[:i] // a last line without an end
				}
				out, err := AddManifest(f.Name, in, add)
				if err != nil {
					fmt.Fprintf(&b, "== %s\n%v\n", f.Name, err)
					continue
				}
				fmt.Fprintf(&b, "== %s\n%s\n", f.Name, strings.TrimSuffix(escapeStory(out), "\n"))
				if docs, err := Parse(f.Name, out); err != nil || len(docs.Harnesses) != 1 {
					t.Errorf("%s: no harness afterwards: %v", f.Name, err)
				}
				again, err := AddManifest(f.Name, out, add)
				if err != nil || !bytes.Equal(again, out) {
					t.Errorf("%s: adding again changes the text (%v)", f.Name, err)
				}
			}
			compareWant(t, file, ar, b.String())
		})
	}
}

// FuzzAddManifest: whatever the text, the result is refused or holds one entry
// more and nothing else.
func FuzzAddManifest(f *testing.F) {
	files, err := filepath.Glob("testdata/add/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, one := range ar.Files {
			f.Add(one.Name, unescapeStory(one.Data), "tools/new.yaml")
		}
	}
	f.Fuzz(func(t *testing.T, name string, text []byte, file string) {
		out, err := AddManifest(name, text, file)
		if err != nil || bytes.Equal(out, text) {
			return
		}
		r := &reporter{file: name}
		was, _ := onlyHarness(r, readNodes(r, name, bytes.TrimPrefix(text, byteOrderMark))).tree()
		is, _ := onlyHarness(r, readNodes(r, name, bytes.TrimPrefix(out, byteOrderMark))).tree()
		before, _ := takeManifests(was)
		after, _ := takeManifests(is)
		if len(after) != len(before)+1 || len(r.errs) > 0 {
			t.Errorf("AddManifest(%q, %q, %q) = %q: %d entries, then %d (%v)", name, text, file, out, len(before), len(after), r.errs)
		}
	})
}
