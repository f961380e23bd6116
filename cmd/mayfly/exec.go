package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/rows"
)

// execCommand runs one piece of code.
type execCommand struct {
	Script string   `arg:"" optional:"" help:"File with the code; - for standard input."`
	Code   *string  `short:"c" placeholder:"CODE" help:"The code itself, instead of SCRIPT."`
	Lang   langFlag `placeholder:"LANGUAGE" help:"What the code is written in: python, js or ts. Default: by the script's ending (.py, .js, .mjs, .ts, .mts), else python."`

	Rows        fileFlag    `placeholder:"FILE" help:"Bind the rows of a file to the variable rows: JSON, JSON Lines, CSV, TSV, Parquet, Arrow IPC or Excel (.xlsx), also packed with gzip or zstd; - for standard input."`
	RowsFormat  rows.Format `placeholder:"FORMAT" help:"Format of the rows: json, jsonl, csv, tsv, parquet, xlsx or arrow. Default: by the file's ending, else by its content."`
	RowsSheet   string      `placeholder:"NAME" help:"Sheet of an Excel workbook. Default: the first."`
	RowsStrings bool        `help:"Leave every CSV and TSV cell a string."`
	Arg         []string    `sep:"none" placeholder:"NAME=JSON" help:"Bind a JSON value to a variable. Repeatable."`
	ArgFile     []string    `sep:"none" placeholder:"NAME=FILE" help:"Bind the JSON value in a file to a variable; - for standard input. Repeatable."`

	Artifacts pathFlag `placeholder:"DIR" help:"Write the files that the code hands back (what it wrote to /tmp/out) into this new or empty directory. Default: --json has them."`

	Timeout          timeoutFlag  `placeholder:"DURATION" help:"Wall time of the whole call, 1ms to 24h. Default 5s."`
	MemoryMB         memoryFlag   `name:"memory-mb" placeholder:"N" help:"Memory beyond the interpreter's own, 2 to 3072. Default 64."`
	MaxOutputBytes   outputFlag   `placeholder:"N" help:"How much of standard output and error together is kept, 1 to 67108864. Default 100000."`
	MaxArtifacts     countFlag    `placeholder:"N" help:"How many files the code may hand back, 1 to 65536. Default 32."`
	MaxArtifactBytes artifactFlag `placeholder:"N" help:"How many bytes they may have together, 1 to 1073741824. Default 8388608."`
	MaxFuel          fuelFlag     `placeholder:"N" help:"Deterministic measure of work, 1 to 4611686018427387903. Default: none, the timeout holds."`

	Seed  *seedFlag  `placeholder:"N" help:"With --clock: run deterministically, with randomness from this seed (0 to 18446744073709551615)."`
	Clock *clockFlag `placeholder:"RFC3339" help:"With --seed: run deterministically, with clocks that start at this time (years 1970 to 2261)."`

	Harness pathFlag `placeholder:"FILE" help:"The harness.yaml whose rules the call is under. Default: none, every default."`
	subjectFlags
	RunID    *string `name:"run" placeholder:"ID" help:"The run of the harness that the call belongs to. Default: a new one."`
	Approval string  `placeholder:"ID" help:"The approval that the call resumes."`

	testModeFlag

	JSON bool `name:"json" help:"Print one JSON object with the value or error, what was written, and what the call cost."`

	cacheFlag
}

func (execCommand) Help() string {
	return `The value of the code is the value of its last statement if that is an expression. It is printed as JSON after what the code wrote; null is not printed. With --seed and --clock a replay record is printed too.

Examples:

  mayfly exec -c '2**100'

  mayfly exec report.py --rows sales.csv --arg 'region="north"'

  mayfly exec --lang js -c 'rows.filter((r) => r.units > 3).length' --rows sales.csv

  mayfly exec chart.py --rows sales.csv --artifacts out

  curl -s https://example.org/rows.json | mayfly exec --rows - -c 'len(rows)' --json

Exit codes: 0 the call was fine, 1 the code raised, 2 the command or its input is wrong, 3 a limit ended the call, 4 something of Mayfly's own failed, 5 the governor blocked the call, 6 a person must approve it first. A signal that ends the call gives 128 plus its number.`
}

