package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// runtimeFlags are for the verbs that work with what a harness's runs left.
type runtimeFlags struct {
	harnessFlag
	cacheFlag
	testMode   bool               // of the verbs that can call out
	concurrent int                // calls at once, nested ones included; 0: one and what it nests
	notes      func(runtime.Note) // is told the trace; nil: nobody
}

// runtimeUse says what a verb does with a runtime.
type runtimeUse uint8

const (
	// useToLook reads what the store has, and writes no trace. Where there is no
	// store yet it makes none.
	useToLook runtimeUse = iota
	// useToDecide changes the store but calls nothing.
	useToDecide
	// useToCall calls tools.
	useToCall
)

// open opens the harness's runtime. What is wrong with the manifests or their
// expressions is the user's to mend, all else is ours.
func (f runtimeFlags) open(ctx context.Context, p *process, use runtimeUse) (rt *runtime.Runtime, file string, err error) {
	file, set, err := f.load(p)
	if err != nil {
		return nil, "", err
	}
	if err := checkExpressions(set); err != nil {
		return nil, "", &usageError{err}
	}
	exec, err := runtime.ExecManifest()
	if err != nil {
		return nil, "", err
	}
	config := runtime.Config{
		Harness: file, Tools: []*manifests.Tool{exec}, OpenSandbox: f.sandboxes(p, set), LookupEnv: os.LookupEnv, TestMode: f.testMode,
		CallMCP: mcp.CallUpstream,
		Notes:   f.notes, Version: version, Logger: warnings(p),
	}
	if use != useToCall {
		config.Trace = "none"
	}
	if use == useToLook {
		path := storePath(set.Harness)
		if _, err := os.Stat(path); path != "" && errors.Is(err, os.ErrNotExist) {
			config.Store = manifests.StoreMemory
		}
	}
	rt, err = runtime.Open(ctx, config)
	return rt, file, err
}

// warnings tells the operator what there is to say beside the result.
func warnings(p *process) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// traceParent is where in a trace this command was started, as the environment
// says it.
func traceParent() runtime.TraceParent {
	return runtime.TraceParent{Traceparent: os.Getenv("TRACEPARENT"), Tracestate: os.Getenv("TRACESTATE")}
}

// with opens the runtime, does something with it, and closes it.
func (f runtimeFlags) with(p *process, use runtimeUse, do func(ctx context.Context, rt *runtime.Runtime, file string) error) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	rt, file, err := f.open(ctx, p, use)
	if err == nil {
		err = do(ctx, rt, file)
		if closeErr := rt.Close(); err == nil {
			err = closeErr
		}
	}
	if _, said := errors.AsType[exitCode](err); err != nil && !said {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
	}
	return err
}

// nestedCalls is how many calls one call can become: its code calls a tool,
// whose code calls a tool, and so on, each in a sandbox of its own while the
// others wait.
const nestedCalls = 8

// sandboxes opens the guests of code tools when they are first needed.
func (f runtimeFlags) sandboxes(p *process, set *manifests.Set) func(context.Context, string) (sandbox.Sandbox, error) {
	var most uint64
	for _, t := range set.Tools() {
		most = max(most, uint64(t.Spec.Limits.MaxMemoryMB)<<20)
	}
	concurrent := f.concurrent
	if concurrent == 0 {
		concurrent = nestedCalls
	}
	return func(ctx context.Context, guest string) (sandbox.Sandbox, error) {
		progress := newProgress(p.stderr)
		defer progress.end()
		return p.open(ctx, openConfig{
			guest: guest, cacheDir: f.dir(progress), maxMemory: most, concurrent: concurrent, progress: progress.say,
		})
	}
}

// storePath is where a harness's store is; empty: it is kept in no file.
func storePath(h *manifests.Harness) string {
	switch {
	case h.Store == manifests.StoreMemory:
		return ""
	case filepath.IsAbs(h.Store):
		return h.Store
	}
	return filepath.Join(h.Origin.Root, h.Store)
}

// checkExpressions compiles the expressions of a harness and its tools.
func checkExpressions(set *manifests.Set) error {
	s := store.NewMemory()
	defer s.Close()
	_, err := governor.New(governor.Config{Set: set, Store: s, Clock: time.Now, Judge: noJudge{}})
	return err
}

// noJudge stands in for the harness's judge where nothing is decided.
type noJudge struct{}

func (noJudge) Judge(context.Context, governor.JudgeRequest) (v governor.Verdict, err error) {
	return v, errors.New("there is no judge here")
}
