package manifests

import (
	_ "embed"
	"slices"

	"github.com/mayfly-run/mayfly/manifests/internal/argschema"
)

// The JSON Schemas of the formats, for editors. They are made from the tables
// that read the formats; TestSchemaMatchesTypes keeps the files in step.
//
//go:generate go test -run TestSchemaMatchesTypes -update .

var (
	//go:embed schema/tool.schema.json
	toolSchemaText string
	//go:embed schema/harness.schema.json
	harnessSchemaText string
)

// PublishedSchema gives the JSON Schema of documents of a kind, "" for a kind
// that does not exist. It accepts every manifest that [Parse] accepts; Parse
// checks more than JSON Schema can say.
func PublishedSchema(kind string) string {
	switch kind {
	case KindTool:
		return toolSchemaText
	case KindHarness:
		return harnessSchemaText
	}
	return ""
}

// toolSchema is what schema/tool.schema.json holds.
func toolSchema() object {
	s := newTool().fields().schema()
	properties := s.get("properties").(object)
	for i, m := range properties {
		if m.name == "spec" {
			properties[i].value = append(m.value.(object), member{"allOf", transportRules()})
		}
	}
	return slices.Concat(object{
		{"$schema", argschema.Dialect},
		{"title", "Tool manifest, " + APIVersion},
		{"description", "What a model is told a tool does, how it is reached, what it may touch, and when a person must approve a call."},
	}, s, object{{"$defs", inputSchemaDefs()}})
}

// harnessSchema is what schema/harness.schema.json holds.
func harnessSchema() object {
	return slices.Concat(object{
		{"$schema", argschema.Dialect},
		{"title", "Harness, " + APIVersion},
		{"description", "Which tools there are, and the operator's policy and limits for all of them."},
	}, NewHarness().fields().schema())
}

// transportRules say which fields go with which transport.
func transportRules() []any {
	var rules []any
	for _, t := range []Transport{TransportNative, TransportHTTP, TransportCode, TransportMCP} {
		is := object{{"properties", object{{"transport", object{{"const", string(t)}}}}}}
		if t != TransportNative { // the default: it is meant when there is no transport
			is = append(is, member{"required", []any{"transport"}})
		}
		required, others := []any{}, object{}
		for _, o := range owners {
			switch {
			case o.transport != t:
				others = append(others, member{o.field, false})
			case o.required:
				required = append(required, o.field)
			}
		}
		rules = append(rules, object{{"if", is}, {"then", object{{"required", required}, {"properties", others}}}})
	}
	return rules
}

// inputSchemaDefs describe the subset of JSON Schema that input_schema may use.
func inputSchemaDefs() object {
	ref := object{{"$ref", "#/$defs/schema"}}
	refs := object{{"type", "array"}, {"minItems", int64(1)}, {"items", ref}}
	named := object{{"type", "object"}, {"additionalProperties", ref}}
	names := object{{"type", "array"}, {"items", object{{"type", "string"}}}, {"uniqueItems", true}}
	count := object{{"type", "integer"}, {"minimum", int64(0)}}
	number := object{{"type", "number"}}
	text := object{{"type", "string"}}
	flag := object{{"type", "boolean"}}
	var types []any
	for _, name := range argschema.TypeNames {
		types = append(types, name)
	}
	one := object{{"enum", types}}

	keywords := object{
		{"type", object{{"anyOf", []any{one, object{{"type", "array"}, {"minItems", int64(1)}, {"uniqueItems", true}, {"items", one}}}}}},
		{"enum", object{{"type", "array"}, {"minItems", int64(1)}}},
		{"const", true},
		{"allOf", refs}, {"anyOf", refs}, {"oneOf", refs}, {"not", ref},
		{"$ref", object{{"type", "string"}, {"pattern", `^#/\$defs/[^/%]+$`}}},
		{"properties", named}, {"patternProperties", named}, {"additionalProperties", ref}, {"propertyNames", ref}, {"required", names},
		{"dependentRequired", object{{"type", "object"}, {"additionalProperties", names}}}, {"minProperties", count}, {"maxProperties", count},
		{"items", ref}, {"prefixItems", refs}, {"contains", ref}, {"minContains", count}, {"maxContains", count}, {"minItems", count},
		{"maxItems", count}, {"uniqueItems", flag},
		{"minLength", count}, {"maxLength", count},
		{"pattern", object{{"type", "string"}, {"description", "RE2; matches anywhere in the text unless anchored with ^ and $."}}},
		{"minimum", number}, {"maximum", number}, {"exclusiveMinimum", number}, {"exclusiveMaximum", number},
		{"multipleOf", object{{"type", "number"}, {"exclusiveMinimum", int64(0)}}},
		{"title", text}, {"description", text}, {"$comment", text}, {"default", true}, {"examples", object{{"type", "array"}}},
		{"deprecated", flag}, {"readOnly", flag}, {"writeOnly", flag},
	}
	root := object{{"$schema", object{{"enum", []any{argschema.Dialect, argschema.Dialect + "#"}}}}, {"$defs", named}}
	for _, k := range keywords {
		if k.name == "type" {
			k.value = object{{"const", "object"}}
		}
		root = append(root, k)
	}
	return object{
		{"input_schema", object{
			{"description", "The arguments of a call: an object."}, {"type", "object"}, {"properties", root}, {"additionalProperties", false},
		}},
		{"schema", object{
			{"description", "A schema in the subset of JSON Schema 2020-12 that is fully checked."},
			{"type", []any{"object", "boolean"}}, {"properties", keywords}, {"additionalProperties", false},
		}},
	}
}
