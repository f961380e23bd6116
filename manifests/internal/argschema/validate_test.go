package argschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const refund = `{"type":"object","properties":{
	"order_id":{"type":"string","pattern":"^A-[0-9]{4}$"},
	"amount_usd":{"type":"number","minimum":0}},"required":["order_id","amount_usd"]}`

func TestValidate(t *testing.T) {
	tree := `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},
		"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"additionalProperties":false}}}`
	tests := []struct {
		name, schema, args string
		want               []string // pointer, keyword, rule
	}{
		{"valid", refund, `{"order_id":"A-1001","amount_usd":5}`, nil},
		{"all at once, in order", refund, `{"order_id":"B-1","amount_usd":-1}`, []string{
			"/amount_usd minimum must be at least 0", "/order_id pattern must match the pattern ^A-[0-9]{4}$"}},
		{"missing", refund, `{}`, []string{"/amount_usd required is required", "/order_id required is required"}},
		{"null is not missing", refund, `{"order_id":null,"amount_usd":1}`, []string{"/order_id type must be a string"}},
		{"true is not 1", refund, `{"order_id":"A-0001","amount_usd":true}`, []string{"/amount_usd type must be a number"}},
		{"a string is not a number", refund, `{"order_id":"A-0001","amount_usd":"1"}`, []string{"/amount_usd type must be a number"}},
		{"$ does not match before a line feed", refund, `{"order_id":"A-0001\n","amount_usd":1}`, []string{"/order_id pattern must match the pattern ^A-[0-9]{4}$"}},
		{"not an object", refund, `[]`, []string{" type must be an object"}},
		{"several types", `{"type":["integer","null","array"]}`, `"x"`, []string{" type must be an integer or null or an array"}},

		{"1.0 is an integer", `{"type":"integer"}`, `1.0`, nil},
		{"1.5 is none", `{"type":"integer"}`, `1.5`, []string{" type must be an integer"}},
		{"an integer of any size", `{"type":"integer","maximum":123456789012345678901234567890}`, `123456789012345678901234567890`, nil},
		{"compared exactly", `{"maximum":123456789012345678901234567889}`, `123456789012345678901234567890`,
			[]string{" maximum must be at most 123456789012345678901234567889"}},
		{"beyond what a float can tell apart", `{"exclusiveMaximum":9007199254740993}`, `9007199254740993`,
			[]string{" exclusiveMaximum must be less than 9007199254740993"}},
		{"multiples of decimals", `{"multipleOf":0.1}`, `0.3`, nil},
		{"multiples of cents", `{"multipleOf":0.01}`, `[19.99,0.1]`, nil},
		{"not a multiple", `{"items":{"multipleOf":0.01}}`, `[19.999]`, []string{"/0 multipleOf must be a multiple of 0.01"}},

		{"const and enum compare by value", `{"items":{"enum":[1,"a",{"x":[1,2]},12345678901234567890]}}`, `[1.0,"a",{"x":[1.0,2]},12345678901234567890]`, nil},
		{"true is not 1 in an enum", `{"enum":[1,"x"]}`, `true`, []string{` enum must be one of 1, "x"`}},
		{"an enum of one", `{"enum":["only"]}`, `"other"`, []string{` enum must be one of "only"`}},
		{"const", `{"const":{"a":null}}`, `{"a":1}`, []string{` const must be {"a":null}`}},
		{"const null", `{"const":null}`, `0`, []string{` const must be null`}},
		{"enum and const together", `{"enum":[1,2],"const":2}`, `1`, []string{` const must be 2`}},
		{"a long enum is cut", `{"enum":["` + strings.Repeat("a", 150) + `","` + strings.Repeat("b", 100) + `"]}`, `1`,
			[]string{` enum must be one of "` + strings.Repeat("a", 150) + `" … (2 in all)`}},

		{"unique items", `{"uniqueItems":true}`, `[1,"1",true,null,[1],[],{"a":1},{"a":2}]`, nil},
		{"equal items", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1.0}]`, []string{" uniqueItems must not hold an item twice"}},
		{"equal large integers", `{"uniqueItems":true}`, `[123456789012345678901,123456789012345678901]`, []string{" uniqueItems must not hold an item twice"}},
		{"uniqueItems inside not", `{"not":{"uniqueItems":true}}`, `[1,1]`, nil},

		{"lengths count characters", `{"minLength":2,"maxLength":2}`, `"😀é"`, nil},
		{"too long", `{"maxLength":1}`, `"ab"`, []string{" maxLength must have at most 1 characters"}},
		{"unknown property", `{"properties":{"a":{}},"patternProperties":{"^x_":{}},"additionalProperties":false}`, `{"a":1,"x_b":2,"c":3,"d/e":4}`, []string{
			"/c additionalProperties is not a property that the schema knows", "/d~1e additionalProperties is not a property that the schema knows"}},
		{"additional by schema", `{"additionalProperties":{"type":"string"}}`, `{"a":1}`, []string{"/a type must be a string"}},
		{"names", `{"propertyNames":{"maxLength":3}}`, `{"abcd":1}`, []string{"/abcd maxLength is a name that must have at most 3 characters"}},
		{"a property of no value", `{"properties":{"a":false}}`, `{"a":1}`, []string{"/a  is not allowed"}},
		{"no items", `{"items":false}`, `[1]`, []string{"/0  is not allowed"}},
		{"prefix then items", `{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a",1,"b"]`, []string{"/2 type must be a number"}},
		{"contains", `{"contains":{"const":1}}`, `[2,3]`, []string{" contains has too few items that match contains"}},
		{"maxContains", `{"contains":{"const":1},"maxContains":1}`, `[1,1]`, []string{" maxContains has more than 1 items that match contains"}},
		{"minContains 0", `{"contains":{"const":1},"minContains":0}`, `[]`, nil},
		{"dependent", `{"dependentRequired":{"card":["cvc"]}}`, `{"card":1}`, []string{"/cvc dependentRequired is required beside card"}},
		{"anyOf", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{" anyOf must match at least one of the 2 alternatives in anyOf"}},
		{"oneOf, none", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{" oneOf must match exactly one of the 2 alternatives in oneOf"}},
		{"oneOf, two", `{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `1`, []string{" oneOf must match exactly one of the 2 alternatives in oneOf"}},
		{"not", `{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, []string{"/a not must not match the schema in not"}},
		{"allOf names the leaf", `{"allOf":[{"type":"object"},{"required":["a"]}]}`, `{}`, []string{"/a required is required"}},
		{"through a reference", tree, `{"v":1,"kids":[{"v":2},{"v":"x","kids":[]},{"k":0}]}`, []string{
			"/kids/1/v type must be an integer", "/kids/2/k additionalProperties is not a property that the schema knows", "/kids/2/v required is required"}},
		{"properties that look like keywords", `{"properties":{"anyOf":{"properties":{"not":{"type":"string"}}}}}`, `{"anyOf":{"not":1}}`,
			[]string{"/anyOf/not type must be a string"}},
		{"odd names", `{"properties":{"a b/%2F~#é?":{"type":"string"}}}`, `{"a b/%2F~#é?":1}`, []string{"/a b~1%2F~0#é? type must be a string"}},
		{"a long name is cut", `{"additionalProperties":false}`, `{"` + strings.Repeat("n", 100) + `":1}`, []string{
			"/" + strings.Repeat("n", 64) + "… additionalProperties is not a property that the schema knows"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, v := range compile(t, tt.schema).Validate(parse(t, tt.args)) {
				got = append(got, fmt.Sprintf("%s %s %s", v.Pointer, v.Keyword, v.Rule))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViolationsAreBounded(t *testing.T) {
	got := compile(t, `{"items":{"type":"string"}}`).Validate(parse(t, `[`+strings.Repeat("1,", 99)+`1]`))
	if len(got) != MaxViolations+1 || got[MaxViolations].Rule != "breaks 80 more rules" {
		t.Errorf("%d violations, the last %v", len(got), got[len(got)-1])
	}
}

// TestViolationsHoldNoValue plants a word in every argument.
func TestViolationsHoldNoValue(t *testing.T) {
	const secret = "hunter2"
	for _, schema := range []string{
		`{"type":"integer"}`, `{"enum":["a"]}`, `{"const":1}`, `{"pattern":"^a$"}`, `{"maxLength":1}`, `{"minLength":100}`, `{"not":{"type":"string"}}`,
		`{"anyOf":[{"type":"null"}]}`, `{"oneOf":[{"type":"null"}]}`, `{"allOf":[{"type":"null"}]}`,
	} {
		for _, v := range compile(t, `{"properties":{"a":`+schema+`}}`).Validate(parse(t, `{"a":"hunter2"}`)) {
			if strings.Contains(v.String(), secret) {
				t.Errorf("%s: %s", schema, v)
			}
		}
	}
	const number = "31337"
	for _, schema := range []string{`{"type":"string"}`, `{"minimum":99999999}`, `{"maximum":1}`, `{"multipleOf":2}`, `{"exclusiveMaximum":5}`} {
		for _, v := range compile(t, schema).Validate(parse(t, number)) {
			if strings.Contains(v.String(), number) {
				t.Errorf("%s: %s", schema, v)
			}
		}
	}
}

// TestNothingIsLoaded shows that the loader in the library's compiler refuses,
// whatever check lets through.
func TestNothingIsLoaded(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "https://example.com/s", "http://json-schema.org/draft-07/schema#", "other.json"} {
		if s, err := compileLibrary(map[string]any{"$ref": ref}); err == nil && ref != "http://json-schema.org/draft-07/schema#" {
			t.Errorf("%s: compiled to %v", ref, s)
		} else if err != nil && strings.Contains(err.Error(), "root:") {
			t.Errorf("%s: the file was read: %v", ref, err)
		}
	}
}

// TestSchemasThatMultiply checks schemas whose evaluation would take years.
func TestSchemasThatMultiply(t *testing.T) {
	var chain strings.Builder
	for i := range 100 {
		fmt.Fprintf(&chain, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	inPlace := func(leaf string) string {
		return `{"$ref":"#/$defs/d0","$defs":{` + chain.String() + `"d100":` + leaf + `}}`
	}
	byDepth := `{"$ref":"#/$defs/r","$defs":{"r":{"allOf":[{"properties":{"a":{"$ref":"#/$defs/r"}}},{"properties":{"a":{"$ref":"#/$defs/r"}}}],
		"propertyNames":{"maxLength":1}}}}`
	const refusal = "would take more than 4000000 steps to check"
	tests := []struct{ name, schema, args, want string }{
		{"in place, valid", inPlace(`{"type":"string"}`), `"x"`, refusal},
		{"in place, not valid", inPlace(`{"type":"string"}`), `1`, "must be a string"},
		{"in place, in names", inPlace(`{"propertyNames":{"maxLength":1}}`), `{"a":1}`, refusal},
		{"by depth, valid", byDepth, deep, refusal},
		{"by depth, not valid", byDepth, `{"aa":` + deep + `}`, "/aa is a name that must have at most 1 characters"},
		{"by depth, in the only alternative", `{"$ref":"#/$defs/r","$defs":{"r":{"oneOf":[{"patternProperties":{"^.$":{"$ref":"#/$defs/r"}}},
			{"additionalProperties":{"$ref":"#/$defs/r"}},{"not":{"$ref":"#/$defs/s"}}]},"s":{"properties":{"a":{"$ref":"#/$defs/r"}}}}}`, deep, refusal},
		{"by depth, in arrays", `{"$ref":"#/$defs/r","$defs":{"r":{"items":{"allOf":[{"$ref":"#/$defs/r"},{"$ref":"#/$defs/r"}]}}}}`,
			strings.Repeat("[", 60) + strings.Repeat("]", 60), refusal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := compile(t, tt.schema).Validate(parse(t, tt.args))
			if len(got) != 1 || got[0].String() != tt.want {
				t.Errorf("violations %v, want %s", got, tt.want)
			}
		})
	}
}

// TestLargeArguments: of arguments with many values only the first violation is
// told, always the same one, and without an error for each value.
func TestLargeArguments(t *testing.T) {
	rows := strings.Repeat(`{"id":1,"v":2.5},`, 20_000)
	s := compile(t, `{"properties":{"rows":{"items":{"type":"object","properties":{"id":{"type":"string"},"v":{"type":"null"}}}}}}`)
	for range 3 {
		got := s.Validate(parse(t, `{"rows":[`+rows+`{}]}`))
		want := []Violation{{Pointer: "/rows/0/id", Keyword: "type", Rule: "must be a string"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("violations (-want +got):\n%s", diff)
		}
	}
	if got := s.Validate(parse(t, `{"rows":[`+strings.Repeat(`{"id":"a","v":null},`, 20_000)+`{}]}`)); got != nil {
		t.Errorf("violations %v of valid arguments", got)
	}
}

// TestSchemaThatRefersInsideItself is for a bug of a first version of costs:
// the closure of a schema was read before it was complete.
func TestSchemaThatRefersInsideItself(t *testing.T) {
	s := compile(t, `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/b"}}},"b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/c"}]},
		"c":{"type":"object"}}}`)
	if v := s.Validate(parse(t, `{"x":{"x":{"x":{}}}}`)); v != nil {
		t.Error(v)
	}
	if v := s.Validate(parse(t, `{"x":{"x":{"x":1}}}`)); len(v) != 1 {
		t.Errorf("violations %v, want one", v)
	}
	b := s.lib.AllOf[0].Ref.Properties["x"].Ref
	if n := len(s.costs.inPlace[b]); n != 5 {
		t.Errorf("b is applied together with %d schemas, want 5: itself, two references and their targets", n)
	}
}

// TestEnumAndUniqueItemsAreLinear would take minutes if either compared pairs.
func TestEnumAndUniqueItemsAreLinear(t *testing.T) {
	var values, collide strings.Builder
	for i := range 1 << 14 {
		fmt.Fprintf(&values, `"v%d",`, i)
		// The library hashes a list as the bytes of its strings with a 3 before
		// each, so that a 3 inside a string looks like the start of the next.
		collide.WriteString(`["`)
		for bit := range 14 {
			if i>>bit&1 == 1 {
				collide.WriteString(`a","`)
			} else {
				collide.WriteString(`a\u0003`)
			}
		}
		collide.WriteString(`a"],`)
	}
	list := "[" + strings.TrimSuffix(values.String(), ",") + "]"
	if v := compile(t, `{"items":{"enum":`+list+`}}`).Validate(parse(t, list)); v != nil {
		t.Error(v)
	}
	if v := compile(t, `{"uniqueItems":true}`).Validate(parse(t, "["+strings.TrimSuffix(collide.String(), ",")+"]")); v != nil {
		t.Error(v)
	}
}

func BenchmarkValidate(b *testing.B) {
	s := compile(b, refund)
	args := parse(b, `{"order_id":"A-1001","amount_usd":129.5}`)
	b.ReportAllocs()
	for b.Loop() {
		if v := s.Validate(args); v != nil {
			b.Fatal(v)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	root := parse(b, refund).(map[string]any)
	b.ReportAllocs()
	for b.Loop() {
		if _, problems, _ := Compile(root); problems != nil {
			b.Fatal(problems)
		}
	}
}
