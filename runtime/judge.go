package runtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
)

// judge makes the judge that the harness names; nil if it names none.
func (r *Runtime) judge() (governor.Judge, error) {
	j := r.set.Harness.Tools.Judge
	switch {
	case j == nil:
		return nil, nil
	case j.URL != "":
		headers, err := r.headersFromEnv(j.HeadersEnv)
		if err != nil {
			return nil, fmt.Errorf("the judge: %w", err)
		}
		return governor.NewHTTPJudge(j.URL, headers, nil)
	case j.Tool != "":
		tool, ok := r.set.Tool(j.Tool)
		if !ok {
			return nil, fmt.Errorf("the judge: there is no tool %q", j.Tool)
		}
		if tool.Spec.SideEffect.Writes() {
			return nil, fmt.Errorf("the judge: the tool %s has side_effect %s, and a judge is asked in dry runs too; name one that changes nothing", j.Tool, tool.Spec.SideEffect)
		}
		return toolJudge{r, tool}, nil
	}
	return commandJudge{j.Command, r.set.Harness.Origin.Root}, nil
}

// headersFromEnv reads the values of headers. A header whose variable is not
// set is an error: a judge that is asked without its credential would fail on
// every call.
func (r *Runtime) headersFromEnv(names map[string]string) (http.Header, error) {
	h := make(http.Header)
	for header, variable := range names {
		value, ok := r.lookupEnv(variable)
		if !ok {
			return nil, fmt.Errorf("header %s: the environment variable %s is not set", header, variable)
		}
		h.Set(header, value)
	}
	return h, nil
}

// toolJudge asks another tool. Its call is the host's own, made for no run: it
// is not decided by the governor, which would ask the judge about the judge.
type toolJudge struct {
	r    *Runtime
	tool *manifests.Tool
}

// Judge implements governor.Judge. Whatever goes wrong is an error, and a
// person is asked.
func (j toolJudge) Judge(ctx context.Context, q governor.JudgeRequest) (governor.Verdict, error) {
	if err := j.usable(ctx); err != nil {
		return "", err
	}
	args := governor.ParseArguments(q.JSON())
	if v := j.tool.CheckArguments(args.Tree()); len(v) > 0 {
		return "", errors.New("the judge's tool does not take {tool, args}: " + v[0].String())
	}
	ctx, cancel := context.WithTimeout(ctx, j.tool.Spec.Timeout)
	defer cancel()
	rep := j.r.transports[j.tool.Spec.Transport].invoke(ctx, invocation{tool: j.tool, args: args})
	if rep.outcome != OK {
		return "", fmt.Errorf("the judge's tool ended %s", rep.outcome)
	}
	return governor.ParseVerdict(judgement(j.tool, rep.json)), nil
}

// usable is what of the governor's first step holds for a judge too: a tool that
// was switched off or changed without review does not judge.
func (j toolJudge) usable(ctx context.Context) error {
	switch {
	case !j.tool.Spec.Enabled:
		return errors.New("the judge's tool is disabled")
	case !j.tool.PinMatches():
		return errors.New("the judge's tool is not the one that was reviewed; it must be pinned anew")
	}
	return j.r.verify(ctx, j.tool)
}

// judgement is the judge's own answer: that of a code tool is its value.
func judgement(tool *manifests.Tool, text []byte) []byte {
	if tool.Spec.Transport != manifests.TransportCode {
		return text
	}
	return valueOf(text)
}
