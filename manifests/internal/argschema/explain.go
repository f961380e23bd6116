package argschema

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// explainer turns the library's errors into violations. The library's words
// hold values, so only its locations are used: the keyword and the value are
// looked up again, and the words made from the schema alone.
type explainer struct {
	schema map[string]any
	args   any
	found  []Violation
}

// leaves walks down to the errors that have no finer cause.
func (e *explainer) leaves(ve *jsonschema.ValidationError) {
	schema, keyword, ofName := e.locate(ve.AbsoluteKeywordLocation)
	switch keyword {
	case "anyOf", "oneOf", "minContains":
		// The causes are why each alternative failed: too many to be of use.
	default:
		if len(ve.Causes) > 0 {
			for _, cause := range ve.Causes {
				e.leaves(cause)
			}
			return
		}
	}
	e.one(schema, keyword, steps(ve.InstanceLocation), ofName)
}

// one adds a violation of one keyword of a schema, which may be about the name
// that ends the path instead of about the value.
func (e *explainer) one(schema any, keyword string, at []string, ofName bool) {
	from := len(e.found)
	e.explain(schema, keyword, at)
	if ofName {
		for i := range e.found[from:] {
			e.found[from+i].Rule = "is a name that " + e.found[from+i].Rule
		}
	}
}

// locate follows a keyword location through the schema. It returns the
// innermost schema on the way, the keyword in it ("" for the schema itself), and
// whether that schema is about a property's name.
func (e *explainer) locate(location string) (schema any, keyword string, ofName bool) {
	_, fragment, _ := strings.Cut(location, "#")
	schema = e.schema
	path := steps(fragment)
	for len(path) > 0 {
		object, ok := schema.(map[string]any)
		if !ok {
			return schema, "", ofName
		}
		keyword = path[0]
		path = path[1:]
		inner := object[keyword]
		switch shape(keyword) {
		case plain:
			return schema, keyword, ofName
		case one:
			if len(path) == 0 && keyword != "items" && keyword != "propertyNames" {
				// "not", and additionalProperties: false, are themselves the
				// keyword that failed.
				return schema, keyword, ofName
			}
			schema, ofName = inner, ofName || keyword == "propertyNames"
		case many:
			if len(path) == 0 {
				return schema, keyword, ofName
			}
			list, _ := inner.([]any)
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(list) {
				return schema, keyword, ofName
			}
			schema, path = list[i], path[1:]
		case byName:
			if len(path) == 0 {
				return schema, keyword, ofName
			}
			members, _ := inner.(map[string]any)
			schema, path = members[path[0]], path[1:]
		}
		keyword = ""
	}
	return schema, keyword, ofName
}

// steps splits a pointer of the library's, which is escaped twice.
func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, step := range list {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		list[i] = pointerUnescape.Replace(step)
	}
	return list
}

func (e *explainer) add(path []string, keyword, format string, args ...any) {
	e.found = append(e.found, Violation{Pointer: pointer(path), Keyword: keyword, Rule: fmt.Sprintf(format, args...)})
}

// maxStep is how much of a name a pointer shows, in bytes. Names can be the
// model's own words.
const maxStep = 64

func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		if len(step) > maxStep {
			step = strings.ToValidUTF8(step[:maxStep], "") + "…"
		}
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(step))
	}
	return b.String()
}

// explain adds the violation of one keyword.
func (e *explainer) explain(v any, keyword string, at []string) {
	schema, _ := v.(map[string]any)
	rule := schema[keyword]
	switch keyword {
	case "type":
		e.add(at, keyword, "must be %s", typeWords(rule))
	case "enum":
		e.add(at, keyword, "must be one of %s", shortList(rule.([]any)))
	case "const":
		e.add(at, keyword, "must be %s", shortList([]any{rule}))
	case "required":
		e.required(schema, at)
	case "dependentRequired":
		e.dependent(schema, at)
	case "additionalProperties":
		e.additional(schema, at)
	case "anyOf":
		e.add(at, keyword, "must match at least one of the %d alternatives in anyOf", len(rule.([]any)))
	case "oneOf":
		e.add(at, keyword, "must match exactly one of the %d alternatives in oneOf", len(rule.([]any)))
	case "not":
		e.add(at, keyword, "must not match the schema in not")
	case "contains", "minContains":
		e.add(at, "contains", "has too few items that match contains")
	case "maxContains":
		e.add(at, keyword, "has more than %s items that match contains", short(rule))
	case "":
		e.add(at, "", "is not allowed")
	default:
		if words, ok := ruleWords[keyword]; ok {
			e.add(at, keyword, "%s", strings.Replace(words, "$", short(rule), 1))
		} else {
			e.add(at, keyword, "breaks %s", keyword)
		}
	}
}

