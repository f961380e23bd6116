package main

import (
	"fmt"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
)

// groupGuest and groupNative are the group-by with its value, and with its
// input and output.
const (
	groupGuest  = measure.GroupPython + "result\n"
	groupNative = "import json, sys\nrows = json.loads(sys.stdin.buffer.read())\n" + measure.GroupPython +
		"print(json.dumps(result, separators=(',', ':')))\n"
)

// rows compares 100,000 records in and a group-by out with a native python
// process that reads the same records as JSON. Both sides count everything: the
// process its start, ours the encoding.
func rows(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	table := measure.MakeRows(measure.RowCount)
	text, err := measure.AsJSON(table)
	if err != nil {
		return err
	}
	python := b.native
	if python == "" {
		python = b.python
	}
	var want string
	ours := func(rows any) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			r, err := e.Run(b.ctx, sandbox.Spec{
				Code: groupGuest, Globals: map[string]any{"rows": rows},
				Limits: sandbox.Limits{Timeout: time.Minute},
			})
			ms := measure.Millis(time.Since(start))
			if err != nil {
				return 0, err
			}
			if string(r.Value)+"\n" != want {
				return 0, fmt.Errorf("ended %s with %.200s, want %.200s; %+v", r.Status, r.Value, want, r.Error)
			}
			return ms, nil
		}
	}
	best, err := least(5*b.rounds,
		func() (ms float64, err error) {
			ms, want, err = measure.Process(b.ctx, text, python, "-I", "-c", groupNative)
			return
		},
		ours(table), ours(sandbox.RawJSON(text)))
	if err != nil {
		return err
	}
	b.compare("100,000 rows as a table, group-by / native json.loads", "ms", best[1], best[0], 3)
	b.compare("100,000 rows as JSON, group-by / native json.loads", "ms", best[2], best[0], 3)
	return nil
}
