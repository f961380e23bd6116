package rewrite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// meteredModule has one function for each shape that metering must get right.
var meteredModule = asmModule{
	types: []string{"i32 -> i32", "i32 i32 -> i32 i32", "-> i32", "i32 -> i32"},
	imports: []asmImport{
		{"env", "odd", "func 0"},
	},
	memory: "1 4",
	table:  "4",
	exports: []string{
		"sum func 1", "fib func 2", "even func 3", "params func 5", "table func 6", "host func 9", "memory memory 0",
		"down func 10", "four func 11",
	},
	elements: []asmElement{{offset: 1, funcs: []int{7, 8}}},
	data:     []asmData{{0, "first"}, {3, "second"}},
	custom:   "producers",
	funcs: []asmFunc{
		// 1: 1+2+…+n with a loop.
		{typ: 0, locals: "i32", code: `block void loop void local.get 0 i32.eqz br_if 1
			local.get 0 local.get 1 i32.add local.set 1 local.get 0 i32.const 1 i32.sub local.set 0 br 0 end end local.get 1`},
		// 2: Fibonacci by recursion.
		{typ: 0, code: `local.get 0 i32.const 2 i32.lt_u if i32 local.get 0 else
			local.get 0 i32.const 1 i32.sub call 2 local.get 0 i32.const 2 i32.sub call 2 i32.add end`},
		// 3, 4: even and odd by mutual recursion.
		{typ: 0, code: `local.get 0 i32.eqz if i32 i32.const 1 else local.get 0 i32.const 1 i32.sub call 4 end`},
		{typ: 0, code: `local.get 0 i32.eqz if i32 i32.const 0 else local.get 0 i32.const 1 i32.sub call 3 end`},
		// 5: a loop with two parameters and two results.
		{typ: 0, code: `local.get 0 i32.const 0 loop 1
			local.get 0 i32.add local.set 0 i32.const 1 i32.sub local.get 0 local.set 0
			local.get 0 local.get 0 i32.const 100 i32.lt_u br_if 0 end i32.add`},
		// 6: recursion through the table.
		{typ: 0, code: `local.get 0 local.get 0 i32.const 3 i32.rem_u call_indirect 3 0`},
		{typ: 0, code: `local.get 0 i32.const 2 i32.lt_u if i32 i32.const 7 else local.get 0 i32.const 1 i32.sub i32.const 2 call_indirect 0 0 end`},
		{typ: 3, code: `local.get 0 i32.const 2 i32.lt_u if i32 i32.const 9 else local.get 0 i32.const 1 i32.sub i32.const 1 call_indirect 3 0 end`},
		// 9: an import, and no loop.
		{typ: 0, code: `local.get 0 call 0`},
		// 10: a tail call of itself.
		{typ: 0, code: `local.get 0 i32.eqz if i32 i32.const 11 else local.get 0 i32.const 1 i32.sub return_call 10 end`},
		// 11: calls itself in four places, which is more than are metered one by one.
		{typ: 0, code: `local.get 0 i32.eqz if i32 i32.const 1 else local.get 0 i32.const 1 i32.sub local.set 0
			local.get 0 call 11 local.get 0 call 11 i32.add local.get 0 call 11 i32.add local.get 0 call 11 i32.add end`},
	},
}

func TestMeter(t *testing.T) {
	tests := []struct {
		export string
		arg    uint64
		want   uint64
		trap   bool
		// fuel is what the call uses; -1: not pinned.
		fuel int64
	}{
		{export: "sum", arg: 0, want: 0, fuel: 1},
		{export: "sum", arg: 10, want: 55, fuel: 11},
		{export: "sum", arg: 1000, want: 500500, fuel: 1001},
		{export: "fib", arg: 10, want: 55, fuel: 176},
		{export: "even", arg: 10, want: 1, fuel: 5},
		{export: "even", arg: 11, want: 0, fuel: 6},
		{export: "params", arg: 9, want: 0xffff_ffff & (9 + 0xffff_ffff*2), fuel: -1},
		{export: "table", arg: 10, want: 9, fuel: -1},
		{export: "table", arg: 11, want: 9, fuel: -1},
		{export: "table", arg: 12, trap: true, fuel: -1},
		{export: "host", arg: 20, want: 41, fuel: 0},
		{export: "down", arg: 5000, want: 11, fuel: 5000},
		{export: "four", arg: 3, want: 64, fuel: 85},
	}
	binary := meteredModule.assemble(t)
	plain, err := start(t, binary, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, interval := range []int64{1, 3, 1 << 40} {
		in, _ := startRewritten(t, binary, Options{Meter: true}, interval)
		for _, test := range tests {
			before, refuels := in.fuel(), in.refuels
			got, err := in.call(t, test.export, test.arg)
			used := before + int64(in.refuels-refuels)*interval - in.fuel()
			if (err != nil) != test.trap {
				t.Errorf("interval %d: %s(%d): error %v, want trap: %v", interval, test.export, test.arg, err, test.trap)
				continue
			}
			want, _ := plain.call(t, test.export, test.arg)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("interval %d: %s(%d) differs from the original (-want +got):\n%s", interval, test.export, test.arg, diff)
			}
			if !test.trap && test.export != "params" && got[0] != test.want {
				t.Errorf("interval %d: %s(%d) = %d, want %d", interval, test.export, test.arg, got[0], test.want)
			}
			if test.fuel >= 0 && used != test.fuel {
				t.Errorf("interval %d: %s(%d) used %d units, want %d", interval, test.export, test.arg, used, test.fuel)
			}
			if in.fuel() < 0 {
				t.Errorf("interval %d: %s(%d) left %d units without calling refuel", interval, test.export, test.arg, in.fuel())
			}
		}
	}
}

func TestRefuelWithoutFuelGoesOn(t *testing.T) {
	// A host that adds nothing is called each time, and never stops the code.
	in, _ := startRewritten(t, meteredModule.assemble(t), Options{Meter: true}, 0)
	got, err := in.call(t, "sum", 10)
	if err != nil || got[0] != 55 {
		t.Fatalf("sum(10) = %v, %v; want 55", got, err)
	}
	if in.refuels != 11 {
		t.Errorf("refuel was called %d times, want 11", in.refuels)
	}
}

func TestModuleFields(t *testing.T) {
	binary := meteredModule.assemble(t)
	in, m := startRewritten(t, binary, Options{Meter: true}, 1)
	want := []Segment{{0, []byte("first")}, {3, []byte("second")}}
	if diff := cmp.Diff(want, m.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if m.MinPages != 1 || m.MaxPages != 4 {
		t.Errorf("pages %d to %d, want 1 to 4", m.MinPages, m.MaxPages)
	}
	if b, _ := in.module.Memory().Read(0, 9); string(b) != "firsecond" {
		t.Errorf("memory starts with %q", b)
	}
	wantStats := Stats{Functions: 11, LoopsMetered: 2, FunctionsMetered: 1, CallsMetered: 6, SegmentsDropped: 2, BytesDropped: 11}
	if diff := cmp.Diff(wantStats, m.Stats); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}
