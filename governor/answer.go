package governor

import (
	"context"
	"errors"
	"slices"

	"github.com/mayfly-run/mayfly/internal/store"
)

// Approver is a person who answers an approval, as the host knows them.
type Approver struct {
	// Name is who it is. Required.
	Name string
	// Roles are what they are allowed to answer for.
	Roles []string
}

// Answer is what became of an answer to an approval.
type Answer struct {
	// Accepted says that the answer counts. If not, nothing has changed.
	Accepted bool
	// Code and Reason say why an answer does not count; empty otherwise. The
	// codes are approval_unknown, approval_decided, approval_expired,
	// approver_is_requester, approver_role and internal, and for edited arguments
	// those of Decision.
	Code   Code
	Reason string
	// Approval is the approval as it stands now, as far as it is known.
	Approval store.Approval
	// Decision is what the steps say about edited arguments; nil without.
	Decision *Decision
}

// Approve lets the call of an approval go ahead, once. The call goes through
// every step again when it comes.
//
// The approver must not be the principal that the call is for, which has to be
// known, and must hold the role that the approval asks for.
func (g *Governor) Approve(ctx context.Context, id string, by Approver, reason string) Answer {
	return g.answer(ctx, id, by, store.Decision{Approve: true, Reason: reason}, nil)
}

// Reject blocks the call of an approval. The rules for approvers are those of
// [Governor.Approve].
func (g *Governor) Reject(ctx context.Context, id string, by Approver, reason string) Answer {
	return g.answer(ctx, id, by, store.Decision{Reason: reason}, nil)
}

// Edit approves the call with other arguments, and only with those. They are
// taken through every step first: if a step blocks them, or asks for a role that
// the approver does not hold, nothing is approved. They go through the steps
// once more when the call comes.
func (g *Governor) Edit(ctx context.Context, id string, by Approver, args Arguments, reason string) Answer {
	return g.answer(ctx, id, by, store.Decision{Approve: true, Reason: reason}, &args)
}

func (g *Governor) answer(ctx context.Context, id string, by Approver, d store.Decision, edited *Arguments) Answer {
	now := g.clock()
	a, err := g.store.Approval(ctx, id, now)
	if err != nil {
		return unanswered(a, err)
	}
	if v := mayAnswer(a, by, a.Role); v.outcome != Allow {
		return Answer{Code: v.code, Reason: v.reason, Approval: a}
	}
	if d.Approve && a.Principal == "" {
		return Answer{Code: CodeApproverIsRequester, Reason: "it is not known on whose behalf the call is, so that anybody who approves it may be approving their own; start the run with a principal", Approval: a}
	}
	answer := Answer{Approval: a}
	if edited != nil {
		answer = g.checkEdited(ctx, a, by, *edited)
		if answer.Code != "" {
			return answer
		}
		d.EditedArgs, d.EditedHash = edited.Text(), answer.Decision.CallHash
	}
	d.Approver, d.At = by.Name, now
	if a, err = g.store.Decide(ctx, id, d); err != nil {
		return unanswered(a, err)
	}
	answer.Accepted, answer.Approval = true, a
	return answer
}

// checkEdited takes edited arguments through the steps without leaving a trace.
func (g *Governor) checkEdited(ctx context.Context, a store.Approval, by Approver, args Arguments) Answer {
	d := g.Authorize(ctx, Call{Run: a.RunID, Tool: a.Tool, Args: args})
	answer := Answer{Approval: a, Decision: &d}
	switch d.Outcome {
	case Allow:
	case RequireApproval:
		if v := mayAnswer(a, by, d.ApproverRole); v.outcome != Allow {
			answer.Code, answer.Reason = v.code, v.reason
		}
	case Block:
		answer.Code, answer.Reason = d.Code, d.Reason
	}
	return answer
}

// mayAnswer checks who answers.
func mayAnswer(a store.Approval, by Approver, role string) verdict {
	switch {
	case by.Name == "":
		return block(CodeApproverRole, "it is not known who answers")
	case by.Name == a.Principal:
		return block(CodeApproverIsRequester, "nobody answers for their own calls")
	case role != "" && !slices.Contains(by.Roles, role):
		return block(CodeApproverRole, "only somebody with the role "+role+" may answer")
	}
	return pass
}

// unanswered says why the store took no answer.
func unanswered(a store.Approval, err error) Answer {
	answer := Answer{Approval: a}
	switch {
	case errors.Is(err, store.ErrNotFound):
		answer.Code, answer.Reason = CodeApprovalUnknown, "there is no such approval"
	case errors.Is(err, store.ErrDecided):
		answer.Code, answer.Reason = CodeApprovalDecided, "the approval has been answered before"
	case errors.Is(err, store.ErrExpired):
		answer.Code, answer.Reason = CodeApprovalExpired, "it is too late for an answer; the call has to ask again"
	default:
		answer.Code, answer.Reason = CodeInternal, "the answer cannot be kept"
	}
	return answer
}
