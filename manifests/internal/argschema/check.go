package argschema

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Dialect is the only value that $schema may have.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// MaxSubschemas is how many schemas one schema may consist of, itself
// included. The library's time to compile grows faster than their number.
const MaxSubschemas = 1000

// checker walks a schema and collects what is wrong with it.
type checker struct {
	root       map[string]any
	problems   []Problem
	notes      []Problem
	subschemas int
	// inPlace has, for each schema, the schemas that it applies to the same
	// value, by path; it is what must not run in a circle.
	inPlace map[string][]string
}

// check reports everything that is wrong with root.
func check(root map[string]any) *checker {
	c := &checker{root: root, inPlace: map[string][]string{}}
	c.schema(root, nil)
	if c.subschemas > MaxSubschemas {
		c.problem(TooLarge, nil, "consists of more than %d schemas", MaxSubschemas)
	}
	c.circles()
	if _, named := root["properties"]; named && root["additionalProperties"] == nil {
		c.note(NoteOpen, nil, "accepts arguments that it does not name; additionalProperties: false refuses them")
	}
	return c
}

// schema checks one schema. path is only valid during the call.
func (c *checker) schema(v any, path []string) {
	if c.subschemas++; c.subschemas > MaxSubschemas {
		return
	}
	if _, ok := v.(bool); ok {
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		c.problem(Value, path, "a schema is an object, true or false")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := append(path, name)
		if check := checkOf(name); check != nil {
			check(c, object[name], at)
		} else {
			c.unknown(name, at)
		}
	}
	c.inert(object, path)
}

// unknown says why a keyword is not in the subset, where that helps.
func (c *checker) unknown(name string, at []string) {
	if why, ok := refused[name]; ok {
		c.problem(Keyword, at, "%s is not supported: %s", name, why)
		return
	}
	c.problem(Keyword, at, "is not a supported keyword of JSON Schema")
}

// refused are keywords of JSON Schema, old and new, that authors may miss.
var refused = map[string]string{
	"format":                "2020-12 does not check it; use pattern",
	"if":                    "use anyOf, allOf and not",
	"then":                  "use anyOf, allOf and not",
	"else":                  "use anyOf, allOf and not",
	"dependentSchemas":      "use anyOf",
	"dependencies":          "use dependentRequired",
	"definitions":           "use $defs",
	"additionalItems":       "use items beside prefixItems",
	"unevaluatedProperties": "use additionalProperties",
	"unevaluatedItems":      "use items",
	"contentEncoding":       "it checks nothing",
	"contentMediaType":      "it checks nothing",
	"contentSchema":         "it checks nothing",
	"$id":                   "a schema stands alone",
	"$anchor":               "use $defs",
	"$dynamicRef":           "use $ref",
	"$dynamicAnchor":        "use $defs",
	"$recursiveRef":         "use $ref",
	"$recursiveAnchor":      "use $defs",
	"$vocabulary":           "a schema stands alone",
	"nullable":              "use type: [..., null]",
}

// inert refuses keywords that the standard makes depend on another one.
func (c *checker) inert(object map[string]any, path []string) {
	if _, ok := object["contains"]; !ok {
		for _, name := range []string{"minContains", "maxContains"} {
			if _, ok := object[name]; ok {
				c.problem(Inert, append(path, name), "%s has no effect without contains", name)
			}
		}
	}
}

// checkOf is the subset: how a keyword is checked, nil for one outside of it.
func checkOf(name string) func(c *checker, v any, at []string) {
	switch name {
	case "$schema":
		return (*checker).dialect
	case "$defs":
		return (*checker).defs
	case "$ref":
		return (*checker).ref
	case "type":
		return (*checker).types
	case "enum":
		return (*checker).enum
	case "allOf", "anyOf", "oneOf":
		return inPlaceList
	case "not":
		return inPlaceSchema
	case "properties":
		return named
	case "patternProperties":
		return patternNamed
	case "additionalProperties", "propertyNames", "items", "contains":
		return below
	case "prefixItems":
		return belowList
	case "required":
		return (*checker).names
	case "dependentRequired":
		return dependent
	case "minProperties", "maxProperties", "minContains", "maxContains", "minItems", "maxItems", "minLength", "maxLength":
		return counted
	case "pattern":
		return (*checker).pattern
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return number
	case "multipleOf":
		return positive
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return boolean
	case "title", "description", "$comment":
		return text
	case "examples":
		return list
	case "const", "default":
		return anything
	}
	return nil
}

// annotations are the keywords that check nothing.
var annotations = map[string]bool{
	"title": true, "description": true, "$comment": true, "default": true, "examples": true, "deprecated": true, "readOnly": true,
	"writeOnly": true,
}

func (c *checker) dialect(v any, at []string) {
	if len(at) > 1 {
		c.problem(Keyword, at, "$schema stands at the root only")
	} else if s, _ := v.(string); strings.TrimSuffix(s, "#") != Dialect {
		c.problem(Value, at, "must be %s", Dialect)
	}
}

func (c *checker) defs(v any, at []string) {
	if len(at) > 1 {
		c.problem(Keyword, at, "$defs stands at the root only")
		return
	}
	named(c, v, at)
}

const refPrefix = "#/$defs/"

func (c *checker) ref(v any, at []string) {
	s, ok := v.(string)
	name := strings.TrimPrefix(s, refPrefix)
	if !ok || name == s || name == "" || strings.ContainsAny(name, "/%") {
		c.problem(Reference, at, "must be %sNAME: nothing is loaded from elsewhere", refPrefix)
		return
	}
	defs, _ := c.root["$defs"].(map[string]any)
	name = refName(s)
	if _, ok := defs[name]; !ok {
		c.problem(Reference, at, "names a schema that $defs does not have")
		return
	}
	c.applies(at, []string{"$defs", name})
}

