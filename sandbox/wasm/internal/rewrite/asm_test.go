package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// asmModule describes a module; assemble turns it into a binary. Types are
// written "i32 i64 -> f32"; code is flat WebAssembly text without names:
// "local.get 0 i32.const 1 i32.add end".
type asmModule struct {
	types    []string
	imports  []asmImport
	funcs    []asmFunc
	table    string   // "min" or "min max"; one table of funcref
	memory   string   // "min" or "min max"
	globals  []string // "i32 mut i32.const 5"
	exports  []string // "name func 0"
	elements []asmElement
	data     []asmData
	// raw sections, by id, are put in as they are, in place of what the
	// fields above give.
	raw map[byte][]byte
	// names adds a custom section.
	custom string
}

type asmImport struct{ module, name, desc string } // desc: "func TYPE", "global i32", …

type asmFunc struct {
	typ    int
	locals string // "i32 i64"
	code   string // without the last end
}

type asmElement struct {
	offset int
	funcs  []int // -1 is null
}

type asmData struct {
	offset int
	bytes  string
}

func (m asmModule) assemble(t testing.TB) []byte {
	t.Helper()
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items int, content []byte) {
		if raw, ok := m.raw[id]; ok {
			out = appendSection(out, id, raw)
			return
		}
		if items > 0 {
			out = appendSection(out, id, append(appendU32(nil, uint32(items)), content...))
		}
	}
	var b []byte
	for _, typ := range m.types {
		params, results, ok := strings.Cut(typ, "->")
		if !ok {
			t.Fatalf("type %q has no arrow", typ)
		}
		b = append(b, 0x60)
		b = appendName(b, asmTypes(t, params))
		b = appendName(b, asmTypes(t, results))
	}
	section(sectionType, len(m.types), b)
	b = nil
	for _, imp := range m.imports {
		b = appendName(b, imp.module)
		b = appendName(b, imp.name)
		f := strings.Fields(imp.desc)
		switch f[0] {
		case "func":
			b = append(b, externFunc)
			b = appendU32(b, asmU32(t, f[1]))
		case "table":
			b = append(b, externTable, byte(FuncRef), 0)
			b = appendU32(b, asmU32(t, f[1]))
		case "memory":
			b = append(b, externMemory, 0)
			b = appendU32(b, asmU32(t, f[1]))
		case "global":
			b = append(b, externGlobal, asmTypes(t, f[1])[0], boolByte(len(f) > 2))
		default:
			t.Fatalf("import of %q", imp.desc)
		}
	}
	section(sectionImport, len(m.imports), b)
	b = nil
	for _, f := range m.funcs {
		b = appendU32(b, uint32(f.typ))
	}
	section(sectionFunction, len(m.funcs), b)
	if m.table != "" {
		section(sectionTable, 1, append([]byte{byte(FuncRef)}, asmLimits(t, m.table)...))
	} else {
		section(sectionTable, 0, nil)
	}
	if m.memory != "" {
		section(sectionMemory, 1, asmLimits(t, m.memory))
	} else {
		section(sectionMemory, 0, nil)
	}
	b = nil
	for _, g := range m.globals {
		f := strings.Fields(g)
		b = append(b, asmTypes(t, f[0])[0], boolByte(f[1] == "mut"))
		b = append(b, asmCode(t, strings.Join(f[2:], " "))...)
		b = append(b, byte(opEnd))
	}
	section(sectionGlobal, len(m.globals), b)
	b = nil
	for _, e := range m.exports {
		f := strings.Fields(e)
		kinds := map[string]byte{"func": externFunc, "table": externTable, "memory": externMemory, "global": externGlobal}
		kind, ok := kinds[f[1]]
		if !ok {
			t.Fatalf("export %q", e)
		}
		b = append(appendName(b, f[0]), kind)
		b = appendU32(b, asmU32(t, f[2]))
	}
	section(sectionExport, len(m.exports), b)
	section(sectionStart, 0, nil)
	b = nil
	for _, e := range m.elements {
		expr := false
		for _, f := range e.funcs {
			expr = expr || f < 0
		}
		b = appendU32(b, map[bool]uint32{false: 0, true: 4}[expr])
		b = append(b, byte(opI32Const))
		b = appendSigned(b, int64(e.offset))
		b = append(b, byte(opEnd))
		b = appendU32(b, uint32(len(e.funcs)))
		for _, f := range e.funcs {
			switch {
			case !expr:
				b = appendU32(b, uint32(f))
			case f < 0:
				b = append(b, byte(opRefNull), byte(FuncRef), byte(opEnd))
			default:
				b = append(appendU32(append(b, byte(opRefFunc)), uint32(f)), byte(opEnd))
			}
		}
	}
	section(sectionElement, len(m.elements), b)
	if raw, ok := m.raw[sectionDataCount]; ok {
		out = appendSection(out, sectionDataCount, raw)
	}
	b = nil
	for _, f := range m.funcs {
		var locals []byte
		types := asmTypes(t, f.locals)
		locals = appendU32(locals, uint32(len(types)))
		for _, typ := range []byte(types) {
			locals = append(locals, 1, typ)
		}
		locals = append(locals, asmCode(t, f.code)...)
		locals = append(locals, byte(opEnd))
		b = appendU32(b, uint32(len(locals)))
		b = append(b, locals...)
	}
	section(sectionCode, len(m.funcs), b)
	b = nil
	for _, d := range m.data {
		b = append(b, 0, byte(opI32Const))
		b = appendSigned(b, int64(d.offset))
		b = append(b, byte(opEnd))
		b = appendName(b, d.bytes)
	}
	section(sectionData, len(m.data), b)
	if m.custom != "" {
		out = appendSection(out, sectionCustom, append(appendName(nil, m.custom), "anything"...))
	}
	return out
}

