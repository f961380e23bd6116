package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// guestEngine opens an engine of some variant for a guest.
func (b *bench) guestEngine(name string, v variant.Variant) (*wasm.Engine, error) {
	g, err := guests.ByName(name)
	if err != nil {
		return nil, err
	}
	return wasm.New(b.ctx, wasm.Config{
		Guest: g, CacheDir: b.cache, Variant: v,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
}

// freshJavaScript compares 1+1 in a fresh JavaScript instance with a node
// process and with a fresh Python instance, in turns.
func freshJavaScript(b *bench) error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("no node here: the fresh JavaScript call is not compared")
		return nil
	}
	js, err := b.guestEngine("js", variant.Variant{})
	if err != nil {
		return err
	}
	defer js.Close()
	python, err := b.guestEngine("python", variant.Variant{})
	if err != nil {
		return err
	}
	defer python.Close()
	call := func(into *[]float64, e *wasm.Engine) error {
		start := time.Now()
		_, err := onePlusOne(b.ctx, e)
		*into = append(*into, measure.Millis(time.Since(start)))
		return err
	}
	var warm, ours, theirs, other, burst, kib []float64
	for range 20 {
		for _, e := range []*wasm.Engine{js, python} {
			if err := call(&warm, e); err != nil {
				return err
			}
		}
	}
	for range 200 * b.rounds {
		if err := call(&ours, js); err != nil {
			return err
		}
		if err := call(&other, python); err != nil {
			return err
		}
		ms, _, err := measure.Process(b.ctx, nil, node, "-e", "1")
		if err != nil {
			return err
		}
		theirs = append(theirs, ms)
	}
	for range 2000 * b.rounds {
		if err := call(&burst, js); err != nil {
			return err
		}
	}
	for range 50 {
		r, err := onePlusOne(b.ctx, js)
		if err != nil {
			return err
		}
		kib = append(kib, float64(r.Usage.Dirtied)/1024)
	}
	b.compare("JavaScript: fresh call, median / node -e 1, median", "ms", measure.Median(ours), measure.Median(theirs), 1.0/100)
	b.compare("JavaScript: fresh call, p99 / node -e 1, p99", "ms", measure.Quantile(ours, 0.99), measure.Quantile(theirs, 0.99), 0)
	b.compare("JavaScript: fresh call / fresh Python call, median", "ms", measure.Median(ours), measure.Median(other), 1)
	b.compare("JavaScript: fresh calls back to back, median / node -e 1", "ms", measure.Median(burst), measure.Median(theirs), 0)
	b.figure("JavaScript: private memory of a 1+1 call, median", "KiB", measure.Median(kib), 0)
	b.figure("JavaScript: image", "MiB", float64(js.Info().ImageSize)/(1<<20), 0)
	return nil
}

// rowsJavaScript is rows for the JavaScript guest, beside node, and beside the
// guest's own JSON.parse of the same records.
func rowsJavaScript(b *bench) error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("no node here: rows in JavaScript are not compared")
		return nil
	}
	e, err := b.guestEngine("js", variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	table := measure.MakeRows(measure.RowCount)
	text, err := measure.AsJSON(table)
	if err != nil {
		return err
	}
	g := &grouper{b: b, engine: e}
	best, err := least(5*b.rounds,
		g.native(text, node, "-e", "const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'));"+measure.GroupJavaScript+"console.log(JSON.stringify(result))"),
		g.run(measure.GroupJavaScript+"result", "rows", table),
		g.run(measure.GroupJavaScript+"result", "rows", sandbox.RawJSON(text)),
		g.run("const rows = JSON.parse(text);"+measure.GroupJavaScript+"result", "text", string(text)))
	if err != nil {
		return err
	}
	b.compare("JavaScript: 100,000 rows as a table, group-by / node and JSON.parse", "ms", best[1], best[0], 0)
	b.compare("JavaScript: 100,000 rows as JSON, group-by / node and JSON.parse", "ms", best[2], best[0], 0)
	b.compare("JavaScript: 100,000 rows as a table / JSON.parse in the guest", "ms", best[1], best[3], 0)
	return nil
}

// cpuJavaScript compares the guest with node without its compilers, which is
// what an interpreter can be compared with. Both give the wall time.
func cpuJavaScript(b *bench) error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("no node here: the speed of JavaScript is not compared")
		return nil
	}
	e, err := b.guestEngine("js", variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	all, err := measure.Workloads(".js")
	if err != nil {
		return err
	}
	const driver = `const source = require('fs').readFileSync(0, 'utf8');
const start = process.cpuUsage();
const value = (0, eval)(source);
const used = process.cpuUsage(start);
console.log((used.user + used.system) / 1000 + ' ' + JSON.stringify(value));`
	var ratios []float64
	for _, w := range all {
		var ours, theirs string
		best, err := least(repeats*b.rounds,
			func() (ms float64, err error) { ms, ours, err = inGuest(b, e, w); return },
			func() (float64, error) {
				_, out, err := measure.Process(b.ctx, []byte(w.Code), node, "--jitless", "-e", driver)
				if err != nil {
					return 0, err
				}
				var ms float64
				_, err = fmt.Sscanf(out, "%f %s", &ms, &theirs)
				return ms, err
			})
		if err != nil {
			return err
		}
		if ours != theirs {
			return fmt.Errorf("workload %s: %s in the guest, %s in node", w.Name, ours, theirs)
		}
		b.compare("JavaScript, CPU-bound: "+w.Name+" / node --jitless", "ms", best[0], best[1], 0)
		ratios = append(ratios, best[0]/best[1])
	}
	b.ratio(fmt.Sprintf("JavaScript, CPU-bound: geometric mean of %d", len(ratios)), measure.Geomean(ratios), 0)
	return nil
}
