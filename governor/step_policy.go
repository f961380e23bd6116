package governor

import (
	"github.com/mayfly-run/mayfly/governor/internal/expr"
	"github.com/mayfly-run/mayfly/manifests"
)

// checkPolicy is step 3: the operator's rules, then whatever else asks for
// approval: the manifest, its risk, the task.
func (e *evaluation) checkPolicy() verdict {
	e.vars.Set(e.subject.Principal, e.subject.Tenant, e.subject.Task, e.tool.fields, e.call.Args.tree, e.call.Args.size,
		expr.Labels{Untrusted: e.labels.UntrustedSeen, Private: e.labels.PrivateSeen})
	v := e.checkRules()
	if v.outcome == Allow {
		v = e.checkManifestApproval()
	}
	if v.outcome == RequireApproval {
		e.role = e.tool.manifest.Spec.Approval.ApproverRole
	}
	return v
}

func (e *evaluation) checkRules() verdict {
	if e.g.policy == nil {
		return pass
	}
	if r, how := e.tool.deny.match(&e.vars); r != nil {
		return block(CodePolicyDenied, "policy rule "+r.id+how+" denies the call")
	}
	if r, how := e.tool.approve.match(&e.vars); r != nil {
		return ask(CodePolicyApproval, "policy rule "+r.id+how+" asks for approval")
	}
	if r, _ := e.tool.allow.match(&e.vars); r != nil {
		return pass
	}
	switch e.g.policy.DefaultEffect {
	case manifests.Allow:
		return pass
	case manifests.RequireApproval:
		return ask(CodePolicyApproval, "no policy rule matches, and then the call needs approval")
	case manifests.Deny:
	}
	return block(CodePolicyDenied, "no policy rule allows the call")
}

func (e *evaluation) checkManifestApproval() verdict {
	if e.tool.when != nil {
		asks, err := e.tool.when.Eval(&e.vars)
		switch {
		case err != nil:
			return ask(CodeManifestApproval, "whether the tool's manifest asks for approval cannot be evaluated, so it does")
		case asks:
			return ask(CodeManifestApproval, "the tool's manifest asks for approval of such calls")
		}
	}
	if e.tool.riskAsks {
		return ask(CodeRiskApproval, "every call of a tool of this risk needs approval")
	}
	if e.task.approve[e.call.Tool] {
		return ask(CodeTaskApproval, "every call of this tool needs approval in this task")
	}
	return pass
}
