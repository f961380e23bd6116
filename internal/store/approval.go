package store

import (
	"fmt"
	"math"
	"time"
)

// ApprovalState is where an approval stands. The zero value is none.
type ApprovalState string

// The states of an approval.
const (
	Pending  ApprovalState = "pending"
	Approved ApprovalState = "approved"
	Rejected ApprovalState = "rejected"
	// Expired: nobody decided in time, or nobody used it in time.
	Expired ApprovalState = "expired"
	// Used: it was approved, and the call has gone ahead.
	Used ApprovalState = "used"
)

// Approval is a question to a person about one exact call, and the answer.
type Approval struct {
	// ID names it. Required, unique.
	ID string
	// RunID is the run that asks. Required.
	RunID string
	// CallHash stands for the call as it was asked for. Required.
	CallHash string
	// Tool is what is to be called. Required.
	Tool string
	// Args are the arguments as canonical JSON, to be shown to the approver.
	Args string
	// ArgsWithheld says that this is an entry of a list whose arguments, Args and
	// EditedArgs, were too many for it: [MaxArgs]. Store.Approval gives them.
	ArgsWithheld bool
	// Principal, Tenant and Task are those of the run.
	Principal, Tenant, Task string
	// Role is what the approver has to be.
	Role string
	// Step and Code say which of the governor's steps asked, Cause why.
	Step, Code, Cause string
	// Created is when it was asked. Required.
	Created time.Time
	// Expires is from when on it can be neither decided nor used. The zero time is
	// never.
	Expires time.Time

	// What follows is the answer. CreateApproval takes none of it.

	// State is where it stands.
	State ApprovalState
	// Approver decided, Reason says why.
	Approver, Reason string
	// EditedArgs are arguments that were approved instead of Args; empty if they
	// were not edited.
	EditedArgs string
	// GrantedHash stands for the call that was approved: CallHash, or that of the
	// call with EditedArgs. Empty as long as it is not approved.
	GrantedHash string
	// Decided and Used are when; the zero time is not yet.
	Decided, Used time.Time
}

// Decision is the answer to an approval.
type Decision struct {
	// Approve says which. The zero value rejects.
	Approve bool
	// Approver is who decides. Required.
	Approver string
	// Reason is shown to whoever looks at the approval. May be empty.
	Reason string
	// EditedArgs and EditedHash approve another call than was asked for: its
	// arguments as canonical JSON, and its hash. Both or none, and only with
	// Approve.
	EditedArgs, EditedHash string
	// At is when. Required.
	At time.Time
}

// ApprovalFilter chooses approvals.
type ApprovalFilter struct {
	// Now is the time that decides what has expired. Required.
	Now time.Time
	// RunID, CallHash, Principal, Tenant and State must be the same, where they
	// are not empty.
	RunID, CallHash, Principal, Tenant string
	State                              ApprovalState
	// Limit is how many to give at most; 0 is DefaultLimit. More than MaxLimit is
	// refused.
	Limit int
}

func (f ApprovalFilter) checked() (ApprovalFilter, error) {
	var c checker
	f.Now = c.time("now", f.Now)
	f.Limit = c.limit(f.Limit)
	switch f.State {
	case "", Pending, Approved, Rejected, Expired, Used:
	default:
		c.require(false, "no such state of an approval")
	}
	return f, c.err
}

// match wants a as it stands at f.Now.
func (f ApprovalFilter) match(a Approval) bool {
	return same(f.RunID, a.RunID) && same(f.CallHash, a.CallHash) && same(f.Principal, a.Principal) &&
		same(f.Tenant, a.Tenant) && same(string(f.State), string(a.State))
}

// open says whether it can still lead to a call.
func (a Approval) open() bool { return a.State == Pending || a.State == Approved }

// at gives the approval as it stands at that time.
func (a Approval) at(now time.Time) Approval {
	if a.open() && due(a.Expires, now) {
		a.State = Expired
	}
	return a
}

// argsRoom is how many bytes of arguments a list has room for.
type argsRoom int

const everyArg argsRoom = math.MaxInt

// take says whether there is room for size bytes, and takes them.
func (r *argsRoom) take(size int) bool {
	if size > int(*r) {
		return false
	}
	*r -= argsRoom(size)
	return true
}

// within gives the approval as an entry of a list.
func (a Approval) within(room *argsRoom) Approval {
	if !room.take(len(a.Args) + len(a.EditedArgs)) {
		a.Args, a.EditedArgs, a.ArgsWithheld = "", "", true
	}
	return a
}

// answers says whether a second question of the same run and call is not
// needed, at the time that it is asked.
func (a Approval) answers(b Approval) bool {
	a = a.at(b.Created)
	return a.RunID == b.RunID && a.CallHash == b.CallHash &&
		(a.State == Pending || a.State == Approved && a.GrantedHash == b.CallHash)
}

// decide gives the approval after a decision. With ErrExpired or ErrDecided it
// is the approval as it stands.
func (a Approval) decide(d Decision) (Approval, error) {
	a = a.at(d.At)
	switch {
	case a.State == Expired:
		return a, fmt.Errorf("approval has %w: it cannot be decided any more; the call has to ask again", ErrExpired)
	case a.State != Pending:
		return a, fmt.Errorf("approval is %w: it is %s", ErrDecided, a.State)
	}
	a.State = Rejected
	a.Approver, a.Reason, a.Decided = d.Approver, d.Reason, d.At
	if d.Approve {
		a.State, a.GrantedHash = Approved, a.CallHash
		if d.EditedHash != "" {
			a.EditedArgs, a.GrantedHash = d.EditedArgs, d.EditedHash
		}
	}
	return a, nil
}

func (a Approval) checked() (Approval, error) {
	var c checker
	c.name("approval ID", a.ID)
	c.name("run ID", a.RunID)
	c.name("call hash", a.CallHash)
	c.name("tool", a.Tool)
	c.text("arguments", a.Args)
	c.label("principal", a.Principal)
	c.label("tenant", a.Tenant)
	c.label("task", a.Task)
	c.label("role", a.Role)
	c.label("step", a.Step)
	c.label("code", a.Code)
	c.text("cause", a.Cause)
	a.Created = c.time("created", a.Created)
	a.Expires = c.optionalTime("expires", a.Expires)
	c.require(a.State == "" || a.State == Pending, "a new approval must be pending")
	c.require(a.Approver+a.Reason+a.EditedArgs+a.GrantedHash == "" && a.Decided.IsZero() && a.Used.IsZero(),
		"a new approval must have no answer")
	c.require(!a.ArgsWithheld, "a new approval must have its arguments")
	a.State = Pending
	return a, c.err
}

func (d Decision) checked() (Decision, error) {
	var c checker
	c.name("approver", d.Approver)
	c.text("reason", d.Reason)
	c.text("edited arguments", d.EditedArgs)
	c.label("edited call hash", d.EditedHash)
	c.require((d.EditedArgs == "") == (d.EditedHash == ""), "edited arguments and their call hash go together")
	c.require(d.Approve || d.EditedHash == "", "a rejection edits nothing")
	d.At = c.time("at", d.At)
	return d, c.err
}

// errNoApproval is what Consume says when nothing fits.
func errNoApproval(expired bool) error {
	if expired {
		return fmt.Errorf("approval has %w before it was used; the call has to ask again", ErrExpired)
	}
	return fmt.Errorf("approved call %w in this run", ErrNotFound)
}
