package expr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Program is a compiled expression. It does not change and may be used by
// several goroutines.
type Program struct {
	program cel.Program
	// partial is the same with everything but the tool unknown.
	partial cel.Program
	// loops says that there are loops or the like, whose passes are counted; then
	// heavy counts costs as well, and program does not.
	loops bool
	heavy cel.Program
	// grows says that loops may make more of what they are given, so that costs
	// count for small arguments too.
	grows bool
}

// The reasons why an expression could not be evaluated.
var (
	// ErrFailed: it ran into an error: a missing field, a type that does not
	// fit, a division by zero.
	ErrFailed = errors.New("the expression cannot be evaluated")
	// ErrCost: it would have cost more than [MaxCost], or [MaxPasses].
	ErrCost = errors.New("the expression costs too much to evaluate")
	// ErrNotBool: its value is neither true nor false.
	ErrNotBool = errors.New("the expression is neither true nor false")
)

// Compile compiles an expression whose value is true or false. Errors give
// line and column in it.
func (e *Env) Compile(source string) (*Program, error) {
	// The parser counts characters; this bound is in bytes, like the manifests'.
	if len(source) > MaxSource {
		return nil, fmt.Errorf("longer than %d bytes", MaxSource)
	}
	checked, issues := e.cel.Compile(source)
	if issues.Err() != nil {
		return nil, issuesError(issues)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("1:1: the value is of type %s, not bool", t)
	}
	if err := checkFields(checked); err != nil {
		return nil, err
	}
	p := &Program{loops: !isLinear(checked.NativeRep().Expr()), grows: grows(checked.NativeRep().Expr())}
	var err error
	opts := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if p.loops {
		opts = append(opts, cel.InterruptCheckFrequency(MaxPasses))
	}
	if p.program, err = e.cel.Program(checked, opts...); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if p.loops {
		if p.heavy, err = e.cel.Program(checked, append(opts, cel.CostTracking(costs{}), cel.CostLimit(MaxCost))...); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	p.partial, err = e.cel.Program(checked, cel.EvalOptions(cel.OptOptimize, cel.OptPartialEval),
		cel.CostTracking(costs{}), cel.CostLimit(MaxCost), cel.InterruptCheckFrequency(MaxPasses))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return p, nil
}

// issuesError gives the first errors in one line each, without the source.
func issuesError(issues *cel.Issues) error {
	const most = 5
	var lines []string
	foreign := false
	for _, e := range issues.Errors() {
		if len(lines) == most {
			lines = append(lines, "and more")
			break
		}
		lines = append(lines, fmt.Sprintf("%d:%d: %s", e.Location.Line(), max(e.Location.Column(), 0)+1, e.Message))
		foreign = foreign || strings.HasPrefix(e.Message, "undeclared reference") || strings.Contains(e.Message, "no matching overload")
	}
	if foreign {
		lines = append(lines, "there are principal, tenant and task (strings), tool (tool.name and others), args (args.NAME) and labels (labels.untrusted_seen, labels.private_seen)")
	}
	return errors.New(strings.Join(lines, "; "))
}

// Eval evaluates the expression. An error is one of ErrFailed, ErrCost and
// ErrNotBool.
func (p *Program) Eval(v *Vars) (bool, error) {
	out, err := p.run(v)
	if err != nil {
		return false, evalError(err)
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, ErrNotBool
	}
	return bool(b), nil
}

// run evaluates with no more counting than is needed: none for an expression
// that takes as long as it and the call are large; passes alone where one pass
// cannot take long, since the call is small; passes and costs otherwise.
func (p *Program) run(v *Vars) (out ref.Val, err error) {
	switch {
	case !p.loops:
		out, _, err = p.program.Eval(v)
	case v.size <= smallArgs && !p.grows:
		out, _, err = p.program.ContextEval(ended, v)
	default:
		out, _, err = p.heavy.ContextEval(ended, v)
	}
	return out, err
}

// smallArgs is up to how many bytes of JSON arguments are small.
const smallArgs = 1024

// ended is a context that has ended. CEL looks at the context in every
// MaxPasses-th pass of a loop, so this one ends an evaluation exactly there,
// however fast the machine is. CEL's own count of costs would be too slow for
// long loops: its work grows with the square of the passes.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// evalError drops CEL's own words, which can quote the call.
func evalError(err error) error {
	if e, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && e.Cause == interpreter.CostLimitExceeded {
		return ErrCost
	}
	if errors.Is(err, interpreter.InterruptError{}) {
		return ErrCost
	}
	return ErrFailed
}

// Known is what is known of an expression's value before there is a call.
type Known uint8

// The values of Known.
const (
	Unknown Known = iota // it depends on the call
	True
	False
	Unevaluable
)

var unknownVars = []*cel.AttributePatternType{
	cel.AttributePattern(namePrincipal), cel.AttributePattern(nameTenant), cel.AttributePattern(nameTask),
	cel.AttributePattern(nameArgs), cel.AttributePattern(nameLabels),
}

// For says what is known of the expression's value for every call of a tool.
func (p *Program) For(tool Tool) Known {
	vars, err := cel.PartialVars(map[string]any{nameTool: tool.fields}, unknownVars...)
	if err != nil {
		return Unknown
	}
	out, _, err := p.partial.ContextEval(ended, vars)
	switch {
	case err != nil && errors.Is(evalError(err), ErrCost):
		return Unknown
	case err != nil:
		return Unevaluable
	case types.IsUnknown(out):
		return Unknown
	case out == types.True:
		return True
	case out == types.False:
		return False
	}
	return Unevaluable
}

// checkFields refuses fields of tool and labels that do not exist.
func checkFields(checked *cel.Ast) error {
	var errs []string
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind {
			return
		}
		name, field := e.AsSelect().Operand().AsIdent(), e.AsSelect().FieldName()
		fields := fieldsOf(name)
		if _, ok := fields[field]; fields == nil || ok {
			return
		}
		at := checked.NativeRep().SourceInfo().GetStartLocation(e.ID())
		errs = append(errs, fmt.Sprintf("%d:%d: %s has no field %s; it has %s", at.Line(), at.Column()+1, name, field,
			strings.Join(slices.Sorted(maps.Keys(fields)), ", ")))
	}))
	if len(errs) > 0 {
		return errors.New(strings.Join(errs, "; "))
	}
	return nil
}

// linear are the functions that take no longer than their operands are large,
// and make nothing larger than those.
var linear = map[string]bool{
	operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true, operators.Conditional: true,
	operators.Equals: true, operators.NotEquals: true,
	operators.Less: true, operators.LessEquals: true, operators.Greater: true, operators.GreaterEquals: true,
	operators.In: true, operators.Index: true, operators.Negate: true,
	operators.Subtract: true, operators.Multiply: true, operators.Divide: true, operators.Modulo: true,
	overloads.Size: true, overloads.StartsWith: true, overloads.EndsWith: true, overloads.Contains: true,
}

// isLinear reports whether no evaluation can take longer than the size of the
// expression times that of the call, so that bounding both is enough.
func isLinear(e ast.Expr) bool {
	ok := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			ok = false
		case ast.CallKind:
			ok = ok && linear[e.AsCall().FunctionName()]
		}
	}))
	return ok
}

// grows reports whether an expression has a loop and adds anywhere.
func grows(e ast.Expr) bool {
	loops, adds := false, false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		loops = loops || e.Kind() == ast.ComprehensionKind
		adds = adds || e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add
	}))
	return loops && adds
}