// Run is the verb.
func (c *execCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	if err := c.checkSubject(); err != nil {
		return err
	}
	dir := artifactDir{string(c.Artifacts)}
	if err := dir.check(); err != nil {
		return err
	}
	spec, err := c.specUnlessStopped(ctx, p)
	if err != nil {
		return err
	}
	language := c.language()
	restore, failed, err := c.compile(ctx, language, &spec)
	var governed runtime.Result
	var box opened
	if err == nil && failed == nil {
		governed, box, err = c.call(ctx, p, language.runs(), spec)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if failed == nil {
		if governed.Sandbox == nil {
			return c.refused(p, governed)
		}
		failed = governed.Sandbox
	}
	result := *failed
	result.Error = restore(result.Error)
	code := statusExit(result.Status)
	if s, ok := errors.AsType[signalError](context.Cause(ctx)); ok && result.Status == sandbox.StatusCancelled {
		code = exitSignal + exitCode(s.signal)
	}
	report := report{result: result, limits: spec.Limits.WithDefaults()}
	if spec.Deterministic != nil {
		report.replay = newReplay(spec, result, box)
	}
	if dir.path != "" {
		if report.written, err = dir.write(result.Artifacts); err != nil {
			return err
		}
	}
	if c.JSON {
		err = report.json(p)
	} else {
		err = report.text(p)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return code // whoever reads may have seen enough; the call ended as it did
}

// specUnlessStopped is spec for as long as nobody interrupts: reading may wait
// for a terminal or a pipe for ever.
func (c *execCommand) specUnlessStopped(ctx context.Context, p *process) (sandbox.Spec, error) {
	type read struct {
		spec sandbox.Spec
		err  error
	}
	done := make(chan read, 1)
	go func() {
		spec, err := c.spec(p)
		done <- read{spec, err}
	}()
	select {
	case r := <-done:
		return r.spec, r.err
	case <-ctx.Done():
		return sandbox.Spec{}, context.Cause(ctx) // the process ends, and the reader with it
	}
}

// call opens a sandbox and runs spec in it, as a call of a built-in tool: it
// takes the same steps as any other call, under the operator's rules if there
// are some.
func (c *execCommand) call(ctx context.Context, p *process, language runtime.Language, spec sandbox.Spec) (result runtime.Result, box opened, err error) {
	progress := newProgress(p.stderr)
	box, err = p.open(ctx, openConfig{
		guest:     language.Guest(),
		cacheDir:  c.dir(progress),
		maxMemory: spec.Limits.WithDefaults().MaxMemory,
		progress:  progress.say,
	})
	progress.end()
	if err != nil {
		return result, box, err
	}
	r, err := c.runtime(ctx, p, box)
	if err != nil {
		return result, box, errors.Join(err, box.Close())
	}
	defer func() {
		if closeErr := r.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close sandbox: %w", closeErr)
		}
	}()
	run, err := c.run(ctx, r)
	if err != nil {
		return result, box, err
	}
	var sum func(any) string
	if c.Harness != "" { // nobody approves a call that is under no rules
		sum = func(value any) string { return digest(func(d *digester) { d.value(value) }) }
	}
	args, err := runtime.ExecArgs(language, spec.Code, spec.Globals, sum)
	if err != nil {
		return result, box, usagef("%s: %w", runtime.InvalidArguments, err)
	}
	result, err = r.CallCode(ctx, runtime.Call{RunID: run, Tool: runtime.ExecTool, Args: args, Approval: c.Approval, Parent: traceParent()}, runtime.CodeInput{
		Name: spec.Name, Globals: spec.Globals, Limits: spec.Limits.WithDefaults(), Deterministic: spec.Deterministic,
	})
	return result, box, err
}

// run gives the ID of the run that the call is made in.
func (c *execCommand) run(ctx context.Context, r *runtime.Runtime) (string, error) {
	if c.RunID != nil {
		if len(c.Label) > 0 {
			if err := r.AddLabels(ctx, *c.RunID, labels(c.Label)); err != nil {
				return "", runError(*c.RunID, err)
			}
		}
		return *c.RunID, nil
	}
	if c.Approval != "" {
		id, err := c.runOf(ctx, r, c.Approval)
		if err == nil && len(c.Label) > 0 {
			err = r.AddLabels(ctx, id, labels(c.Label))
		}
		return id, err
	}
	config := c.config()
	config.Tools = []string{runtime.ExecTool}
	run, err := r.StartRun(ctx, config)
	if err != nil {
		return "", startError(err)
	}
	return run.ID, nil
}

// checkSubject refuses flags that would be ignored.
func (c *execCommand) checkSubject() error {
	if c.Harness == "" && (c.principalGiven() || c.Tenant != nil || c.Task != nil || len(c.Label) > 0 || c.RunID != nil || c.Approval != "") {
		return usagef("--principal, --tenant, --task, --label, --run and --approval are for the rules of a harness; --harness names it")
	}
	if c.RunID != nil {
		return c.checkRun(*c.RunID)
	}
	return nil
}

// runtime makes the runtime that calls the tool in box. It owns box.
func (c *execCommand) runtime(ctx context.Context, p *process, box opened) (*runtime.Runtime, error) {
	tool, err := runtime.ExecManifest()
	if err != nil {
		return nil, err
	}
	r, err := runtime.Open(ctx, runtime.Config{
		Harness: string(c.Harness),
		Tools:   []*manifests.Tool{tool},
		OpenSandbox: func(context.Context, string) (sandbox.Sandbox, error) {
			return box, nil
		},
		LookupEnv: os.LookupEnv, TestMode: c.TestMode, Version: version, Logger: warnings(p),
	})
	if errs, ok := errors.AsType[manifests.Errors](err); ok {
		return nil, &usageError{errs}
	}
	return r, err
}

// refused says why a call did not go ahead.
func (c *execCommand) refused(p *process, r runtime.Result) error {
	if r.Error != nil { // the host could not do its part
		return errors.New(r.Error.Message)
	}
	if c.JSON {
		refusal := struct {
			Status   runtime.Outcome `json:"status"`
			Step     string          `json:"step"`
			Code     string          `json:"code"`
			Reason   string          `json:"reason"`
			Run      string          `json:"run"`
			Approval string          `json:"approval,omitzero"`
			RetryAt  string          `json:"retry_at,omitzero"`
		}{r.Outcome, string(r.Decision.Step), string(r.Decision.Code), r.Decision.Reason, r.Decision.Run, r.Approval, stamp(r.RetryAt)}
		if err := p.stdout.object(refusal); err != nil {
			return err
		}
	} else {
		p.stderr.note("%s: %s (step %s, code %s)", r.Outcome, r.Decision.Reason, r.Decision.Step, r.Decision.Code)
		if r.Approval != "" {
			p.stderr.note("mayfly approvals show %s", r.Approval)
			p.stderr.note("then: the same command with --run %s --approval %s and without --principal, --tenant and --task", r.Decision.Run, r.Approval)
		}
		if !r.RetryAt.IsZero() {
			p.stderr.note("again from %s", stamp(r.RetryAt))
		}
	}
	switch r.Outcome {
	case runtime.Internal:
		return exitInternal
	case runtime.InvalidArguments:
		return exitUsage
	}
	return callExit(r.Outcome)
}

// spec reads everything that the call is given.
func (c *execCommand) spec(p *process) (sandbox.Spec, error) {
	in := &inputs{stdin: p.stdin}
	spec := sandbox.Spec{
		Limits: sandbox.Limits{
			Timeout:   time.Duration(c.Timeout),
			MaxMemory: uint64(c.MemoryMB) << 20,
			MaxOutput: int64(c.MaxOutputBytes),
			MaxFuel:   int64(c.MaxFuel),

			MaxArtifacts:     int(c.MaxArtifacts),
			MaxArtifactBytes: int64(c.MaxArtifactBytes),
		},
	}
	var err error
	if spec.Deterministic, err = c.deterministic(); err != nil {
		return spec, err
	}
	if err := c.claimInputs(in); err != nil {
		return spec, err
	}
	if spec.Name, spec.Code, err = c.source(in); err != nil {
		return spec, err
	}
	spec.Globals, err = c.globals(in)
	return spec, err
}

// deterministic turns --seed and --clock into what a Spec wants. One without
// the other is refused: it would fix half of what differs and silently invent
// the other half.
func (c *execCommand) deterministic() (*sandbox.Deterministic, error) {
	switch {
	case c.Seed == nil && c.Clock == nil:
		return nil, nil
	case c.Seed == nil:
		return nil, usagef("--clock needs --seed: a deterministic call fixes both, for example --seed 0")
	case c.Clock == nil:
		return nil, usagef("--seed needs --clock: a deterministic call fixes both, for example --clock 2026-01-01T00:00:00Z")
	}
	return &sandbox.Deterministic{Seed: uint64(*c.Seed), Clock: time.Time(*c.Clock)}, nil
}
