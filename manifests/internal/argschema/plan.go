package argschema

import (
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// plan is a schema made ready to say yes. Nearly all arguments are valid, some
// have a hundred thousand rows, and the library allocates for every value that
// it looks at. So the plan decides, and the library, which keeps track of where
// it is, is asked only for what is wrong. FuzzAgree holds the two against each
// other; where they should ever differ, both have to say yes.
type plan struct {
	raw    any // the schema, for messages
	never  bool
	types  typeSet
	enum   *values
	exact  *values // const
	ref    *plan
	allOf  []*plan
	anyOf  []*plan
	oneOf  []*plan
	not    *plan
	number *numberPlan
	text   *textPlan
	array  *arrayPlan
	object *objectPlan
}

type numberPlan struct {
	min, max, above, below any // int64, *big.Int or float64; nil: no bound
	multiple               any
}

type textPlan struct {
	min, max int64
	pattern  *regexp.Regexp
}

type arrayPlan struct {
	min, max     int64
	unique       bool
	prefix       []*plan
	items        *plan
	contains     *plan
	fewest, most int64 // of contains
}

type objectPlan struct {
	min, max   int64
	required   []string
	dependent  map[string][]string
	properties map[string]*plan
	patterns   []patternPlan
	additional *plan
	names      *plan
}

type patternPlan struct {
	re   *regexp.Regexp
	plan *plan
}

// values are values in canonical form; strings also as they are.
type values struct {
	texts   map[string]struct{}
	strings map[string]struct{}
}

// planner turns schemas into plans. Definitions are made once.
type planner struct {
	defs map[string]any
	done map[string]*plan
}

func newPlan(root map[string]any) *plan {
	defs, _ := root["$defs"].(map[string]any)
	return (&planner{defs: defs, done: map[string]*plan{}}).plan(root)
}

// plan makes the plan of a schema that check has passed.
func (r *planner) plan(schema any) *plan {
	p := &plan{}
	r.fill(p, schema)
	return p
}

func (r *planner) fill(p *plan, schema any) {
	p.raw = schema
	s, ok := schema.(map[string]any)
	if !ok {
		p.never = schema == false
		return
	}
	p.types = typesOf(s["type"])
	if list, ok := s["enum"].([]any); ok {
		p.enum = newValues(list)
	}
	if constant, ok := s["const"]; ok {
		p.exact = newValues([]any{constant})
	}
	p.ref = r.ref(s["$ref"])
	p.allOf, p.anyOf, p.oneOf = r.list(s["allOf"]), r.list(s["anyOf"]), r.list(s["oneOf"])
	p.not = r.optional(s, "not")
	if has(s, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		p.number = &numberPlan{s["minimum"], s["maximum"], s["exclusiveMinimum"], s["exclusiveMaximum"], s["multipleOf"]}
	}
	if has(s, "minLength", "maxLength", "pattern") {
		p.text = &textPlan{min: limit(s, "minLength", 0), max: limit(s, "maxLength", math.MaxInt64)}
		if pattern, ok := s["pattern"].(string); ok {
			p.text.pattern = regexp.MustCompile(pattern)
		}
	}
	if has(s, "minItems", "maxItems", "uniqueItems", "prefixItems", "items", "contains") {
		p.array = &arrayPlan{
			min: limit(s, "minItems", 0), max: limit(s, "maxItems", math.MaxInt64), unique: s["uniqueItems"] == true,
			prefix: r.list(s["prefixItems"]), items: r.optional(s, "items"), contains: r.optional(s, "contains"),
			fewest: limit(s, "minContains", 1), most: limit(s, "maxContains", math.MaxInt64),
		}
	}
	if has(s, "minProperties", "maxProperties", "required", "dependentRequired", "properties", "patternProperties", "additionalProperties", "propertyNames") {
		p.object = r.object(s)
	}
}

func (r *planner) object(s map[string]any) *objectPlan {
	o := &objectPlan{
		min: limit(s, "minProperties", 0), max: limit(s, "maxProperties", math.MaxInt64), required: names(s["required"]),
		additional: r.optional(s, "additionalProperties"), names: r.optional(s, "propertyNames"),
	}
	if rules, ok := s["dependentRequired"].(map[string]any); ok {
		o.dependent = map[string][]string{}
		for name, needed := range rules {
			o.dependent[name] = names(needed)
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		o.properties = map[string]*plan{}
		for name, schema := range properties {
			o.properties[name] = r.plan(schema)
		}
	}
	if patterns, ok := s["patternProperties"].(map[string]any); ok {
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			o.patterns = append(o.patterns, patternPlan{regexp.MustCompile(pattern), r.plan(patterns[pattern])})
		}
	}
	return o
}

func (r *planner) ref(v any) *plan {
	ref, ok := v.(string)
	if !ok {
		return nil
	}
	name := refName(ref)
	p := r.done[name]
	if p == nil {
		p = &plan{}
		r.done[name] = p // before it is filled: it may lead back here
		r.fill(p, r.defs[name])
	}
	return p
}

func (r *planner) list(v any) []*plan {
	var plans []*plan
	schemas, _ := v.([]any)
	for _, schema := range schemas {
		plans = append(plans, r.plan(schema))
	}
	return plans
}

func (r *planner) optional(s map[string]any, keyword string) *plan {
	if schema, ok := s[keyword]; ok {
		return r.plan(schema)
	}
	return nil
}

func has(s map[string]any, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { _, ok := s[k]; return ok })
}

