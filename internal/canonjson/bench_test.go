package canonjson

import (
	"fmt"
	"strings"
	"testing"
)

// numberText makes a JSON number; form says which parts it has.
func numberText(negative bool, whole, frac uint64, exp int16, form uint8) string {
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	fmt.Fprint(&b, whole)
	if form&1 != 0 {
		fmt.Fprintf(&b, ".%0*d", form>>3, frac)
	}
	if form&2 != 0 {
		fmt.Fprintf(&b, "e%d", exp%400)
	}
	return b.String()
}

const smallCall = `{"order_id":"A-1001","amount_usd":129.5,"reason":"arrived broken","lines":[1,2,3],"notify":true}`

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse([]byte(smallCall), Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	v, err := Parse([]byte(smallCall), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Digest(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseMegabyte(b *testing.B) {
	text := []byte("[" + strings.Repeat(smallCall+",", 1<<20/(len(smallCall)+1)-1) + smallCall + "]")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
