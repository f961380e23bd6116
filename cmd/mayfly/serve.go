package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// serveCommand serves the tools over HTTP.
type serveCommand struct {
	Listen     string        `default:"127.0.0.1:8787" placeholder:"ADDRESS" help:"Where to listen. Default 127.0.0.1:8787; port 0 takes a free one."`
	Tokens     pathFlag      `placeholder:"FILE" help:"Who has which token; mayfly tokens new writes it. Read again when it changes, and at SIGHUP."`
	Anonymous  string        `placeholder:"NAME" help:"Without tokens: the principal that everybody is. On a loopback address only."`
	Role       []string      `sep:"none" placeholder:"ROLE" help:"A role that --anonymous holds, such as operator. Repeatable."`
	Host       []string      `sep:"none" placeholder:"NAME" help:"A name or address by which clients call this server, beside localhost. Repeatable."`
	TLSCert    pathFlag      `name:"tls-cert" placeholder:"FILE" help:"The certificate, with those it is signed by. Needs --tls-key. Read again at SIGHUP."`
	TLSKey     pathFlag      `name:"tls-key" placeholder:"FILE" help:"The certificate's key."`
	Exec       bool          `help:"Let callers run code of their own in a sandbox. It needs no harness."`
	Timeout    timeoutFlag   `placeholder:"DURATION" help:"The most wall time of such code, 1ms to 24h. Default 5s."`
	MemoryMB   memoryFlag    `name:"memory-mb" placeholder:"N" help:"The most memory of such code beyond the interpreter's own, 2 to 3072. Default 64."`
	Surface    mcp.Surface   `default:"flat" enum:"flat,verbs" help:"How MCP clients at /mcp see the tools: flat or verbs."`
	Calls      int           `placeholder:"N" help:"How many calls run at once. Default 16."`
	Queue      int           `placeholder:"N" help:"How many more may wait; -1: none. Default 64."`
	MaxBodyMB  int64         `name:"max-body-mb" placeholder:"N" help:"How large a request may be. Default 8."`
	RequestsMB int64         `name:"requests-mb" placeholder:"N" help:"How much memory requests may take together, as they come and as values; at least four times --max-body-mb. Default 256."`
	Grace      time.Duration `placeholder:"DURATION" help:"How long calls may go on when the server is told to end. Default 20s."`
	testModeFlag
	runtimeFlags
}

func (serveCommand) Help() string {
	return `Without a token there is a sign of life and the empty console, nothing else. The first SIGINT or SIGTERM takes no more calls, gives those that run their time, cancels what is left and records it; the second kills.

Examples:

  mayfly tokens new --principal agent --tenant acme --tokens tokens.jsonl

  mayfly serve --tokens tokens.jsonl

On one's own machine, to try it:

  mayfly serve --exec --anonymous me

Exit codes: 0 ended as told, 2 the command, a manifest or the token file is wrong, 4 something of Mayfly's own failed.`
}

func (c *serveCommand) Run(p *process) error {
	c.testMode = c.TestMode
	config, err := c.config(p)
	if err != nil {
		return err
	}
	pair, err := c.certificate()
	if err != nil {
		return err
	}
	ctx, stop := withSignals(context.Background())
	defer stop()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return listenError(c.Listen, err)
	}
	defer l.Close() // also by the server
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		if !tcp.IP.IsLoopback() && config.Tokens == nil {
			return usagef("--listen %s is not a loopback address: --tokens must say who may come", c.Listen)
		}
		if !tcp.IP.IsUnspecified() {
			config.Hosts = append(config.Hosts, tcp.IP.String())
		}
		if !tcp.IP.IsLoopback() && pair == nil {
			p.stderr.note("tokens go over the network in the clear; --tls-cert and --tls-key, or a proxy that has them, change that")
		}
	}
	rt, err := c.openServed(ctx, p, &config)
	if err != nil {
		return err
	}
	err = c.serve(ctx, p, rt, config, l, pair)
	if closeErr := rt.Close(); err == nil {
		err = closeErr
	}
	return err
}

// config is what the flags say, without what needs a runtime.
func (c *serveCommand) config(p *process) (config httpapi.Config, err error) {
	config = httpapi.Config{
		Hosts: c.Host, Trace: httpapi.NewTrace(), Exec: c.Exec, MaxCalls: c.Calls, MaxQueue: c.Queue, MaxBody: c.maxBody(), MaxMemory: c.RequestsMB << 20,
		Grace: c.Grace, Version: version,
		ExecLimits: sandbox.Limits{Timeout: time.Duration(c.Timeout), MaxMemory: uint64(c.MemoryMB) << 20},
		Logger:     slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	switch {
	case c.Tokens == "" && c.Anonymous == "":
		return config, usagef("--tokens says who may come; to try it on this machine alone, --anonymous names who everybody is")
	case c.Tokens != "" && c.Anonymous != "":
		return config, usagef("--tokens and --anonymous are both given: where there are tokens, nobody is anonymous")
	case c.Anonymous == "" && len(c.Role) > 0:
		return config, usagef("--role is for --anonymous; tokens have their own")
	case !c.Exec && (c.Timeout != 0 || c.MemoryMB != 0):
		return config, usagef("--timeout and --memory-mb are for code of callers, which --exec lets run")
	case c.RequestsMB < 0 || c.RequestsMB > 1<<20 || c.RequestsMB > 0 && c.RequestsMB<<20 < 4*c.maxBody():
		return config, usagef("--requests-mb is at least four times --max-body-mb, which is %d", c.maxBody()>>20)
	case c.Calls < 0 || c.Queue < -1 || c.MaxBodyMB < 0 || c.MaxBodyMB > 32 || c.Grace < 0:
		return config, usagef("--calls, --queue, --max-body-mb (1 to 32) and --grace are not negative; --queue -1 lets nobody wait")
	}
	if c.Anonymous != "" {
		config.Anonymous = &httpapi.Caller{Principal: c.Anonymous, Roles: c.Role}
		return config, nil
	}
	config.Tokens, err = httpapi.OpenTokens(string(c.Tokens), nil)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; mayfly tokens new --principal NAME --tokens %s makes it", err, c.Tokens)
		}
		return config, &usageError{err}
	}
	return config, nil
}