func limit(s map[string]any, keyword string, otherwise int64) int64 {
	if n, ok := asCount(s[keyword]); ok {
		return n
	}
	return otherwise
}

func names(v any) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, name := range list {
		out[i], _ = name.(string)
	}
	return out
}

func newValues(list []any) *values {
	v := &values{texts: map[string]struct{}{}, strings: map[string]struct{}{}}
	for _, one := range list {
		if s, ok := one.(string); ok {
			v.strings[s] = struct{}{}
		} else {
			v.texts[canonicalText(one)] = struct{}{}
		}
	}
	return v
}

// typeSet is a set of JSON Schema's types; the empty set allows all.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

func typesOf(rule any) typeSet {
	var set typeSet
	several, ok := rule.([]any)
	if !ok {
		several = []any{rule}
	}
	for _, name := range several {
		switch name {
		case "null":
			set |= typeNull
		case "boolean":
			set |= typeBoolean
		case "integer":
			set |= typeInteger
		case "number":
			set |= typeNumber | typeInteger
		case "string":
			set |= typeString
		case "array":
			set |= typeArray
		case "object":
			set |= typeObject
		}
	}
	return set
}

// typeOf gives a value's type, the zero typeSet for what is not JSON.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case int64, *big.Int:
		return typeInteger
	case float64:
		if v == math.Trunc(v) {
			return typeInteger
		}
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	case map[string]any:
		return typeObject
	}
	return 0
}

// run is one use of a plan.
type run struct {
	steps int
	// quiet counts the alternatives around: what fails in one of them is not yet
	// a failure.
	quiet int
	// ordered: members are looked at in order of their names, so that the same
	// failure is found every time.
	ordered bool
	buffer  []byte

	// What failed first: the schema and keyword, where from the inside out, and
	// whether it is about a name.
	failed  bool
	schema  any
	keyword string
	path    []string
	ofName  bool
}

// over reports that there were too many steps. What check says is then without
// meaning.
func (c *run) over() bool { return c.steps > MaxEvaluations }

// fail notes a failure down and returns false.
func (c *run) fail(p *plan, keyword string) bool {
	if c.quiet == 0 && !c.failed {
		c.failed, c.schema, c.keyword = true, p.raw, keyword
	}
	return false
}

// inside notes on the way out where a failure was.
func (c *run) inside(step string) bool {
	if c.quiet == 0 {
		c.path = append(c.path, step)
	}
	return false
}

// tries reports whether a plan passes, without a failure if not.
func (c *run) tries(p *plan, v any) bool {
	c.quiet++
	ok := p.check(c, v)
	c.quiet--
	return ok
}

// check reports whether v is valid.
func (p *plan) check(c *run, v any) bool {
	if c.steps++; c.over() {
		return false
	}
	typ := typeOf(v)
	switch {
	case p.never || typ == 0:
		return c.fail(p, "")
	case p.types != 0 && p.types&typ == 0:
		return c.fail(p, "type")
	case p.exact != nil && !p.exact.has(c, v):
		return c.fail(p, "const")
	case p.enum != nil && !p.enum.has(c, v):
		return c.fail(p, "enum")
	}
	switch v := v.(type) {
	case int64, float64, *big.Int:
		if p.number != nil && !p.number.check(c, p, v) {
			return false
		}
	case string:
		if p.text != nil && !p.text.check(c, p, v) {
			return false
		}
	case []any:
		if p.array != nil && !p.array.check(c, p, v) {
			return false
		}
	case map[string]any:
		if p.object != nil && !p.object.check(c, p, v) {
			return false
		}
	}
	return p.combined(c, v)
}

// combined checks the keywords that apply other schemas to the same value.
func (p *plan) combined(c *run, v any) bool {
	if p.ref != nil && !p.ref.check(c, v) {
		return false
	}
	for _, one := range p.allOf {
		if !one.check(c, v) {
			return false
		}
	}
	if p.anyOf != nil && !slices.ContainsFunc(p.anyOf, func(one *plan) bool { return c.tries(one, v) }) {
		return c.fail(p, "anyOf")
	}
	if p.oneOf != nil {
		matches := 0
		for _, one := range p.oneOf {
			if c.tries(one, v) {
				matches++
			}
		}
		if matches != 1 {
			return c.fail(p, "oneOf")
		}
	}
	if p.not != nil && c.tries(p.not, v) {
		return c.fail(p, "not")
	}
	return true
}

