package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// TestSchemaMatchesTypes holds the published schemas against the tables, and
// the tables against the Go types. With -update it writes the schemas.
func TestSchemaMatchesTypes(t *testing.T) {
	for _, f := range []struct {
		file, embedded string
		schema         object
	}{
		{"schema/tool.schema.json", PublishedSchema(KindTool), toolSchema()},
		{"schema/harness.schema.json", PublishedSchema(KindHarness), harnessSchema()},
	} {
		want, err := encodeJSON(f.schema)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(f.file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), f.embedded); diff != "" {
			t.Errorf("%s is not what the tables say; run go generate (-tables +file):\n%s", f.file, diff)
		}
		describedInFull(t, f.file, f.schema)
	}
	if PublishedSchema("Pod") != "" {
		t.Error("there is a schema for a kind that does not exist")
	}
	compareNames(t, "ToolSpec", reflect.TypeFor[ToolSpec](), new(ToolSpec).fields(), "EgressAllowed")
	compareNames(t, "Metadata", reflect.TypeFor[Metadata](), new(Metadata).fields(true))
	compareNames(t, "Grants", reflect.TypeFor[Grants](), grantFields(new(Grants)))
	compareNames(t, "CodeLimits", reflect.TypeFor[CodeLimits](), codeLimitFields(new(CodeLimits)))
	compareNames(t, "RateLimit", reflect.TypeFor[RateLimit](), new(RateLimit).fields())
	compareNames(t, "Approval", reflect.TypeFor[Approval](), new(Approval).fields())
	compareNames(t, "OutputPolicy", reflect.TypeFor[OutputPolicy](), new(OutputPolicy).fields())
	compareNames(t, "Harness", reflect.TypeFor[Harness](), new(Harness).specFields(), "Metadata", "Origin")
	compareNames(t, "ToolsConfig", reflect.TypeFor[ToolsConfig](), new(ToolsConfig).fields())
	compareNames(t, "Judge", reflect.TypeFor[Judge](), new(Judge).fields())
	compareNames(t, "MCPServer", reflect.TypeFor[MCPServer](), new(MCPServer).fields())
	compareNames(t, "Policy", reflect.TypeFor[Policy](), new(Policy).fields())
	compareNames(t, "PolicyRule", reflect.TypeFor[PolicyRule](), new(PolicyRule).fields())
	compareNames(t, "Task", reflect.TypeFor[Task](), new(Task).fields())
	compareNames(t, "ApprovalsConfig", reflect.TypeFor[ApprovalsConfig](), new(ApprovalsConfig).fields())
	compareNames(t, "Budgets", reflect.TypeFor[Budgets](), new(Budgets).fields())
	compareNames(t, "TraceConfig", reflect.TypeFor[TraceConfig](), new(TraceConfig).fields())
	compareNames(t, "OTLP", reflect.TypeFor[OTLP](), new(OTLP).fields())
	compareNames(t, "Ceilings", reflect.TypeFor[Ceilings](), new(Ceilings).fields())
	compareNames(t, "Handler", reflect.TypeFor[Handler](), commandFields(new(Handler)), "Kind", "Module", "Function")
}

// compareNames holds the names of a struct's fields against those of its table.
func compareNames(t *testing.T, name string, typ reflect.Type, fs fields, derived ...string) {
	t.Helper()
	table := map[string]bool{}
	for _, f := range fs {
		table[strings.ReplaceAll(strings.TrimPrefix(f.name, "filesystem_"), "_", "")] = true
	}
	for field := range typ.Fields() {
		f := field.Name
		if unicode.IsLower(rune(f[0])) || slices.Contains(derived, f) {
			continue
		}
		if !table[strings.ToLower(f)] {
			t.Errorf("%s.%s is in no table", name, f)
		}
		delete(table, strings.ToLower(f))
	}
	for f := range table {
		t.Errorf("the table of %s has %s, which the type has not", name, f)
	}
}

// describedInFull sees to it that every property of our own has a description.
func describedInFull(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			describedInFull(t, at, item)
		}
	case object:
		for _, m := range v {
			if m.name == "$defs" || m.name == "allOf" {
				continue // JSON Schema itself, and conditions
			}
			if properties, ok := m.value.(object); ok && m.name == "properties" {
				for _, p := range properties {
					s := p.value.(object)
					if d, _ := s.get("description").(string); len(d) < 20 || !strings.HasSuffix(d, ".") {
						t.Errorf("%s: %s has no full description: %q", at, p.name, d)
					}
					describedInFull(t, at+"/"+p.name, s)
				}
				continue
			}
			describedInFull(t, at, m.value)
		}
	}
}

// compilePublished gives a published schema, compiled by the library itself.
func compilePublished(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.CompileString("mayfly://published/"+kind, PublishedSchema(kind))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPublishedSchemasAccept holds every valid document in testdata against the
// published schemas, and counts how many of the invalid ones they catch.
func TestPublishedSchemasAccept(t *testing.T) {
	published := map[string]*jsonschema.Schema{KindTool: compilePublished(t, KindTool), KindHarness: compilePublished(t, KindHarness)}
	valid := 0
	eachDocument(t, "testdata/valid/*.txtar", func(story string, tree map[string]any) {
		kind, _ := tree["kind"].(string)
		if s := published[kind]; s == nil {
			return // a file that must not be read
		} else if err := s.Validate(forLibrary(t, tree)); err != nil {
			t.Errorf("%s: the published schema refuses a valid %s: %#v", story, kind, err)
		}
		valid++
	})
	if valid < 20 {
		t.Errorf("only %d valid documents found", valid)
	}
	invalid, caught := 0, 0
	eachDocument(t, "testdata/invalid/*.txtar", func(_ string, tree map[string]any) {
		kind, _ := tree["kind"].(string)
		if s := published[kind]; s != nil {
			invalid++
			if s.Validate(forLibrary(t, tree)) != nil {
				caught++
			}
		}
	})
	t.Logf("%d valid documents accepted; %d of %d documents from invalid stories refused", valid, caught, invalid)
	if caught*2 < invalid {
		t.Errorf("the published schemas refuse only %d of %d documents from invalid stories", caught, invalid)
	}
}

// forLibrary gives a tree in the types that the library knows.
func forLibrary(t *testing.T, tree any) any {
	t.Helper()
	text, err := canonjson.Append(nil, tree)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// eachDocument calls f for every document in the stories that can be read.
func eachDocument(t *testing.T, pattern string, f func(story string, tree map[string]any)) {
	t.Helper()
	stories, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		ar, err := txtar.ParseFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range ar.Files {
			for _, n := range readNodes(&reporter{}, file.Name, unescapeStory(file.Data)) {
				if tree, ok := n.tree(); ok {
					if doc, ok := tree.(map[string]any); ok {
						f(filepath.Base(story), doc)
					}
				}
			}
		}
	}
}
