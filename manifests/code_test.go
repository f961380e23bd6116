package manifests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// codes lists the constants of type Code, from the source, so that a new one
// cannot be forgotten.
func codes() []Code {
	var list []Code
	for name, text := range constants("error.go", "Code") {
		if strings.HasPrefix(name, "Code") {
			list = append(list, Code(text))
		}
	}
	return list
}

// constants gives the typed string constants of a file, and their comments by
// name.
func constants(file, typ string) map[string]string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	found := map[string]string{}
	for _, decl := range f.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil || v.Doc == nil {
					panic(v.Names[0].Name + " has no comment or no text")
				}
				found[v.Names[0].Name] = text
			}
		}
	}
	return found
}

func TestCodesAreDistinct(t *testing.T) {
	for _, file := range []struct{ name, typ string }{{"error.go", "Code"}, {"warning.go", "WarningCode"}} {
		seen := map[string]string{}
		for name, text := range constants(file.name, file.typ) {
			if other, twice := seen[text]; twice {
				t.Errorf("%s and %s are both %s", name, other, text)
			}
			seen[text] = name
		}
		if len(seen) < 5 {
			t.Errorf("only %d constants found in %s", len(seen), file.name)
		}
	}
}
