package mcp

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
)

// Session is one client with its run.
type Session struct {
	rt     *runtime.Runtime
	config Config
	run    string
	server *sdk.Server
	// life ends with the session, and every call that is under way with it.
	life context.Context
	end  context.CancelFunc
	// answers are whom results go to over HTTP; nil: there is no such thing.
	answers *answers

	mu     sync.Mutex
	listed map[string]string // what the SDK was told of: name to tool.key
	asked  map[string]bool   // approvals that the client was asked to show
}

// New starts the run of a session, or takes up the one that the configuration
// names. [Session.Serve] ends the session.
func New(ctx context.Context, rt *runtime.Runtime, config Config) (*Session, error) {
	return newSession(ctx, rt, config, nil)
}

// Run is the ID of the session's run.
func (s *Session) Run() string { return s.run }

// Serve serves the client until its input ends or ctx is over, which also ends
// what is under way. Nothing but the protocol is written to out. It is called
// once.
func (s *Session) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.end()
	stop := context.AfterFunc(ctx, s.end)
	defer stop()
	connected, err := s.server.Connect(s.life, &lines{in: in, out: out, maxMessage: s.config.MaxMessage, room: s.config.Room}, nil)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	// Closing waits for the calls, which end with the session's life.
	defer context.AfterFunc(s.life, func() { _ = connected.Close() })()
	err = connected.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// newSession gives a session whose ID newID makes; nil: it has none.
func newSession(ctx context.Context, rt *runtime.Runtime, config Config, newID func() string) (*Session, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	s := &Session{rt: rt, config: config, run: config.RunID, listed: make(map[string]string), asked: make(map[string]bool)}
	if _, taken := rt.Manifests().Tool(ExecName); taken && config.Exec {
		return nil, fmt.Errorf("mcp: the harness has a tool of the name %s, under which code would be offered", ExecName)
	}
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	capabilities := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: config.Surface == SurfaceFlat}}
	s.server = sdk.NewServer(&sdk.Implementation{Name: "mayfly", Title: "Mayfly", Version: config.Version}, &sdk.ServerOptions{
		Instructions: instructions[config.Surface], Capabilities: capabilities, PageSize: config.PageSize, GetSessionID: newID,
		// One run's list is not another's.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	})
	s.server.AddReceivingMiddleware(s.intercept)
	if config.Surface == SurfaceVerbs {
		s.addVerbs()
		return s, nil
	}
	return s, s.refresh(ctx)
}

// admit sees to it that there is a run.
func (s *Session) admit(ctx context.Context) error {
	if s.run != "" {
		_, err := s.rt.Run(ctx, s.run)
		return err
	}
	c := s.config.Run
	if s.config.Exec && c.Tools == nil {
		if task, ok := s.rt.Manifests().Harness.Tasks[c.Task]; ok && task.Tools != nil {
			c.Tools = append(c.Tools, task.Tools...)
		} else {
			for _, t := range s.rt.Manifests().Tools() {
				if t.Metadata.Name != runtime.ExecTool {
					c.Tools = append(c.Tools, t.Metadata.Name)
				}
			}
		}
		// A task that does not list it refuses it.
		if !slices.Contains(c.Tools, runtime.ExecTool) {
			c.Tools = append(c.Tools, runtime.ExecTool)
		}
	}
	run, err := s.rt.StartRun(ctx, c)
	if err != nil {
		return err
	}
	s.run = run.ID
	return nil
}

// instructions are what a client may tell its model about the server.
var instructions = map[Surface]string{
	SurfaceFlat: "Each call is decided by rules. A result with isError says in structuredContent what happened and what is safe to do next; " +
		"do not repeat a call unless it says retryable.",
	SurfaceVerbs: "Find a tool with tool_search, read its arguments with tool_describe, call it with tool_invoke. Each call is decided by rules. " +
		"A result with isError says in structuredContent what happened and what is safe to do next; do not repeat a call unless it says retryable.",
}

// refresh tells the SDK, and through it the client, what has changed about the
// tools.
func (s *Session) refresh(ctx context.Context) error {
	if s.config.Surface == SurfaceVerbs {
		return nil // searches look every time
	}
	tools, err := s.offered(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := make(map[string]string, len(tools))
	for _, t := range tools {
		now[t.name] = t.key
		if s.listed[t.name] != t.key {
			s.server.AddTool(t.wire, s.callNamed)
		}
	}
	var gone []string
	for name := range s.listed {
		if now[name] == "" {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.server.RemoveTools(gone...)
	}
	s.listed = now
	return nil
}

// intercept keeps the list of tools true, and brings calls of tools that are not
// offered before the governor: what is refused must be decided and traced too.
func (s *Session) intercept(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case "tools/list":
			leave, ok := s.config.Room.Act(ctx)
			if !ok {
				return nil, &jsonrpc.Error{Code: codeBusy, Message: busyNow}
			}
			defer leave()
			if err := s.refresh(ctx); err != nil {
				return nil, s.broken("list tools", err)
			}
		case "tools/call":
			call, ok := req.(*sdk.CallToolRequest)
			if !ok {
				break
			}
			if s.config.Surface == SurfaceVerbs {
				if !isVerb(call.Params.Name) {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no tool of that name here; tool_invoke calls those that tool_search finds"}
				}
				break
			}
			s.mu.Lock()
			_, listed := s.listed[call.Params.Name]
			s.mu.Unlock()
			if !listed {
				// Nobody is asked about what cannot be called anyway.
				return s.call(ctx, call, call.Params.Name, call.Params.Arguments, false)
			}
		}
		return next(ctx, method, req)
	}
}

// broken is what a client is told when the host fails; the operator is told why.
func (s *Session) broken(what string, err error) error {
	s.config.Logger.Error(what, "run", s.run, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server cannot do this now"}
}
