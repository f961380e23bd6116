package runtime

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/manifests"
)

// judge makes the judge that the harness names; nil if it names none.
func (r *Runtime) judge(config Config) (governor.Judge, error) {
	j := r.set.Harness.Tools.Judge
	switch {
	case j == nil:
		return nil, nil
	case j.URL != "":
		return r.judgeAt(j, config)
	case j.Tool != "":
		tool, ok := r.set.Tool(j.Tool)
		if !ok {
			return nil, fmt.Errorf("the judge: there is no tool %q", j.Tool)
		}
		if tool.Spec.SideEffect.Writes() {
			return nil, fmt.Errorf("the judge: the tool %s has side_effect %s, and a judge is asked in dry runs too; name one that changes nothing", j.Tool, tool.Spec.SideEffect)
		}
		for _, name := range r.set.Harness.SecretsOf(tool) {
			if s := r.set.Harness.Secrets[name]; s.Tasks != nil || s.Principals != nil {
				return nil, fmt.Errorf("the judge: the tool %s is handed the secret %s, which is for some tasks or principals only, and a judge is asked for no run", j.Tool, name)
			}
		}
		return toolJudge{r, tool}, nil
	}
	return commandJudge{j.Command, r.set.Harness.Origin.Root, r.vault}, nil
}

// judgeAt makes a judge behind a URL. The URL is the operator's own, so it may be
// on this machine or in a private network; it leads nowhere else, whatever its
// name resolves to. A judge that would be asked without its credential is an
// error at once.
func (r *Runtime) judgeAt(j *manifests.Judge, config Config) (governor.Judge, error) {
	if config.TestMode {
		return closedJudge{}, nil
	}
	headers, err := r.vault.headers(j.HeadersEnv)
	if err != nil {
		return nil, fmt.Errorf("the judge: %w", err)
	}
	u, err := url.Parse(j.URL)
	if err != nil {
		return nil, errors.New("the judge: the URL cannot be read")
	}
	target, err := egress.TargetOf(u)
	if err != nil {
		return nil, fmt.Errorf("the judge: %w", err)
	}
	dialer := &egress.Dialer{Policy: egress.Operator(target), Resolver: config.Resolver}
	return governor.NewHTTPJudge(j.URL, headers, &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: config.RootCAs},
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswerHeader,
	})
}

// closedJudge is the judge of a host in test mode: a person is asked.
type closedJudge struct{}

// Judge implements governor.Judge.
func (closedJudge) Judge(context.Context, governor.JudgeRequest) (governor.Verdict, error) {
	return "", errTestMode
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
	secrets, forget, err := j.r.vault.fetch(ctx, j.tool)
	if err != nil {
		return "", fmt.Errorf("the judge's tool: %w", err)
	}
	defer forget()
	ctx, cancel := context.WithTimeout(ctx, j.tool.Spec.Timeout)
	defer cancel()
	rep := j.r.transports[j.tool.Spec.Transport].invoke(ctx, invocation{tool: j.tool, args: args, secrets: secrets})
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
