package output_test

import (
	"fmt"
	"strings"
	"testing"
)

// adversarial are texts, repeated, that a matcher which looks at a place more
// than once would take a long time for.
var adversarial = []struct{ name, unit string }{
	{"prose", "The quick brown fox jumps over the lazy dog. "},
	{"at", "a@"},
	{"ats", "@"},
	{"local", "aaaaaaaaaaaaaaaa.aaaaaaa+"},
	{"labels", "a@b.c.d.e.f"},
	{"digits", "4111111111111111"},
	{"groups", "4111 "},
	{"ones", "1 "},
	{"dots", "1.2.3."},
	{"hex", "ab:cd::"},
	{"parens", "(1)"},
	{"plus", "+1-"},
	{"bars", "<|a"},
	{"verbs", "ignore all the previous "},
	{"shows", "reveal your full system hidden "},
	{"tags", "\U000e0041"},
	{"flags", "\U0001f3f4\U000e0067"},
	{"joiners", "\u0627\u200c\u200d"},
	{"quotes", "\""},
	{"han", "忽略之前的"},
	{"wide", "４１１１@"},
	{"lines", "system:\n"},
	{"emails", "a@example.com "},
	{"brackets", "[system"},
}

// BenchmarkLinear shows time per byte for 1 MB and for 10 MB: linear means that
// they are the same.
func BenchmarkLinear(b *testing.B) {
	o := newOutput(b, 20000, both...)
	for _, a := range adversarial {
		for _, mb := range []int{1, 10} {
			b.Run(fmt.Sprintf("text=%s/mb=%d", a.name, mb), func(b *testing.B) {
				text := strings.Repeat(a.unit, mb<<20/len(a.unit))
				b.ReportAllocs()
				for b.Loop() {
					o.Text(text)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)), "ns/byte")
			})
		}
	}
}

// BenchmarkJSON is a result as tools give it: rows with a few fields.
func BenchmarkJSON(b *testing.B) {
	o := newOutput(b, 1<<30, both...)
	for _, rows := range []int{10, 1000, 100000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			row := `{"id":1234567,"name":"Example Person","email":"person@example.com","note":"She called about order 20260812-09."},`
			value := []byte("[" + strings.Repeat(row, rows) + "1]")
			b.ReportAllocs()
			for b.Loop() {
				if r, err := o.JSON(value); err != nil || r.Redactions["email"] != rows {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(value)), "ns/byte")
		})
	}
}
