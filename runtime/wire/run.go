package wire

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
)

// Run is a run.
type Run struct {
	ID        string   `json:"id"`
	Principal string   `json:"principal"`
	Tenant    string   `json:"tenant"`
	Task      string   `json:"task"`
	Labels    []string `json:"labels"`
	Calls     int64    `json:"calls"`
	Created   string   `json:"created"`
	Expires   string   `json:"expires,omitzero"`
}

// NewRun writes a run down.
func NewRun(r runtime.Run) Run {
	return Run{
		ID: r.ID, Principal: r.Principal, Tenant: r.Tenant, Task: r.Task, Labels: LabelNames(r.Labels), Calls: r.Calls,
		Created: Stamp(r.Created), Expires: Stamp(r.Expires),
	}
}

// RunDetails are a run and what belongs to it.
type RunDetails struct {
	Run       `json:",inline"`
	Grants    []Grant    `json:"grants"`
	Approvals []Approval `json:"approvals"`
	Effects   []Effect   `json:"effects"`
}

// NewRunDetails reads what belongs to a run.
func NewRunDetails(ctx context.Context, rt *runtime.Runtime, r runtime.Run) (d RunDetails, err error) {
	grants, err := rt.Grants(ctx, r.ID)
	if err != nil {
		return d, err
	}
	approvals, err := rt.Approvals(ctx, runtime.ApprovalFilter{RunID: r.ID})
	if err != nil {
		return d, err
	}
	effects, err := rt.Effects(ctx, runtime.EffectFilter{RunID: r.ID})
	if err != nil {
		return d, err
	}
	d = RunDetails{Run: NewRun(r), Grants: []Grant{}, Approvals: []Approval{}, Effects: []Effect{}}
	now := time.Now()
	for _, g := range grants {
		d.Grants = append(d.Grants, Grant{g.Tool, g.Active(now), g.By, Stamp(g.Granted), Stamp(g.Expires), Stamp(g.Revoked)})
	}
	for _, a := range approvals {
		d.Approvals = append(d.Approvals, NewApproval(a))
	}
	for _, e := range effects {
		d.Effects = append(d.Effects, NewEffect(e))
	}
	return d, nil
}

// Grant lets a run call a tool, or did.
type Grant struct {
	Tool    string `json:"tool"`
	Active  bool   `json:"active"`
	By      string `json:"by,omitzero"`
	Granted string `json:"granted"`
	Expires string `json:"expires,omitzero"`
	Revoked string `json:"revoked,omitzero"`
}

// Effect is an entry of the journal.
type Effect struct {
	Key      string            `json:"idempotency_key"`
	Run      string            `json:"run"`
	Call     string            `json:"call"`
	Tool     string            `json:"tool"`
	State    store.EffectState `json:"state"`
	Outcome  string            `json:"outcome,omitzero"`
	Attempts int64             `json:"attempts"`
	Begun    string            `json:"begun"`
	Finished string            `json:"finished,omitzero"`
}

// NewEffect writes an effect down.
func NewEffect(e runtime.Effect) Effect {
	return Effect{e.Key, e.RunID, e.CallID, e.Tool, e.State, e.Outcome, e.Attempts, Stamp(e.Begun), Stamp(e.Finished)}
}

// Approval is a question to a person, and the answer.
type Approval struct {
	ID         string              `json:"id"`
	State      store.ApprovalState `json:"state"`
	Run        string              `json:"run"`
	Tool       string              `json:"tool"`
	Args       jsontext.Value      `json:"args"`
	EditedArgs jsontext.Value      `json:"edited_args,omitzero"`
	// ArgsWithheld: args are null because the list had no room for them; the
	// approval by its ID has them.
	ArgsWithheld bool   `json:"args_withheld,omitzero"`
	Principal    string `json:"principal"`
	Tenant       string `json:"tenant"`
	Task         string `json:"task"`
	Role         string `json:"approver_role,omitzero"`
	Step         string `json:"step"`
	Code         string `json:"code"`
	Cause        string `json:"cause"`
	CallHash     string `json:"call_hash"`
	Created      string `json:"created"`
	Expires      string `json:"expires,omitzero"`
	Approver     string `json:"approver,omitzero"`
	Reason       string `json:"reason,omitzero"`
	Decided      string `json:"decided,omitzero"`
	Used         string `json:"used,omitzero"`
}

// NewApproval writes an approval down.
func NewApproval(a runtime.Approval) Approval {
	j := Approval{
		ID: a.ID, State: a.State, Run: a.RunID, Tool: a.Tool, Args: jsontext.Value("null"),
		Principal: a.Principal, Tenant: a.Tenant, Task: a.Task, Role: a.Role, Step: a.Step, Code: a.Code, Cause: a.Cause,
		CallHash: a.CallHash, Created: Stamp(a.Created), Expires: Stamp(a.Expires),
		Approver: a.Approver, Reason: a.Reason, Decided: Stamp(a.Decided), Used: Stamp(a.Used),
		ArgsWithheld: a.ArgsWithheld,
	}
	if a.Args != "" {
		j.Args = jsontext.Value(a.Args)
	}
	if a.EditedArgs != "" {
		j.EditedArgs = jsontext.Value(a.EditedArgs)
	}
	return j
}

// Answer is what became of an answer to an approval.
type Answer struct {
	Accepted bool      `json:"accepted"`
	Code     string    `json:"code,omitzero"`
	Reason   string    `json:"reason,omitzero"`
	Approval Approval  `json:"approval"`
	Decision *Decision `json:"decision,omitzero"`
}

// NewAnswer writes an answer down.
func NewAnswer(a runtime.Answer) Answer {
	j := Answer{Accepted: a.Accepted, Code: string(a.Code), Reason: a.Reason, Approval: NewApproval(a.Approval)}
	if a.Decision != nil {
		d := NewDecision(*a.Decision)
		j.Decision = &d
	}
	return j
}
