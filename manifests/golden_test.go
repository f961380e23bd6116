package manifests

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected halves of testdata")

// A story is one txtar file: a header in prose, files, and what is expected of
// them in a file named want. With a harness.yaml among them they are loaded as
// a project, else parsed one by one.

func TestValid(t *testing.T) {
	stories(t, "testdata/valid", func(t *testing.T, set *Set, docs Documents, err error) string {
		if err != nil {
			t.Fatalf("refused:\n%v", err)
		}
		if set != nil {
			return describe(t, set.Harness, set.Tools(), set.Warnings)
		}
		var b strings.Builder
		for _, h := range docs.Harnesses {
			b.WriteString(describe(t, h, nil, nil))
		}
		b.WriteString(describe(t, nil, docs.Tools, docs.Warnings))
		return b.String()
	})
}

func TestInvalid(t *testing.T) {
	seen := map[Code]bool{}
	stories(t, "testdata/invalid", func(t *testing.T, set *Set, docs Documents, err error) string {
		errs, ok := errors.AsType[Errors](err)
		if !ok {
			t.Fatalf("accepted, or no Errors: %v", err)
		}
		for _, e := range errs {
			seen[e.Code] = true
		}
		got := errs.Error() + "\n"
		// Every value that is planted as a secret has this word in it.
		if strings.Contains(strings.ToLower(got), "hunter2") {
			t.Error("an error shows a value")
		}
		return got
	})
	// These two have tests of their own.
	seen[CodePin], seen[CodeTooLarge] = true, true
	for _, c := range codes() {
		if !seen[c] {
			t.Errorf("no story in testdata/invalid shows the code %s", c)
		}
	}
}

// stories runs every story in a directory and compares what became of it.
func stories(t *testing.T, dir string, run func(t *testing.T, set *Set, docs Documents, err error) string) {
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories in %s (%v)", dir, err)
	}
	for _, file := range files {
		file, err := filepath.Abs(file) // a story may change the directory
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(strings.TrimSpace(string(ar.Comment))) == 0 {
				t.Error("the story has no header")
			}
			set, docs, err := load(t, ar)
			compareWant(t, file, ar, run(t, set, docs, err))
		})
	}
}

// load reads the files of a story.
func load(t *testing.T, ar *txtar.Archive) (*Set, Documents, error) {
	t.Helper()
	// Beside the project lies a tool that would load, were it reached.
	root := filepath.Join(t.TempDir(), "project")
	writeFile(t, filepath.Join(root, "../outside/tool.yaml"), []byte("{apiVersion: harnessweaver/v1, kind: Tool, metadata: {name: outside}, spec: {handler: 'm:f'}}\n"))
	var all Documents
	var errs Errors
	project := false
	for _, f := range ar.Files {
		if f.Name == "want" {
			continue
		}
		project = project || f.Name == "harness.yaml"
		name := filepath.Join(root, f.Name)
		data := unescapeStory(f.Data)
		writeFile(t, name, data)
		if target, ok := strings.CutPrefix(string(data), "symlink "); ok {
			if err := errors.Join(os.Remove(name), os.Symlink(strings.TrimSpace(target), name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		docs, err := Parse(f.Name, data)
		if one, ok := errors.AsType[Errors](err); ok {
			errs = append(errs, one...)
		}
		all.Tools = append(all.Tools, docs.Tools...)
		all.Harnesses = append(all.Harnesses, docs.Harnesses...)
		all.Warnings = append(all.Warnings, docs.Warnings...)
	}
	if project {
		t.Chdir(root)
		set, err := Load("harness.yaml", nil)
		return set, Documents{}, err
	}
	if len(errs) > 0 {
		return nil, Documents{}, errs
	}
	return nil, all, nil
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unescapeStory writes out what a text file cannot hold well.
func unescapeStory(data []byte) []byte {
	return []byte(strings.NewReplacer("␍", "\r", "␀", "\x00", "␛", "\x1b", "<BOM>", "\ufeff", "<FF>", "\xff", "<NEL>", "\u0085", "<LS>", "\u2028").Replace(string(data)))
}

func compareWant(t *testing.T, file string, ar *txtar.Archive, got string) {
	t.Helper()
	last := &ar.Files[len(ar.Files)-1]
	if last.Name != "want" {
		if !*update {
			t.Fatal("the story has no file want at its end")
		}
		ar.Files = append(ar.Files, txtar.File{Name: "want"})
		last = &ar.Files[len(ar.Files)-1]
	}
	if *update {
		last.Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(last.Data), got); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// describe writes what was read: every field that is not at its default, and
// what cannot be seen in the fields.
func describe(t *testing.T, h *Harness, tools []*Tool, warnings []Warning) string {
	t.Helper()
	var b strings.Builder
	if h != nil {
		text, err := h.YAML()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "# harness, %s:%d\n%s", h.Origin.File, h.Origin.Line, text)
	}
	for _, tool := range tools {
		text, err := tool.YAML()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "# tool, %s:%d\n# %s\n%s", tool.Origin.File, tool.Origin.Line, tool.Digest(), text)
		if w := tool.Spec.Approval.When; w.Source != "" {
			fmt.Fprintf(&b, "# approval.when at %s:%d:%d\n", w.Position.File, w.Position.Line, w.Position.Column)
		}
		if diff := cmp.Diff(tool.Spec.Egress, tool.Spec.EgressAllowed); diff != "" {
			fmt.Fprintf(&b, "# egress allowed: %v\n", tool.Spec.EgressAllowed)
		}
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "# warning: %s: %s\n", w.Tool, w)
	}
	return b.String()
}
