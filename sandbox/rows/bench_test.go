package rows

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkRead reads 100,000 rows of six columns: two integers, two strings
// (one of few values, one of all different), a float and a boolean.
func BenchmarkRead(b *testing.B) {
	for _, format := range []Format{JSON, JSONLines, CSV, TSV} {
		data := exampleRows(format, 100_000)
		b.Run("format="+string(format), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				rows, err := Read(bytes.NewReader(data), Options{Format: format})
				if err != nil {
					b.Fatal(err)
				}
				if rows.Len != 100_000 || rows.Table == nil {
					b.Fatalf("%d rows, table %v", rows.Len, rows.Table != nil)
				}
			}
		})
	}
	// The last row has another name, so everything is read twice.
	data := append(bytes.TrimSuffix(exampleRows(JSON, 100_000), []byte("]")), `,{"id":1}]`...)
	b.Run("format=json/table=no", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			rows, err := Read(bytes.NewReader(data), Options{Format: JSON})
			if err != nil {
				b.Fatal(err)
			}
			if rows.Len != 100_001 || rows.JSON == nil {
				b.Fatalf("%d rows, table %v", rows.Len, rows.Table != nil)
			}
		}
	})
}

func exampleRows(format Format, n int) []byte {
	sections := []string{"admin", "libs", "python", "utils", "web"}
	var out bytes.Buffer
	switch format {
	case JSON:
		out.WriteString("[")
	case CSV:
		out.WriteString("id,name,section,size,score,ok\n")
	case TSV:
		out.WriteString("id\tname\tsection\tsize\tscore\tok\n")
	}
	for i := range n {
		cells := []any{i, fmt.Sprintf("package-%d", i), sections[i%len(sections)], i * 37, float64(i%9973) / 100, i%2 == 0}
		switch format {
		case JSON:
			if i > 0 {
				out.WriteString(",\n")
			}
			fmt.Fprintf(&out, `{"id": %d, "name": "%s", "section": "%s", "size": %d, "score": %.2f, "ok": %t}`, cells...)
		case JSONLines:
			fmt.Fprintf(&out, `{"id": %d, "name": "%s", "section": "%s", "size": %d, "score": %.2f, "ok": %t}`+"\n", cells...)
		case CSV:
			fmt.Fprintf(&out, "%d,%s,%s,%d,%.2f,%t\n", cells...)
		case TSV:
			fmt.Fprintf(&out, "%d\t%s\t%s\t%d\t%.2f\t%t\n", cells...)
		}
	}
	if format == JSON {
		out.WriteString("]")
	}
	return out.Bytes()
}
