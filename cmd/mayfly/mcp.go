package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// mcpCommand serves one client of the Model Context Protocol.
type mcpCommand struct {
	Surface      mcp.Surface  `default:"flat" enum:"flat,verbs" help:"flat (each tool under its name) or verbs (tool_search, tool_describe and tool_invoke, for many tools)."`
	Exec         bool         `help:"Offer mayfly_exec, which runs Python or JavaScript in a fresh sandbox. It needs no harness."`
	Timeout      timeoutFlag  `placeholder:"DURATION" help:"Wall time of a call of mayfly_exec, 1ms to 24h. Default 5s."`
	MemoryMB     memoryFlag   `name:"memory-mb" placeholder:"N" help:"Memory of a call of mayfly_exec beyond the interpreter's own, 2 to 3072. Default 64."`
	Approver     string       `placeholder:"NAME" help:"Who answers the questions that the client shows. Never the principal. Default: nobody; approvals are answered with mayfly approvals."`
	ApproverRole []string     `sep:"none" placeholder:"ROLE" help:"A role that the approver holds. Repeatable."`
	Progress     intervalFlag `placeholder:"DURATION" help:"How often a client that asks for it is told that a call still runs, 10ms to 1h. Default 2s."`
	RunID        *string      `name:"run" placeholder:"ID" help:"The run to go on with. Default: a new one."`
	subjectFlags
	testModeFlag
	runtimeFlags
}

func (mcpCommand) Help() string {
	return `Standard input and output carry the protocol and nothing else; what there is to say is on standard error. One client is one run: its labels, budgets and approvals hold from the first call to the last. It ends when standard input does.

A client's configuration, with a person who answers for what needs approval:

  {"mcpServers":{"mayfly":{"command":"mayfly","args":["mcp","--harness","/srv/agent/harness.yaml","--principal","agent","--approver","ann","--approver-role","finance"]}}}

A sandbox for Python and JavaScript, and nothing else where no harness is found:

  {"mcpServers":{"mayfly":{"command":"mayfly","args":["mcp","--exec"]}}}

Exit codes: 0 the client has gone, 2 the command or a manifest is wrong, 4 something of Mayfly's own failed. A signal that ends it gives 128 plus its number.`
}

func (c *mcpCommand) Run(p *process) error {
	c.testMode = c.TestMode
	config, err := c.sessions(p)
	if err != nil {
		return err
	}
	serve := func(ctx context.Context, rt *runtime.Runtime, _ string) error {
		session, err := mcp.New(ctx, rt, config)
		if err != nil && config.RunID != "" {
			return runError(config.RunID, err)
		}
		if err != nil {
			return startError(err)
		}
		err = session.Serve(ctx, p.stdin, p.stdout)
		if errors.Is(err, syscall.EPIPE) {
			return nil // the client has gone
		}
		return err
	}
	if c.Exec && c.Harness == "" {
		if _, err := c.find(p); errors.Is(err, errNoHarness) {
			return c.bare(p, serve)
		}
	}
	return c.with(p, useToCall, serve)
}

// sessions says what the session is like.
func (c *mcpCommand) sessions(p *process) (config mcp.Config, err error) {
	config = mcp.Config{
		Run: c.config(), Surface: c.Surface, Exec: c.Exec, Progress: time.Duration(c.Progress), Version: version,
		ExecLimits: sandbox.Limits{Timeout: time.Duration(c.Timeout), MaxMemory: uint64(c.MemoryMB) << 20},
		Logger:     slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if !c.Exec && (c.Timeout != 0 || c.MemoryMB != 0) {
		return config, usagef("--timeout and --memory-mb are for mayfly_exec, which --exec offers")
	}
	switch {
	case c.Approver == "" && len(c.ApproverRole) > 0:
		return config, usagef("--approver-role says what --approver may answer for, and nobody is named")
	case c.Approver != "":
		config.Approver = &runtime.Approver{Name: c.Approver, Roles: c.ApproverRole}
		if c.RunID == nil && c.Approver == config.Run.Principal {
			return config, usagef("--approver and --principal are both %s: nobody answers for their own calls; --principal names the agent", c.Approver)
		}
	}
	if c.RunID == nil {
		return config, nil
	}
	config.RunID, config.Run = *c.RunID, runtime.RunConfig{}
	if len(c.Label) > 0 {
		return config, usagef("--label is for a new run; mayfly runs labels marks one that exists")
	}
	return config, c.checkRun(*c.RunID)
}

// bare serves without a harness: code in a sandbox, under every default, and
// nothing is kept.
func (c *mcpCommand) bare(p *process, serve func(context.Context, *runtime.Runtime, string) error) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	exec, err := runtime.ExecManifest()
	if err != nil {
		return err
	}
	tools := []*manifests.Tool{exec}
	set, err := manifests.NewSet(manifests.NewHarness(), tools)
	if err != nil {
		return fmt.Errorf("BUG(mayfly): the built-in manifest: %w", err)
	}
	rt, err := runtime.Open(ctx, runtime.Config{Tools: tools, OpenSandbox: c.sandboxes(p, set)})
	if err != nil {
		return err
	}
	err = serve(ctx, rt, "")
	if closeErr := rt.Close(); err == nil {
		err = closeErr
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// intervalFlag is how often something is said.
type intervalFlag time.Duration

func (f *intervalFlag) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 10*time.Millisecond || d > time.Hour {
		return fmt.Errorf("%q is not a duration from 10ms to 1h; the default is %v", text, mcp.DefaultProgress)
	}
	*f = intervalFlag(d)
	return nil
}
