package expr

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// costs says what a step costs whose operands' types are known at run time
// only. CEL goes by the types that it knows when it compiles, and arguments have
// none: it takes one for adding two texts of a megabyte.
type costs struct{}

// CallCost counts what is looked at or made: one for each ten bytes of text, and
// one for each item of what is compared. It gives nil where CEL counts well.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	cost := uint64(1)
	switch function {
	case overloads.Matches, overloads.Contains:
		return nil // they are methods of texts, and cost a product
	case operators.Equals, operators.NotEquals:
		cost += min(depth(args[0], MaxCost), depth(args[1], MaxCost))
	case operators.In, operators.OldIn:
		if _, hashed := args[1].Value().(map[string]any); !hashed {
			cost += depth(args[1], MaxCost)
		}
	}
	for _, a := range args {
		if s, ok := a.(types.String); ok {
			cost += uint64(len(s)) / 10
		}
	}
	return &cost
}

// depth counts all that is in a value, up to a limit.
func depth(v any, limit uint64) (n uint64) {
	if v, ok := v.(ref.Val); ok {
		switch v := v.(type) {
		case types.String:
			return uint64(len(v))/10 + 1
		case types.Bool, types.Int, types.Double, types.Null:
			return 1
		}
		if inner := v.Value(); inner != any(v) {
			return depth(inner, limit)
		}
		return 1
	}
	n = 1
	switch v := v.(type) {
	case string:
		n += uint64(len(v)) / 10
	case []any:
		for _, item := range v {
			if n >= limit {
				break
			}
			n += depth(item, limit-n)
		}
	case []ref.Val:
		for _, item := range v {
			if n >= limit {
				break
			}
			n += depth(item, limit-n)
		}
	case map[string]any:
		for name, item := range v {
			if n >= limit {
				break
			}
			n += uint64(len(name))/10 + depth(item, limit-n)
		}
	}
	return n
}
