package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/governor"
)

// decisionJSON is a decision of the governor as it is printed.
type decisionJSON struct {
	Outcome      string     `json:"outcome"`
	Step         string     `json:"step"`
	Code         string     `json:"code"`
	Reason       string     `json:"reason"`
	ApproverRole string     `json:"approver_role,omitzero"`
	Approval     string     `json:"approval,omitzero"`
	RetryAt      string     `json:"retry_at,omitzero"`
	Run          string     `json:"run,omitzero"`
	Principal    string     `json:"principal"`
	Tenant       string     `json:"tenant"`
	Task         string     `json:"task"`
	Tool         string     `json:"tool"`
	Version      string     `json:"version,omitzero"`
	Digest       string     `json:"definition_digest,omitzero"`
	CallHash     string     `json:"call_hash,omitzero"`
	Labels       []string   `json:"labels"`
	Steps        []stepJSON `json:"steps"`
}

type stepJSON struct {
	Step    string  `json:"step"`
	Outcome string  `json:"outcome"`
	Code    string  `json:"code,omitzero"`
	TookUS  float64 `json:"took_us"`
}

func newDecision(d governor.Decision) decisionJSON {
	j := decisionJSON{
		Outcome: d.Outcome.String(), Step: string(d.Step), Code: string(d.Code), Reason: d.Reason,
		ApproverRole: d.ApproverRole, Approval: d.ApprovalID, RetryAt: stamp(d.RetryAt), Run: d.Run,
		Principal: d.Principal, Tenant: d.Tenant, Task: d.Task, Tool: d.Tool, Version: d.Version, Digest: d.Digest,
		CallHash: d.CallHash, Labels: labelNames(d.Labels), Steps: []stepJSON{},
	}
	for _, s := range d.Notes {
		j.Steps = append(j.Steps, stepJSON{string(s.Step), s.Outcome.String(), string(s.Code), float64(s.Duration) / float64(time.Microsecond)})
	}
	return j
}

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
