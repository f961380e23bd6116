// Package mayfly holds nothing but tests of the repository as a whole: which
// way imports point, and which calls have no place where.
package mayfly

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/mayfly-run/mayfly"

// sourceFile is one Go file of the repository.
type sourceFile struct {
	path string // with slashes, from the root
	fset *token.FileSet
	ast  *ast.File
}

// folder is where the file is: "." for the root.
func (f *sourceFile) folder() string { return path.Dir(f.path) }

// isTest reports whether only tests are built with the file; a suite that only
// tests import counts.
func (f *sourceFile) isTest() bool {
	return strings.HasSuffix(f.path, "_test.go") || below(f.folder(), "sandbox/sandboxtest")
}

// line is the line of a position in the file.
func (f *sourceFile) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// imports gives the name under which the file knows each import path.
func (f *sourceFile) imports() map[string]string {
	names := make(map[string]string)
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser refused it before
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[p] = name
	}
	return names
}

// parseSource parses text as the file of that path.
func parseSource(t *testing.T, name string, text []byte) *sourceFile {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return &sourceFile{path: name, fset: fset, ast: file}
}

// goFiles parses every Go file of the repository, for every system.
func goFiles(t *testing.T) []*sourceFile {
	t.Helper()
	var files []*sourceFile
	walk(t, func(name string) {
		if strings.HasSuffix(name, ".go") {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, parseSource(t, name, text))
		}
	})
	if len(files) < 20 {
		t.Fatalf("found %d Go files; this test looks in the wrong place", len(files))
	}
	return files
}

// walk visits every file of the repository that is not test data, built or
// hidden.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if base == ".git" { // a file in a worktree
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			hidden := base != "." && base != ".ci" && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
			if hidden || base == "testdata" || base == "node_modules" || name == "bin" || name == "bench/out" || name == "guests/artefacts" {
				return fs.SkipDir
			}
			return nil
		}
		visit(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// below reports whether folder is one of roots or inside of one.
func below(folder string, roots ...string) bool {
	for _, root := range roots {
		if folder == root || strings.HasPrefix(folder, root+"/") {
			return true
		}
	}
	return false
}
