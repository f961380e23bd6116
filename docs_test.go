package mayfly

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages gives the text of every page of documentation by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	walk(t, func(name string) {
		if path.Ext(name) == ".md" {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	})
	if texts["README.md"] == "" || texts["SECURITY.md"] == "" {
		t.Fatal("the pages that must be there are not")
	}
	return texts
}

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	makePattern    = regexp.MustCompile("(?m)(?:^ {4}|`)make ([a-z-]+)")
	targetPattern  = regexp.MustCompile(`(?m)^([a-z-]+):`)
	goBlockPattern = regexp.MustCompile("(?s)```go\n(.*?)```")
)

// A page links only to what is there.
func TestLinks(t *testing.T) {
	checked := 0
	for name, text := range pages(t) {
		for _, link := range linkPattern.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			checked++
			if _, err := os.Stat(path.Join(path.Dir(name), link[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, link[1], err)
			}
		}
	}
	if checked < 5 {
		t.Errorf("checked %d links only", checked)
	}
}

// A page names only targets that the Makefile has.
func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range targetPattern.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, m[1])
	}
	for _, want := range []string{"build", "test", "race", "attack", "bench", "fuzz", "lint", "fmt", "generate", "guests", "guests-verify", "check", "cover", "clean", "demo", "help"} {
		if !slices.Contains(targets, want) {
			t.Errorf("the Makefile has no target %s", want)
		}
	}
	checked := 0
	for name, text := range pages(t) {
		for _, m := range makePattern.FindAllStringSubmatch(text, -1) {
			checked++
			if !slices.Contains(targets, m[1]) {
				t.Errorf("%s says make %s, which the Makefile does not have", name, m[1])
			}
		}
	}
	if checked < 5 {
		t.Errorf("checked %d mentions only", checked)
	}
}

// Go on a page is at least Go. What it says is proved by the example that the
// page links to.
func TestGoBlocksParse(t *testing.T) {
	blocks := goBlockPattern.FindAllStringSubmatch(pages(t)["README.md"], -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go")
	}
	for _, b := range blocks {
		if _, err := parser.ParseFile(token.NewFileSet(), "README.md", "package p\nfunc f() error {\n"+b[1]+"\nreturn nil\n}", 0); err != nil {
			t.Errorf("README.md: %v\n%s", err, b[1])
		}
	}
}
