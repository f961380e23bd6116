// Command load starts mayfly serve, calls tools of every kind over HTTP from many
// connections at once, checks each answer against a value that it worked out
// itself, and then the server's own records against what it sent. It measures
// memory over time, what happens when ten times as many come, and what HTTP costs
// beside the same call in this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
)

const usage = `usage: load [flags]

Starts mayfly serve and calls its tools over HTTP from many connections, with
answers that are known beforehand. It prints a table and writes the same figures
as JSON, a list of {name, unit, ours, baseline, ratio, target, ok}.

Example, ten seconds of each:

  go build -o bin/mayfly ./cmd/mayfly
  go run ./bench/load -mayfly bin/mayfly -duration 10s -overload 10s -latency 10s

Exit codes: 0 everything that must hold did; 1 a result was wrong, a call was
lost, the records disagree, memory grew, or the server did not recover; 2 the
command is wrong; 4 it could not be measured. No time makes it fail.

Flags:
`

const (
	exitFailed  = 1
	exitUsage   = 2
	exitTrouble = 4
)

// options are the flags.
type options struct {
	mayfly, cache, out          string
	conns, times                int
	duration, overload, latency time.Duration
	seed                        uint64
	json                        bool
	ownClock                    bool // the server has a wall clock that can be set
}

func main() {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == soakVerb {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := soakMain(ctx, os.Args[2:])
		stop()
		os.Exit(code)
	}
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	items, err := run(ctx, o, func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	})
	stop()
	if err == nil {
		err = report(o, os.Stdout, items)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(exitTrouble)
	}
	if !held(items) {
		os.Exit(exitFailed)
	}
}

// parse reads the flags. What is wrong with them it has told w.
func parse(args []string, w io.Writer) (options, error) {
	o := options{}
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() {
		fmt.Fprint(w, usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.mayfly, "mayfly", "bin/mayfly", "the program to measure")
	f.StringVar(&o.cache, "cache", "", "cache directory for compiled code (default: the user's)")
	f.StringVar(&o.out, "out", "bench/out/load.json", "where to write the figures; empty: nowhere")
	f.IntVar(&o.conns, "conns", 64, "connections")
	f.IntVar(&o.times, "times", 10, "how many times as many connections the overload has")
	f.DurationVar(&o.duration, "duration", time.Minute, "how long the load lasts; 0: none")
	f.DurationVar(&o.overload, "overload", 15*time.Second, "how long each overload lasts; 0: none")
	f.DurationVar(&o.latency, "latency", 20*time.Second, "how long HTTP and this process take turns, at each concurrency; 0: not at all")
	f.Uint64Var(&o.seed, "seed", 0, "for the choice of calls (default: another one each time)")
	f.BoolVar(&o.json, "json", false, "print the figures as JSON instead of a table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("load: %q is not a flag", f.Arg(0))
	case o.conns < 1 || o.conns > 512 || o.times < 2 || o.times > 100:
		err = errors.New("load: -conns is from 1 to 512, -times from 2 to 100")
	case o.duration < 0 || o.overload < 0 || o.latency < 0:
		err = errors.New("load: a negative duration")
	}
	if err != nil {
		fmt.Fprintln(w, err)
	}
	return o, err
}

// run does all of it.
func run(ctx context.Context, o options, say func(string, ...any)) (items []item, err error) {
	w, err := newWorld(ctx, o, say)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	say("the choice of calls is that of -seed %d", o.seed)
	m := &measurement{world: w, options: o, say: say, ledger: newLedger()}
	for _, part := range []func(context.Context) error{m.warmUp, m.steady, m.latencies, m.overloads, m.books} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return m.items, nil
}
