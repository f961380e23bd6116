package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// spinning is a harness whose sandbox says when a call starts and ends.
func spinning(t *testing.T) (*runtime.Runtime, fakeSandbox) {
	h := newHarness(t, "")
	box := fakeSandbox{make(chan struct{}), make(chan struct{})}
	h.config.OpenSandbox = func(context.Context, string) (sandbox.Sandbox, error) { return box, nil }
	return h.open(t), box
}

var spin = &sdk.CallToolParams{Name: "python", Arguments: object{"code": "wait"}}

// TestCancelled: a call that the client gives up stops its sandbox, and the
// session goes on.
func TestCancelled(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			rt, box := spinning(t)
			_, c := connect(t, rt, mcp.Config{}, version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, spin)
				done <- err
			}()
			<-box.started
			cancel()
			<-box.ended
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the call gave %v", err)
			}
			if r := call(t, c, "find_order", object{"id": "A"}); r.IsError {
				t.Errorf("the next call: %v", r.StructuredContent)
			}
		})
	}
}

// TestGone: a client that goes away takes what is under way with it.
func TestGone(t *testing.T) {
	for name, leave := range map[string]func(in io.Closer, out io.Closer, stop func()){
		"it closes its end":  func(in, _ io.Closer, _ func()) { _ = in.Close() },
		"the host has to go": func(_, _ io.Closer, stop func()) { stop() },
		"it stops listening": func(in, out io.Closer, _ func()) {
			_ = out.Close()
			// The next answer has nowhere to go.
			_, _ = io.WriteString(in.(io.Writer), `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt, box := spinning(t)
			s, err := mcp.New(t.Context(), rt, mcp.Config{})
			if err != nil {
				t.Fatal(err)
			}
			serverIn, in := io.Pipe()
			out, serverOut := io.Pipe()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, serverIn, serverOut) }()
			c := raw{t, in, bufio.NewReader(out)}
			c.send(hello)
			c.answer()
			c.send(ready)
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"python","arguments":{"code":"wait"}}}`)
			<-box.started
			if name != "it stops listening" {
				go func() { _, _ = io.Copy(io.Discard, c.out) }() // whatever is still said
			}
			cause := errors.New("a signal")
			leave(in, out, func() { stop(cause) })
			<-box.ended
			err = <-served
			want := map[string]error{"the host has to go": cause, "it stops listening": io.ErrClosedPipe}[name]
			if !errors.Is(err, want) {
				t.Errorf("serving gave %v, want %v", err, want)
			}
			_ = out.Close()
		})
	}
}

// TestProgress: a client that asks is told that its call still runs, and not once
// it has its result.
func TestProgress(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			h := newHarness(t, "")
			told := make(chan struct{}, 1000)
			h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
				for range 3 {
					<-told
				}
				return sandbox.RawJSON("null"), nil
			}
			var last atomic.Value
			var over, late atomic.Bool
			_, c := connect(t, h.open(t), mcp.Config{Progress: 10 * time.Millisecond}, version, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					late.Store(late.Load() || over.Load())
					if before, _ := last.Swap(r.Params.Progress).(float64); r.Params.Progress <= before || r.Params.ProgressToken != "mine" {
						t.Errorf("progress %+v after %v", r.Params, before)
					}
					told <- struct{}{}
				},
			})
			p := &sdk.CallToolParams{Name: "note"}
			p.SetProgressToken("mine")
			if r, err := c.CallTool(t.Context(), p); err != nil || r.IsError {
				t.Fatalf("result %+v, %v", r, err)
			}
			over.Store(true)
			if err := c.Ping(t.Context(), nil); version != "2026-07-28" && err != nil {
				t.Fatal(err)
			}
			if late.Load() {
				t.Error("progress was told of after the result")
			}
		})
	}
}

// TestNoProgressUnasked: a client that did not ask is told nothing but answers.
func TestNoProgressUnasked(t *testing.T) {
	h := newHarness(t, "")
	wait := make(chan struct{})
	h.config.Funcs["note"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
		<-wait
		return sandbox.RawJSON("null"), nil
	}
	_, in, out := serve(t, h.open(t), mcp.Config{Progress: 10 * time.Millisecond})
	c := raw{t, in, bufio.NewReader(out)}
	c.send(hello)
	c.answer()
	c.send(ready)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note"}}`)
	// With a token, this one is told of progress, so time passes.
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note","arguments":{"n":2},"_meta":{"progressToken":7}}}`)
	for range 3 {
		if got := c.answer(); got["method"] != "notifications/progress" || got["params"].(object)["progressToken"] != 7.0 {
			t.Fatalf("the server said %v", got)
		}
	}
	close(wait)
}

