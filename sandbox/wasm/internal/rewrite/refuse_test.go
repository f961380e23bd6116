package rewrite

import (
	"errors"
	"fmt"
	"testing"
)

// nop is a module that is accepted; the cases below change one thing each.
func nop() asmModule {
	return asmModule{types: []string{"->"}, funcs: []asmFunc{{code: "nop"}}, exports: []string{"run func 0"}}
}

// in gives a module whose only function has this code.
func in(code string) asmModule {
	m := nop()
	m.memory, m.table = "1", "1"
	m.types = append(m.types, "-> i32")
	m.globals = []string{"i32 const i32.const 1"}
	m.funcs[0] = asmFunc{code: code, locals: "i32"}
	return m
}

func TestRefusals(t *testing.T) {
	raw := func(id byte, content string) asmModule {
		m := nop()
		m.raw = map[byte][]byte{id: []byte(content)}
		return m
	}
	with := func(change func(*asmModule)) asmModule {
		m := in("nop")
		change(&m)
		return m
	}
	tests := []struct {
		name string
		m    asmModule
		want string
	}{
		{"start function", raw(sectionStart, "\x00"), "offset 0x1b: start function: guests are reactors and have none"},
		{"two memories", raw(sectionMemory, "\x02\x00\x01\x00\x01"), "offset 0x14: 2 memories, only one is accepted"},
		{"64-bit memory", raw(sectionMemory, "\x01\x04\x01"), "offset 0x15: limits flags 0x4: shared and 64-bit ones are refused"},
		{"shared memory", raw(sectionMemory, "\x01\x03\x01\x02"), "offset 0x15: limits flags 0x3: shared and 64-bit ones are refused"},
		{"huge memory", raw(sectionMemory, "\x01\x00\x81\x80\x04"), "offset 0x15: memory of more than 65536 pages"},
		{"limits upside down", raw(sectionMemory, "\x01\x01\x02\x01"), "offset 0x15: maximum 1 is below minimum 2"},
		{"tag section", raw(13, "\x00"), ""},
		{"passive data", raw(sectionData, "\x01\x01\x00"), "offset 0x25: data segment that is passive or names a memory"},
		{"data of memory 0 by name", raw(sectionData, "\x01\x02\x00\x41\x00\x0b\x00"), "offset 0x25: data segment that is passive or names a memory"},
		{"data at a global", with(func(m *asmModule) {
			m.raw = map[byte][]byte{sectionData: []byte("\x01\x00\x23\x00\x0b\x00")}
		}), "offset 0x3f: data segment whose offset is not an i32.const"},
		{"data at a sum", raw(sectionData, "\x01\x00\x41\x00\x41\x00\x6a\x0b\x00"), "offset 0x28: constant expression of more than one instruction"},
		{"data outside memory", with(func(m *asmModule) { m.data = []asmData{{65535, "xx"}} }), "offset 0x3e: data segment at 0xffff with 2 bytes is outside the initial memory"},
		{"data at a negative offset", with(func(m *asmModule) { m.data = []asmData{{-1, "x"}} }), "offset 0x3e: data segment at 0xffffffff with 1 bytes is outside the initial memory"},
		{"data without memory", raw(sectionData, "\x01\x00\x41\x00\x0b\x00"), "offset 0x25: data segment at 0x0 with 0 bytes is outside the initial memory"},
		{"mutable global of its own", with(func(m *asmModule) { m.globals = []string{"i32 mut i32.const 1"} }), "offset 0x24: mutable global that is not exported"},
		{"mutable reference", with(func(m *asmModule) {
			m.globals = []string{"funcref mut ref.null funcref"}
			m.exports = append(m.exports, "g global 0")
		}), "offset 0x24: mutable global of type funcref"},
		{"mutable vector", with(func(m *asmModule) {
			m.raw = map[byte][]byte{sectionGlobal: []byte("\x01\x7b\x01\xfd\x0c0123456789abcdef\x0b")}
			m.exports = append(m.exports, "g global 0")
		}), "offset 0x24: mutable global of type v128"},
		{"imported memory", with(func(m *asmModule) { m.imports = []asmImport{{"env", "m", "memory 1"}} }), "offset 0x1b: imported memory"},
		{"imported table", with(func(m *asmModule) { m.imports = []asmImport{{"env", "t", "table 1"}} }), "offset 0x1b: imported table"},
		{"imported mutable global", with(func(m *asmModule) { m.imports = []asmImport{{"env", "g", "global i32 mut"}} }), "offset 0x1b: imported mutable global"},
		{"import of refuel", with(func(m *asmModule) { m.imports = []asmImport{{"mayfly", "refuel", "func 0"}} }), "offset 0x15: imports mayfly.refuel, which is the engine's own"},
		{"export of the fuel", with(func(m *asmModule) { m.exports = append(m.exports, "mayfly_fuel global 0") }), "offset 0x32: exports mayfly_fuel, which is the engine's own"},
		{"export twice", with(func(m *asmModule) { m.exports = append(m.exports, "run memory 0") }), "offset 0x32: two exports of one name"},
		{"export of nothing", with(func(m *asmModule) { m.exports = append(m.exports, "x func 1") }), "offset 0x35: export of index 1, the module has 1 of that kind"},
		{"passive elements", raw(sectionElement, "\x01\x01\x00\x00"), "offset 0x1e: passive element segment: the table must not change"},
		{"elements at a global", with(func(m *asmModule) {
			m.raw = map[byte][]byte{sectionElement: []byte("\x01\x00\x23\x00\x0b\x00")}
		}), "offset 0x36: element segment whose offset is not an i32.const"},
		{"elements outside", with(func(m *asmModule) { m.elements = []asmElement{{1, []int{0}}} }), "offset 0x35: element segment at 1 with 1 elements is outside its table of 1"},
		{"elements of no table", raw(sectionElement, "\x01\x00\x41\x00\x0b\x00"), "offset 0x1e: element segment of table 0, the module has 0"},
		{"elements of no function", with(func(m *asmModule) { m.elements = []asmElement{{0, []int{1}}} }), "offset 0x3a: function index 1, the module has 1 functions"},

		{"memory.init", in("[0xfc] [0x08] [0x00] [0x00]"), "offset 0x39: instruction that uses passive data"},
		{"data.drop", in("data.drop 0"), "offset 0x39: instruction that uses passive data"},
		{"table.set", in("i32.const 0 ref.null funcref table.set 0"), "offset 0x3d: instruction that changes a table or its elements"},
		{"table.grow", in("ref.null funcref i32.const 1 table.grow 0 drop"), "offset 0x3d: instruction that changes a table or its elements"},
		{"table.fill", in("table.fill 0"), "offset 0x39: instruction that changes a table or its elements"},
		{"table.copy", in("table.copy 0 0"), "offset 0x39: instruction that changes a table or its elements"},
		{"table.init", in("table.init 0 0"), "offset 0x39: instruction that changes a table or its elements"},
		{"elem.drop", in("elem.drop 0"), "offset 0x39: instruction that changes a table or its elements"},
		{"atomics", in("[0xfe] [0x00] [0x02] [0x00]"), "offset 0x39: unknown or refused instruction 0xfe"},
		{"exceptions", in("[0x08] [0x00]"), "offset 0x39: unknown or refused instruction 0x8"},
		{"try_table", in("[0x1f] [0x40] [0x00]"), "offset 0x39: unknown or refused instruction 0x1f"},
		{"call_ref", in("[0x14] [0x00]"), "offset 0x39: unknown or refused instruction 0x14"},
		{"garbage collection", in("[0xfb] [0x00] [0x00]"), "offset 0x39: unknown or refused instruction 0xfb"},
		{"relaxed vectors", in("[0xfd] [0x80] [0x02]"), "offset 0x39: unknown or refused instruction 0xfd"},
		{"unused vector number", in("[0xfd] [0x9a] [0x01]"), "offset 0x39: unknown or refused instruction 0xfd9a"},
		{"another memory's load", in("i32.const 0 [0x28] [0x42] [0x00] [0x00] drop"), "offset 0x3c: alignment or memory index out of range in a memory access"},
		{"another memory's size", in("[0x3f] [0x01] drop"), "offset 0x3a: memory index is not zero"},
		{"another memory's fill", in("[0xfc] [0x0b] [0x01]"), "offset 0x3b: memory index is not zero"},
		{"unknown block type", in("[0x02] [0x41] end"), "offset 0x3a: unknown block type"},
		{"block type index", in("block 2 end"), "offset 0x39: type index 2, there are 2"},
		{"call of what metering adds", in("call 1"), "offset 0x39: function index 1, there are 1"},
		{"global of what metering adds", in("i64.const 5 global.set 1"), "offset 0x3b: global index 1, there are 1"},
		{"type of what metering adds", in("i32.const 0 call_indirect 2 0"), "offset 0x3b: type index 2, there are 2"},
		{"local of nobody", in("local.get 1 drop"), "offset 0x39: local index 1, there are 1"},
		{"reference type", in("[0xd0] [0x71] drop"), "offset 0x3a: unknown reference type 0x71"},
		{"select type", in("[0x1c] [0x01] [0x40]"), "offset 0x3c: unknown value type 0x40"},
		{"constant too long", in("[0x41] [0x80] [0x80] [0x80] [0x80] [0x08] drop"), "offset 0x3a: integer does not fit 32 bits"},
		{"index too long", in("[0x10] [0x80] [0x80] [0x80] [0x80] [0x10] drop"), "offset 0x3a: integer does not fit 32 bits"},
		{"code behind the end", in("nop end nop"), "offset 0x3b: 2 bytes behind the end of a function body"},
		{"code without an end", in("block void"), "offset 0x3c: unexpected end"},
		{"many labels", in("[0x0e] [0xff] [0xff] [0xff] [0xff] [0x0f]"), "offset 0x3a: 4294967295 labels of a br_table in 1 bytes"},

		{"type form", raw(sectionType, "\x01\x5f\x00"), "offset 0xb: type form 0x5f, only functions are accepted"},
		{"value type", raw(sectionType, "\x01\x60\x01\x40\x00"), "offset 0xd: unknown value type 0x40"},
		{"many types", raw(sectionType, "\xff\xff\xff\xff\x0f"), "offset 0xa: 4294967295 types in 0 bytes"},
		{"type index", raw(sectionFunction, "\x01\x07"), "offset 0x11: type index 7, the module has 1 types"},
		{"bytes behind a section", raw(sectionFunction, "\x01\x00\x00"), "offset 0x12: 1 bytes too many in section 3"},
		{"function without a body", raw(sectionCode, "\x00"), "offset 0x1d: 0 function bodies for 1 functions"},
		{"many locals", raw(sectionCode, "\x01\x08\x01\xff\xff\xff\xff\x0f\x7f\x0b"), "offset 0x1f: 4294967295 locals in one function"},
		{"body of four gigabytes", raw(sectionCode, "\x01\xff\xff\xff\xff\x0f\x00\x0b"), "offset 0x1e: 4294967295 bytes of a function body in 2 bytes"},
		{"mutability", raw(sectionGlobal, "\x01\x7f\x02\x41\x00\x0b"), "offset 0x16: mutability 2 of a global"},
		{"global that is computed", raw(sectionGlobal, "\x01\x7f\x00\x45\x0b"), "offset 0x17: expression is not constant"},
		{"long name", raw(sectionImport, "\x01\x7f"), "offset 0x11: 127 bytes of a name in 0 bytes"},
		{"kind of import", raw(sectionImport, "\x01\x00\x00\x04\x00"), "offset 0x13: unknown or refused kind of import 4"},
		{"kind of export", raw(sectionExport, "\x01\x00\x04\x00"), "offset 0x15: unknown or refused kind of export 4"},
		{"element flags", raw(sectionElement, "\x01\x08"), "offset 0x1e: flags 0x8 of an element segment"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			binary := test.m.assemble(t)
			if test.name == "tag section" {
				binary = appendSection(nop().assemble(t), 13, []byte{0})
				test.want = "offset 0x22: unknown or refused section 13"
			}
			for _, opt := range allOptions() {
				_, err := Rewrite(binary, opt)
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("with %+v: error %v is not an *Error", opt, err)
				}
				if want := "wasm module, " + test.want; err.Error() != want {
					t.Errorf("with %+v:\n got %s\nwant %s", opt, err, want)
				}
			}
		})
	}
}

