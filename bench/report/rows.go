package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
)

const (
	rowCount  = 100_000
	groupCode = `
totals = {}
for row in rows:
    t = totals.setdefault(row["region"], [0, 0.0])
    t[0] += row["units"]
    t[1] += row["price"] * row["units"]
result = {k: [n, round(total, 2)] for k, (n, total) in sorted(totals.items())}
`
	groupGuest  = groupCode + "result\n"
	groupNative = "import json, sys\nrows = json.loads(sys.stdin.buffer.read())\n" + groupCode +
		"print(json.dumps(result, separators=(',', ':')))\n"
)

// makeRows makes the same orders every time.
func makeRows() *sandbox.Table {
	r := rand.New(rand.NewPCG(1, 2))
	regions := []string{"north", "south", "east", "west", "centre", "overseas"}
	t := &sandbox.Table{Columns: []string{"id", "region", "customer", "units", "price", "paid"}}
	for i := range rowCount {
		t.Rows = append(t.Rows, []any{
			i, regions[r.IntN(len(regions))], fmt.Sprintf("customer %d", r.IntN(5000)),
			r.IntN(1000), float64(r.IntN(100_000)) / 100, r.IntN(2) == 0,
		})
	}
	return t
}

func asJSON(t *sandbox.Table) ([]byte, error) {
	records := make([]map[string]any, len(t.Rows))
	for i, row := range t.Rows {
		records[i] = make(map[string]any, len(row))
		for j, v := range row {
			records[i][t.Columns[j]] = v
		}
	}
	return json.Marshal(records)
}

// rows compares 100,000 records in and a group-by out with a native python
// process that reads the same records as JSON. Both sides count everything: the
// process its start, ours the encoding.
func rows(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	table := makeRows()
	text, err := asJSON(table)
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
			ms := millis(time.Since(start))
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
			ms, want, err = b.process(text, python, "-I", "-c", groupNative)
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