// TestExec: code is run with its globals, under the session's limits.
func TestExec(t *testing.T) {
	h := newHarness(t, "  policy: { default_effect: allow, rules: [{ id: no_os, when: \"tool.name == 'mayfly.exec' && args.code.contains('os')\", effect: deny }] }\n")
	exec, err := runtime.ExecManifest()
	if err != nil {
		t.Fatal(err)
	}
	h.config.Tools = append(h.config.Tools, exec)
	var specs []sandbox.Spec
	var opened []string
	h.config.OpenSandbox = func(_ context.Context, guest string) (sandbox.Sandbox, error) {
		opened = append(opened, guest)
		return recording{&specs}, nil
	}
	rt := h.open(t)
	_, c := connect(t, rt, mcp.Config{Exec: true, ExecLimits: sandbox.Limits{Timeout: time.Second}}, "", nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || list.Tools[1].Name != "mayfly_exec" {
		t.Fatalf("tools %+v, %v", list, err)
	}
	for _, name := range []string{"mayfly_exec", "mayfly.exec"} {
		r := call(t, c, name, object{"code": "n", "globals": object{"n": 9007199254740993}})
		if r.IsError || field(r, "value") != "n" {
			t.Errorf("%s: %v", name, r.StructuredContent)
		}
	}
	// The tool's own form has no values; it is under the same limits.
	call(t, c, "mayfly.exec", object{"code": "x", "inputs": object{"n": object{"kind": "json"}}})
	for _, spec := range specs {
		if spec.Limits.Timeout != time.Second || spec.Limits.MaxMemory != sandbox.DefaultMaxMemory || spec.HostCall != nil {
			t.Errorf("limits %+v", spec.Limits)
		}
	}
	if len(specs) != 3 || string(specs[0].Globals["n"].(sandbox.RawJSON)) != "9007199254740993" {
		t.Errorf("calls %+v", specs)
	}
	call(t, c, "mayfly_exec", object{"code": "n", "language": "js"})
	if !slices.Equal(opened, []string{"python", "js"}) {
		t.Errorf("opened %q", opened)
	}
	if r := call(t, c, "mayfly_exec", object{"code": "import os"}); field(r, "code") != "policy_denied" {
		t.Errorf("denied code: %v", r.StructuredContent)
	}
	for name, args := range map[string]object{"nothing": {}, "a member": {"code": "1", "x": 1}, "globals": {"code": "1", "globals": 1}, "code": {"code": 1}, "language": {"code": "1", "language": "cobol"}} {
		if r := call(t, c, "mayfly_exec", args); field(r, "code") != "schema_invalid" {
			t.Errorf("%s: %v", name, r.StructuredContent)
		}
	}
	// Without the flag it is not there, under either name.
	_, c = connect(t, rt, mcp.Config{}, "", nil)
	if r := call(t, c, "mayfly_exec", object{"code": "1"}); field(r, "code") != "tool_unknown" {
		t.Errorf("not offered: %v", r.StructuredContent)
	}
	if r := call(t, c, "mayfly.exec", object{"code": "1"}); field(r, "code") != "tool_not_granted" {
		t.Errorf("not offered: %v", r.StructuredContent)
	}
}

// recording is a sandbox that keeps what it was given.
type recording struct{ specs *[]sandbox.Spec }

func (r recording) Run(_ context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	*r.specs = append(*r.specs, spec)
	return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON(`"` + spec.Code + `"`)}, nil
}

func (recording) Close() error { return nil }

// TestExecFromCode: code of the run's other tools does not reach exec, whose
// limits are wider than theirs.
func TestExecFromCode(t *testing.T) {
	h := newHarness(t, "")
	exec, err := runtime.ExecManifest()
	if err != nil {
		t.Fatal(err)
	}
	h.config.Tools = append(h.config.Tools, exec)
	var said string
	h.config.OpenSandbox = func(context.Context, string) (sandbox.Sandbox, error) {
		return calling{func(ctx context.Context, spec sandbox.Spec) {
			_, err := spec.HostCall(ctx, runtime.ExecTool, sandbox.RawJSON(`{"code":"1"}`))
			said = err.Error()
		}}, nil
	}
	_, c := connect(t, h.open(t), mcp.Config{Exec: true}, "", nil)
	call(t, c, "python", object{"code": "x"})
	if !strings.Contains(said, "cannot be called from code") {
		t.Errorf("the code was told %q", said)
	}
}

// calling is a sandbox whose code calls tools.
type calling struct {
	do func(context.Context, sandbox.Spec)
}

func (c calling) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	c.do(ctx, spec)
	return sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON("null")}, nil
}

func (calling) Close() error { return nil }
