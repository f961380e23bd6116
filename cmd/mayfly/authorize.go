package main

import (
	"context"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

// authorizeCommand asks the governor about a call that is not made.
type authorizeCommand struct {
	callFlags
}

func (authorizeCommand) Help() string {
	return `The call takes the same way through the governor as a real one, up to where it would run, and leaves nothing behind. Without --run it is the first call of a run as the flags say.

Example:

  mayfly authorize refund_payment --args '{"order_id":"A-1001","amount_usd":250}' --task support --label untrusted

Exit codes: 0 the call would be allowed, 5 blocked, 6 a person would have to approve it; 2 the command or a manifest is wrong, 4 something of Mayfly's own failed.`
}

func (c *authorizeCommand) Run(p *process) error {
	call, err := c.call(p)
	if err != nil {
		return err
	}
	if c.RunID != nil && len(c.Label) > 0 {
		return labelsOfRun(call.RunID)
	}
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		var d governor.Decision
		if call.RunID == "" && call.Approval != "" {
			if call.RunID, err = c.runOf(ctx, rt, call.Approval); err != nil {
				return err
			}
			if len(c.Label) > 0 {
				return labelsOfRun(call.RunID)
			}
		}
		if call.RunID != "" {
			d = rt.Authorize(ctx, call)
		} else {
			d = rt.AuthorizeAs(ctx, c.config(), call)
		}
		if d.Code == governor.CodeInternal && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		shown := newDecision(d)
		if c.JSON {
			err = p.stdout.object(shown)
		} else {
			err = shown.table(p)
		}
		if err == nil && d.Outcome != governor.Allow {
			err = decisionExit(d.Outcome)
		}
		return err
	})
}

// labelsOfRun is why a run that there is cannot be looked at as if it had others.
func labelsOfRun(id string) error {
	return usagef("--label is for a new run; run %s has its own, and mayfly runs labels adds to them", id)
}

// table prints what each step said and what came of it.
func (d decisionJSON) table(p *process) error {
	var rows [][]string
	for _, s := range d.Steps {
		rows = append(rows, []string{s.Step, s.Outcome, dash(s.Code)})
	}
	if err := p.stdout.table([]string{"STEP", "SAYS", "CODE"}, rows); err != nil {
		return err
	}
	return p.stdout.guest([]byte("\n" + oneLine(d.sentence()) + "\n"))
}
