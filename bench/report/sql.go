package main

import (
	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
)

// The same group-by three times: SQL over rows as they are, Python dictionaries,
// and a native python that puts the records into SQLite first.
const (
	groupQuery = `select region, paid, count(*) n, sum(units) units, round(avg(price), 6) price, min(price) low, max(price) high
from rows group by region, paid order by region, paid`

	groupSQL = "from mayfly import sql\n[list(r.values()) for r in sql('''" + groupQuery + "''')]\n"

	groupDicts = `
groups = {}
for row in rows:
    key = row["region"], row["paid"]
    g = groups.get(key)
    if g is None:
        g = groups[key] = [0, 0, 0.0, row["price"], row["price"]]
    price = row["price"]
    g[0] += 1
    g[1] += row["units"]
    g[2] += price
    if price < g[3]:
        g[3] = price
    if price > g[4]:
        g[4] = price
[[region, int(paid), n, units, round(price / n, 6), low, high] for (region, paid), (n, units, price, low, high) in sorted(groups.items())]
`
	nativeSQL = `
import json, sqlite3, sys
rows = json.loads(sys.stdin.buffer.read())
db = sqlite3.connect(":memory:")
db.execute("create table rows (id integer, region text, customer text, units integer, price real, paid integer)")
db.executemany("insert into rows values (:id, :region, :customer, :units, :price, :paid)", rows)
print(json.dumps(db.execute('''` + groupQuery + `''').fetchall(), separators=(",", ":")))
`
)

// sqlRows compares the group-by in SQL. Both sides of each comparison count
// everything, as in rows.
func sqlRows(b *bench) error {
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
	g := &grouper{b: b, engine: e}
	// Debian's python of the guest's version comes without SQLite.
	best, err := least(5*b.rounds, g.native(text, b.python, "-I", "-c", nativeSQL),
		g.run(groupSQL, "rows", table), g.run(groupDicts, "rows", table))
	if err != nil {
		return err
	}
	b.compare("100,000 rows, group-by in SQL / native json.loads and sqlite3", "ms", best[1], best[0], 2)
	b.compare("100,000 rows, group-by in SQL / in dictionaries in the guest", "ms", best[1], best[2], 1)
	return nil
}
