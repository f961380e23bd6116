package runtime

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// MCPCall is a call of a tool that an MCP server serves, on its way to whoever
// speaks the protocol. Exactly one of URL and Start is set.
type MCPCall struct {
	// Tool is the tool's manifest: what the server must say of it.
	Tool *manifests.Tool
	// Args are the arguments, canonical JSON that fits the tool's schema.
	Args sandbox.RawJSON
	// IdempotencyKey is the same whenever a resumed run repeats this call.
	IdempotencyKey string
	// URL is a server that speaks streamable HTTP. Nothing else is reached than
	// what Dial reaches, and Header goes with every request.
	URL    string
	Header http.Header
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	// Parent is where in the trace the call is, for the server; empty: nothing is
	// traced.
	Parent TraceParent
	// RootCAs are whom a server's certificate is checked by; nil: the system's.
	RootCAs *x509.CertPool
	// Talk starts a server that speaks over its standard streams, and has talk
	// speak with it. The process is gone when Talk returns.
	Talk func(ctx context.Context, talk func(in io.WriteCloser, out io.Reader)) error
}

// MCPReply is what came back.
type MCPReply struct {
	// Result is what the tool answered, JSON; nil if there is nothing.
	Result sandbox.RawJSON
	// Sent says that the call may have reached the server.
	Sent bool
	// Failed says that the tool, or the server, says that the call failed.
	Failed bool
	// Err is why there is no answer; nil: there is one. It wraps [ErrMCPChanged]
	// or [ErrMCPCredential] where that is the reason.
	Err error
}

// Reasons of an [MCPReply].
var (
	// ErrMCPChanged: the server does not have the tool, or says something else of
	// it than the manifest.
	ErrMCPChanged = errors.New("the server's tool is not the one that the manifest describes")
	// ErrMCPCredential: the server refuses the credential that goes with the
	// request, which it has not looked at.
	ErrMCPCredential = errors.New("the server refuses the credential")
)

// upstream reaches tools of MCP servers. What it shares with web is how the
// network is reached, and that a host in test mode calls nobody.
type upstream struct {
	*web
	call    func(context.Context, MCPCall) MCPReply
	harness *manifests.Harness
}

// errNoServer says what is missing in the harness.
func errNoServer(t *manifests.Tool) error {
	return fmt.Errorf("the harness does not say where %s is; add it to mcp_servers", t.Spec.Server)
}

func (u upstream) prepare(_ context.Context, t *manifests.Tool) *reply {
	if _, ok := u.standIn(t); ok {
		return nil
	}
	if _, err := u.target(t, "", nil); err != nil {
		r := unavailable(err)
		return &r
	}
	return nil
}

// target says where a call goes. What is not there is an error.
func (u upstream) target(t *manifests.Tool, key string, secrets map[string]string) (MCPCall, error) {
	c := MCPCall{Tool: t, IdempotencyKey: key}
	if u.testMode {
		return c, errTestMode
	}
	server, ok := u.harness.MCPServer(t)
	if !ok {
		return c, errNoServer(t)
	}
	if server.Command != nil {
		program := asHandler(t, server, u.harness.Origin.Root)
		// It need not be there any more when the call comes.
		if _, err := nativeSpec(program, key, nil, u.resolver); err != nil {
			return c, err
		}
		c.Talk = func(ctx context.Context, talk func(io.WriteCloser, io.Reader)) error {
			spec, err := nativeSpec(program, key, secrets, u.resolver)
			if err != nil {
				return err
			}
			return u.converse(ctx, spec, talk)
		}
		return c, nil
	}
	policy, err := policyOf(t.Spec.EgressAllowed)
	if err != nil {
		return c, err
	}
	if err := reachable(server.URL, policy); err != nil {
		return c, err
	}
	if c.Header, err = u.vault.headers(server.HeadersEnv); err != nil {
		return c, err
	}
	c.URL, c.RootCAs = server.URL, u.roots
	c.Dial = (&egress.Dialer{Policy: policy, Resolver: u.resolver}).DialContext
	return c, nil
}

func (u upstream) invoke(ctx context.Context, in invocation) reply {
	if _, ok := u.standIn(in.tool); ok {
		return u.funcs.invoke(ctx, in)
	}
	c, err := u.target(in.tool, in.key, in.secrets)
	if err != nil {
		return unavailable(err)
	}
	c.Parent = in.parent
	c.Args = sandbox.RawJSON(in.args.Text())
	return mcpReply(ctx, u.call(ctx, c))
}

// mcpReply says what came back in a transport's words.
func mcpReply(ctx context.Context, got MCPReply) reply {
	r := reply{started: got.Sent}
	fail := func(o Outcome, kind string) reply {
		r.outcome, r.failure = o, &Failure{Type: kind, Message: got.Err.Error()}
		return r
	}
	switch {
	case got.Err == nil:
	case errors.Is(got.Err, ErrMCPChanged):
		r.started = false
		return fail(Denied, "DefinitionChanged")
	case errors.Is(got.Err, ErrMCPCredential):
		r.started = false
		return fail(CredentialExpired, "CredentialRefused")
	case !got.Sent:
		return fail(Unavailable, "Unavailable") // also when time ran out: nothing was done
	case ctx.Err() != nil:
		return fail(ended(ctx), string(ended(ctx)))
	default:
		r.broke = true
		return fail(ToolError, "ConnectionLost")
	}
	r.started = true
	if _, err := canonjson.Parse(got.Result, canonjson.Limits{MaxBytes: maxResultBytes}); err != nil {
		r.outcome, r.broke, r.failure = ToolError, true, &Failure{Type: "InvalidResult", Message: "the tool's result is not JSON: " + err.Error()}
		return r
	}
	r.outcome, r.json = OK, got.Result
	if got.Failed {
		r.outcome, r.failure = ToolError, &Failure{Type: "ToolError", Message: "the tool says that it failed"}
	}
	return r
}