func (n *numberPlan) check(c *run, p *plan, v any) bool {
	switch {
	case n.min != nil && compare(v, n.min) < 0:
		return c.fail(p, "minimum")
	case n.max != nil && compare(v, n.max) > 0:
		return c.fail(p, "maximum")
	case n.above != nil && compare(v, n.above) <= 0:
		return c.fail(p, "exclusiveMinimum")
	case n.below != nil && compare(v, n.below) >= 0:
		return c.fail(p, "exclusiveMaximum")
	case n.multiple != nil && !isMultiple(v, n.multiple):
		return c.fail(p, "multipleOf")
	}
	return true
}

func (t *textPlan) check(c *run, p *plan, s string) bool {
	if t.min > 0 || t.max < math.MaxInt64 {
		switch n := int64(utf8.RuneCountInString(s)); {
		case n < t.min:
			return c.fail(p, "minLength")
		case n > t.max:
			return c.fail(p, "maxLength")
		}
	}
	if t.pattern != nil && !t.pattern.MatchString(s) {
		return c.fail(p, "pattern")
	}
	return true
}

func (a *arrayPlan) check(c *run, p *plan, list []any) bool {
	switch n := int64(len(list)); {
	case n < a.min:
		return c.fail(p, "minItems")
	case n > a.max:
		return c.fail(p, "maxItems")
	case a.unique && !unique(c, list):
		return c.fail(p, "uniqueItems")
	}
	for i, item := range list {
		one := a.items
		if i < len(a.prefix) {
			one = a.prefix[i]
		}
		if one == nil {
			break
		}
		if !one.check(c, item) {
			return c.inside(strconv.Itoa(i))
		}
	}
	if a.contains == nil {
		return true
	}
	var found int64
	for _, item := range list {
		if c.tries(a.contains, item) {
			found++
		}
	}
	if found < a.fewest {
		return c.fail(p, "contains")
	}
	if found > a.most {
		return c.fail(p, "maxContains")
	}
	return true
}

func (o *objectPlan) check(c *run, p *plan, object map[string]any) bool {
	switch n := int64(len(object)); {
	case n < o.min:
		return c.fail(p, "minProperties")
	case n > o.max:
		return c.fail(p, "maxProperties")
	}
	for _, name := range o.required {
		if _, ok := object[name]; !ok {
			return c.fail(p, "required")
		}
	}
	for name, needed := range o.dependent {
		if _, ok := object[name]; !ok {
			continue
		}
		for _, name := range needed {
			if _, ok := object[name]; !ok {
				return c.fail(p, "dependentRequired")
			}
		}
	}
	if c.ordered {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if !o.member(c, p, name, object[name]) {
				return false
			}
		}
		return true
	}
	for name, v := range object {
		if !o.member(c, p, name, v) {
			return false
		}
	}
	return true
}

// member checks one member of an object.
func (o *objectPlan) member(c *run, p *plan, name string, v any) bool {
	if o.names != nil && !o.names.check(c, name) {
		c.ofName = true
		return c.inside(name)
	}
	one, known := o.properties[name]
	if known && !one.check(c, v) {
		return c.inside(name)
	}
	for _, pattern := range o.patterns {
		if pattern.re.MatchString(name) {
			known = true
			if !pattern.plan.check(c, v) {
				return c.inside(name)
			}
		}
	}
	if known || o.additional == nil {
		return true
	}
	if o.additional.never {
		return c.fail(p, "additionalProperties")
	}
	if !o.additional.check(c, v) {
		return c.inside(name)
	}
	return true
}

// has reports whether v is one of the values.
func (vs *values) has(c *run, v any) bool {
	if s, ok := v.(string); ok {
		_, ok := vs.strings[s]
		return ok
	}
	if len(vs.texts) == 0 {
		return false
	}
	c.canonical(v)
	_, ok := vs.texts[string(c.buffer)]
	return ok
}

// canonical puts the canonical text of v into the buffer.
func (c *run) canonical(v any) {
	text, err := canonjson.Append(c.buffer[:0], v)
	if err != nil {
		// A tree of canonjson has one. Whatever this is, it equals nothing.
		text = append(text[:0], "!"...)
	}
	c.buffer = text
}

func unique(c *run, list []any) bool {
	seen := make(map[string]struct{}, len(list))
	for _, v := range list {
		c.canonical(v)
		if _, twice := seen[string(c.buffer)]; twice {
			return false
		}
		seen[string(c.buffer)] = struct{}{}
	}
	return true
}
