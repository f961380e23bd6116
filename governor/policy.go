package governor

import (
	"fmt"

	"github.com/mayfly-run/mayfly/governor/internal/expr"
	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/manifests"
)

// rule is a compiled rule of the policy.
type rule struct {
	id      string
	effect  manifests.Effect
	program *expr.Program
}

// ruleList are the rules of one effect, in the order of the harness, as they
// are for one tool: those that can never match it are gone.
type ruleList []toolRule

type toolRule struct {
	*rule
	// known is what the tool alone says about the rule, so that it need not be
	// evaluated for each call.
	known expr.Known
}

// match gives the first rule that applies, and how it came to. A rule that
// cannot be evaluated applies unless it allows.
func (l ruleList) match(v *expr.Vars) (*rule, string) {
	for i := range l {
		matches, err := l[i].known == expr.True, error(nil)
		switch l[i].known {
		case expr.Unknown:
			matches, err = l[i].program.Eval(v)
		case expr.Unevaluable:
			err = expr.ErrFailed
		case expr.True, expr.False:
		}
		if err != nil && l[i].effect != manifests.Allow {
			return l[i].rule, ", which cannot be evaluated,"
		}
		if err == nil && matches {
			return l[i].rule, ""
		}
	}
	return nil, ""
}

// toolPlan is a tool with everything that can be known before a call.
type toolPlan struct {
	manifest *manifests.Tool
	fields   expr.Tool

	deny, approve, allow ruleList
	// when is the manifest's approval.when; nil if it never asks.
	when     *expr.Program
	riskAsks bool

	principalRate, tenantRate rateKey
	output                    *output.Output
}

// taskPlan is a task of the harness.
type taskPlan struct {
	tools    map[string]bool // nil: all
	approve  map[string]bool
	role     string
	maxCalls int64 // 0: no bound
}

// compileRules compiles the policy. Errors say where.
func compileRules(env *expr.Env, p *manifests.Policy) (rules []*rule, errs []error) {
	if p == nil {
		return nil, nil
	}
	for _, r := range p.Rules {
		program, err := env.Compile(r.When.Source)
		if err != nil {
			errs = append(errs, expressionError(r.When, "policy rule "+r.ID, err))
			continue
		}
		rules = append(rules, &rule{id: r.ID, effect: r.Effect, program: program})
	}
	return rules, errs
}

// expressionError says where an expression stands; the error itself has line
// and column within it.
func expressionError(e manifests.Expression, what string, err error) error {
	return fmt.Errorf("%s:%d:%d: %s: when: %w", e.Position.File, e.Position.Line, e.Position.Column, what, err)
}

// planTool works out what a tool's manifest and the rules say before any call.
func planTool(env *expr.Env, t *manifests.Tool, h *manifests.Harness, rules []*rule) (*toolPlan, error) {
	p := &toolPlan{
		manifest: t, fields: expr.NewTool(t), riskAsks: h.Tools.Requires(t.Spec.Risk),
		principalRate: newRateKey("principal", t.Metadata.Name, t.Spec.RateLimit.PerPrincipal),
		tenantRate:    newRateKey("tenant", t.Metadata.Name, t.Spec.RateLimit.PerTenant),
	}
	var err error
	if p.output, err = planOutput(t, h); err != nil {
		return nil, err
	}
	for _, r := range rules {
		known := r.program.For(p.fields)
		if known == expr.False {
			continue
		}
		switch r.effect {
		case manifests.Deny:
			p.deny = append(p.deny, toolRule{r, known})
		case manifests.RequireApproval:
			p.approve = append(p.approve, toolRule{r, known})
		case manifests.Allow:
			p.allow = append(p.allow, toolRule{r, known})
		default:
			return nil, fmt.Errorf("policy rule %s has no effect that exists", r.id)
		}
	}
	if when := t.Spec.Approval.When; when.Source != "" {
		program, err := env.Compile(when.Source)
		if err != nil {
			return nil, expressionError(when, "tool "+t.Metadata.Name+": approval", err)
		}
		p.when = program
	}
	return p, nil
}

// planTask takes from a task and the harness what the steps need.
func planTask(t *manifests.Task, h *manifests.Harness) *taskPlan {
	p := &taskPlan{role: h.Approvals.ApproverRole, maxCalls: h.Budgets.MaxToolCalls}
	if t == nil {
		return p
	}
	if t.Tools != nil {
		p.tools = nameSet(t.Tools)
	}
	p.approve = nameSet(t.Approvals.Tools)
	if t.Approvals.ApproverRole != "" {
		p.role = t.Approvals.ApproverRole
	}
	// Both hold: a task cannot raise the harness's budget.
	if own := t.Budgets.MaxToolCalls; own > 0 && (p.maxCalls == 0 || own < p.maxCalls) {
		p.maxCalls = own
	}
	return p
}

func nameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
