package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// farewell is how long an MCP server may take to end by itself once its input
// has ended. It has answered by then.
const farewell = 2 * time.Second

// maxConversation is how much an MCP server may say in a call, in bytes.
const maxConversation = maxResultBytes

// asHandler is the server of a tool as if it were the tool's own handler.
func asHandler(t *manifests.Tool, s manifests.MCPServer, root string) *manifests.Tool {
	as := *t
	as.Spec.Handler, as.Spec.Grants, as.Origin.Root = s.Command, manifests.Grants{}, root
	if s.Grants != nil {
		as.Spec.Grants = *s.Grants
	}
	return &as
}

// converse runs a confined program and has talk speak with it.
func (u upstream) converse(ctx context.Context, spec process.Spec, talk func(in io.WriteCloser, out io.Reader)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	spec.Limits.MaxValue = maxConversation
	var goodbye *time.Timer
	spec.Talk = func(in io.WriteCloser, out io.Reader) {
		talk(in, out)
		goodbye = time.AfterFunc(farewell, cancel)
	}
	r, err := process.Run(ctx, underRule(u.vault.harness, spec))
	if goodbye != nil {
		goodbye.Stop()
		if r.Status == sandbox.StatusCancelled || r.Status == sandbox.StatusOK {
			return nil // it is gone; what it said is what counts
		}
	}
	switch {
	case err != nil:
		return err
	case r.Status == sandbox.StatusInvalid && r.Error != nil:
		return errors.New(refusal(spec, r.Error))
	case r.Error != nil:
		// Scrubbed before any part of it is taken.
		stderr, _ := u.vault.scrubber().CutText(r.Stderr)
		return errors.New(r.Error.Message + stderrTail(stderr))
	}
	return nil
}

// reachable says whether a tool may reach its server, as far as that can be said
// before a name is resolved.
func reachable(address string, policy egress.Policy) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the server's URL cannot be read") // the error would quote it
	}
	target, err := egress.TargetOf(u)
	if err != nil {
		return err
	}
	if err := policy.Check(target); err != nil {
		return fmt.Errorf("the tool's egress does not list its server: %w", err)
	}
	return nil
}