// maxBody is how long a request may be, in bytes.
func (c *serveCommand) maxBody() int64 {
	if c.MaxBodyMB == 0 {
		return 8 << 20
	}
	return c.MaxBodyMB << 20
}

// listenError says why there is nothing to listen on, and what to do.
func listenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return usagef("--listen %s: something listens there already, perhaps another mayfly serve; end that, or choose another port; port 0 takes a free one", address)
	}
	if e, ok := errors.AsType[*net.AddrError](err); ok {
		return usagef("--listen: %q is not an address with a port, such as 127.0.0.1:8787: %s", address, e.Err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // without the address again
	}
	return usagef("--listen %s: %w", address, err)
}

// certificate is what TLS needs; nil without.
func (c *serveCommand) certificate() (*certificate, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	pair := &certificate{cert: string(c.TLSCert), key: string(c.TLSKey)}
	if err := pair.load(time.Now()); err != nil {
		return nil, &usageError{err}
	}
	return pair, nil
}

// openServed opens the runtime, whose notes the server is told.
func (c *serveCommand) openServed(ctx context.Context, p *process, config *httpapi.Config) (*runtime.Runtime, error) {
	var set *manifests.Set
	var err error
	bare := false
	if _, findErr := c.find(p); c.Exec && c.Harness == "" && errors.Is(findErr, errNoHarness) {
		bare = true
		exec, execErr := runtime.ExecManifest()
		if execErr != nil {
			return nil, execErr
		}
		set, err = manifests.NewSet(manifests.NewHarness(), []*manifests.Tool{exec})
	} else {
		_, set, err = c.load(p)
	}
	if errors.Is(err, errNoHarness) {
		return nil, usagef("%w; with --exec there can be none, and code is run in a sandbox", err)
	}
	if err != nil {
		return nil, err
	}
	config.Metrics = httpapi.NewMetrics(set)
	calls := c.Calls
	if calls == 0 {
		calls = 16
	}
	c.concurrent = calls * nestedCalls
	c.notes = func(n runtime.Note) {
		config.Trace.Note(n)
		config.Metrics.Note(n)
	}
	if bare {
		return runtime.Open(ctx, runtime.Config{Tools: set.Tools(), OpenSandbox: c.sandboxes(p, set), Notes: c.notes})
	}
	rt, _, err := c.open(ctx, p, useToCall)
	return rt, err
}

func (c *serveCommand) serve(ctx context.Context, p *process, rt *runtime.Runtime, config httpapi.Config, l net.Listener, pair *certificate) error {
	tools, err := mcp.NewHandler(rt, mcp.HandlerConfig{MaxMessage: int(config.MaxBody), Session: func(r *http.Request) (string, mcp.Config, error) {
		return c.session(r, config.Logger)
	}})
	if err != nil {
		return err
	}
	config.MCP = tools
	server, err := httpapi.New(rt, config)
	if err != nil {
		return err
	}
	defer atHangup(func() { c.reload(p, rt.Manifests(), config.Tokens, pair, config.Logger) })()
	scheme := "http"
	var secure *tls.Config
	if pair != nil {
		scheme, secure = "https", pair.config()
	}
	p.stderr.note("%s://%s", scheme, l.Addr())
	err = server.Serve(ctx, l, secure)
	tools.Close()
	return err
}

// session says whose an MCP client's session is.
func (c *serveCommand) session(r *http.Request, log *slog.Logger) (string, mcp.Config, error) {
	caller, ok := httpapi.CallerOf(r.Context())
	if !ok || caller.Tenant == httpapi.AllTenants {
		return "", mcp.Config{}, errors.New("this caller calls nothing")
	}
	room, ok := httpapi.RoomOf(r.Context())
	if !ok {
		return "", mcp.Config{}, errors.New("the request did not come through the server")
	}
	// The approver too: who has another token of the principal's must not answer.
	owner := fmt.Sprintf("%q %q %q %q", caller.Principal, caller.Tenant, caller.Approver, caller.ApproverRoles)
	var approver *runtime.Approver
	if caller.Approver != "" {
		approver = &runtime.Approver{Name: caller.Approver, Roles: caller.ApproverRoles}
	}
	return owner, mcp.Config{
		Approver: approver, Room: room, MaxMessage: int(c.maxBody()),
		Run: runtime.RunConfig{Principal: caller.Principal, Tenant: caller.Tenant}, Surface: c.Surface, Exec: c.Exec,
		ExecLimits: sandbox.Limits{Timeout: time.Duration(c.Timeout), MaxMemory: uint64(c.MemoryMB) << 20}, Version: version, Logger: log,
	}, nil
}
