package rewrite

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bulkPages = 40 // ten chunks

var bulkModule = asmModule{
	types:   []string{"i32 i32 i32 ->", "->"},
	memory:  "40",
	exports: []string{"copy func 0", "fill func 1", "small func 2", "memory memory 0"},
	funcs: []asmFunc{
		{typ: 0, code: `local.get 0 local.get 1 local.get 2 memory.copy`},
		{typ: 0, code: `local.get 0 local.get 1 local.get 2 memory.fill`},
		{typ: 1, code: `i32.const 8 i32.const 0 i32.const 256 memory.copy i32.const 1 i32.const 7 i32.const 100 memory.fill`},
	},
}

func TestBulk(t *testing.T) {
	const size = bulkPages * pageSize
	tests := []struct {
		name       string
		export     string
		to, from   uint32 // from is the value of a fill
		n          uint32
		trap       bool
		fuel       int64
		minRefuels int // with an interval of one chunk's fuel
	}{
		{name: "copy nothing", export: "copy", to: 1, from: 2, n: 0},
		{name: "copy a little", export: "copy", to: 1, from: 2, n: 100, fuel: 3},
		{name: "copy a chunk", export: "copy", to: 0, from: size / 2, n: bulkChunk, fuel: bulkChunk / 32, minRefuels: 0},
		{name: "copy a chunk and a byte", export: "copy", to: 5, from: size / 2, n: bulkChunk + 1, fuel: bulkChunk / 32},
		{name: "copy far", export: "copy", to: 3, from: size / 2, n: size/2 - 3, fuel: 5*bulkChunk/32 - 1, minRefuels: 4},
		{name: "copy down, overlapping by all but one", export: "copy", to: 0, from: 1, n: size - 1, fuel: size/32 - 1, minRefuels: 9},
		{name: "copy up, overlapping by all but one", export: "copy", to: 1, from: 0, n: size - 1, fuel: size/32 - 1, minRefuels: 9},
		{name: "copy up, overlapping by part of a chunk", export: "copy", to: 2*bulkChunk + 77, from: 33, n: 3 * bulkChunk, fuel: 3 * bulkChunk / 32, minRefuels: 2},
		{name: "copy down, overlapping by part of a chunk", export: "copy", to: 33, from: 2*bulkChunk + 77, n: 3 * bulkChunk, fuel: 3 * bulkChunk / 32, minRefuels: 2},
		{name: "copy onto itself", export: "copy", to: 9, from: 9, n: 2 * bulkChunk, fuel: 2 * bulkChunk / 32, minRefuels: 1},
		{name: "copy to behind the end", export: "copy", to: size - 2*bulkChunk + 1, from: 0, n: 2 * bulkChunk, trap: true},
		{name: "copy from behind the end", export: "copy", to: 0, from: size - 2*bulkChunk + 1, n: 2 * bulkChunk, trap: true},
		{name: "copy of 4 GiB", export: "copy", to: 1, from: 0, n: 1<<32 - 1, trap: true},
		{name: "copy from above 4 GiB", export: "copy", to: 0, from: 1<<32 - 1, n: 2 * bulkChunk, trap: true},
		{name: "copy nothing from behind the end", export: "copy", to: 0, from: size + 1, n: 0, trap: true},
		{name: "copy nothing from the end", export: "copy", to: 0, from: size, n: 0},
		{name: "fill nothing", export: "fill", to: 1, from: 2, n: 0},
		{name: "fill a little", export: "fill", to: 1, from: 0x102, n: 64, fuel: 2},
		{name: "fill all", export: "fill", to: 0, from: 9, n: size, fuel: size / 32, minRefuels: 9},
		{name: "fill an odd part", export: "fill", to: 12345, from: 255, n: 3*bulkChunk + 17, fuel: 3 * bulkChunk / 32, minRefuels: 2},
		{name: "fill behind the end", export: "fill", to: size - bulkChunk, from: 1, n: bulkChunk + 1, trap: true},
		{name: "fill across 4 GiB", export: "fill", to: 1<<32 - 5, from: 1, n: 2 * bulkChunk, trap: true},
		{name: "fill 4 GiB", export: "fill", to: 1, from: 1, n: 1<<32 - 1, trap: true},
		{name: "fill nothing behind the end", export: "fill", to: size + 1, from: 1, n: 0, trap: true},
		{name: "constant lengths", export: "small"},
	}
	binary := bulkModule.assemble(t)
	plain, err := start(t, binary, 0)
	if err != nil {
		t.Fatal(err)
	}
	const interval = bulkChunk / 32
	metered, m := startRewritten(t, binary, Options{Meter: true}, interval)
	if m.Stats.BulkMetered != 2 {
		t.Errorf("%d instructions became calls, want 2", m.Stats.BulkMetered)
	}
	pattern := make([]byte, size)
	for i := range pattern {
		pattern[i] = byte(i*7 + i>>8*13 + i>>16)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var args []uint64
			if test.export != "small" {
				args = []uint64{uint64(test.to), uint64(test.from), uint64(test.n)}
			}
			plain.module.Memory().Write(0, pattern)
			metered.module.Memory().Write(0, pattern)
			setFuel(metered, interval)
			metered.refuels = 0
			_, wantErr := plain.call(t, test.export, args...)
			_, gotErr := metered.call(t, test.export, args...)
			if diff := cmp.Diff(trapText(wantErr), trapText(gotErr)); diff != "" {
				t.Errorf("trap (-original +rewritten):\n%s", diff)
			}
			if (gotErr != nil) != test.trap {
				t.Errorf("error %v, want trap: %v", gotErr, test.trap)
			}
			want, _ := plain.module.Memory().Read(0, size)
			got, _ := metered.module.Memory().Read(0, size)
			if !bytes.Equal(want, got) {
				t.Error("memory differs from the original's")
			}
			if test.trap {
				return
			}
			if used := int64(metered.refuels+1)*interval - metered.fuel(); used != test.fuel {
				t.Errorf("used %d units, want %d", used, test.fuel)
			}
			if metered.refuels < test.minRefuels {
				t.Errorf("refuel was called %d times, want %d", metered.refuels, test.minRefuels)
			}
		})
	}
}
