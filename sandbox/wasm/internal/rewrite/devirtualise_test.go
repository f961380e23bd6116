package rewrite

import (
	"fmt"
	"testing"
)

// tableModule has a table with a dense part, holes, far outliers, an import,
// one function twice, a segment over another, and three signatures.
func tableModule() asmModule {
	m := asmModule{
		types:   []string{"i32 -> i32", "i64 i32 -> i64", "->", "i32 i32 -> i32"},
		imports: []asmImport{{"env", "odd", "func 0"}},
		table:   "5000",
		exports: []string{"one func 1", "two func 2", "three func 3"},
		funcs: []asmFunc{
			{typ: 3, code: "local.get 0 local.get 1 call_indirect 0 0"},
			{typ: 1, code: "local.get 0 local.get 1 local.get 1 call_indirect 1 0"},
			{typ: 0, code: "local.get 0 call_indirect 2 0 i32.const 5"},
		},
	}
	element := func(offset int, funcs ...int) { m.elements = append(m.elements, asmElement{offset, funcs}) }
	add := func(typ int, code string) int {
		m.funcs = append(m.funcs, asmFunc{typ: typ, code: code})
		return len(m.funcs)
	}
	var plus []int
	for i := range 40 {
		plus = append(plus, add(0, fmt.Sprintf("local.get 0 i32.const %d i32.add", 100*i)))
	}
	mul := add(1, "local.get 0 i64.const 3 i64.mul")
	nothing := add(2, "nop")
	element(1, plus[:30]...)
	element(31, mul, -1, plus[3], 0, mul)
	element(40, nothing)
	for i := range 8 { // sparse
		element(1000+i*300, plus[30+i])
	}
	element(4999, plus[38])
	element(2, plus[39]) // over plus[1]
	return m
}

func TestDevirtualise(t *testing.T) {
	binary := tableModule().assemble(t)
	plain, err := start(t, binary, 0)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, m := startRewritten(t, binary, Options{Devirtualise: true}, 0)
	if m.Stats.TableEntries != 44 {
		t.Errorf("%d table entries became code, want 44", m.Stats.TableEntries)
	}
	p, err := parse(m.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.tables)+len(p.elements) > 0 {
		t.Errorf("%d tables and %d segments are left", len(p.tables), len(p.elements))
	}
	calls, traps := 0, 0
	for _, index := range append(span(0, 60), append(span(990, 3200), 4998, 4999, 5000, 5001, 1<<31, 1<<32-1)...) {
		for _, c := range []struct {
			export string
			args   []uint64
		}{
			{"one", []uint64{7, index}}, {"two", []uint64{1 << 40, index}}, {"three", []uint64{index}},
		} {
			want, wantErr := plain.call(t, c.export, c.args...)
			got, gotErr := rewritten.call(t, c.export, c.args...)
			if fmt.Sprint(want) != fmt.Sprint(got) || (wantErr != nil) != (gotErr != nil) {
				t.Errorf("%s%v = %v, %v; want %v, %v", c.export, c.args, got, gotErr, want, wantErr)
			}
			if gotErr == nil {
				calls++
			} else if traps++; trapText(gotErr) != "wasm error: unreachable" {
				t.Errorf("%s%v: %v", c.export, c.args, gotErr)
			}
		}
	}
	if calls != 44 || traps < 1000 {
		t.Errorf("%d calls and %d traps, want 44 and many", calls, traps)
	}
}

func span(from, to uint64) (all []uint64) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// TestTablesStay has the modules whose table somebody else may look at.
func TestTablesStay(t *testing.T) {
	tests := []struct {
		name   string
		change func(*asmModule)
	}{
		{"exported", func(m *asmModule) { m.exports = append(m.exports, "t table 0") }},
		{"its size is asked for", func(m *asmModule) { m.funcs[2].code = "table.size 0" }},
		{"it is read", func(m *asmModule) { m.funcs[2].code = "i32.const 1 table.get 0 drop i32.const 5" }},
		{"a function reference in code", func(m *asmModule) { m.funcs[2].code = "ref.func 4 drop i32.const 5" }},
		{"a function reference in a global", func(m *asmModule) { m.globals = []string{"funcref const ref.func 4"} }},
		{"a declaration", func(m *asmModule) {
			m.raw = map[byte][]byte{sectionElement: []byte("\x01\x03\x00\x01\x04")}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := tableModule()
			test.change(&m)
			_, rewritten := startRewritten(t, m.assemble(t), Options{Devirtualise: true}, 0)
			p, err := parse(rewritten.Wasm)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.tables) != 1 || len(p.elements) == 0 || rewritten.Stats.TableEntries != 0 {
				t.Errorf("%d tables, %d segments and %d entries of code, want the table to stay",
					len(p.tables), len(p.elements), rewritten.Stats.TableEntries)
			}
		})
	}
}
