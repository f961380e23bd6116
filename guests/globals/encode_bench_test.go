package globals

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// benchTable is 100,000 rows of six columns as a report would have them.
func benchTable() *sandbox.Table {
	t := &sandbox.Table{Columns: []string{"id", "region", "product", "units", "price", "active"}}
	for i := range 100_000 {
		t.Rows = append(t.Rows, []any{
			int64(100_000 + i), [...]string{"north", "south", "east", "west"}[i%4], fmt.Sprintf("product-%d", i*7919%500),
			int64(i % 97), float64(i%10_000) / 100, i%3 == 0,
		})
	}
	return t
}

func benchJSON(tb testing.TB, t *sandbox.Table) sandbox.RawJSON {
	var rows []map[string]any
	for _, row := range t.Rows {
		m := map[string]any{}
		for i, c := range t.Columns {
			m[c] = row[i]
		}
		rows = append(rows, m)
	}
	text, err := json.Marshal(rows)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func BenchmarkEncode(b *testing.B) {
	table := benchTable()
	maps := []any{}
	for _, row := range table.Rows {
		m := map[string]any{}
		for i, c := range table.Columns {
			m[c] = row[i]
		}
		maps = append(maps, m)
	}
	for _, c := range []struct {
		name string
		v    any
	}{{"table", table}, {"maps", maps}, {"json", benchJSON(b, table)}} {
		b.Run("rows="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := Encode(map[string]any{"rows": c.v}, 64, anyName)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(out)))
			}
		})
	}
}