// ruleWords say what a keyword asks for; $ is its value in the schema.
var ruleWords = map[string]string{
	"minimum":          "must be at least $",
	"maximum":          "must be at most $",
	"exclusiveMinimum": "must be more than $",
	"exclusiveMaximum": "must be less than $",
	"multipleOf":       "must be a multiple of $",
	"minLength":        "must have at least $ characters",
	"maxLength":        "must have at most $ characters",
	"pattern":          "must match the pattern $",
	"minItems":         "must have at least $ items",
	"maxItems":         "must have at most $ items",
	"uniqueItems":      "must not hold an item twice",
	"minProperties":    "must have at least $ properties",
	"maxProperties":    "must have at most $ properties",
}

func (e *explainer) required(schema map[string]any, at []string) {
	object, _ := e.value(at).(map[string]any)
	names, _ := schema["required"].([]any)
	for _, name := range names {
		if _, ok := object[name.(string)]; !ok {
			e.add(append(slices.Clip(at), name.(string)), "required", "is required")
		}
	}
}

func (e *explainer) dependent(schema map[string]any, at []string) {
	object, _ := e.value(at).(map[string]any)
	rules, _ := schema["dependentRequired"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if _, ok := object[name]; !ok {
			continue
		}
		for _, needed := range rules[name].([]any) {
			if _, ok := object[needed.(string)]; !ok {
				e.add(append(slices.Clip(at), needed.(string)), "dependentRequired", "is required beside %s", short(name))
			}
		}
	}
}

func (e *explainer) additional(schema map[string]any, at []string) {
	object, _ := e.value(at).(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	var compiled []*regexp.Regexp
	for pattern := range patterns {
		if re, err := regexp.Compile(pattern); err == nil {
			compiled = append(compiled, re)
		}
	}
	for name := range object {
		_, ok := known[name]
		if !ok && !slices.ContainsFunc(compiled, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
			e.add(append(slices.Clip(at), name), "additionalProperties", "is not a property that the schema knows")
		}
	}
}

// value looks up a value of the arguments; nil when there is none.
func (e *explainer) value(path []string) any {
	v := e.args
	for _, step := range path {
		switch container := v.(type) {
		case map[string]any:
			v = container[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(container) {
				return nil
			}
			v = container[i]
		default:
			return nil
		}
	}
	return v
}

func typeWords(rule any) string {
	article := func(name any) string {
		switch name {
		case "integer", "array", "object":
			return fmt.Sprint("an ", name)
		case "null":
			return "null"
		}
		return fmt.Sprint("a ", name)
	}
	several, ok := rule.([]any)
	if !ok {
		return article(rule)
	}
	words := make([]string, len(several))
	for i, name := range several {
		words[i] = article(name)
	}
	return strings.Join(words, " or ")
}

// maxRule is how much of a schema's value a message shows, in bytes.
const maxRule = 200

// short writes a value of the schema.
func short(v any) string {
	text := canonicalText(v)
	if s, ok := v.(string); ok && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		text = s
	}
	if len(text) > maxRule {
		text = text[:maxRule] + "…"
	}
	return text
}

// shortList writes values of the schema, as many as there is room for.
func shortList(values []any) string {
	var b strings.Builder
	for i, v := range values {
		text, err := canonjson.Append(nil, v)
		if err != nil || b.Len()+len(text) > maxRule {
			fmt.Fprintf(&b, " … (%d in all)", len(values))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(text)
	}
	return strings.TrimSpace(b.String())
}
