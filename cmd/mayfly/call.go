package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// callCommand calls a tool under the governor.
type callCommand struct {
	callFlags
}

func (callCommand) Help() string {
	return `The call goes through every step of the governor, and what it gives is printed after the last one. A call that needs approval waits in the store: a person decides with mayfly approvals, then the same call is repeated with --approval.

Examples:

  mayfly call find_order --args '{"order":"A-1001"}' --task support

  mayfly call refund_payment --args @refund.json --json

Exit codes: 0 done, 1 the tool failed, 2 the command, a manifest or the arguments are wrong, 3 a limit ended the call, 4 the tool could not be reached or something of Mayfly's own failed, 5 the governor blocked the call, 6 a person must approve it first, 7 it may or may not have taken effect: do not repeat it blindly. A signal that ends the call gives 128 plus its number.`
}

// callJSON is what "call --json" prints.
type callJSON struct {
	wire.Call `json:",inline"`
	// Printed is what a handler that succeeded wrote beside its result.
	Printed string `json:"printed,omitzero"`
}

func (c *callCommand) Run(p *process) error {
	call, err := c.call(p)
	if err != nil {
		return err
	}
	return c.with(p, useToCall, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		if call.RunID == "" && call.Approval != "" {
			if call.RunID, err = c.runOf(ctx, rt, call.Approval); err != nil {
				return err
			}
		}
		if call.RunID == "" {
			run, err := rt.StartRun(ctx, c.config())
			if err != nil {
				return startError(err)
			}
			call.RunID = run.ID
		} else if len(c.Label) > 0 {
			if err := rt.AddLabels(ctx, call.RunID, labels(c.Label)); err != nil {
				return runError(call.RunID, err)
			}
		}
		call.Parent = traceParent()
		result, err := rt.Call(ctx, call)
		if err != nil {
			return err
		}
		shown, err := newCall(call.RunID, c.Tool, result)
		if err != nil {
			return err
		}
		if c.JSON {
			err = p.stdout.object(shown)
		} else {
			err = shown.text(p)
		}
		code := callExit(result.Outcome)
		if cause, ok := context.Cause(ctx).(signalError); ok && result.Outcome == runtime.Cancelled {
			code = exitSignal + exitCode(cause.signal)
		}
		if err == nil && code != exitOK {
			err = code
		}
		return err
	})
}

func newCall(run, tool string, r runtime.Result) (callJSON, error) {
	j, err := wire.NewCall(run, tool, r)
	return callJSON{j, r.Printed}, err
}

// text prints the output, and what else there is to say on standard error.
func (j callJSON) text(p *process) error {
	if j.Printed != "" { // before the value, as exec has it; not where the value goes
		if err := p.stderr.guest([]byte(j.Printed)); err != nil {
			return err
		}
		if err := startLine(p.stderr, []byte(j.Printed)); err != nil {
			return err
		}
	}
	if j.Output != nil {
		if j.OutputText {
			text, err := jsontext.AppendUnquote(nil, j.Output)
			if err != nil {
				return fmt.Errorf("print the output: %w", err)
			}
			if err := p.stdout.guest(text); err != nil {
				return err
			}
			if err := startLine(p.stdout, text); err != nil {
				return err
			}
		} else {
			value := j.Output.Clone()
			if err := value.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)); err != nil {
				return fmt.Errorf("print the output: %w", err)
			}
			if err := p.stdout.json(value); err != nil {
				return err
			}
		}
	}
	j.notes(p)
	return nil
}

func (j callJSON) notes(p *process) {
	if j.Truncated {
		p.stderr.note("the output is cut: it had %d bytes", j.Original)
	}
	for _, kind := range sortedKeys(j.Redactions) {
		p.stderr.note("taken out of the output: %s, %s", kind, count(j.Redactions[kind], "time"))
	}
	if j.Repeated {
		p.stderr.note("the call took effect before, so that the tool did not run again")
	}
	if j.Outcome.OK() {
		return
	}
	why := strings.ReplaceAll(string(j.Outcome), "_", " ")
	var trace []string
	if j.Decision.Outcome != "allow" {
		why = decisionJSON{j.Decision}.sentence()
	} else if j.Error != nil {
		if !strings.EqualFold(j.Error.Type, string(j.Outcome)) {
			why += ": " + j.Error.Type
		}
		// Tracebacks keep their lines: nobody can read one without.
		message := strings.TrimRight(j.Error.Message, "\n")
		if strings.Contains(message, "\n") {
			trace = strings.Split(message, "\n")
		} else if message != "" {
			why += ": " + message
		}
	}
	p.stderr.note("%s", oneLine(why))
	for _, line := range trace {
		p.stderr.note("  %s", visible([]byte(line)))
	}
	p.stderr.note("run %s; %s", j.Run, j.Next)
	switch governor.Code(j.Decision.Code) {
	case governor.CodeToolUnknown:
		p.stderr.note("mayfly tools list shows all tools")
	case governor.CodeRunUnknown:
		p.stderr.note("mayfly runs list shows all runs")
	}
	if j.RetryAt != "" && j.Decision.Outcome == "allow" {
		p.stderr.note("again from %s", j.RetryAt)
	}
	if j.Approval != "" {
		p.stderr.note("mayfly approvals show %s", j.Approval)
		p.stderr.note("then: mayfly call %s --run %s --approval %s with the same --args", j.Tool, j.Run, j.Approval)
	}
}

// callExit is the exit code of an outcome.
func callExit(o runtime.Outcome) exitCode {
	switch o {
	case runtime.OK, runtime.EffectConfirmed:
		return exitOK
	case runtime.ToolError:
		return exitRaised
	case runtime.InvalidArguments:
		return exitUsage
	case runtime.Timeout, runtime.MemoryLimit, runtime.OutputLimit, runtime.FuelLimit:
		return exitLimit
	case runtime.Denied, runtime.ApprovalRejected, runtime.RateLimited:
		return exitBlocked
	case runtime.ApprovalRequired:
		return exitApproval
	case runtime.EffectAmbiguous:
		return exitAmbiguous
	}
	return exitInternal
}
