package governor

import (
	"errors"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// checkApproval is step 7: a call that a step asked about goes ahead only with
// an approval for exactly this call in this run, which it uses up.
func (e *evaluation) checkApproval() verdict {
	asked := e.asked.outcome == RequireApproval
	switch {
	case e.call.Approval != "" && e.call.Run != "":
		// Also when no step asks any more: a resumed call was not counted, so its
		// approval must not be there for another one.
		return e.resume()
	case !asked:
		return e.admit()
	case e.call.Run == "":
		return e.suspend()
	}
	return e.standing()
}

// resume goes by the approval that the call names.
func (e *evaluation) resume() verdict {
	a, err := e.g.store.Approval(e.ctx, e.call.Approval, e.now)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return broken("the approval cannot be looked up")
	}
	if err != nil || a.RunID != e.call.Run {
		return block(CodeApprovalUnknown, "this run has no such approval")
	}
	hash := a.GrantedHash
	if hash == "" {
		hash = a.CallHash
	}
	if hash != e.hash {
		return block(CodeApprovalMismatch, "the approval is for another call than this one")
	}
	switch a.State {
	case store.Approved:
		return e.use(a)
	case store.Pending:
		e.d.ApprovalID = a.ID
		return ask(Code(a.Code), "a person has been asked for approval and has not answered yet")
	case store.Used:
		return block(CodeApprovalUsed, "the approval was for one call, which has been made")
	case store.Rejected, store.Expired:
	}
	return refused(a)
}

// standing goes by the answers that the run has for this very call. A person who
// said no is not asked again.
func (e *evaluation) standing() verdict {
	approved, err := e.g.store.Approvals(e.ctx, store.ApprovalFilter{
		Now: e.now, RunID: e.call.Run, State: store.Approved, Limit: store.MaxLimit,
	})
	if err != nil {
		return broken("the run's approvals cannot be looked up")
	}
	for _, a := range approved {
		if a.GrantedHash == e.hash {
			return e.use(a)
		}
	}
	last, err := e.g.store.Approvals(e.ctx, store.ApprovalFilter{
		Now: e.now, RunID: e.call.Run, CallHash: e.hash, Limit: 1,
	})
	if err != nil {
		return broken("the run's approvals cannot be looked up")
	}
	if len(last) > 0 && (last[0].State == store.Rejected || last[0].State == store.Expired && last[0].Decided.IsZero()) {
		return refused(last[0])
	}
	return e.suspend()
}

// refused blocks with the answer of an approval that was rejected or is too old.
func refused(a store.Approval) verdict {
	switch {
	case a.State == store.Rejected:
		return block(CodeApprovalRejected, "a person looked at the call and rejected it")
	case a.Decided.IsZero():
		return block(CodeApprovalRejected, "nobody answered in time, which counts as no; the same call without the approval asks again")
	}
	return block(CodeApprovalExpired, "the call was approved, but the approval has expired since")
}

// suspend asks a person, unless that has happened already.
func (e *evaluation) suspend() verdict {
	if e.call.Run == "" {
		return e.asked
	}
	args := e.call.Args.Text()
	if len(args) > store.MaxText {
		return broken("the arguments are too long to be shown to a person")
	}
	if e.dry {
		return e.asked
	}
	a, err := e.g.store.CreateApproval(e.ctx, store.Approval{
		ID: e.g.newID(), RunID: e.call.Run, CallHash: e.hash, Tool: e.call.Tool, Args: args,
		Principal: e.subject.Principal, Tenant: e.subject.Tenant, Task: e.subject.Task,
		Role: e.approverRole(), Step: string(e.askedStep), Code: string(e.asked.code), Cause: e.asked.reason,
		Created: e.now, Expires: e.now.Add(e.g.approvalTimeout),
	})
	if err != nil {
		return broken("approval cannot be asked for")
	}
	if a.State == store.Approved { // since standing looked
		return e.use(a)
	}
	e.d.ApprovalID = a.ID
	return e.asked
}

// approverRole is who may approve: whom the manifest names, if it is step 3 that
// asks; else whom the task names, else the harness.
func (e *evaluation) approverRole() string {
	if e.role != "" {
		return e.role
	}
	return e.task.role
}

// use lets a call go ahead with an approval, and uses it up.
func (e *evaluation) use(a store.Approval) verdict {
	if e.dry {
		e.d.ApprovalID = a.ID
		return pass
	}
	if v := e.admit(); v.outcome != Allow {
		return v
	}
	used, err := e.g.store.Consume(e.ctx, e.hash, e.call.Run, e.now)
	switch {
	case errors.Is(err, store.ErrExpired):
		return block(CodeApprovalExpired, "the call was approved, but the approval has expired since")
	case errors.Is(err, store.ErrNotFound):
		return block(CodeApprovalUsed, "the approval was for one call, which has been made")
	case err != nil:
		return broken("the approval cannot be used")
	}
	e.d.ApprovalID = used.ID
	return pass
}

// admit marks the run with what it is about to see. That comes before the call,
// so that a call which breaks off after it has read has left its mark.
func (e *evaluation) admit() verdict {
	if e.dry {
		return pass
	}
	labels := e.labels.Or(Labels(e.tool.manifest))
	if labels == e.stored {
		return pass
	}
	if err := e.g.store.AddLabels(e.ctx, e.call.Run, labels); err != nil {
		return broken("the run cannot be marked with what it is about to see")
	}
	return pass
}

// Labels are what a run has seen after a call of the tool, whether it succeeded
// or not.
func Labels(t *manifests.Tool) store.Labels {
	return store.Labels{UntrustedSeen: t.Spec.Output.Label != manifests.LabelTrusted, PrivateSeen: t.Private()}
}
