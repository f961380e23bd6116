package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// rowsOut gives a record for each row.
var rowsOut = map[string]request{
	python:     {Body: "result = [{\"id\": r[\"id\"], \"region\": r[\"region\"], \"total\": r[\"units\"] * r[\"price\"]} for r in rows]", Expr: "result"},
	javaScript: {Body: "const result = rows.map((r) => ({ id: r.id, region: r.region, total: r.units * r.price }));", Expr: "result"},
}

// rowsGrouped gives one for each group.
var rowsGrouped = map[string]request{
	python:     {Body: measure.GroupPython, Expr: "result"},
	javaScript: {Body: measure.GroupJavaScript, Expr: "result"},
}

// rows measures calls with many records, from JSON text to JSON text, in a
// fresh sandbox, which counts.
func rows(b *bench) error {
	count := full(b, measure.RowCount, measure.RowCount/20)
	text, err := measure.AsJSON(measure.MakeRows(count))
	if err != nil {
		return err
	}
	input := filepath.Join(b.scratch, "rows.json")
	if err := os.WriteFile(input, text, 0o600); err != nil {
		return err
	}
	for _, work := range []struct {
		name string
		code map[string]request
	}{
		{"%d,000 rows in, grouped", rowsGrouped},
		{"%d,000 rows in, as many out", rowsOut},
	} {
		same := map[string]*equal{python: {}, javaScript: {}}
		_, err := b.alternate(row{Name: fmt.Sprintf(work.name, count/1000), Unit: "ms", Best: "least"}, b.peers,
			full(b, sampling{3, 5, 4 * time.Second}, sampling{1, 1, 0}), func(p *peer) (float64, error) {
				q := work.code[p.language]
				q.Op, q.Input, q.TimeoutMS, q.Memory = "run", input, 60_000, 512<<20
				a, err := b.value(p, q, same[p.language])
				return a.StartMS + a.RunMS, err
			})
		if err != nil {
			return err
		}
	}
	return nil
}
