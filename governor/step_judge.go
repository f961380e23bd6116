package governor

import (
	"context"
	"errors"
)

// checkJudge is step 6: a second opinion, which can only tighten.
func (e *evaluation) checkJudge() verdict {
	if e.g.judge == nil {
		return pass
	}
	v, err := e.g.askJudge(e.ctx, JudgeRequest{Tool: e.call.Tool, Args: e.call.Args})
	if err != nil {
		return ask(CodeJudgeFailed, "the judge gave no verdict, so a person has to")
	}
	switch v {
	case VerdictAllow:
		return pass
	case VerdictBlock:
		return block(CodeJudgeBlocked, "the judge blocks the call")
	case VerdictRequireApproval, VerdictEscalate:
		return ask(CodeJudgeApproval, "the judge asks for approval")
	}
	return ask(CodeJudgeFailed, "the judge gave no verdict that exists, so a person has to")
}

var errJudgePanicked = errors.New("the judge panicked")

// askJudge waits no longer than the harness says, also for a judge that does
// not look at its context.
func (g *Governor) askJudge(ctx context.Context, r JudgeRequest) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, g.judgeTimeout)
	defer cancel()
	type answer struct {
		verdict Verdict
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		a := answer{err: errJudgePanicked}
		defer func() {
			_ = recover()
			answered <- a
		}()
		a.verdict, a.err = g.judge.Judge(ctx, r)
	}()
	select {
	case a := <-answered:
		return a.verdict, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
