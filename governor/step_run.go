package governor

import (
	"errors"

	"github.com/mayfly-run/mayfly/internal/store"
)

// checkRun finds out who calls, and whether the run may call at all. It comes
// before the nine steps.
func (e *evaluation) checkRun() verdict {
	if e.call.Run == "" {
		if !e.dry {
			return block(CodeRunUnknown, "a call needs a run")
		}
		e.subject, e.labels = e.call.Subject, e.call.Labels
		return e.checkTask()
	}
	run, err := e.g.store.Run(e.ctx, e.call.Run)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return block(CodeRunUnknown, "there is no such run")
	case err != nil:
		return broken("the run cannot be looked up")
	}
	e.subject = Subject{run.Principal, run.Tenant, run.Task}
	e.stored, e.labels = run.Labels, run.Labels.Or(e.call.Labels)
	if !run.Expires.IsZero() && !e.now.Before(run.Expires) {
		return block(CodeRunExpired, "the run has come to its end; start a new one")
	}
	if v := e.checkTask(); v.outcome != Allow {
		return v
	}
	return e.checkBudget(run)
}

// checkTask refuses tasks that the harness does not have: a misspelt one would
// come without the limits of the one that was meant. A harness without tasks
// takes them all.
func (e *evaluation) checkTask() verdict {
	e.d.Principal, e.d.Tenant, e.d.Task, e.d.Labels = e.subject.Principal, e.subject.Tenant, e.subject.Task, e.labels
	e.task = e.g.noTask
	if e.subject.Task == "" || len(e.g.tasks) == 0 {
		return pass
	}
	task, ok := e.g.tasks[e.subject.Task]
	if !ok {
		return block(CodeTaskUnknown, "the harness has no such task")
	}
	e.task = task
	return pass
}

// checkBudget counts the call, blocked or not: a run that only makes calls that
// are blocked must come to an end too.
func (e *evaluation) checkBudget(run store.Run) verdict {
	exceeded := block(CodeBudgetExceeded, "the run has made as many calls as it may")
	e.resumed = e.resumes()
	switch limit := e.task.maxCalls; {
	case e.resumed:
		// It was counted when it asked. The last step uses the approval up, so
		// that this happens once.
	case e.dry:
		if limit > 0 && run.Calls >= limit {
			return exceeded
		}
	default:
		_, ok, err := e.g.store.TakeCall(e.ctx, e.call.Run, limit)
		if err != nil {
			return broken("the call cannot be counted")
		}
		if !ok {
			return exceeded
		}
	}
	return pass
}

// resumes reports whether the call names an approval that was given for it.
func (e *evaluation) resumes() bool {
	if e.call.Approval == "" {
		return false
	}
	tool, ok := e.g.tools[e.call.Tool]
	if !ok || e.call.Args.err != nil {
		return false
	}
	a, err := e.g.store.Approval(e.ctx, e.call.Approval, e.now)
	return err == nil && a.State == store.Approved && a.RunID == e.call.Run &&
		a.GrantedHash == callHash(tool.manifest, e.call.Args, e.subject)
}
