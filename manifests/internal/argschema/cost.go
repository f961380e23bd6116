package argschema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// MaxEvaluations is how often schemas may be applied to values while one set of
// arguments is checked: a second of work. A schema without references applies
// each of its parts to each value at most once, so that it takes very large
// arguments to get there. With references the number can grow with a power of
// the depth: allOf: [A, A] where both A lead back to the same schema.
const MaxEvaluations = 4_000_000

// libraryEvaluations is the same for the library, which takes longer for each
// and stops at nothing.
const libraryEvaluations = 100_000

// costs counts the evaluations that the library would make.
type costs struct {
	root *jsonschema.Schema
	// inPlace has, for each schema, how often each schema is applied to a value
	// when it is: itself once, and whatever it refers to or combines.
	inPlace map[*jsonschema.Schema]applied
}

// applied says how often each schema is applied to one value.
type applied map[*jsonschema.Schema]int64

func (a applied) add(s *jsonschema.Schema, n int64) {
	a[s] = min(a[s]+n, libraryEvaluations+1)
}

func newCosts(root *jsonschema.Schema) *costs {
	c := &costs{root: root, inPlace: map[*jsonschema.Schema]applied{}}
	c.reach(root, map[*jsonschema.Schema]bool{})
	return c
}

// reach works out inPlace for everything that can be reached from s.
func (c *costs) reach(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	c.closure(s)
	for _, inner := range same(s) {
		c.reach(inner, seen)
	}
	for _, inner := range s.Properties {
		c.reach(inner, seen)
	}
	for _, inner := range s.PatternProperties {
		c.reach(inner, seen)
	}
	if inner, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		c.reach(inner, seen)
	}
	for _, inner := range s.PrefixItems {
		c.reach(inner, seen)
	}
	for _, inner := range []*jsonschema.Schema{s.PropertyNames, s.Items2020, s.Contains} {
		c.reach(inner, seen)
	}
}

// closure works out inPlace[s]. It ends, for check has refused circles.
func (c *costs) closure(s *jsonschema.Schema) applied {
	own := c.inPlace[s]
	if own == nil {
		own = applied{s: 1}
		for _, inner := range same(s) {
			for t, n := range c.closure(inner) {
				own.add(t, n)
			}
		}
		c.inPlace[s] = own
	}
	return own
}

// same lists the schemas that s applies to the value it is applied to.
func same(s *jsonschema.Schema) []*jsonschema.Schema {
	list := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	for _, inner := range []*jsonschema.Schema{s.Ref, s.Not} {
		if inner != nil {
			list = append(list, inner)
		}
	}
	return list
}

// tooMany reports whether the library would take more than libraryEvaluations.
func (c *costs) tooMany(v any) bool {
	left := int64(libraryEvaluations)
	c.count(v, applied{c.root: 1}, &left)
	return left < 0
}

// count takes from left what it costs to apply roots to v.
func (c *costs) count(v any, roots applied, left *int64) {
	all := applied{}
	for s, n := range roots {
		for t, m := range c.inPlace[s] {
			all.add(t, n*m)
		}
	}
	for _, n := range all {
		*left -= n
	}
	if *left < 0 {
		return
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if below := itemSchemas(all, i); len(below) > 0 && *left >= 0 {
				c.count(item, below, left)
			}
		}
	case map[string]any:
		for name, member := range v {
			if below := memberSchemas(all, name, left, c); len(below) > 0 && *left >= 0 {
				c.count(member, below, left)
			}
		}
	}
}

func itemSchemas(all applied, i int) applied {
	below := applied{}
	for s, n := range all {
		if i < len(s.PrefixItems) {
			below.add(s.PrefixItems[i], n)
		} else if s.Items2020 != nil {
			below.add(s.Items2020, n)
		}
		if s.Contains != nil {
			below.add(s.Contains, n)
		}
	}
	return below
}

func memberSchemas(all applied, name string, left *int64, c *costs) applied {
	below := applied{}
	for s, n := range all {
		matched := false
		if inner, ok := s.Properties[name]; ok {
			matched = true
			below.add(inner, n)
		}
		for re, inner := range s.PatternProperties {
			if re.MatchString(name) {
				matched = true
				below.add(inner, n)
			}
		}
		if inner, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && !matched {
			below.add(inner, n)
		}
		if s.PropertyNames != nil {
			for _, m := range c.inPlace[s.PropertyNames] {
				*left -= n * m
			}
		}
	}
	return below
}
