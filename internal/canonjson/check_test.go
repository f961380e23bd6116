package canonjson

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkTexts are texts of every kind, right and wrong.
var checkTexts = []string{
	"", " ", "null", "[]", "{}", `{"a":[1,2.5,{"b":null}],"c":"x"}`, "1 2", "[1,]", `{"a":1,"a":2}`, `["\ud800"]`, "[1e999]", "\"\xff\"", "[[[1]]]", "[", `{"a"`, `{"a":}`,
	"]", "}", `{1:2}`, "01", "[NaN]", "9007199254740993.0", "[1,2", `{"a":{"b":[[1]]}} x`, strings.Repeat("[", 20_000),
}

// TestCheckAgrees: what Parse takes, Check takes, and refuses it in the same words.
func TestCheckAgrees(t *testing.T) {
	for _, text := range checkTexts {
		for _, limits := range []Limits{{}, {MaxDepth: 2}, {MaxBytes: 4}, {MaxDepth: 50_000}} {
			checkAgrees(t, []byte(text), limits)
		}
	}
}

func checkAgrees(t *testing.T, text []byte, limits Limits) {
	t.Helper()
	_, want := Parse(text, limits)
	size, got := Check(text, limits)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%.100q, %+v (-Parse +Check):\n%s", text, limits, diff)
	}
	if got == nil && size < int64(len(text)) {
		t.Errorf("%.100q has %d bytes, and takes %d in memory", text, len(text), size)
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range checkTexts {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, depth uint8) { checkAgrees(t, text, Limits{MaxDepth: int(depth)}) })
}

// TestCheckSize: what Check says that a tree takes is what it takes, more or less.
func TestCheckSize(t *testing.T) {
	many := func(one string, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.ReplaceAll(one, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"empty arrays":  "[" + many("[]", 100_000) + "]",
		"empty objects": "[" + many("{}", 100_000) + "]",
		"nested arrays": "[" + many("[[[]]]", 50_000) + "]",
		"rows":          "[" + many(`{"region":"north","units":#,"price":1.5}`, 15_000) + "]",
		"short rows":    "[" + many(`{"a":#}`, 100_000) + "]",
		"wide rows":     "[" + many(`{"n#":1,"a":2,"b":3,"c":4,"d":5,"e":6,"f":7,"g":8,"h":9,"i":"a","j":"b"}`, 10_000) + "]",
		"one object":    "{" + many(`"n#":1`, 100_000) + "}",
		"integers":      "[" + many("#", 100_000) + "]",
		"floats":        "[" + many("#.5", 100_000) + "]",
		"long integers": "[" + many("1234567890123456789012345678901234567890#", 30_000) + "]",
		"short strings": "[" + many(`"s#"`, 100_000) + "]",
		"long strings":  "[" + many(`"`+strings.Repeat("x", 1000)+`#"`, 3_000) + "]",
		"literals":      "[" + many("null", 100_000) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			limits := Limits{MaxBytes: len(text)}
			said, err := Check([]byte(text), limits)
			if err != nil {
				t.Fatal(err)
			}
			took := heapOf(func() any {
				v, err := Parse([]byte(text), limits)
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
			t.Logf("%d bytes of text, said %.1f times, took %.1f times", len(text), float64(said)/float64(len(text)), float64(took)/float64(len(text)))
			if float64(said) < 0.8*float64(took) || float64(said) > 4*float64(took) {
				t.Errorf("takes %d bytes, and Check says %d", took, said)
			}
		})
	}
}

// heapOf is how much more of the heap is in use when what make gives is kept.
func heapOf(make func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func BenchmarkCheckMegabyte(b *testing.B) {
	text := []byte("[" + strings.Repeat(smallCall+",", 1<<20/(len(smallCall)+1)-1) + smallCall + "]")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(text, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
