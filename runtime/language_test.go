package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// program is one of guests/js/testdata/language; the README there gives the
// form.
type program struct{ name, code, want string }

func readPrograms(t *testing.T, file string) []program {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []program
	for part := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		last := len(lines) - 1
		name, named := strings.CutPrefix(lines[0], "# ")
		want, ends := strings.CutPrefix(lines[last], "=> ")
		if !named || !ends || last < 2 {
			t.Fatalf("%s: no program:\n%s", file, part)
		}
		all = append(all, program{name, strings.Join(lines[1:last], "\n"), want})
	}
	return all
}

// TestLanguage runs small programs across the editions of ECMAScript.
func TestLanguage(t *testing.T) {
	files, err := filepath.Glob("../guests/js/testdata/language/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	box, count := javaScript(t), 0
	seen := make(map[string]bool)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, p := range readPrograms(t, file) {
				if seen[p.name] {
					t.Errorf("there are two programs called %q", p.name)
				}
				seen[p.name] = true
				count++
				t.Run(p.name, func(t *testing.T) {
					r, err := box.Run(t.Context(), sandbox.Spec{Code: p.code, Limits: sandbox.Limits{Timeout: time.Minute}})
					if err != nil || r.Status != sandbox.StatusOK {
						t.Fatalf("status %q, error %+v, %v", r.Status, r.Error, err)
					}
					if diff := cmp.Diff(p.want, string(r.Value)); diff != "" {
						t.Errorf("value (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
	if count < 150 {
		t.Errorf("%d programs; the table has shrunk", count)
	}
}
