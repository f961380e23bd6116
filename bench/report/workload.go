package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// inGuest runs a workload and gives its processor time in milliseconds.
func inGuest(b *bench, e *wasm.Engine, w measure.Workload) (ms float64, value string, err error) {
	r, err := e.Run(b.ctx, sandbox.Spec{
		Name: w.Name + w.Ending, Code: w.Code,
		Limits: sandbox.Limits{Timeout: 2 * time.Minute, MaxMemory: 512 << 20},
	})
	if err != nil {
		return 0, "", err
	}
	if r.Status != sandbox.StatusOK {
		return 0, "", fmt.Errorf("workload %s ended %s: %+v", w.Name, r.Status, r.Error)
	}
	return measure.Millis(r.Usage.CPU), string(r.Value), nil
}

// nativeDriver runs a script given on standard input as the guest would and
// prints the processor time in milliseconds and the value.
const nativeDriver = `
import ast, json, sys, time
source = sys.stdin.read()
start = time.process_time()
tree = ast.parse(source)
last = ast.Expression(tree.body.pop().value)
scope = {"__name__": "__main__"}
exec(compile(tree, "w.py", "exec"), scope)
value = eval(compile(last, "w.py", "eval"), scope)
ms = (time.process_time() - start) * 1000
print(ms, json.dumps(value, separators=(",", ":"), ensure_ascii=False))
`

// inNative runs a workload in a native python process.
func inNative(b *bench, python string, w measure.Workload) (ms float64, value string, err error) {
	_, out, err := measure.Process(b.ctx, []byte(w.Code), python, "-I", "-c", nativeDriver)
	if err != nil {
		return 0, "", fmt.Errorf("workload %s: %w", w.Name, err)
	}
	first, value, _ := strings.Cut(strings.TrimSpace(out), " ")
	ms, err = strconv.ParseFloat(first, 64)
	return ms, value, err
}

// repeats is how often each side of a comparison runs; the least time counts,
// which noise can only raise.
const repeats = 3

// least alternates between runs and gives the least time of each.
func least(n int, runs ...func() (float64, error)) ([]float64, error) {
	best := make([]float64, len(runs))
	for range n {
		for i, run := range runs {
			ms, err := run()
			if err != nil {
				return nil, err
			}
			if best[i] == 0 || ms < best[i] {
				best[i] = ms
			}
		}
	}
	return best, nil
}

// cpuBound compares the guest with Debian's python of the same version.
func cpuBound(b *bench) error {
	if b.native == "" {
		fmt.Println("no native python of the guest's version was given (-native): speed is not compared")
		return nil
	}
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	all, err := measure.Workloads(".py")
	if err != nil {
		return err
	}
	var ratios []float64
	for _, w := range all {
		var ours, theirs string
		best, err := least(repeats*b.rounds,
			func() (ms float64, err error) { ms, ours, err = inGuest(b, e, w); return },
			func() (ms float64, err error) { ms, theirs, err = inNative(b, b.native, w); return })
		if err != nil {
			return err
		}
		if ours != theirs {
			return fmt.Errorf("workload %s: %s in the guest, %s in python", w.Name, ours, theirs)
		}
		b.compare("CPU-bound: "+w.Name, "ms", best[0], best[1], 0)
		ratios = append(ratios, best[0]/best[1])
	}
	b.ratio(fmt.Sprintf("CPU-bound: geometric mean of %d", len(ratios)), measure.Geomean(ratios), 4.5)
	return nil
}
