// Command conformance runs CPython's own tests in the Python guest, module by
// module in fresh instances, and compares how each test ends with what is
// expected. README.md in this directory says what is counted and why.
package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// least is which part of the tests that run must pass, in percent, whatever the
// list of those that fail says.
const least = 95

// Exit codes.
const (
	exitExpected  = 0
	exitDifferent = 1
	exitUsage     = 2
	exitBroken    = 4
	exitStopped   = 130
)

// sliceModules are the modules of -slice: the core of the language, in a few
// minutes.
//
//go:embed slice.txt
var sliceModules string

const usage = `conformance runs CPython's own tests in the Python guest.

Usage: go run ./bench/conformance [flags]

Each module of Lib/test runs in a fresh instance of the guest, with fixed clocks
and randomness, so that the outcome is the same each time. What fails must be
listed in bench/conformance/expectations.txt, and what is listed must fail. A
run that was interrupted goes on where it was.

  make conformance                               everything
  go run ./bench/conformance -only test_dict,test_json
  go run ./bench/conformance -shard 1/4 -results bench/out/shard1.jsonl

Exit codes: 0 as expected, 1 not as expected or less than 95 % passed, 2 the command is wrong, 4 the
tests could not be run, 130 interrupted.

Flags:
`

type options struct {
	tests, results, cache string
	only                  []string
	shard                 shard
	jobs                  int
	slow                  time.Duration
	fresh, asJSON         bool
}

func main() {
	o := options{shard: shard{1, 1}}
	var only string
	var slice bool
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.StringVar(&o.tests, "tests", "bench/out/python-tests", "`directory` that holds Lib/test; make conformance-tests makes it")
	flags.StringVar(&o.results, "results", "bench/out/conformance.jsonl", "`file` that keeps the results, for a run that is interrupted")
	flags.StringVar(&o.cache, "cache", "", "cache `directory` for compiled code (default: a user cache directory)")
	flags.StringVar(&only, "only", "", "run only these `modules`, with commas between them")
	flags.BoolVar(&slice, "slice", false, "run only the modules in bench/conformance/slice.txt")
	flags.Var(&o.shard, "shard", "run only `part` I/N of the modules")
	flags.IntVar(&o.jobs, "jobs", 2, "how many instances run at once")
	flags.DurationVar(&o.slow, "slow", 20*time.Minute, "how `long` one test may take")
	flags.BoolVar(&o.fresh, "fresh", false, "start anew, even if there are results of an earlier run")
	flags.BoolVar(&o.asJSON, "json", false, "print the results as one JSON object")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(exitExpected)
	case err != nil:
		os.Exit(exitUsage)
	}
	if slice {
		o.only = append(o.only, strings.Fields(sliceModules)...)
	}
	o.only = append(o.only, strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, o, flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, o options, rest []string) (int, error) {
	if len(rest) > 0 || o.jobs < 1 || o.slow <= 0 {
		return exitUsage, errors.New("there are no arguments besides flags, -jobs is 1 or more, -slow more than 0; see -help")
	}
	expected, err := parseExpectations(expectations)
	if err != nil {
		return exitBroken, err
	}
	files := os.DirFS(o.tests)
	modules, err := testModules(files)
	if err != nil {
		return exitBroken, fmt.Errorf("%w; make conformance-tests gets the tests", err)
	}
	if modules, err = choose(modules, o.only, o.shard); err != nil {
		return exitUsage, err
	}
	kept, err := openResults(o.results, o.subject(), o.fresh)
	if err != nil {
		return exitBroken, err
	}
	defer kept.file.Close()
	if err := runAll(ctx, o, modules, kept); err != nil {
		if ctx.Err() != nil {
			return exitStopped, fmt.Errorf("interrupted; the same command goes on from here (%s)", o.results)
		}
		return exitBroken, err
	}
	units := make([]*unit, len(modules))
	for i, m := range modules {
		units[i] = kept.units[m]
	}
	differences := compare(units, expected)
	if o.asJSON {
		err = printJSON(os.Stdout, units, differences)
	} else {
		printTable(os.Stdout, units, differences)
	}
	if err != nil {
		return exitBroken, err
	}
	if t := sum(units); t.Run > 0 && t.share() < least {
		return exitDifferent, fmt.Errorf("%.2f %% of the tests passed, want %d %%", t.share(), least)
	}
	if len(differences) > 0 {
		return exitDifferent, fmt.Errorf("%d differences from bench/conformance/expectations.txt", len(differences))
	}
	return exitExpected, nil
}

func (o options) subject() subject {
	s := subject{Runner: fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s%+v", runner, limits))), Slow: o.slow.String()}
	s.Tests, _ = filepath.EvalSymlinks(o.tests)
	s.Tests = filepath.Base(s.Tests)
	infos, _ := guests.All() // a guest that is missing is an error when it is opened
	for _, g := range infos {
		if g.Name == "python" {
			s.Guest = g.Module.SHA256
		}
	}
	return s
}

// runAll runs the modules of which there are no results yet.
func runAll(ctx context.Context, o options, modules []string, kept *results) error {
	todo := slices.DeleteFunc(slices.Clone(modules), func(m string) bool { return kept.units[m] != nil })
	if had := len(modules) - len(todo); had > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d modules have run already, their results are in %s\n", had, len(modules), o.results)
	}
	if len(todo) == 0 {
		return nil
	}
	engine, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer engine.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan string)
	var workers sync.WaitGroup
	var mu sync.Mutex
	number := len(modules) - len(todo)
	for range o.jobs {
		workers.Go(func() {
			for m := range next {
				u, err := runUnit(ctx, engine, m, o.slow)
				if err == nil {
					err = kept.add(u)
				}
				if err != nil {
					cancel(fmt.Errorf("%s: %w", m, err))
					continue
				}
				mu.Lock()
				number++
				fmt.Fprintf(os.Stderr, "[%*d/%d] %s\n", len(fmt.Sprint(len(modules))), number, len(modules), u.line())
				mu.Unlock()
			}
		})
	}
	for _, m := range todo {
		select {
		case next <- m:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

func open(ctx context.Context, o options) (*wasm.Engine, error) {
	guest, err := guests.Python()
	if err != nil {
		return nil, err
	}
	if o.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		o.cache = filepath.Join(dir, "mayfly")
	}
	return wasm.New(ctx, wasm.Config{
		Guest: guest, CacheDir: o.cache, MaxConcurrent: o.jobs, Ready: 1,
		Variant:  variant.Variant{Files: os.DirFS(o.tests)},
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
}
