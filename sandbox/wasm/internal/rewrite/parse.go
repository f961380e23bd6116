package rewrite

import "math"

const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

const (
	externFunc = iota
	externTable
	externMemory
	externGlobal
)

const (
	pageSize = 1 << 16
	maxPages = 1 << 16
)

// parsed is a module as far as the rewriter must know it. Slices alias the
// module's bytes.
type parsed struct {
	wasm []byte

	types []funcType

	// imports is the content of the import section behind its count.
	imports       []byte
	importCount   int
	importedFuncs []uint32 // type index of each
	importGlobals []globalType
	funcs         []uint32 // type index of each function with a body
	tables        []table
	hasMemory     bool
	memory        []byte // limits, as they stand
	minPages      uint32
	maxPages      uint32
	globals       []global
	exports       []export
	elements      []element
	bodies        []body
	data          []Segment
}

type globalType struct {
	typ     ValueType
	mutable bool
}

type global struct {
	globalType
	init constant
	at   int
}

// constant is a constant expression of one instruction.
type constant struct {
	op   opcode
	bits uint64 // of i32, i64, f32, f64; an index for global.get and ref.func
	raw  []byte // the whole expression with its end
	at   int
}

type table struct {
	raw []byte // element type and limits
	typ ValueType
	min uint32
}

type export struct {
	name  string
	kind  byte
	index uint32
}

type element struct {
	declarative bool
	table       uint32
	offset      uint32
	typ         ValueType
	// funcs are function indexes, nullFunc for ref.null.
	funcs []uint32
}

const nullFunc = ^uint32(0)

type body struct {
	locals     []byte // the declarations with their count
	localCount uint32 // without parameters
	// start and end of the instructions in the module.
	start, end int
}

func (p *parsed) funcCount() int { return len(p.importedFuncs) + len(p.funcs) }

// funcTypeIndex is the type index of function f, which must exist.
func (p *parsed) funcTypeIndex(f uint32) uint32 {
	if n := uint32(len(p.importedFuncs)); f < n {
		return p.importedFuncs[f]
	} else {
		return p.funcs[f-n]
	}
}

