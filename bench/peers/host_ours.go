package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// ours hosts this repository's sandbox.
type ours struct {
	engine   *wasm.Engine
	language string
}

// held is how many sandboxes are alive while memory is measured.
const held = 8

func openOurs(language, cache string) (*ours, error) {
	g, err := guests.ByName(language)
	if err != nil {
		return nil, err
	}
	e, err := wasm.New(context.Background(), wasm.Config{
		Guest: g, CacheDir: cache, MaxConcurrent: held,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	return &ours{e, language}, err
}

func (o *ours) versions() (map[string]string, error) {
	return map[string]string{o.engine.Info().Guest: o.engine.Info().Version}, nil
}

func (o *ours) start() error {
	r, err := o.engine.Run(context.Background(), sandbox.Spec{Code: "1+1"})
	if err == nil && string(r.Value) != "2" {
		err = fmt.Errorf("1+1 ended %s: %q %+v", r.Status, r.Value, r.Error)
	}
	return err
}

func (o *ours) again() error { return notApplicable("an instance serves one call and is gone") }

func (o *ours) run(q request) (answer, error) {
	spec := sandbox.Spec{
		Code:   q.Body + "\n" + q.Expr,
		Limits: sandbox.Limits{Timeout: time.Duration(q.TimeoutMS) * time.Millisecond, MaxMemory: q.Memory},
	}
	if q.Input != "" {
		text, err := os.ReadFile(q.Input)
		if err != nil {
			return answer{}, err
		}
		spec.Globals = map[string]any{"rows": sandbox.RawJSON(text)}
		spec.Limits.MaxValue = 64 << 20
	}
	begin := time.Now()
	r, err := o.engine.Run(context.Background(), spec)
	if err != nil {
		return answer{}, err
	}
	a := answer{
		Status: string(r.Status), Value: string(r.Value), Stdout: int64(len(r.Stdout) + len(r.Stderr)),
		RunMS: float64(time.Since(begin)) / float64(time.Millisecond),
	}
	if r.Error != nil {
		a.Error = &guestError{r.Error.Type, r.Error.Message}
	}
	if r.Status != sandbox.StatusOK && r.Status != sandbox.StatusError {
		a.How = string(r.Status)
	}
	return a, nil
}

// waits is code that has 1+1 and then waits for the host.
var waits = map[string]string{
	"python": "from mayfly import call_tool\ncall_tool('wait', value=1+1)",
	"js":     "mayfly.callTool('wait', { value: 1+1 })",
}

func (o *ours) hold(count int) (func(), error) {
	ctx, cancel := context.WithCancel(context.Background())
	alive, ended := make(chan string, count), make(chan error, count)
	for range count {
		go func() {
			_, err := o.engine.Run(ctx, sandbox.Spec{
				Code: waits[o.language], Limits: sandbox.Limits{Timeout: time.Hour},
				HostCall: func(ctx context.Context, _ string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
					alive <- string(args)
					<-ctx.Done()
					return nil, ctx.Err()
				},
			})
			ended <- err
		}()
	}
	drop := func() {
		cancel()
		for range count {
			<-ended
		}
	}
	for range count {
		select {
		case args := <-alive:
			if args != `{"value":2}` {
				drop()
				return nil, fmt.Errorf("a held call waits with %s", args)
			}
		case err := <-ended:
			ended <- err
			drop()
			return nil, fmt.Errorf("a held call ended: %w", err)
		}
	}
	return drop, nil
}