func asmLimits(t testing.TB, s string) []byte {
	f := strings.Fields(s)
	if len(f) == 1 {
		return appendU32([]byte{0}, asmU32(t, f[0]))
	}
	return appendU32(appendU32([]byte{1}, asmU32(t, f[0])), asmU32(t, f[1]))
}

func asmU32(t testing.TB, s string) uint32 {
	t.Helper()
	v, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		t.Fatalf("assemble: %v", err)
	}
	return uint32(v)
}

func asmTypes(t testing.TB, s string) string {
	t.Helper()
	var b []byte
	for f := range strings.FieldsSeq(s) {
		typ, ok := asmTypeNames[f]
		if !ok {
			t.Fatalf("assemble: type %q", f)
		}
		b = append(b, byte(typ))
	}
	return string(b)
}

var asmTypeNames = map[string]ValueType{
	"i32": I32, "i64": I64, "f32": F32, "f64": F64, "v128": V128, "funcref": FuncRef, "externref": ExternRef,
}

// asmCode assembles instructions. A number in brackets is a raw byte: "[0xfe]".
func asmCode(t testing.TB, code string) []byte {
	t.Helper()
	var b []byte
	words := strings.Fields(code)
	next := func() string {
		if len(words) == 0 {
			t.Fatalf("assemble: code ends early: %s", code)
		}
		w := words[0]
		words = words[1:]
		return w
	}
	for len(words) > 0 {
		w := next()
		if strings.HasPrefix(w, "[") {
			v, err := strconv.ParseUint(strings.Trim(w, "[]"), 0, 8)
			if err != nil {
				t.Fatalf("assemble: %v", err)
			}
			b = append(b, byte(v))
			continue
		}
		op, ok := asmOpcodes[w]
		if !ok {
			t.Fatalf("assemble: unknown instruction %q in %s", w, code)
		}
		if op > 0xff {
			b = appendU32(append(b, byte(op>>8)), uint32(op&0xff))
		} else {
			b = append(b, byte(op))
		}
		imm := plainImmediates[op&0xff]
		switch op >> 8 {
		case 0xfc:
			imm = miscImmediates[op&0xff]
		case 0xfd:
			imm = vectorImmediates[op&0xff]
		}
		switch imm {
		case immNone:
		case immIndex:
			b = appendU32(b, asmU32(t, next()))
		case immTwoIndexes:
			b = appendU32(b, asmU32(t, next()))
			b = appendU32(b, asmU32(t, next()))
		case immBlockType:
			// "void", a value type, or a type index.
			switch w := next(); {
			case w == "void":
				b = append(b, 0x40)
			case asmTypeNames[w] != 0:
				b = append(b, byte(asmTypeNames[w]))
			default:
				b = appendSigned(b, int64(asmU32(t, w)))
			}
		case immBrTable: // "br_table N l0 … default"
			n := asmU32(t, next())
			b = appendU32(b, n)
			for range n + 1 {
				b = appendU32(b, asmU32(t, next()))
			}
		case immMemArg: // "i32.load OFFSET"
			b = append(b, 0)
			b = appendU32(b, asmU32(t, next()))
		case immI32, immI64:
			v, err := strconv.ParseInt(next(), 0, 64)
			if err != nil {
				t.Fatalf("assemble: %v", err)
			}
			b = appendSigned(b, v)
		case immF32:
			v, err := strconv.ParseFloat(next(), 32)
			if err != nil {
				t.Fatalf("assemble: %v", err)
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case immF64:
			v, err := strconv.ParseFloat(next(), 64)
			if err != nil {
				t.Fatalf("assemble: %v", err)
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case immMemory:
			b = append(b, 0)
		case immMemories:
			b = append(b, 0, 0)
		case immRefType:
			b = append(b, byte(asmTypeNames[next()]))
		default:
			t.Fatalf("assemble: immediates of %q", w)
		}
	}
	return b
}

// asmOpcodes names the instructions that tests use.
var asmOpcodes = func() map[string]opcode {
	m := map[string]opcode{
		"unreachable": 0x00, "nop": 0x01, "block": opBlock, "loop": opLoop, "if": opIf, "else": opElse, "end": opEnd,
		"br": opBr, "br_if": opBrIf, "br_table": opBrTable, "return": opReturn, "call": opCall,
		"call_indirect": opCallIndirect, "return_call": opReturnCall, "return_call_indirect": opReturnCallIndirect,
		"drop": opDrop, "select": 0x1b, "local.get": opLocalGet, "local.set": opLocalSet, "local.tee": opLocalTee,
		"global.get": opGlobalGet, "global.set": opGlobalSet, "table.get": 0x25, "table.set": opTableSet,
		"memory.size": 0x3f, "memory.grow": 0x40, "i32.const": opI32Const, "i64.const": opI64Const,
		"f32.const": opF32Const, "f64.const": opF64Const, "ref.null": opRefNull, "ref.is_null": 0xd1, "ref.func": opRefFunc,
		"memory.init": opMemoryInit, "data.drop": opDataDrop, "memory.copy": opMemoryCopy, "memory.fill": opMemoryFill,
		"table.init": opTableInit, "elem.drop": opElemDrop, "table.copy": opTableCopy, "table.grow": opTableGrow,
		"table.size": 0xfc10, "table.fill": opTableFill,
		"i32.wrap_i64": 0xa7, "i64.extend_i32_s": 0xac, "i64.extend_i32_u": opI64ExtendI32U,
		"f64.convert_i32_s": 0xb7, "i64.reinterpret_f64": 0xbd, "i32.reinterpret_f32": 0xbc,
		"i32.extend8_s": 0xc0, "i32.trunc_sat_f64_s": 0xfc02,
	}
	list := func(from opcode, names string) {
		for i, n := range strings.Fields(names) {
			m[n] = from + opcode(i)
		}
	}
	list(0x28, `i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u
		i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u
		i32.store i64.store f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32`)
	list(0x45, `i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u
		i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u`)
	list(0x67, `i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u
		i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr
		i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u
		i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr`)
	list(0x99, `f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max`)
	list(0x92, `f32.add f32.sub f32.mul f32.div`)
	m["f32.eq"], m["f64.eq"] = 0x5b, 0x61
	return m
}()

func TestAssembler(t *testing.T) {
	got := fmt.Sprintf("%x", asmCode(t, "block void local.get 0 br_if 0 i32.const -1 drop i64.load 300 memory.copy end"))
	if want := "0240" + "2000" + "0d00" + "417f" + "1a" + "2900ac02" + "fc0a0000" + "0b"; got != want {
		t.Errorf("assembled %s, want %s", got, want)
	}
}
