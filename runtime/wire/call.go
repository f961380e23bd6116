package wire

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// Call is how a call ended.
type Call struct {
	Run         string           `json:"run"`
	Call        string           `json:"call"`
	Tool        string           `json:"tool"`
	Outcome     runtime.Outcome  `json:"outcome"`
	Next        string           `json:"next"`
	Output      jsontext.Value   `json:"output,omitzero"` // a string if it is text
	OutputText  bool             `json:"output_is_text,omitzero"`
	Artifacts   []Artifact       `json:"artifacts,omitzero"`
	Truncated   bool             `json:"truncated,omitzero"`
	Original    int64            `json:"original_bytes,omitzero"`
	Redactions  map[string]int   `json:"redactions,omitzero"`
	Label       manifests.Label  `json:"label,omitzero"`
	Error       *runtime.Failure `json:"error,omitzero"`
	Approval    string           `json:"approval,omitzero"`
	RetryAt     string           `json:"retry_at,omitzero"`
	Idempotency string           `json:"idempotency_key,omitzero"`
	Repeated    bool             `json:"repeated,omitzero"`
	Decision    Decision         `json:"decision"`
}

// Artifact is a file that code handed back.
type Artifact struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Bytes     []byte `json:"bytes"` // in base64
	Withheld  string `json:"withheld,omitzero"`
}

// NewArtifacts writes down what code handed back.
func NewArtifacts(list []runtime.Artifact) []Artifact {
	var artifacts []Artifact
	for _, a := range list {
		artifacts = append(artifacts, Artifact(a))
	}
	return artifacts
}

// NewCall writes down how a call ended. The error's message may hold whatever the
// tool put there: it is for operators alone.
func NewCall(run, tool string, r runtime.Result) (Call, error) {
	j := Call{
		Run: run, Call: r.CallID, Tool: tool, Outcome: r.Outcome, Next: r.Next, Label: r.Label, Error: r.Error,
		Approval: r.Approval, RetryAt: Stamp(r.RetryAt), Idempotency: r.IdempotencyKey, Repeated: r.Repeated,
		Decision: NewDecision(r.Decision), Artifacts: NewArtifacts(r.Artifacts),
	}
	if o := r.Output; o != nil {
		j.Truncated, j.Redactions = o.Truncated, o.Redactions
		if o.Truncated {
			j.Original = o.OriginalBytes
		}
		if o.JSON {
			j.Output = jsontext.Value(o.Text)
			return j, nil
		}
		text, err := jsontext.AppendQuote(nil, o.Text)
		if err != nil {
			return j, fmt.Errorf("print the output: %w", err)
		}
		j.Output, j.OutputText = jsontext.Value(text), true
	}
	return j, nil
}

// Decision is a decision of the governor.
type Decision struct {
	Outcome      string   `json:"outcome"`
	Step         string   `json:"step"`
	Code         string   `json:"code"`
	Reason       string   `json:"reason"`
	ApproverRole string   `json:"approver_role,omitzero"`
	Approval     string   `json:"approval,omitzero"`
	RetryAt      string   `json:"retry_at,omitzero"`
	Run          string   `json:"run,omitzero"`
	Principal    string   `json:"principal"`
	Tenant       string   `json:"tenant"`
	Task         string   `json:"task"`
	Tool         string   `json:"tool"`
	Version      string   `json:"version,omitzero"`
	Digest       string   `json:"definition_digest,omitzero"`
	CallHash     string   `json:"call_hash,omitzero"`
	Labels       []string `json:"labels"`
	Steps        []Step   `json:"steps"`
}

// Step is what one of the governor's steps said.
type Step struct {
	Step    string  `json:"step"`
	Outcome string  `json:"outcome"`
	Code    string  `json:"code,omitzero"`
	TookUS  float64 `json:"took_us"`
}

// NewDecision writes a decision down.
func NewDecision(d governor.Decision) Decision {
	j := Decision{
		Outcome: d.Outcome.String(), Step: string(d.Step), Code: string(d.Code), Reason: d.Reason,
		ApproverRole: d.ApproverRole, Approval: d.ApprovalID, RetryAt: Stamp(d.RetryAt), Run: d.Run,
		Principal: d.Principal, Tenant: d.Tenant, Task: d.Task, Tool: d.Tool, Version: d.Version, Digest: d.Digest,
		CallHash: d.CallHash, Labels: LabelNames(d.Labels), Steps: []Step{},
	}
	for _, s := range d.Notes {
		j.Steps = append(j.Steps, Step{string(s.Step), s.Outcome.String(), string(s.Code), float64(s.Duration) / float64(time.Microsecond)})
	}
	return j
}

// Stamp is a time in UTC, to the second; empty for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// LabelNames are labels as policies name them.
func LabelNames(l runtime.Labels) []string {
	names := []string{}
	if l.UntrustedSeen {
		names = append(names, "untrusted_seen")
	}
	if l.PrivateSeen {
		names = append(names, "private_seen")
	}
	return names
}
