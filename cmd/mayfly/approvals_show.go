package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

type approvalsShowCommand struct {
	ID   string `arg:"" help:"The approval's ID."`
	JSON bool   `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (approvalsShowCommand) Help() string {
	return `Characters that cannot be seen are shown as escapes.

Example:

  mayfly approvals show DCIK3TU2RIZ7GYYKDCJHQF4NGY` + manifestExitCodes
}

func (c *approvalsShowCommand) Run(p *process) error {
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		a, err := rt.Approval(ctx, c.ID)
		if err != nil {
			return approvalError(c.ID, err)
		}
		if c.JSON {
			return p.stdout.object(wire.NewApproval(a))
		}
		return p.stdout.all(question(ctx, rt, a))
	})
}

// question shows a person all that an approval is about. Nothing in it can
// drive a terminal or pretend to be another line: every value is on its own
// line or indented.
func question(ctx context.Context, rt *runtime.Runtime, a runtime.Approval) []byte {
	var b bytes.Buffer
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-11s %s\n", label, oneLine(value))
		}
	}
	block := func(label, json string) {
		fmt.Fprintf(&b, "%-11s %s\n", label, strings.ReplaceAll(plainJSON(json, "  "), "\n", "\n            "))
	}
	line("approval", fmt.Sprintf("%s, %s", a.ID, a.State))
	line("tool", a.Tool)
	if t, ok := rt.Manifests().Tool(a.Tool); ok {
		line("", toolFacts(t))
	} else {
		line("", "the harness no longer has this tool")
	}
	block("arguments", a.Args)
	if a.EditedArgs != "" {
		block("edited to", a.EditedArgs)
	}
	line("principal", a.Principal)
	line("tenant", a.Tenant)
	line("task", a.Task)
	run := a.RunID
	if r, err := rt.Run(ctx, a.RunID); err == nil {
		if names := wire.LabelNames(r.Labels); len(names) > 0 {
			run += ", has " + strings.Join(names, " and ")
		}
	}
	line("run", run)
	line("asked", stamp(a.Created)+" by "+a.Step+" ("+a.Code+"): "+a.Cause)
	line("role", a.Role)
	if !a.Expires.IsZero() {
		line("until", stamp(a.Expires))
	}
	if !a.Decided.IsZero() {
		line("decided", stamp(a.Decided)+" by "+a.Approver)
	}
	line("reason", a.Reason)
	line("used", stamp(a.Used))
	return b.Bytes()
}

// toolFacts say in a line what a tool can do.
func toolFacts(t *manifests.Tool) string {
	facts := fmt.Sprintf("side effect %s, risk %s", t.Spec.SideEffect, t.Spec.Risk)
	if len(t.Spec.EgressAllowed) > 0 {
		facts += fmt.Sprintf(", sends data to %v", t.Spec.EgressAllowed)
	}
	if t.Spec.Description != "" {
		facts += ": " + shorten(t.Spec.Description, 200)
	}
	return facts
}
