package runtime

import (
	"context"
	"fmt"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
)

// commandJudge asks a program, which is confined like a handler without grants.
type commandJudge struct {
	handler *manifests.Handler
	root    string
	vault   *vault
}

// Judge implements governor.Judge. Whatever goes wrong is an error, and a
// person is asked.
func (j commandJudge) Judge(ctx context.Context, q governor.JudgeRequest) (governor.Verdict, error) {
	spec, err := handlerSpec(j.handler, j.root, "")
	if err != nil {
		return "", err
	}
	rep, _ := runProcess(ctx, spec, q.JSON(), j.vault)
	if rep.outcome != OK {
		return "", fmt.Errorf("the judge's program ended %s", rep.outcome)
	}
	return governor.ParseVerdict(rep.json), nil
}
