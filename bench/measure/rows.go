package measure

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/mayfly-run/mayfly/sandbox"
)

// RowCount is how many rows what is claimed of rows is measured with.
const RowCount = 100_000

// GroupPython groups rows and leaves what it found in result.
const GroupPython = `
totals = {}
for row in rows:
    t = totals.setdefault(row["region"], [0, 0.0])
    t[0] += row["units"]
    t[1] += row["price"] * row["units"]
result = {k: [n, round(total, 2)] for k, (n, total) in sorted(totals.items())}
`

// GroupJavaScript does likewise, but rounds to whole numbers.
const GroupJavaScript = `
const totals = new Map();
for (const row of rows) {
  let t = totals.get(row.region);
  if (!t) totals.set(row.region, t = [0, 0]);
  t[0] += row.units;
  t[1] += row.price * row.units;
}
const result = Object.fromEntries([...totals].sort().map(([k, [n, total]]) => [k, [n, Math.round(total)]]));
`

// MakeRows makes the same orders every time.
func MakeRows(count int) *sandbox.Table {
	r := rand.New(rand.NewPCG(1, 2))
	regions := []string{"north", "south", "east", "west", "centre", "overseas"}
	t := &sandbox.Table{Columns: []string{"id", "region", "customer", "units", "price", "paid"}}
	for i := range count {
		t.Rows = append(t.Rows, []any{
			i, regions[r.IntN(len(regions))], fmt.Sprintf("customer %d", r.IntN(5000)),
			r.IntN(1000), float64(r.IntN(100_000)) / 100, r.IntN(2) == 0,
		})
	}
	return t
}

// AsJSON gives a table as an array of records.
func AsJSON(t *sandbox.Table) ([]byte, error) {
	records := make([]map[string]any, len(t.Rows))
	for i, row := range t.Rows {
		records[i] = make(map[string]any, len(row))
		for j, v := range row {
			records[i][t.Columns[j]] = v
		}
	}
	return json.Marshal(records)
}