func parse(wasm []byte) (*parsed, error) {
	if int64(len(wasm)) > math.MaxInt32 {
		return nil, &Error{Reason: "module is larger than 2 GiB"}
	}
	r := &reader{buf: wasm, end: len(wasm)}
	p := &parsed{wasm: wasm}
	if magic := r.bytes(4); r.err == nil && string(magic) != "\x00asm" {
		r.failAt(0, "not a WebAssembly binary")
	}
	if version := r.le32(); r.err == nil && version != 1 {
		r.failAt(4, "version %d of the binary format, want 1", version)
	}
	last := -1
	for r.err == nil && r.pos < len(wasm) {
		at := r.pos
		id := r.byte()
		size := r.count("bytes of a section")
		s := &reader{buf: wasm, pos: r.pos, end: r.pos + size}
		r.bytes(size)
		if r.err != nil {
			break
		}
		if id != sectionCustom {
			if order := sectionOrder(id); order <= last {
				r.failAt(at, "section %d is out of order or repeated", id)
				break
			} else {
				last = order
			}
		}
		p.section(s, id, at)
		if s.err == nil && s.pos != s.end {
			s.failAt(s.pos, "%d bytes too many in section %d", s.left(), id)
		}
		r.err = s.err
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

// sectionOrder gives the place of a section in a module; the data count stands
// between elements and code.
func sectionOrder(id byte) int {
	if id == sectionDataCount {
		return 2*sectionElement + 1
	}
	return 2 * int(id)
}

func (p *parsed) section(r *reader, id byte, at int) {
	switch id {
	case sectionCustom:
		r.name()
		r.pos = r.end
	case sectionType:
		p.typeSection(r)
	case sectionImport:
		p.importSection(r)
	case sectionFunction:
		n := r.count("functions")
		p.funcs = make([]uint32, n)
		for i := range p.funcs {
			p.funcs[i] = p.typeIndex(r)
		}
	case sectionTable:
		p.tableSection(r)
	case sectionMemory:
		p.memorySection(r)
	case sectionGlobal:
		p.globalSection(r)
	case sectionExport:
		p.exportSection(r)
	case sectionStart:
		r.failAt(at, "start function: guests are reactors and have none")
	case sectionElement:
		p.elementSection(r)
	case sectionDataCount:
		r.u32()
	case sectionCode:
		p.codeSection(r)
	case sectionData:
		p.dataSection(r)
	default:
		r.failAt(at, "unknown or refused section %d", id)
	}
}

func (p *parsed) typeIndex(r *reader) uint32 {
	at := r.pos
	i := r.u32()
	if r.err == nil && i >= uint32(len(p.types)) {
		r.failAt(at, "type index %d, the module has %d types", i, len(p.types))
	}
	return i
}

func (p *parsed) funcIndex(r *reader) uint32 {
	at := r.pos
	i := r.u32()
	if r.err == nil && i >= uint32(p.funcCount()) {
		r.failAt(at, "function index %d, the module has %d functions", i, p.funcCount())
	}
	return i
}

func (p *parsed) typeSection(r *reader) {
	n := r.count("types")
	p.types = make([]funcType, 0, n)
	seen := make(map[string]uint32, n)
	for range n {
		start := r.pos
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.failAt(start, "type form %#x, only functions are accepted", form)
		}
		t := funcType{params: valueTypes(r), results: valueTypes(r)}
		if r.err != nil {
			return
		}
		key := string(appendU32(nil, uint32(len(t.params)))) + string(t.params) + string(t.results)
		i, ok := seen[key]
		if !ok {
			i = uint32(len(p.types))
			seen[key] = i
		}
		t.same = i
		p.types = append(p.types, t)
	}
}

func valueTypes(r *reader) []byte {
	n := r.count("value types")
	at := r.pos
	b := r.bytes(n)
	for i := range b {
		checkValueType(r, at+i, b[i])
	}
	return b
}

func (p *parsed) importSection(r *reader) {
	p.importCount = r.count("imports")
	start := r.pos
	for range p.importCount {
		at := r.pos
		module, name := r.name(), r.name()
		if module == refuelModule && name == refuelName {
			r.failAt(at, "imports %s.%s, which is the engine's own", module, name)
		}
		kindAt := r.pos
		switch kind := r.byte(); kind {
		case externFunc:
			p.importedFuncs = append(p.importedFuncs, p.typeIndex(r))
		case externTable:
			r.failAt(kindAt, "imported table")
		case externMemory:
			r.failAt(kindAt, "imported memory")
		case externGlobal:
			g := globalTypeOf(r)
			if g.mutable {
				r.failAt(kindAt, "imported mutable global")
			}
			p.importGlobals = append(p.importGlobals, g)
		default:
			r.failAt(kindAt, "unknown or refused kind of import %d", kind)
		}
		if r.err != nil {
			return
		}
	}
	p.imports = r.buf[start:r.pos]
}

func globalTypeOf(r *reader) globalType {
	at := r.pos
	g := globalType{typ: checkValueType(r, at, r.byte())}
	at = r.pos
	switch m := r.byte(); m {
	case 0:
	case 1:
		g.mutable = true
	default:
		r.failAt(at, "mutability %d of a global", m)
	}
	return g
}

// limits reads the size limits of a table or memory; has says whether a
// maximum is given.
func limits(r *reader) (least, most uint32, has bool) {
	at := r.pos
	switch flags := r.byte(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		least, most = r.u32(), r.u32()
		if r.err == nil && most < least {
			r.failAt(at, "maximum %d is below minimum %d", most, least)
		}
		return least, most, true
	default:
		r.failAt(at, "limits flags %#x: shared and 64-bit ones are refused", flags)
		return 0, 0, false
	}
}

func (p *parsed) tableSection(r *reader) {
	n := r.count("tables")
	for range n {
		start := r.pos
		t := table{typ: ValueType(r.byte())}
		if r.err == nil && t.typ != FuncRef && t.typ != ExternRef {
			r.failAt(start, "unknown table type %#x", byte(t.typ))
		}
		t.min, _, _ = limits(r)
		if r.err != nil {
			return
		}
		t.raw = r.buf[start:r.pos]
		p.tables = append(p.tables, t)
	}
}

func (p *parsed) memorySection(r *reader) {
	at := r.pos
	switch n := r.count("memories"); n {
	case 0:
	case 1:
		start := r.pos
		least, most, has := limits(r)
		if !has {
			most = maxPages
		}
		if r.err == nil && (least > maxPages || most > maxPages) {
			r.failAt(start, "memory of more than %d pages", maxPages)
		}
		p.hasMemory, p.minPages, p.maxPages = true, least, most
		p.memory = r.buf[start:r.pos]
	default:
		r.failAt(at, "%d memories, only one is accepted", n)
	}
}

func (p *parsed) globalSection(r *reader) {
	n := r.count("globals")
	p.globals = make([]global, 0, n)
	for range n {
		at := r.pos
		g := global{globalType: globalTypeOf(r), at: at}
		g.init = p.constant(r)
		if r.err != nil {
			return
		}
		p.globals = append(p.globals, g)
	}
}

// constant reads a constant expression of exactly one instruction.
func (p *parsed) constant(r *reader) constant {
	start := r.pos
	in := decodeInstr(r)
	c := constant{op: in.op, bits: uint64(in.a), at: start}
	if r.err != nil {
		return c
	}
	imm := &reader{buf: r.buf, pos: start + 1, end: r.pos}
	switch in.op {
	case opI32Const, opF32Const, opGlobalGet, opRefNull, opV128Const:
	case opI64Const:
		c.bits = uint64(imm.signed(64))
	case opF64Const:
		c.bits = imm.le64()
	case opRefFunc:
		// Functions are declared before globals and elements, so the count is
		// known.
		p.funcIndex(imm)
		if imm.err != nil {
			r.failAt(start, "%s", imm.err.Reason)
		}
	default:
		r.failAt(start, "expression is not constant")
	}
	at := r.pos
	if end := r.byte(); r.err == nil && opcode(end) != opEnd {
		r.failAt(at, "constant expression of more than one instruction")
	}
	c.raw = r.buf[start:r.pos]
	return c
}

func (p *parsed) exportSection(r *reader) {
	n := r.count("exports")
	p.exports = make([]export, 0, n)
	names := make(map[string]bool, n)
	for range n {
		at := r.pos
		e := export{name: r.name(), kind: r.byte()}
		indexAt := r.pos
		e.index = r.u32()
		if r.err != nil {
			return
		}
		var have int
		switch e.kind {
		case externFunc:
			have = p.funcCount()
		case externTable:
			have = len(p.tables)
		case externMemory:
			if p.hasMemory {
				have = 1
			}
		case externGlobal:
			have = len(p.importGlobals) + len(p.globals)
		default:
			r.failAt(at, "unknown or refused kind of export %d", e.kind)
			return
		}
		if uint64(e.index) >= uint64(have) {
			r.failAt(indexAt, "export of index %d, the module has %d of that kind", e.index, have)
			return
		}
		if e.name == FuelGlobal {
			r.failAt(at, "exports %s, which is the engine's own", FuelGlobal)
			return
		}
		if names[e.name] {
			r.failAt(at, "two exports of one name")
			return
		}
		names[e.name] = true
		p.exports = append(p.exports, e)
	}
}

func (p *parsed) codeSection(r *reader) {
	at := r.pos
	n := r.count("function bodies")
	if r.err == nil && n != len(p.funcs) {
		r.failAt(at, "%d function bodies for %d functions", n, len(p.funcs))
		return
	}
	p.bodies = make([]body, 0, n)
	for range n {
		size := r.count("bytes of a function body")
		b := &reader{buf: r.buf, pos: r.pos, end: r.pos + size}
		start := r.pos
		r.bytes(size)
		groups := b.count("groups of locals")
		var locals uint64
		for range groups {
			locals += uint64(b.u32())
			checkValueType(b, b.pos, b.byte())
		}
		if b.err == nil && locals > maxLocals {
			b.failAt(start, "%d locals in one function", locals)
		}
		if r.err == nil && b.err != nil {
			r.err = b.err
		}
		if r.err != nil {
			return
		}
		p.bodies = append(p.bodies, body{
			locals: r.buf[start:b.pos], localCount: uint32(locals), start: b.pos, end: b.end,
		})
	}
}

// maxLocals is what other engines allow too.
const maxLocals = 50_000

func (p *parsed) dataSection(r *reader) {
	n := r.count("data segments")
	p.data = make([]Segment, 0, n)
	for range n {
		at := r.pos
		if flags := r.u32(); r.err == nil && flags != 0 {
			if flags == 2 {
				r.u32()
			}
			r.failAt(at, "data segment that is passive or names a memory")
		}
		offset := p.constant(r)
		if r.err == nil && offset.op != opI32Const {
			r.failAt(offset.at, "data segment whose offset is not an i32.const")
		}
		size := r.count("bytes of a data segment")
		content := r.bytes(size)
		if r.err != nil {
			return
		}
		if offset.bits+uint64(size) > uint64(p.minPages)*pageSize || !p.hasMemory {
			r.failAt(at, "data segment at %#x with %d bytes is outside the initial memory", offset.bits, size)
			return
		}
		p.data = append(p.data, Segment{Offset: uint32(offset.bits), Bytes: content})
	}
}

// check refuses what no single section shows.
func (p *parsed) check() error {
	if len(p.bodies) != len(p.funcs) {
		return &Error{Offset: len(p.wasm), Reason: "functions without a code section"}
	}
	return nil
}
