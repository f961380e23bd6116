package expr

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/stdlib"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Limits of an expression and of its evaluation.
const (
	// MaxSource is how long an expression may be, in bytes.
	MaxSource = 4096
	// MaxNesting is how deeply it may nest.
	MaxNesting = 50
	// MaxCost is what one evaluation may cost, in CEL's units: about one for
	// each step, and one for each ten bytes of text that are looked at.
	MaxCost = 500_000
	// MaxPasses is how often the loops of one evaluation (exists, all, map and
	// so on) may go round together.
	MaxPasses = 10_000
)

// The names that expressions are about.
const (
	namePrincipal = "principal"
	nameTenant    = "tenant"
	nameTask      = "task"
	nameTool      = "tool"
	nameArgs      = "args"
	nameLabels    = "labels"
)

// Env compiles expressions. It does not change and may be used by several
// goroutines.
type Env struct {
	cel *cel.Env
}

// NewEnv makes an Env. An error is a defect of this package.
func NewEnv() (*Env, error) {
	excluded := make([]*env.Function, len(mixed))
	for i, m := range mixed {
		excluded[i] = &env.Function{Name: m.operator}
	}
	arithmetic, err := arithmetic()
	if err != nil {
		return nil, err
	}
	e, err := cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(env.NewLibrarySubset().AddExcludedFunctions(excluded...))),
		cel.FunctionDecls(arithmetic...),
		cel.CrossTypeNumericComparisons(true),
		cel.CustomTypeAdapter(adapter{}),
		cel.ParserExpressionSizeLimit(MaxSource),
		cel.ParserRecursionLimit(MaxNesting),
		cel.Variable(namePrincipal, cel.StringType),
		cel.Variable(nameTenant, cel.StringType),
		cel.Variable(nameTask, cel.StringType),
		cel.Variable(nameTool, cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable(nameArgs, cel.DynType),
		cel.Variable(nameLabels, cel.MapType(cel.StringType, cel.BoolType)),
	)
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	return &Env{cel: e}, nil
}

// mixed are the operators that take an integer beside a float: the float wins.
var mixed = []struct {
	operator string
	name     string
	apply    func(a, b ref.Val) ref.Val
	trait    int
}{
	{operators.Add, "add", func(a, b ref.Val) ref.Val { return a.(traits.Adder).Add(b) }, traits.AdderType},
	{operators.Subtract, "subtract", func(a, b ref.Val) ref.Val { return a.(traits.Subtractor).Subtract(b) }, traits.SubtractorType},
	{operators.Multiply, "multiply", func(a, b ref.Val) ref.Val { return a.(traits.Multiplier).Multiply(b) }, traits.MultiplierType},
	{operators.Divide, "divide", func(a, b ref.Val) ref.Val { return a.(traits.Divider).Divide(b) }, traits.DividerType},
}

// arithmetic gives the mixed operators: what the standard library declares, and
// the two overloads that it lacks.
func arithmetic() ([]*decls.FunctionDecl, error) {
	var functions []*decls.FunctionDecl
	standard := stdlib.Functions()
	for _, m := range mixed {
		i := slices.IndexFunc(standard, func(f *decls.FunctionDecl) bool { return f.Name() == m.operator })
		if i < 0 {
			return nil, fmt.Errorf("BUG(mayfly): CEL has no %s", m.operator)
		}
		opts := []decls.FunctionOpt{
			decls.Overload(m.name+"_int64_double", []*types.Type{types.IntType, types.DoubleType}, types.DynType),
			decls.Overload(m.name+"_double_int64", []*types.Type{types.DoubleType, types.IntType}, types.DynType),
			decls.SingletonBinaryBinding(func(a, b ref.Val) ref.Val {
				a, b = promote(a, b)
				return m.apply(a, b)
			}, m.trait),
		}
		for _, o := range standard[i].OverloadDecls() {
			opts = append(opts, decls.Overload(o.ID(), o.ArgTypes(), o.ResultType()))
		}
		f, err := decls.NewFunction(m.operator, opts...)
		if err != nil {
			return nil, fmt.Errorf("declare %s: %w", m.operator, err)
		}
		functions = append(functions, f)
	}
	return functions, nil
}

// promote turns an integer beside a float into a float.
func promote(a, b ref.Val) (ref.Val, ref.Val) {
	switch x := a.(type) {
	case types.Int:
		if _, ok := b.(types.Double); ok {
			return types.Double(x), b
		}
	case types.Double:
		if y, ok := b.(types.Int); ok {
			return a, types.Double(y)
		}
	}
	return a, b
}
