package manifests

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestPin runs the stories in testdata/pin: files, and what they are after
// pinning, or why they cannot be pinned. A line "only: NAME" in the header pins
// one tool.
func TestPin(t *testing.T) {
	files, err := filepath.Glob("testdata/pin/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, only, _ := strings.Cut(string(ar.Comment), "only: ")
			only = strings.TrimSpace(only)
			var b strings.Builder
			for _, f := range ar.Files {
				if f.Name == "want" {
					continue
				}
				in := unescapeStory(f.Data)
				out, err := Pin(f.Name, in, only)
				if err != nil {
					fmt.Fprintf(&b, "== %s\n%v\n", f.Name, err)
					continue
				}
				fmt.Fprintf(&b, "== %s\n%s", f.Name, escapeStory(out))
				checkPinned(t, f.Name, in, out, only)
			}
			compareWant(t, file, ar, b.String())
		})
	}
}

func escapeStory(data []byte) string {
	return strings.NewReplacer("\r", "␍", "\ufeff", "<BOM>").Replace(string(data))
}

// checkPinned sees to it that one line for each tool changed or is new, that
// the tools now match, and that pinning again changes nothing.
func checkPinned(t *testing.T, name string, in, out []byte, only string) {
	t.Helper()
	if only == "" {
		docs, err := Parse(name, out)
		if err != nil {
			t.Fatalf("%s: refused after pinning: %v", name, err)
		}
		for _, tool := range docs.Tools {
			if !tool.Pinned() || !tool.PinMatches() {
				t.Errorf("%s: %s is not pinned after pinning", name, tool.Metadata.Name)
			}
		}
	}
	again, err := Pin(name, out, only)
	if err != nil || !bytes.Equal(again, out) {
		t.Errorf("%s: pinning again changes the text (%v)", name, err)
	}
	tools := bytes.Count(in, []byte("harnessweaver/v1")) - bytes.Count(in, []byte("kind: Harness"))
	lines := func(text []byte) []string {
		return strings.SplitAfter(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n")
	}
	// Whatever is not in the old text, line by line, is a line of a pin.
	old := map[string]int{}
	for _, l := range lines(in) {
		old[l]++
	}
	fresh := 0
	for _, l := range lines(out) {
		if old[l]--; old[l] < 0 {
			fresh++
			if !strings.Contains(l, "definition_digest") {
				t.Errorf("%s: a line that is no pin changed: %q", name, l)
			}
		}
	}
	if fresh > tools || len(lines(out))-len(lines(in)) > tools {
		t.Errorf("%s: %d lines changed and %d are new for %d tools", name, fresh, len(lines(out))-len(lines(in)), tools)
	}
}

func TestPinOfNoTool(t *testing.T) {
	text := []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: {name: a}\nspec: {handler: 'm:f'}\n")
	if out, err := Pin("x.yaml", text, "b"); err == nil {
		t.Errorf("pinned a tool that is not there: %s", out)
	}
}
