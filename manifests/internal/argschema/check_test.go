package argschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Limits{MaxBytes: 64 << 20})
	if err != nil {
		t.Fatalf("%.100s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *Schema {
	t.Helper()
	s, problems, _ := Compile(parse(t, text).(map[string]any))
	if len(problems) > 0 {
		t.Fatalf("%.200s: %v", text, problems)
	}
	return s
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name, schema string
		want         []string // path, kind, start of the reason
	}{
		{"every keyword of the subset", `{
			"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"a":{"type":"null"}},"$ref":"#/$defs/a","title":"t",
			"description":"d","$comment":"c","default":1,"examples":[1],"deprecated":true,"readOnly":true,"writeOnly":false,
			"type":["object","null"],"enum":[1,null],"const":1,"allOf":[true],"anyOf":[{}],"oneOf":[false],"not":{},
			"properties":{"p":{"pattern":"^x$"}},"patternProperties":{"^a$":{}},"additionalProperties":false,"propertyNames":{},"required":["p"],
			"dependentRequired":{"p":["q"]},"minProperties":0,"maxProperties":3,"items":{},"prefixItems":[{}],"contains":{},"minContains":1,
			"maxContains":2,"minItems":0,"maxItems":1.0,"uniqueItems":true,"minLength":0,"maxLength":5,"minimum":0,"maximum":1.5,
			"exclusiveMinimum":-1,"exclusiveMaximum":123456789012345678901234567890,"multipleOf":0.01}`, nil},
		{"format checks nothing", `{"properties":{"mail":{"format":"email"}}}`, []string{"properties/mail/format 1 format is not supported"}},
		{"conditions", `{"if":{},"then":{},"else":{}}`, []string{"else 1 else is not", "if 1 if is not", "then 1 then is not"}},
		{"a keyword of nobody", `{"x-order":1}`, []string{"x-order 1 is not a supported keyword"}},
		{"a misspelt keyword", `{"propertys":{}}`, []string{"propertys 1 is not a supported keyword"}},
		{"a keyword in another case", `{"Type":"object"}`, []string{"Type 1 is not a supported keyword"}},
		{"$id", `{"$id":"https://example.com/x"}`, []string{"$id 1 $id is not supported"}},
		{"another dialect", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, []string{"$schema 2 must be https"}},
		{"$schema below the root", `{"items":{"$schema":"https://json-schema.org/draft/2020-12/schema"}}`, []string{"items/$schema 1 $schema stands"}},
		{"$defs below the root", `{"items":{"$defs":{}}}`, []string{"items/$defs 1 $defs stands"}},

		{"a reference to the web", `{"$ref":"https://example.com/s.json"}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference to a file", `{"$ref":"file:///etc/passwd"}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a relative reference", `{"$ref":"other.json#/$defs/a"}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference to the root", `{"items":{"$ref":"#"}}`, []string{"items/$ref 3 must be #/$defs/NAME"}},
		{"a reference to a property", `{"$ref":"#/properties/a","properties":{"a":{}}}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference into a definition", `{"$ref":"#/$defs/a/items","$defs":{"a":{"items":{}}}}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference in percent escapes", `{"$ref":"#/$defs/%61","$defs":{"a":{}}}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference to nothing", `{"$ref":"#/$defs/b","$defs":{"a":{}}}`, []string{"$ref 3 names a schema"}},
		{"a reference that is no string", `{"$ref":1}`, []string{"$ref 3 must be #/$defs/NAME"}},
		{"a reference with an escaped name", `{"$ref":"#/$defs/a~1b~0c","$defs":{"a/b~c":{}}}`, nil},
		{"a circle of one", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, []string{"$defs/a 3 refers to itself"}},
		{"a circle through allOf and not", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`,
			[]string{"$defs/a 3 refers to itself"}},
		{"a circle that goes down", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"next":{"$ref":"#/$defs/a"}}}}}`, nil},

		{"a type that is none", `{"type":"str"}`, []string{"type 2 must be one of"}},
		{"types in a list", `{"type":["string","string",1]}`, []string{"type/1 2 is named twice", "type/2 2 must be one of"}},
		{"no type", `{"type":[]}`, []string{"type 2 an empty list"}},
		{"an empty enum", `{"enum":[]}`, []string{"enum 2 must be a list of at least one"}},
		{"draft 7 tuples", `{"items":[{}]}`, []string{"items 2 a schema is an object"}},
		{"draft 4 exclusive bounds", `{"exclusiveMinimum":true}`, []string{"exclusiveMinimum 2 must be a number"}},
		{"draft 3 required", `{"properties":{"a":{"required":true}}}`, []string{"properties/a/required 2 must be a list"}},
		{"a name twice", `{"required":["a","a",1]}`, []string{"required/1 2 is named twice", "required/2 2 must be a string"}},
		{"negative and fractional counts", `{"minLength":-1,"maxLength":1.5,"minItems":"1","maxItems":4294967296}`,
			[]string{"maxItems 2 must be a whole", "maxLength 2 must be a whole", "minItems 2 must be a whole", "minLength 2 must be a whole"}},
		{"multiples of nothing", `{"allOf":[{"multipleOf":0},{"multipleOf":-0.5},{"multipleOf":"1"},{"multipleOf":-99999999999999999999}]}`,
			[]string{"allOf/0/multipleOf 2", "allOf/1/multipleOf 2", "allOf/2/multipleOf 2", "allOf/3/multipleOf 2"}},
		{"empty lists of schemas", `{"allOf":[],"anyOf":{},"oneOf":null,"prefixItems":[]}`, []string{"allOf 2", "anyOf 2", "oneOf 2", "prefixItems 2"}},
		{"a string for a schema", `{"properties":{"a":"string"},"not":null}`, []string{"not 2 a schema is", "properties/a 2 a schema is"}},
		{"a list for properties", `{"properties":[]}`, []string{"properties 2 must be an object"}},
		{"annotations of the wrong type", `{"title":1,"description":[],"examples":{},"deprecated":"yes"}`,
			[]string{"deprecated 2", "description 2", "examples 2", "title 2"}},
		{"minContains alone", `{"minContains":2}`, []string{"minContains 6 minContains has no effect"}},

		{"look-ahead", `{"pattern":"^(?=.*a).*$"}`, []string{"pattern 4 RE2 cannot take it: invalid or unsupported Perl syntax"}},
		{"back-reference", `{"pattern":"^(a)\\1$"}`, []string{"pattern 4 RE2 cannot take it: invalid escape sequence"}},
		{"unclosed", `{"patternProperties":{"(":{}}}`, []string{"patternProperties/( 4 RE2 cannot take it: missing closing )"}},
		{"repetitions that multiply", `{"pattern":"^((a{100}){100}){100}$"}`, []string{"pattern 4 RE2 cannot take it: invalid repeat count"}},
		{"a large one", `{"pattern":"^(a{0,90}b{0,90}c{0,90}){10}$"}`, []string{"pattern 4 is too large"}},
		{"no string", `{"pattern":1}`, []string{"pattern 2 must be a string"}},
		{"as many schemas as allowed", `{"prefixItems":[` + strings.Repeat("true,", MaxSubschemas-2) + `true]}`, nil},
		{"one schema too many", `{"prefixItems":[` + strings.Repeat("true,", MaxSubschemas-1) + `true]}`, []string{" 5 consists of more than 1000"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, problems, _ := Compile(parse(t, tt.schema).(map[string]any))
			if (s == nil) != (len(problems) > 0) {
				t.Errorf("schema %v with problems %v", s, problems)
			}
			var got []string
			for i, p := range problems {
				line := fmt.Sprint(strings.Join(p.Path, "/"), " ", p.Kind, " ", p.Reason)
				if i < len(tt.want) && strings.HasPrefix(line, tt.want[i]) {
					line = tt.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		schema string
		want   []string
	}{
		{`{"type":"object"}`, nil},
		{`{"properties":{"a":{}},"additionalProperties":false}`, nil},
		{`{"properties":{"a":{}}}`, []string{" 8"}},
		{`{"pattern":"a"}`, []string{"pattern 7"}},
		{`{"pattern":"^a"}`, []string{"pattern 7"}},
		{`{"pattern":"a$"}`, []string{"pattern 7"}},
		{`{"pattern":"^a|b$"}`, []string{"pattern 7"}},
		{`{"pattern":"(?m)^a$"}`, []string{"pattern 7"}},
		{`{"allOf":[{"pattern":"^a$"},{"pattern":"^(?:a|b)$"},{"pattern":"(^a$|^b$)"},{"pattern":"\\Aa\\z"},{"pattern":"^$"},{"pattern":"^"}]}`,
			[]string{"allOf/5/pattern 7"}},
		{`{"patternProperties":{"x_":{}}}`, []string{"patternProperties/x_ 7"}},
	}
	for _, tt := range tests {
		_, problems, notes := Compile(parse(t, tt.schema).(map[string]any))
		if len(problems) > 0 {
			t.Errorf("%s: %v", tt.schema, problems)
		}
		var got []string
		for _, n := range notes {
			got = append(got, fmt.Sprint(strings.Join(n.Path, "/"), " ", n.Kind))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", tt.schema, diff)
		}
	}
}
