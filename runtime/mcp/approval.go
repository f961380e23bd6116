package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
)

// maxQuestion is how long a question may be, in bytes. Nobody reads a longer
// one, and what is not read must not be approved here.
const maxQuestion = 16 << 10

// waiting is an approval that a call waits for, and the question about it if the
// client's person is the one to ask.
type waiting struct {
	awaiting
	question *sdk.ElicitParams
}

// awaiting says what a call waits for.
func (s *Session) awaiting(ctx context.Context, r runtime.Result) waiting {
	w := waiting{awaiting: awaiting{ID: r.Approval, Role: r.Decision.ApproverRole, Resume: resume}}
	a, err := s.rt.Approval(ctx, r.Approval)
	if err != nil {
		s.config.Logger.Error("look up an approval", "run", s.run, "approval", r.Approval, "error", err)
		return w
	}
	w.Role = a.Role
	if !a.Expires.IsZero() {
		w.Expires = a.Expires.UTC().Format(time.RFC3339)
	}
	by := s.config.Approver
	if by == nil || by.Name == a.Principal || a.Principal == "" || a.Role != "" && !slices.Contains(by.Roles, a.Role) {
		return w // the governor would not take this person's answer
	}
	w.question = s.question(a)
	return w
}

// question shows exactly what will run; nil: it is too long to be read.
func (s *Session) question(a runtime.Approval) *sdk.ElicitParams {
	var b strings.Builder
	fmt.Fprintf(&b, "Let %s call %s, once?\n", quoted(a.Principal), a.Tool)
	if t, ok := s.rt.Manifests().Tool(a.Tool); ok {
		fmt.Fprintf(&b, "It has side effect %s and risk %s.\n", t.Spec.SideEffect, t.Spec.Risk)
	}
	args, err := readable(a.Args)
	if err != nil {
		return nil // it comes from a store: what is no JSON is damage
	}
	fmt.Fprintf(&b, "Arguments: %s\n", args)
	if a.Tenant != "" {
		fmt.Fprintf(&b, "Tenant: %s\n", quoted(a.Tenant))
	}
	if a.Task != "" {
		fmt.Fprintf(&b, "Task: %s\n", quoted(a.Task))
	}
	fmt.Fprintf(&b, "Why you are asked: %s\n", a.Cause)
	if a.Role != "" {
		fmt.Fprintf(&b, "Who may answer: somebody with the role %s; you are taken to be %s.", quoted(a.Role), quoted(s.config.Approver.Name))
	} else {
		fmt.Fprintf(&b, "You are taken to be %s.", quoted(s.config.Approver.Name))
	}
	if b.Len() > maxQuestion {
		return nil
	}
	return &sdk.ElicitParams{Mode: "form", Message: b.String(), RequestedSchema: jsontext.Value(answerSchema)}
}

// answerSchema is what a person is asked for.
const answerSchema = `{"type":"object","properties":{` +
	`"decision":{"type":"string","enum":["approve","reject"],"title":"Decision"},` +
	`"reason":{"type":"string","title":"Reason","description":"For whoever looks at it later.","maxLength":1000}},` +
	`"required":["decision"]}`

// inBand reports whether the client's protocol puts questions into results, and
// answers into the repeated call.
func (s *Session) inBand(req *sdk.CallToolRequest) bool { return req.ProtocolVersion() >= "2026-07-28" }

// canAsk reports whether a client shows forms to its person.
func canAsk(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	if c == nil || c.Elicitation == nil {
		return false
	}
	return c.Elicitation.Form != nil || c.Elicitation.URL == nil
}

// ask shows the question, and takes the answer to the governor. It reports
// whether the call may go on and see what was decided.
func (s *Session) ask(ctx context.Context, req *sdk.CallToolRequest, w waiting) bool {
	answer, err := req.Session.Elicit(ctx, w.question)
	if err != nil {
		// The approval waits, and can be answered elsewhere.
		s.config.Logger.Warn("a client did not ask its person", "run", s.run, "approval", w.ID, "error", err)
		return false
	}
	return s.take(ctx, w.ID, answer)
}

// askInResult gives the question to the client as the result of the call.
func (s *Session) askInResult(w waiting) *sdk.CallToolResult {
	s.mu.Lock()
	s.asked[w.ID] = true
	s.mu.Unlock()
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{questionName: w.question}, RequestState: w.ID}
}

// questionName names the question within a result.
const questionName = "approval"

// answered takes the answer that comes with a repeated call, and gives the ID of
// the approval that the call resumes; empty: it is a new call. An answer counts
// for a question that this client was asked, and for no other: the ID comes back
// from the client, who could name any.
func (s *Session) answered(ctx context.Context, req *sdk.CallToolRequest) string {
	id := req.Params.RequestState
	s.mu.Lock()
	asked := s.asked[id]
	delete(s.asked, id)
	s.mu.Unlock()
	answer, ok := req.Params.InputResponses[questionName].(*sdk.ElicitResult)
	if !asked || !ok {
		return ""
	}
	// Whatever was said: with the approval the call finds out what was decided,
	// and is not counted as another one.
	s.take(ctx, id, answer)
	return id
}

// take brings an answer to the governor, which has the last word on who may give
// it. It reports whether anything was said at all.
func (s *Session) take(ctx context.Context, id string, answer *sdk.ElicitResult) bool {
	reason, _ := answer.Content["reason"].(string)
	var a runtime.Answer
	switch decision, _ := answer.Content["decision"].(string); {
	case answer.Action == "accept" && decision == "approve":
		a = s.rt.Approve(ctx, id, *s.config.Approver, reason)
	case answer.Action == "accept" && decision == "reject", answer.Action == "decline":
		a = s.rt.Reject(ctx, id, *s.config.Approver, reason)
	default:
		return false
	}
	if !a.Accepted {
		s.config.Logger.Warn("an answer does not count", "run", s.run, "approval", id, "code", a.Code, "reason", a.Reason)
	}
	return true
}
