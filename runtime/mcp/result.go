package mcp

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// problem is the structured content of a result with isError. Nothing in it is
// made from the values of arguments or from an error's text.
type problem struct {
	// Outcome is how the call ended, one of [runtime.Outcome]'s.
	Outcome runtime.Outcome `json:"outcome"`
	Tool    string          `json:"tool"`
	// Step, Code and Reason are the governor's, for a call that it stopped.
	Step   string `json:"step,omitzero"`
	Code   string `json:"code,omitzero"`
	Reason string `json:"reason,omitzero"`
	// ErrorType is the kind of error of a tool that failed.
	ErrorType string `json:"error_type,omitzero"`
	// Retryable says whether the same call may be made again as it is, at
	// RetryAt if that is given, or once what Next names has happened.
	Retryable bool   `json:"retryable"`
	RetryAt   string `json:"retry_at,omitzero"`
	// Next is what is safe to do.
	Next     string    `json:"next"`
	Approval *awaiting `json:"approval,omitzero"`
	// Result is what the tool answered all the same; Text if that is no JSON.
	Result jsontext.Value `json:"result,omitzero"`
	Text   string         `json:"text,omitzero"`
	Run    string         `json:"run,omitzero"`
	Call   string         `json:"call,omitzero"`
}

// awaiting is an approval that a call waits for.
type awaiting struct {
	ID string `json:"id"`
	// Role is who may answer; empty: anybody but who asks.
	Role    string `json:"approver_role,omitzero"`
	Expires string `json:"expires,omitzero"`
	// Resume says how the call goes on.
	Resume string `json:"resume"`
}

// resume holds for every approval: see governor's step 7.
const resume = "Once it is approved, make the same call with the same arguments in this session. It goes ahead once."

// about is what a client is told beside a result. Models do not see it.
type about struct {
	Run         string          `json:"run"`
	Call        string          `json:"call"`
	Tool        string          `json:"tool"`
	Outcome     runtime.Outcome `json:"outcome"`
	Label       string          `json:"label,omitzero"`
	Repeated    bool            `json:"repeated,omitzero"`
	Truncated   bool            `json:"truncated,omitzero"`
	Original    int64           `json:"original_bytes,omitzero"`
	Redactions  map[string]int  `json:"redactions,omitzero"`
	Idempotency string          `json:"idempotency_key,omitzero"`
}

func (s *Session) about(tool string, r runtime.Result) sdk.Meta {
	a := about{
		Run: s.run, Call: r.CallID, Tool: tool, Outcome: r.Outcome, Label: string(r.Label), Repeated: r.Repeated, Idempotency: r.IdempotencyKey,
	}
	if o := r.Output; o != nil {
		a.Truncated, a.Redactions = o.Truncated, o.Redactions
		if o.Truncated {
			a.Original = o.OriginalBytes
		}
	}
	text, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return nil // a name that is not UTF-8: no tool has one
	}
	return sdk.Meta{metaCall: jsontext.Value(text)}
}

// result is what a client gets of a call.
func (s *Session) result(tool string, r runtime.Result, waits *awaiting) *sdk.CallToolResult {
	if !r.Outcome.OK() {
		res := failed(newProblem(s.run, tool, r, waits))
		res.Meta = s.about(tool, r)
		return res
	}
	res := &sdk.CallToolResult{Content: []sdk.Content{}, Meta: s.about(tool, r)}
	defer func() { res.Content = append(res.Content, artifacts(r)...) }()
	o := r.Output
	switch {
	case o == nil && r.Repeated:
		res.Content = append(res.Content, text("The call took effect before, so that the tool did not run again."))
	case o == nil:
	case o.JSON && isObject(o.Text):
		res.StructuredContent = jsontext.Value(o.Text)
		res.Content = append(res.Content, text(o.Text))
	case o.JSON:
		res.Content = append(res.Content, text(o.Text))
	default:
		res.Content = append(res.Content, text(o.Text))
		if o.Truncated {
			note := fmt.Sprintf("The result is cut: it had %d bytes. Ask for less.", o.OriginalBytes)
			res.Content = append(res.Content, text(note))
		}
		if t, ok := s.rt.Manifests().Tool(tool); ok && t.Spec.Transport == manifests.TransportCode {
			// It promised structure, see codeOutputSchema.
			if cut, err := json.Marshal(map[string]string{"text": o.Text}); err == nil {
				res.StructuredContent = jsontext.Value(cut)
			}
		}
	}
	return res
}

func newProblem(run, tool string, r runtime.Result, waits *awaiting) problem {
	p := problem{
		Outcome: r.Outcome, Tool: tool, Retryable: retryable(r.Outcome) && r.Next != runtime.NextSetUp, Next: cmp.Or(r.Next, r.Outcome.Next()), Approval: waits, Run: run, Call: r.CallID,
	}
	if r.Decision.Outcome != governor.Allow {
		p.Step, p.Code, p.Reason = string(r.Decision.Step), string(r.Decision.Code), r.Decision.Reason
	} else if r.Error != nil && r.Error.Type != string(r.Outcome) {
		p.ErrorType = r.Error.Type
	}
	if !r.RetryAt.IsZero() {
		p.RetryAt = r.RetryAt.UTC().Format(time.RFC3339)
	}
	if o := r.Output; o != nil {
		if o.JSON {
			p.Result = jsontext.Value(o.Text)
		} else {
			p.Text = o.Text
		}
	}
	return p
}

// retryable reports whether the same call may be made again unchanged.
func retryable(o runtime.Outcome) bool {
	switch o {
	case runtime.Busy, runtime.Unavailable, runtime.RateLimited, runtime.ApprovalRequired, runtime.CredentialExpired, runtime.Cancelled:
		return true
	}
	return false
}

// failed is the result of a call that did not do what it was to do.
func failed(p problem) *sdk.CallToolResult {
	res := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{text(p.sentence())}}
	switch {
	case p.Result != nil:
		res.Content = append(res.Content, text(string(p.Result)))
	case p.Text != "":
		res.Content = append(res.Content, text(p.Text))
	}
	if structured, err := json.Marshal(p); err == nil {
		res.StructuredContent = jsontext.Value(structured)
	}
	return res
}

// sentence is the problem in words, for models whose client shows them no
// structure.
func (p problem) sentence() string {
	var b strings.Builder
	b.WriteString(string(p.Outcome))
	for _, why := range []string{p.Reason, p.ErrorType} {
		if why != "" {
			b.WriteString(": " + why)
		}
	}
	if p.Code != "" {
		b.WriteString(" (" + p.Step + ", " + p.Code + ")")
	}
	b.WriteString(". Next: " + p.Next)
	if p.RetryAt != "" {
		b.WriteString(": " + p.RetryAt)
	}
	b.WriteString(".")
	if p.Approval != nil {
		b.WriteString(" Approval " + p.Approval.ID + " waits for a person")
		if p.Approval.Role != "" {
			b.WriteString(" with the role " + p.Approval.Role)
		}
		b.WriteString(". " + p.Approval.Resume)
	}
	return b.String()
}

func text(s string) sdk.Content { return &sdk.TextContent{Text: s} }

func isObject(s string) bool { return strings.HasPrefix(s, "{") }
