package runtime

import (
	"context"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Approval is a question to a person about one exact call, and the answer.
type Approval = store.Approval

// ApprovalFilter chooses approvals. Its Now may be left out.
type ApprovalFilter = store.ApprovalFilter

// Approver is a person who decides.
type Approver = governor.Approver

// Answer is what became of an answer to an approval.
type Answer = governor.Answer

// Authorize says what would be decided about a call now, and does nothing: a
// place in a rate limit is given back, nothing is asked and nothing used up.
func (r *Runtime) Authorize(ctx context.Context, c Call) governor.Decision {
	return r.governor.Authorize(ctx, c.governed())
}

// AuthorizeAs is [Runtime.Authorize] for a run that does not exist: what would
// be decided about the first call of such a run.
func (r *Runtime) AuthorizeAs(ctx context.Context, c RunConfig, call Call) governor.Decision {
	g := call.governed()
	g.Run, g.Subject, g.Labels = "", governor.Subject{Principal: c.Principal, Tenant: c.Tenant, Task: c.Task}, c.Labels
	return r.governor.Authorize(ctx, g)
}

// Approvals gives approvals, the newest first, to be shown to people: secrets that
// this runtime handed over are taken out of the arguments. Those of a long list may
// be withheld; [Runtime.Approval] gives them.
func (r *Runtime) Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error) {
	if f.Now.IsZero() {
		f.Now = r.now()
	}
	list, err := r.store.Approvals(ctx, f)
	for i := range list {
		r.vault.cleanApproval(&list[i])
	}
	return list, err
}

// Approval gives one approval, as [Runtime.Approvals] does.
func (r *Runtime) Approval(ctx context.Context, id string) (Approval, error) {
	a, err := r.store.Approval(ctx, id, r.now())
	r.vault.cleanApproval(&a)
	return a, err
}

// Approve says yes to a request. The run still has to repeat its call, which
// uses the approval up.
func (r *Runtime) Approve(ctx context.Context, id string, by Approver, reason string) Answer {
	return r.answered(r.governor.Approve(ctx, id, by, reason))
}

// Edit says yes to other arguments than were asked for, and only to those. They
// go through every step first.
func (r *Runtime) Edit(ctx context.Context, id string, by Approver, args sandbox.RawJSON, reason string) Answer {
	return r.answered(r.governor.Edit(ctx, id, by, governor.ParseArguments(args), reason))
}

// Reject says no.
func (r *Runtime) Reject(ctx context.Context, id string, by Approver, reason string) Answer {
	return r.answered(r.governor.Reject(ctx, id, by, reason))
}

// answered is an answer as people are shown it.
func (r *Runtime) answered(a Answer) Answer {
	r.vault.cleanApproval(&a.Approval)
	return a
}
