package argschema

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// Schema is a compiled schema. It does not change and may be used by several
// goroutines.
type Schema struct {
	raw   map[string]any
	plan  *plan
	lib   *jsonschema.Schema
	costs *costs
}

// resource is the name under which the library knows the schema. Nothing
// stands there, and the loader refuses everything.
const resource = "mayfly://tool/input_schema"

// Compile checks that root, a tree as canonjson gives it, is in the subset,
// and prepares it. With problems there is no Schema. Notes are about schemas
// that may not say what was meant. root must not change afterwards.
func Compile(root map[string]any) (s *Schema, problems, notes []Problem) {
	c := check(root)
	if len(c.problems) > 0 {
		return nil, c.problems, c.notes
	}
	lib, err := compileLibrary(root)
	if err != nil {
		return nil, []Problem{{Kind: Value, Reason: "is not a JSON Schema"}}, c.notes
	}
	return &Schema{raw: root, plan: newPlan(root), lib: lib, costs: newCosts(lib)}, nil, c.notes
}

func compileLibrary(root map[string]any) (*jsonschema.Schema, error) {
	text, err := canonjson.Append(nil, forLibrary(root))
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(string) (io.ReadCloser, error) {
		return nil, errors.New("a schema is never loaded from elsewhere")
	}
	c.RegisterExtension("mayfly", nil, hashed{})
	if err := c.AddResource(resource, strings.NewReader(string(text))); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	return c.Compile(resource)
}

// The library compares enum values one by one, and its uniqueItems can be made
// quadratic by values that it hashes alike. These keywords stand in for them.
const (
	enumKey   = "mayfly:enum"   // canonical texts
	constKey  = "mayfly:const"  // canonical text
	uniqueKey = "mayfly:unique" // true
)

// forLibrary copies a schema without its annotations, and with our keywords in
// place of the library's where ours are linear.
func forLibrary(v any) any {
	schema, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(schema))
	for name, v := range schema {
		switch {
		case annotations[name]:
		case name == "enum":
			var texts []any
			for _, v := range v.([]any) {
				texts = append(texts, canonicalText(v))
			}
			out[enumKey] = texts
		case name == "const":
			out[constKey] = canonicalText(v)
		case name == "uniqueItems":
			out[uniqueKey] = v
		case shape(name) == one:
			out[name] = forLibrary(v)
		case shape(name) == many:
			var list []any
			for _, v := range v.([]any) {
				list = append(list, forLibrary(v))
			}
			out[name] = list
		case shape(name) == byName:
			object := map[string]any{}
			for name, v := range v.(map[string]any) {
				object[name] = forLibrary(v)
			}
			out[name] = object
		default:
			out[name] = v
		}
	}
	return out
}

// shapes of what a keyword holds.
type shapeKind uint8

const (
	plain  shapeKind = iota // no schemas
	one                     // a schema
	many                    // a list of schemas
	byName                  // an object of schemas
)

func shape(keyword string) shapeKind {
	switch keyword {
	case "not", "additionalProperties", "propertyNames", "items", "contains":
		return one
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return many
	case "properties", "patternProperties", "$defs":
		return byName
	}
	return plain
}