// TestTruncated cuts a module at each byte, and TestFlipped changes each:
// whatever comes of it, the rewriter returns.
func TestTruncated(t *testing.T) {
	binary := meteredModule.assemble(t)
	for n := range binary {
		_, err := Rewrite(binary[:n], Options{Meter: true})
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%d bytes: error %v is not an *Error", n, err)
		}
		if e != nil && (e.Offset < 0 || e.Offset > n) {
			t.Errorf("%d bytes: offset %d", n, e.Offset)
		}
	}
	if _, err := Rewrite(nil, Options{}); fmt.Sprint(err) != "wasm module, offset 0x0: unexpected end: 4 bytes wanted, 0 left" {
		t.Errorf("nothing: %v", err)
	}
	if _, err := Rewrite([]byte("\x00asm\x02\x00\x00\x00"), Options{}); fmt.Sprint(err) != "wasm module, offset 0x4: version 2 of the binary format, want 1" {
		t.Errorf("version 2: %v", err)
	}
	if _, err := Rewrite([]byte("#!/bin/sh"), Options{}); fmt.Sprint(err) != "wasm module, offset 0x0: not a WebAssembly binary" {
		t.Errorf("a script: %v", err)
	}
}

func TestFlipped(t *testing.T) {
	binary := meteredModule.assemble(t)
	for i := range binary {
		for bit := range 8 {
			changed := append([]byte(nil), binary...)
			changed[i] ^= 1 << bit
			if _, err := Rewrite(changed, Options{Meter: true}); err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(binary) {
					t.Errorf("byte %d, bit %d: %#v", i, bit, err)
				}
			}
		}
	}
}

// allOptions are the option sets that every oracle runs.
func allOptions() []Options {
	return []Options{
		{}, {Meter: true}, {Branches: true}, {Bounds: true},
		{Meter: true, Bounds: true}, {Devirtualise: true}, {Meter: true, Bounds: true, Devirtualise: true},
	}
}
