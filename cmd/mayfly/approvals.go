package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// approvalsCommand holds the verbs about calls that wait for a person.
type approvalsCommand struct {
	List    approvalsListCommand    `cmd:"" help:"List the calls that wait for a person."`
	Show    approvalsShowCommand    `cmd:"" help:"Show what is to be approved."`
	Approve approvalsApproveCommand `cmd:"" help:"Let a call go ahead, once."`
	Reject  approvalsRejectCommand  `cmd:"" help:"Say no to a call."`
	Edit    approvalsEditCommand    `cmd:"" help:"Let a call go ahead with other arguments, and only with those."`
}

// answerExitCodes is in the help of the verbs that answer.
const answerExitCodes = "\n\nExit codes: 0 the answer counts, 5 it does not, and nothing has changed; 2 the command or a manifest is wrong, 4 something of Mayfly's own failed."

type approvalsListCommand struct {
	State     string    `default:"pending" enum:"pending,approved,rejected,expired,used,all" help:"pending, approved, rejected, expired, used or all. Default pending."`
	RunID     string    `name:"run" placeholder:"ID" help:"Only those of this run."`
	Principal string    `placeholder:"NAME" help:"Only calls on behalf of this principal."`
	Tenant    string    `placeholder:"NAME" help:"Only calls for this tenant."`
	Limit     limitFlag `placeholder:"N" help:"How many at most, 1 to 1000. Default 100."`
	JSON      bool      `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (approvalsListCommand) Help() string {
	return `Example:

  mayfly approvals list --json` + manifestExitCodes
}

// approvalList is what "approvals list --json" prints.
type approvalList struct {
	Harness   string          `json:"harness"`
	Approvals []wire.Approval `json:"approvals"`
}

func (c *approvalsListCommand) Run(p *process) error {
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		filter := runtime.ApprovalFilter{RunID: c.RunID, Principal: c.Principal, Tenant: c.Tenant, Limit: int(c.Limit)}
		if c.State != "all" {
			filter.State = store.ApprovalState(c.State)
		}
		found, err := rt.Approvals(ctx, filter)
		if err != nil {
			return err
		}
		list := approvalList{Harness: file, Approvals: []wire.Approval{}}
		var rows [][]string
		for _, a := range found {
			list.Approvals = append(list.Approvals, wire.NewApproval(a))
			rows = append(rows, []string{a.ID, string(a.State), a.Tool, dash(a.Principal), dash(a.Role), stamp(a.Created), left(a), shownArgs(a)})
		}
		if c.JSON {
			return p.stdout.object(list)
		}
		if len(rows) == 0 {
			p.stderr.note("there are none")
			return nil
		}
		return p.stdout.table([]string{"ID", "STATE", "TOOL", "PRINCIPAL", "ROLE", "ASKED", "LEFT", "ARGUMENTS"}, rows)
	})
}

// shownArgs is the beginning of the arguments.
func shownArgs(a runtime.Approval) string {
	if a.ArgsWithheld {
		return "(too long for a list)"
	}
	return shorten(plainJSON(a.Args, ""), 60)
}

// left is how much time there is to decide.
func left(a runtime.Approval) string {
	if a.State != store.Pending || a.Expires.IsZero() {
		return "-"
	}
	return time.Until(a.Expires).Round(time.Second).String()
}

// approvalError says which approval an error is about.
func approvalError(id string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return usagef("there is no approval %q; mayfly approvals list --state all shows all", id)
	}
	return err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
