package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// answerFlags say who answers, and why.
type answerFlags struct {
	ID     string   `arg:"" help:"The approval's ID."`
	As     string   `placeholder:"NAME" env:"MAYFLY_APPROVER" help:"Who decides. Default: the user of this process. Never the principal whose call it is."`
	Role   []string `sep:"none" placeholder:"ROLE" help:"A role that the approver holds. Repeatable. Whoever can write to the store is believed."`
	Reason string   `placeholder:"TEXT" help:"Why, for whoever looks at it later."`
	JSON   bool     `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

// yesFlag answers the question that is asked at a terminal.
type yesFlag struct {
	Yes bool `short:"y" help:"Do not ask; needed where there is no terminal."`
}

type approvalsApproveCommand struct {
	answerFlags
	yesFlag
}

func (approvalsApproveCommand) Help() string {
	return `At a terminal, what will run is shown first, and you are asked. The call goes through every step again when the run repeats it.

Example:

  mayfly approvals approve DCIK3TU2RIZ7GYYKDCJHQF4NGY --as bob --role finance` + answerExitCodes
}

type approvalsRejectCommand struct {
	answerFlags
}

func (approvalsRejectCommand) Help() string {
	return `Example:

  mayfly approvals reject DCIK3TU2RIZ7GYYKDCJHQF4NGY --as bob --role finance --reason 'no receipt'` + answerExitCodes
}

type approvalsEditCommand struct {
	answerFlags
	yesFlag
	Args argsFlag `required:"" placeholder:"JSON|@FILE" help:"The arguments to approve instead, all of them, or @ and the file that holds them; @- is standard input."`
}

func (approvalsEditCommand) Help() string {
	return `The other arguments go through every step of the governor first: if one blocks them, nothing is approved. They go through again when the run calls with exactly them.

Example:

  mayfly approvals edit DCIK3TU2RIZ7GYYKDCJHQF4NGY --args '{"order_id":"A-1001","amount_usd":50}' --role finance` + answerExitCodes
}

func (c *approvalsApproveCommand) Run(p *process) error {
	return c.answer(p, &c.yesFlag, "", func(ctx context.Context, rt *runtime.Runtime, by runtime.Approver) runtime.Answer {
		return rt.Approve(ctx, c.ID, by, c.Reason)
	})
}

func (c *approvalsRejectCommand) Run(p *process) error {
	return c.answer(p, nil, "", func(ctx context.Context, rt *runtime.Runtime, by runtime.Approver) runtime.Answer {
		return rt.Reject(ctx, c.ID, by, c.Reason)
	})
}

func (c *approvalsEditCommand) Run(p *process) error {
	args, err := c.Args.read(p, "--args")
	if err != nil {
		return err
	}
	return c.answer(p, &c.yesFlag, string(args), func(ctx context.Context, rt *runtime.Runtime, by runtime.Approver) runtime.Answer {
		return rt.Edit(ctx, c.ID, by, args, c.Reason)
	})
}

// answer shows what is asked, asks where ask is given, answers, and says what
// became of it. edited are the arguments to approve instead, if any.
func (f answerFlags) answer(p *process, ask *yesFlag, edited string, do func(context.Context, *runtime.Runtime, runtime.Approver) runtime.Answer) error {
	by := runtime.Approver{Name: f.As, Roles: f.Role}
	if by.Name == "" {
		by.Name = thisUser()
	}
	if by.Name == "" {
		return usagef("the user of this process has no name; --as says who decides")
	}
	if ask != nil && !ask.Yes && (!term.IsTerminal(int(p.stdin.Fd())) || !p.stderr.terminal) {
		return usagef("there is no terminal to ask at; look at mayfly approvals show %s, then give --yes", f.ID)
	}
	return f.with(p, useToDecide, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		a, err := rt.Approval(ctx, f.ID)
		if err != nil {
			return approvalError(f.ID, err)
		}
		if ask != nil && !ask.Yes {
			if edited != "" {
				a.EditedArgs = edited
			}
			if yes, err := confirm(ctx, p, question(ctx, rt, a)); err != nil || !yes {
				return err
			}
		}
		answer := do(ctx, rt, by)
		if answer.Code == governor.CodeInternal && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if answer.Approval.ID == "" {
			answer.Approval = a
		}
		return f.report(p, answer)
	})
}

// confirm shows a question at the terminal and reads the answer. Anything but
// a yes is a no.
func confirm(ctx context.Context, p *process, question []byte) (bool, error) {
	if err := p.stderr.all(append(question, "\nLet this call go ahead, once? [y/N] "...)); err != nil {
		return false, err
	}
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(p.stdin).ReadString('\n')
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		switch strings.ToLower(strings.TrimSpace(r.line)) {
		case "y", "yes":
			return true, nil
		}
		p.stderr.note("nothing has changed")
		return false, exitBlocked
	case <-ctx.Done():
		return false, context.Cause(ctx) // the process ends, and the reader with it
	}
}

// resumes is the command that makes an approved call.
func resumes(a runtime.Approval) string {
	if a.Tool == runtime.ExecTool {
		return "the same mayfly exec with --approval " + a.ID
	}
	return fmt.Sprintf("mayfly call %s --approval %s with the arguments that were approved", a.Tool, a.ID)
}

// report says what became of an answer.
func (f answerFlags) report(p *process, a runtime.Answer) error {
	shown := wire.NewAnswer(a)
	var err error
	switch {
	case f.JSON:
		err = p.stdout.object(shown)
	case a.Accepted:
		err = p.stdout.guest(fmt.Appendf(nil, "%s %s\n", a.Approval.State, a.Approval.ID))
		if a.Approval.GrantedHash != "" {
			p.stderr.note("the run can now make this call, once: %s", resumes(a.Approval))
		}
	default:
		who := ""
		if a.Code == governor.CodeApproverIsRequester {
			who = "; --as says who else decides"
		}
		p.stderr.note("nothing has changed: %s%s (%s)", a.Reason, who, a.Code)
	}
	if err == nil && !a.Accepted {
		err = exitBlocked
		if a.Code == governor.CodeInternal {
			err = exitInternal
		}
	}
	return err
}