// refName is the name of the definition that a reference leads to.
func refName(ref string) string {
	return pointerUnescape.Replace(strings.TrimPrefix(ref, refPrefix))
}

// applies notes that the schema with keyword at applies target to the same
// value.
func (c *checker) applies(at, target []string) {
	from, to := pathKey(at[:len(at)-1]), pathKey(target)
	c.inPlace[from] = append(c.inPlace[from], to)
}

func pathKey(path []string) string { return strings.Join(path, "\x00") }

// TypeNames are what type can be.
var TypeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func (c *checker) types(v any, at []string) {
	one := func(v any, at []string) {
		if s, ok := v.(string); !ok || !slices.Contains(TypeNames, s) {
			c.problem(Value, at, "must be one of %s", strings.Join(TypeNames, ", "))
		}
	}
	several, ok := v.([]any)
	if !ok {
		one(v, at)
		return
	}
	if len(several) == 0 {
		c.problem(Value, at, "an empty list allows no value")
	}
	for i, v := range several {
		one(v, append(at, strconv.Itoa(i)))
		if slices.Contains(several[:i], v) {
			c.problem(Value, append(at, strconv.Itoa(i)), "is named twice")
		}
	}
}

func (c *checker) enum(v any, at []string) {
	if values, ok := v.([]any); !ok || len(values) == 0 {
		c.problem(Value, at, "must be a list of at least one value")
	}
}

func anything(*checker, any, []string) {}

func text(c *checker, v any, at []string) {
	if _, ok := v.(string); !ok {
		c.problem(Value, at, "must be a string")
	}
}

func list(c *checker, v any, at []string) {
	if _, ok := v.([]any); !ok {
		c.problem(Value, at, "must be a list")
	}
}

func boolean(c *checker, v any, at []string) {
	if _, ok := v.(bool); !ok {
		c.problem(Value, at, "must be true or false")
	}
}

func number(c *checker, v any, at []string) {
	if !isNumber(v) {
		c.problem(Value, at, "must be a number")
	}
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64, *big.Int:
		return true
	}
	return false
}

func positive(c *checker, v any, at []string) {
	switch v := v.(type) {
	case int64:
		if v > 0 {
			return
		}
	case float64:
		if v > 0 {
			return
		}
	case *big.Int:
		if v.Sign() > 0 {
			return
		}
	}
	c.problem(Value, at, "must be a number above zero")
}

// maxCount is the largest count that the library keeps exactly on every
// platform.
const maxCount = 1<<31 - 1

// asCount reads a count, which JSON Schema lets one write as 3.0 too.
func asCount(v any) (int64, bool) {
	n, ok := v.(int64)
	if f, isFloat := v.(float64); isFloat && f == float64(int64(f)) {
		n, ok = int64(f), true
	}
	return n, ok && n >= 0 && n <= maxCount
}

func counted(c *checker, v any, at []string) {
	if _, ok := asCount(v); !ok {
		c.problem(Value, at, "must be a whole number from 0 to %d", maxCount)
	}
}

func (c *checker) names(v any, at []string) {
	names, ok := v.([]any)
	if !ok {
		c.problem(Value, at, "must be a list of names")
		return
	}
	seen := map[string]bool{}
	for i, v := range names {
		s, ok := v.(string)
		switch {
		case !ok:
			c.problem(Value, append(at, strconv.Itoa(i)), "must be a string")
		case seen[s]:
			c.problem(Value, append(at, strconv.Itoa(i)), "is named twice")
		}
		seen[s] = true
	}
}

func dependent(c *checker, v any, at []string) {
	c.each(v, at, func(v any, at []string) { c.names(v, at) })
}

func named(c *checker, v any, at []string) {
	c.each(v, at, func(v any, at []string) { c.schema(v, at) })
}

func patternNamed(c *checker, v any, at []string) {
	c.each(v, at, func(v any, at []string) {
		c.pattern(at[len(at)-1], at)
		c.schema(v, at)
	})
}

// each calls f for every member of an object, in order of their names.
func (c *checker) each(v any, at []string, f func(any, []string)) {
	object, ok := v.(map[string]any)
	if !ok {
		c.problem(Value, at, "must be an object")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f(object[name], append(at, name))
	}
}

func below(c *checker, v any, at []string) { c.schema(v, at) }

func belowList(c *checker, v any, at []string) { c.list(v, at, func([]string) {}) }

func inPlaceSchema(c *checker, v any, at []string) {
	c.applies(at, at)
	c.schema(v, at)
}

func inPlaceList(c *checker, v any, at []string) {
	c.list(v, at, func(item []string) { c.applies(at, item) })
}

func (c *checker) list(v any, at []string, each func(at []string)) {
	schemas, ok := v.([]any)
	if !ok || len(schemas) == 0 {
		c.problem(Value, at, "must be a list of at least one schema")
		return
	}
	for i, v := range schemas {
		item := append(at, strconv.Itoa(i))
		each(item)
		c.schema(v, item)
	}
}

// circles refuses schemas that apply themselves to the same value, which could
// never be decided. Going down into the value first is fine.
func (c *checker) circles() {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(key string)
	visit = func(key string) {
		state[key] = visiting
		for _, next := range c.inPlace[key] {
			switch state[next] {
			case visiting:
				c.problem(Reference, strings.Split(next, "\x00"), "refers to itself without going down into the value")
			case 0:
				visit(next)
			}
		}
		state[key] = done
	}
	for _, key := range slices.Sorted(maps.Keys(c.inPlace)) {
		if state[key] == 0 {
			visit(key)
		}
	}
}

var (
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
)
