package main

import (
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
	g := &grouper{b: b, engine: e}
	best, err := least(5*b.rounds, g.native(text, python, "-I", "-c", groupNative),
		g.run(groupGuest, "rows", table), g.run(groupGuest, "rows", sandbox.RawJSON(text)))
	if err != nil {
		return err
	}
	b.compare("100,000 rows as a table, group-by / native json.loads", "ms", best[1], best[0], 3)
	b.compare("100,000 rows as JSON, group-by / native json.loads", "ms", best[2], best[0], 3)
	return nil
}
