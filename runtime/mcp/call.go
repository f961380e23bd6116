package mcp

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

// callNamed is a call on the flat surface.
func (s *Session) callNamed(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return s.call(ctx, req, req.Params.Name, req.Params.Arguments, canAsk(req))
}

// call brings a call of a tool before the governor and, if it may go ahead,
// makes it. name is what the client calls the tool; mayAsk says whether its person
// can be asked to approve the call.
func (s *Session) call(ctx context.Context, req *sdk.CallToolRequest, name string, args []byte, mayAsk bool) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	turn := new(turn)
	defer s.reportProgress(ctx, req, turn)()

	name = s.resolved(name)
	approval := s.answered(ctx, req)
	for {
		r, err := s.makeInTurn(ctx, turn, req, runtime.Call{Tool: name, Args: args, Approval: approval, Parent: parentOf(req)})
		if err != nil {
			s.config.Logger.Error("a call could not be decided", "run", s.run, "tool", name, "error", err)
			r = runtime.Result{Outcome: runtime.Internal, Decision: governor.Decision{Reason: "the call could not be decided, and did not happen"}}
		}
		if r.Outcome != runtime.ApprovalRequired || r.Approval == "" {
			s.followUp(ctx, r)
			return s.result(name, r, nil), nil
		}
		waits := s.awaiting(ctx, r)
		if approval != "" || waits.question == nil || !mayAsk {
			return s.result(name, r, &waits.awaiting), nil
		}
		// Once: whoever dismisses a question is not asked again by the same call.
		if s.inBand(req) {
			return s.askInResult(waits), nil
		}
		if !s.ask(ctx, req, waits) {
			return s.result(name, r, &waits.awaiting), nil
		}
		approval = waits.ID
	}
}

// resolved is the tool that is meant by a name that a client uses.
func (s *Session) resolved(name string) string {
	if name == ExecName && s.config.Exec {
		return runtime.ExecTool
	}
	return name
}

// turn says whether a call has its place yet.
type turn struct{ come atomic.Bool }

// makeInTurn makes a call when there is room for it, or says that there is none.
func (s *Session) makeInTurn(ctx context.Context, t *turn, req *sdk.CallToolRequest, c runtime.Call) (runtime.Result, error) {
	t.come.Store(false)
	var mine account
	mine.room = s.config.Room
	defer mine.end()
	if !mine.take(copies * int64(len(c.Args))) {
		return busy(ctx), nil
	}
	leave, ok := s.config.Room.Call(ctx)
	if !ok {
		return busy(ctx), nil
	}
	t.come.Store(true)
	var r runtime.Result
	defer func() {
		if o := r.Output; o == nil || len(o.Text) <= smallResult || req.Extra == nil {
			leave()
			return
		}
		s.answers.keep(req.Extra.Header.Get(answerHeader), leave)
	}()
	if !mine.take(valuesOf(c.Args)) {
		return busy(ctx), nil
	}
	var err error
	r, err = s.make(ctx, c)
	return r, err
}

// smallResult is how long a result may be for which a client is not waited for.
const smallResult = 16 << 10

// busy is the result of a call for which there was no room.
func busy(ctx context.Context) runtime.Result {
	if ctx.Err() != nil {
		return runtime.Result{Outcome: runtime.Cancelled, Decision: governor.Decision{Reason: "the call was given up before its turn came"}}
	}
	return runtime.Result{
		Outcome: runtime.Busy, Decision: governor.Decision{Reason: "as many calls run and wait as may, or what they were sent takes the memory that this one needs"},
		RetryAt: time.Now().Add(time.Second),
	}
}

func (s *Session) make(ctx context.Context, c runtime.Call) (runtime.Result, error) {
	c.RunID = s.run
	if _, known := s.rt.Manifests().Tool(c.Tool); c.Tool != runtime.ExecTool || !known {
		return s.rt.Call(ctx, c)
	}
	// Never with the tool's own limits, which are the most that an operator's
	// command line can ask for. Arguments that are not what was asked for go to
	// the governor as they are, which says so.
	input := runtime.CodeInput{Limits: s.config.ExecLimits}
	if described, globals, err := execArgs(c.Args); err == nil {
		c.Args, input.Globals = described, globals
	}
	return s.rt.CallCode(ctx, c, input)
}

// parentOf is where in a trace the client is: what the request says of itself, else
// what the HTTP request says that carried it.
func parentOf(req *sdk.CallToolRequest) (p runtime.TraceParent) {
	text := func(name string) string {
		s, _ := req.Params.Meta[name].(string)
		return s
	}
	p.Traceparent, p.Tracestate = text("traceparent"), text("tracestate")
	if p.Traceparent != "" || req.Extra == nil {
		return p
	}
	if parents := req.Extra.Header.Values("Traceparent"); len(parents) == 1 {
		p.Traceparent, p.Tracestate = parents[0], strings.Join(req.Extra.Header.Values("Tracestate"), ",")
	}
	return p
}

// followUp keeps the list of tools true when a decision shows that it is not.
func (s *Session) followUp(ctx context.Context, r runtime.Result) {
	switch r.Decision.Code {
	case governor.CodeToolNotGranted, governor.CodeGrantExpired, governor.CodeGrantRevoked, governor.CodeToolUnknown:
		if err := s.refresh(ctx); err != nil {
			s.config.Logger.Error("list tools", "run", s.run, "error", err)
		}
	}
}
