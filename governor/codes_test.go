package governor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// codeDocs gives what the source says about each code.
func codeDocs(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	docs := make(map[string]string)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := docs[code]; twice {
				t.Errorf("code %s stands for two things", code)
			}
			docs[code] = v.Doc.Text()
			if !strings.HasPrefix(v.Doc.Text(), v.Names[0].Name+": ") {
				t.Errorf("%s is not documented", v.Names[0].Name)
			}
		}
	}
	if len(docs) < 30 {
		t.Fatalf("found %d codes only", len(docs))
	}
	return docs
}

func TestCodesDocumented(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for code := range codeDocs(t) {
		if !form.MatchString(code) {
			t.Errorf("code %q is not in snake case", code)
		}
	}
}
