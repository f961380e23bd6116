// Command report measures what the README claims: ours and a baseline side by
// side, in one run, as ratios. It prints a table and writes bench.json, a list
// of {name, unit, ours, baseline, ratio, low, high, target, ok}.
//
// It never fails because of a figure: whether a target is met is in the table.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// bench is what every measurement needs.
type bench struct {
	ctx    context.Context
	cache  string
	python string // the machine's python3, the interpreter itself
	native string // Debian's python of the guest's own version; "" if not there
	rounds int
	items  []item
}

func main() {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == hostFlag {
		if err := launchHost(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(1)
		}
		return
	}
	out := flag.String("out", "bench/out/bench.json", "where to write the figures")
	only := flag.String("only", "", "measure only what matches this regular expression")
	cache := flag.String("cache", "", "cache directory for compiled code (default: a user cache directory)")
	native := flag.String("native", os.Getenv("MAYFLY_NATIVE_PYTHON"), "python of the guest's own version, to compare speed with")
	rounds := flag.Int("rounds", 1, "multiply the number of repetitions")
	flag.Parse()
	if err := run(*out, *only, *cache, *native, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(out, only, cache, native string, rounds int) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(dir, "mayfly")
	}
	b := &bench{ctx: context.Background(), cache: cache, native: native, rounds: rounds}
	if b.python, err = measure.FindPython(b.ctx); err != nil {
		return err
	}
	for _, m := range []struct {
		name    string
		measure func(*bench) error
	}{
		{"fresh", fresh},
		{"memory", privateMemory},
		{"throughput", throughput},
		{"metering", meteringPython},
		{"cpu", cpuBound},
		{"rows", rows},
		{"sql", sqlRows},
		{"collector", collector},
		{"deadline", deadline},
		{"launch", launch},
		{"js-fresh", freshJavaScript},
		{"js-rows", rowsJavaScript},
		{"js-metering", meteringJavaScript},
		{"js-cpu", cpuJavaScript},
	} {
		if !match.MatchString(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", m.name)
		start := time.Now()
		if err := m.measure(b); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(os.Stderr, "measured %s in %.0f s\n", m.name, time.Since(start).Seconds())
	}
	printTable(os.Stdout, b.items)
	return writeJSON(out, b.items)
}

// engine opens a Python engine of some variant.
func (b *bench) engine(v variant.Variant) (*wasm.Engine, error) {
	return b.guestEngine("python", v)
}
