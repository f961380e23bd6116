package main

import (
	"fmt"
	"strings"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// decisionJSON is a decision of the governor as it is printed.
type decisionJSON struct {
	wire.Decision `json:",inline"`
}

func newDecision(d governor.Decision) decisionJSON { return decisionJSON{wire.NewDecision(d)} }

// sentence says what was decided and why.
func (d decisionJSON) sentence() string {
	s := fmt.Sprintf("%s (%s, %s)", strings.ReplaceAll(d.Outcome, "_", " "), d.Step, d.Code)
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	if d.ApproverRole != "" {
		s += "; who may approve: " + d.ApproverRole
	}
	if d.RetryAt != "" {
		s += "; again from " + d.RetryAt
	}
	return s
}

// decisionExit is the exit code of a decision.
func decisionExit(o governor.Outcome) exitCode {
	switch o {
	case governor.Allow:
		return exitOK
	case governor.RequireApproval:
		return exitApproval
	}
	return exitBlocked
}
