package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
	"github.com/mayfly-run/mayfly/sandbox"
)

func parseQuery(r *http.Request) (url.Values, error) { return url.ParseQuery(r.URL.RawQuery) }

// shownApproval is an approval, and whether the caller holds the role to answer it.
type shownApproval struct {
	wire.Approval `json:",inline"`
	// ArgsText and EditedArgsText are the arguments, laid out if that does not make
	// them much longer, with all the digits of numbers that a browser would round.
	ArgsText       string `json:"args_text,omitzero"`
	EditedArgsText string `json:"edited_args_text,omitzero"`
	MayAnswer      bool   `json:"may_answer"`
}

func (q *request) newApproval(a runtime.Approval) shownApproval {
	may := a.State == store.Pending && q.caller.answers(a) && a.Principal != q.caller.Principal
	shown := wire.NewApproval(a)
	if shown.ArgsWithheld {
		return shownApproval{Approval: shown, MayAnswer: may}
	}
	return shownApproval{shown, layOut(shown.Args), layOut(shown.EditedArgs), may}
}

const indent = "  "

// layOut gives JSON with a line for each member. Deep JSON would become many times
// as long: it stays as it is.
func layOut(v jsontext.Value) string {
	if v == nil {
		return ""
	}
	if laidOut(v) > 4*len(v)+1<<10 {
		return string(v)
	}
	v = v.Clone()
	if err := v.Indent(jsontext.WithIndent(indent)); err != nil {
		return string(v)
	}
	return string(v)
}

// laidOut is how long layOut makes JSON without spaces.
func laidOut(v jsontext.Value) int {
	size, depth, quoted := len(v), 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case (c == '[' || c == '{') && i+1 < len(v) && (v[i+1] == ']' || v[i+1] == '}'):
			i++
		case c == '[' || c == '{':
			depth++
			size += 1 + depth*len(indent)
		case c == ']' || c == '}':
			depth--
			size += 1 + depth*len(indent)
		case c == ',':
			size += 1 + depth*len(indent)
		case c == ':':
			size++
		}
	}
	return size
}

type approvalList struct {
	Approvals []shownApproval `json:"approvals"`
}

func (q *request) listApprovals() answer {
	values, refused := q.query("state", "run", "principal", "tenant", "limit")
	if refused != nil {
		return no(refused)
	}
	f := runtime.ApprovalFilter{RunID: values["run"], Principal: values["principal"], Tenant: values["tenant"], State: store.Pending, Limit: store.MaxLimit}
	switch state := store.ApprovalState(values["state"]); state {
	case "":
	case "all":
		f.State = ""
	case store.Pending, store.Approved, store.Rejected, store.Expired, store.Used:
		f.State = state
	default:
		return no(refuse(http.StatusBadRequest, "bad_request", "state", "state is pending, approved, rejected, expired, used or all"))
	}
	most, refused := limit(values)
	if refused != nil {
		return no(refused)
	}
	list := approvalList{[]shownApproval{}}
	if q.caller.Tenant != AllTenants {
		if f.Tenant != "" && f.Tenant != q.caller.Tenant {
			return ok(list)
		}
		f.Tenant = q.caller.Tenant
	}
	found, err := q.s.rt.Approvals(q.r.Context(), f)
	if err != nil {
		return no(q.storeError(err, ""))
	}
	for _, a := range found {
		if q.caller.seesApproval(a) && len(list.Approvals) < most {
			list.Approvals = append(list.Approvals, q.newApproval(a))
		}
	}
	return ok(list)
}

// approval gives the approval in the path, if the caller may know of it.
func (q *request) approval(ctx context.Context) (runtime.Approval, *refused) {
	a, err := q.s.rt.Approval(ctx, q.r.PathValue("id"))
	if err == nil && !q.caller.seesApproval(a) {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return a, refuse(http.StatusNotFound, "not_found", "id", "there is no such approval")
	}
	if err != nil {
		return a, q.storeError(err, "id")
	}
	return a, nil
}

func (q *request) showApproval() answer {
	a, refused := q.approval(q.r.Context())
	if refused != nil {
		return no(refused)
	}
	return ok(q.newApproval(a))
}

// answerRequest is an answer to an approval.
type answerRequest struct {
	Reason string `json:"reason"`
	// CallHash, if it is given, must be the approval's: what was shown is what is
	// answered.
	CallHash string `json:"call_hash"`
}

type editRequest struct {
	answerRequest `json:",inline"`
	// Args are all the arguments to approve instead.
	Args jsontext.Value `json:"args"`
}

func (q *request) approve() answer {
	var in answerRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	return q.answering(in, func(ctx context.Context, id string, by runtime.Approver) runtime.Answer {
		return q.s.rt.Approve(ctx, id, by, in.Reason)
	})
}

func (q *request) reject() answer {
	var in answerRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	return q.answering(in, func(ctx context.Context, id string, by runtime.Approver) runtime.Answer {
		return q.s.rt.Reject(ctx, id, by, in.Reason)
	})
}

func (q *request) edit() answer {
	var in editRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	if in.Args == nil {
		return no(refuse(http.StatusBadRequest, "bad_request", "/args", "the arguments to approve instead must be given, all of them"))
	}
	return q.answering(in.answerRequest, func(ctx context.Context, id string, by runtime.Approver) runtime.Answer {
		return q.s.rt.Edit(ctx, id, by, sandbox.RawJSON(in.Args), in.Reason)
	})
}

func (q *request) answering(in answerRequest, do func(context.Context, string, runtime.Approver) runtime.Answer) answer {
	if len(in.Reason) > maxText {
		return no(refuse(http.StatusBadRequest, "bad_request", "/reason", "the reason may have %d bytes", maxText))
	}
	// An answer is given whether or not the client waits to hear so.
	ctx := context.WithoutCancel(q.r.Context())
	a, refused := q.approval(ctx)
	switch {
	case refused != nil:
		return no(refused)
	case in.CallHash != "" && in.CallHash != a.CallHash:
		return no(refuse(http.StatusConflict, "call_hash", "/call_hash", "the approval is about another call; look at it again"))
	}
	// The governor says no to the requester, and to whoever lacks the role that the
	// approval names; one that names none is not everybody's here.
	if a.Role == "" && a.Principal != q.caller.Principal && !q.caller.answers(a) {
		return answer{status: http.StatusForbidden, body: wire.NewAnswer(runtime.Answer{
			Code: governor.CodeApproverRole, Reason: "answers over HTTP take the role " + RoleApprover + " or " + RoleOperator, Approval: a,
		})}
	}
	result := do(ctx, a.ID, runtime.Approver{Name: q.caller.Principal, Roles: q.caller.Roles})
	if result.Approval.ID == "" {
		result.Approval = a
	}
	return answer{status: statusOfAnswer(result), body: wire.NewAnswer(result)}
}
