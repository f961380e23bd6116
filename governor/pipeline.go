package governor

import (
	"context"
	"time"

	"github.com/mayfly-run/mayfly/governor/internal/expr"
	"github.com/mayfly-run/mayfly/internal/store"
)

// Step is one of the steps that a call takes.
type Step string

// The steps. StepRun comes before the nine.
const (
	StepRun      Step = "run"
	StepRegistry Step = "registry"
	StepSchema   Step = "schema"
	StepPolicy   Step = "policy"
	StepTrifecta Step = "trifecta"
	StepLimits   Step = "limits"
	StepJudge    Step = "judge"
	StepApproval Step = "approval"
	StepExecute  Step = "execute"
	StepOutput   Step = "output"
)

const stepCount = 10

// pipeline is the order of the steps: here and nowhere else. A step that has no
// function here is taken after the decision: execute by whoever runs the tool,
// output by Governor.Output.
//
// No step has an effect that a later one would have to take back, but for the
// place in the rate limits, which finish gives back. What cannot be taken back,
// using an approval up, is the last thing that the last step does.
var pipeline = [stepCount]struct {
	step   Step
	decide func(*evaluation) verdict
}{
	{StepRun, (*evaluation).checkRun},
	{StepRegistry, (*evaluation).checkRegistry},
	{StepSchema, (*evaluation).checkSchema},
	{StepPolicy, (*evaluation).checkPolicy},
	{StepTrifecta, (*evaluation).checkTrifecta},
	{StepLimits, (*evaluation).checkLimits},
	{StepJudge, (*evaluation).checkJudge},
	{StepApproval, (*evaluation).checkApproval},
	{StepExecute, nil},
	{StepOutput, nil},
}

// evaluation is one call on its way through the steps.
type evaluation struct {
	g    *Governor
	ctx  context.Context
	call *Call
	// dry says that the call will not run: nothing may be left behind.
	dry bool
	now time.Time

	subject Subject
	task    *taskPlan
	// labels are those of the run and those that the caller knows of; stored are
	// the run's alone.
	labels, stored store.Labels
	// resumed says that the call names an approval that is for it and open.
	resumed bool

	tool *toolPlan
	hash string
	vars expr.Vars

	// asked is the first step that asked for approval; its outcome is Block as
	// long as none did.
	asked     verdict
	askedStep Step
	role      string

	d     Decision
	notes [stepCount]StepNote
}

// run takes all steps.
func (e *evaluation) run() {
	var v verdict
	taken := 0
	started := e.now
	for i := range pipeline {
		if pipeline[i].decide == nil {
			continue
		}
		step := pipeline[i].step
		v = e.take(step, pipeline[i].decide)
		ended := e.g.clock()
		e.notes[taken] = StepNote{Step: step, Outcome: v.outcome, Code: v.code, Duration: max(ended.Sub(started), 0)}
		started = ended
		taken++
		e.d.Step = step
		if v.outcome == RequireApproval && e.asked.outcome == Block {
			e.asked, e.askedStep = v, step
		}
		if v.outcome == Block {
			break
		}
	}
	// Whatever was asked before, the last step has the answer to it.
	switch v.outcome {
	case Allow:
		e.conclude(Allow, e.d.Step, CodeAllowed, "every step let the call pass")
	case RequireApproval:
		e.conclude(RequireApproval, e.askedStep, e.asked.code, e.asked.reason)
		e.d.ApproverRole = e.approverRole()
	case Block:
		if v.code == "" {
			v = broken("a step blocks without a code")
		}
		e.conclude(Block, e.d.Step, v.code, v.reason)
	}
	e.d.Notes = e.notes[:taken:taken]
}

func (e *evaluation) conclude(o Outcome, s Step, c Code, reason string) {
	e.d.Outcome, e.d.Step, e.d.Code, e.d.Reason = o, s, c, reason
}

// take takes one step. A step that panics blocks.
func (e *evaluation) take(step Step, decide func(*evaluation) verdict) (v verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = broken("step " + string(step) + " failed")
		}
	}()
	if err := e.ctx.Err(); err != nil {
		return broken("the call was cancelled before it was decided")
	}
	return decide(e)
}

// finish gives back what a call took that does not go ahead.
func (e *evaluation) finish() {
	if e.d.reservation == "" || e.d.Outcome == Allow && !e.dry {
		return
	}
	// Also when the caller has gone: nobody else could give the place back.
	if err := e.g.store.Release(context.WithoutCancel(e.ctx), e.d.reservation); err != nil && e.d.Outcome != Block {
		e.conclude(Block, StepLimits, CodeInternal, "the place in the rate limits could not be given back")
	}
	e.d.reservation = ""
}
