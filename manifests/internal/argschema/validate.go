package argschema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one rule that arguments break.
type Violation struct {
	// Pointer is the JSON pointer of the value, "" for all arguments. Names in
	// it that are long are cut.
	Pointer string
	// Keyword is the schema's keyword, such as "minimum"; "" when no single one
	// is to blame.
	Keyword string
	// Rule says what is asked for, in words of the schema.
	Rule string
}

func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Rule
	}
	return v.Pointer + " " + v.Rule
}

// MaxViolations is how many violations are told apart.
const MaxViolations = 20

// Validate checks v, a tree as canonjson gives it, and returns what is wrong
// with it, in a fixed order; nil means valid.
func (s *Schema) Validate(v any) []Violation {
	var c run
	if s.plan.check(&c, v) && !c.over() {
		return nil
	}
	if c.over() {
		return []Violation{{Rule: fmt.Sprintf("would take more than %d steps to check", MaxEvaluations)}}
	}
	if found := s.explain(v); len(found) > 0 {
		return found
	}
	return []Violation{{Rule: "does not match the schema"}}
}

// maxExplained is how many values arguments may have for all of their
// violations to be told. The library makes an error for every value that is
// wrong; of larger arguments only the first violation is told, and of those
// with numbers that it cannot read.
const maxExplained = 10_000

// explain says what is wrong with v.
func (s *Schema) explain(v any) []Violation {
	e := explainer{schema: s.raw, args: v}
	if count(v, maxExplained) < maxExplained && libraryKnows(v) && !s.costs.tooMany(v) {
		if ve, ok := errors.AsType[*jsonschema.ValidationError](s.lib.Validate(v)); ok {
			e.leaves(ve)
		}
	}
	if len(e.found) == 0 {
		c := run{ordered: true}
		s.plan.check(&c, v)
		slices.Reverse(c.path)
		if c.failed {
			e.one(c.schema, c.keyword, c.path, c.ofName)
		}
	}
	return tidy(e.found)
}

// count counts values, up to a limit.
func count(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, v := range v {
			if n < limit {
				n += count(v, limit-n)
			}
		}
	case map[string]any:
		for _, v := range v {
			if n < limit {
				n += count(v, limit-n)
			}
		}
	}
	return n
}

// tidy puts violations into order, without repetitions, and cuts the list.
func tidy(found []Violation) []Violation {
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Rule, b.Rule))
	})
	found = slices.Compact(found)
	if more := len(found) - MaxViolations; more > 0 {
		found = append(found[:MaxViolations:MaxViolations], Violation{Rule: fmt.Sprintf("breaks %d more rules", more)})
	}
	return found
}
