package globals

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/sandbox"
)

// generator makes values out of fuzz bytes.
type generator struct {
	data  []byte
	depth int
}

func (g *generator) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

func (g *generator) bytes(n int) []byte {
	n = min(n, len(g.data))
	b := g.data[:n]
	g.data = g.data[n:]
	return slices.Clone(b)
}

func (g *generator) text() string {
	switch b := g.byte(); b % 4 {
	case 0:
		return []string{"north", "south", "", "é", "x", "\"\\\n", "😀"}[b/4%7]
	case 1:
		return strings.Repeat(string(rune('a'+b%26)), int(b))
	default:
		return strings.ToValidUTF8(string(g.bytes(int(b%40))), "?")
	}
}

func (g *generator) int() *big.Int {
	b := g.byte()
	v := new(big.Int).SetBytes(g.bytes(int(b % 24)))
	if b >= 128 {
		v.Neg(v)
	}
	return v
}

func (g *generator) float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(append(g.bytes(8), make([]byte, 8)...)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0.5
	}
	return v
}

func (g *generator) keys(n int) []string {
	var keys []string
	for range n {
		if key := g.text(); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// value gives a value and what it should be read as, which differs for JSON.
func (g *generator) value() (value, want any) {
	g.depth++
	defer func() { g.depth-- }()
	kind := g.byte() % 12
	if g.depth > 8 || len(g.data) == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		return nil, nil
	case 1:
		v := g.byte()%2 == 0
		return v, v
	case 2:
		v := g.int()
		if v.IsInt64() && g.byte()%2 == 0 {
			return v.Int64(), v
		}
		return v, v
	case 3:
		v := g.float()
		return v, v
	case 4:
		v := g.text()
		return v, v
	case 5:
		v := g.bytes(int(g.byte()))
		return v, v
	case 6, 7:
		var values, wants []any
		for range g.byte() % 8 {
			v, w := g.value()
			values, wants = append(values, v), append(wants, w)
		}
		return values, wants
	case 8:
		values, wants := map[string]any{}, map[string]any{}
		for _, key := range g.keys(int(g.byte() % 8)) {
			values[key], wants[key] = g.value()
		}
		return values, wants
	case 9:
		t := &sandbox.Table{Columns: g.keys(int(g.byte() % 6))}
		var wants []any
		for range g.byte() % 6 {
			var row, want []any
			for range t.Columns {
				v, w := g.value()
				row, want = append(row, v), append(want, w)
			}
			t.Rows = append(t.Rows, row)
			wants = append(wants, ordered{t.Columns, want})
		}
		return t, wants
	default:
		var text strings.Builder
		want := g.json(&text)
		return sandbox.RawJSON(text.String()), want
	}
}

// json writes JSON text and gives what it means.
func (g *generator) json(text *strings.Builder) any {
	g.depth++
	defer func() { g.depth-- }()
	kind := g.byte() % 8
	if g.depth > 8 || len(g.data) == 0 {
		kind %= 5
	}
	text.WriteString(strings.Repeat(" ", int(kind%2)))
	switch kind {
	case 0:
		text.WriteString("null")
		return nil
	case 1:
		text.WriteString("true")
		return true
	case 2:
		v := g.int()
		text.WriteString(v.String())
		return v
	case 3:
		v := g.float()
		s := strconv.FormatFloat(v, 'e', -1, 64)
		text.WriteString(s)
		return v
	case 4:
		return g.jsonText(text)
	case 5, 6:
		o := ordered{}
		text.WriteByte('{')
		for i, key := range g.keys(int(g.byte() % 8)) {
			if i > 0 {
				text.WriteByte(',')
			}
			quoted, _ := json.Marshal(key)
			text.Write(quoted)
			text.WriteByte(':')
			o.keys = append(o.keys, key)
			o.values = append(o.values, g.json(text))
		}
		text.WriteByte('}')
		return o
	default:
		var list []any
		text.WriteByte('[')
		for i := range g.byte() % 8 {
			if i > 0 {
				text.WriteByte(',')
			}
			list = append(list, g.json(text))
		}
		text.WriteByte(']')
		return list
	}
}

func (g *generator) jsonText(text *strings.Builder) string {
	s := g.text()
	if g.byte()%2 == 0 {
		quoted, _ := json.Marshal(s)
		text.Write(quoted)
		return s
	}
	text.WriteByte('"')
	for _, r := range s {
		if r >= 0x10000 {
			text.WriteRune(r)
		} else {
			fmt.Fprintf(text, `\u%04x`, r)
		}
	}
	text.WriteByte('"')
	return s
}

// FuzzEncode: whatever is written is read back, by code that shares
// nothing with the writer.
func FuzzEncode(f *testing.F) {
	r := startReader(f)
	f.Add([]byte{})
	for i := range byte(64) {
		seed := make([]byte, 400)
		for k := range seed {
			seed[k] = byte(k*k)*7 + i*31 ^ byte(k)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			t.Skip("large inputs are no better than small ones")
		}
		g := generator{data: data}
		value, want := g.value()
		out, err := Encode(map[string]any{"x": value}, 64, anyName)
		if err != nil {
			t.Fatalf("a value of the listed kinds is refused: %v", err)
		}
		if got := r.read(t, out); got != canonical(map[string]any{"x": want}) {
			t.Errorf("read %s\nwant %s", got, canonical(map[string]any{"x": want}))
		}
	})
}

// FuzzRawJSON: no text makes the encoder panic, and what it takes is JSON.
func FuzzRawJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null]}`, `[{"a":1},{"a":2}]`, `"\ud800"`, `1e400`, `{"a":1,"a":2}`, `[[[[`, "\"\xff\"", `-0`, `01`, `[1,]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := Encode(map[string]any{"x": sandbox.RawJSON(text)}, 64, anyName)
		if err != nil {
			if e, ok := err.(*sandbox.ArgumentError); !ok || !strings.HasPrefix(e.Path, "/x") {
				t.Errorf("the error is %#v", err)
			}
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) {
			t.Errorf("%q is taken for JSON", text)
		}
	})
}
