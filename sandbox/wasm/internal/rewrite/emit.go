package rewrite

// emitter writes the run module.
type emitter struct {
	p   *parsed
	s   *scanned
	opt Options

	// cut says which calls are metered, flow which of them are in a loop.
	cut  *cut
	flow unmeteredFlow
	// labels are the open blocks.
	labels []label
	// bounds plans the accesses to memory; checks are the instructions of the
	// current function that a metering sequence stands in front of.
	bounds *bounds
	checks []int32
	// refuel is the function index of the added import, refill that of a helper
	// that calls it; fuel is the index of the added global, noResult the type
	// index of () → ().
	refuel, refill, fuel, noResult uint32
	// shift is how many functions are imported more than before.
	shift uint32
	// addedTypes go behind the module's own.
	addedTypes [][]byte
	helpers    []helper

	// copyHelper and fillHelper are function indexes, 0 until they are needed;
	// bulkType is their type.
	copyHelper, fillHelper, bulkType uint32

	// entries are the elements of the tables that become code, dispatchers the
	// functions made so far; both are nil if the tables stay.
	entries     map[dispatchKey][]dispatchEntry
	dispatchers map[dispatchKey]uint32

	// check is the metering sequence.
	check []byte
	stats Stats

	editedCode []byte
}

// helper is a function that the rewriter adds behind the module's own.
type helper struct {
	typ  uint32
	body []byte
}

func newEmitter(p *parsed, s *scanned, opt Options) *emitter {
	e := &emitter{p: p, s: s, opt: opt}
	if opt.Meter {
		e.prepareMeter()
	}
	if opt.Bounds {
		e.bounds = newBounds(p, opt)
	}
	if opt.Devirtualise && p.devirtualisable(s) {
		e.entries = p.tableEntries()
		e.dispatchers = make(map[dispatchKey]uint32)
		for _, list := range e.entries {
			e.stats.TableEntries += len(list)
		}
	}
	return e
}

// typeOf returns the index of a function type, adding it if it is new.
func (e *emitter) typeOf(params, results string) uint32 {
	for i := range e.p.types {
		if t := &e.p.types[i]; string(t.params) == params && string(t.results) == results {
			return uint32(i)
		}
	}
	raw := appendName([]byte{0x60}, params)
	raw = appendName(raw, results)
	for i, have := range e.addedTypes {
		if string(have) == string(raw) {
			return uint32(len(e.p.types) + i)
		}
	}
	e.addedTypes = append(e.addedTypes, raw)
	return uint32(len(e.p.types) + len(e.addedTypes) - 1)
}

// helperIndex is the function index that the next added helper will have.
func (e *emitter) helperIndex() uint32 {
	return uint32(e.p.funcCount()+len(e.helpers)) + e.shift
}

func (e *emitter) addHelper(h helper) uint32 {
	i := e.helperIndex()
	e.helpers = append(e.helpers, h)
	return i
}

// funcIndex maps a function index of the original.
func (e *emitter) funcIndex(f uint32) uint32 {
	if f < uint32(len(e.p.importedFuncs)) {
		return f
	}
	return f + e.shift
}

func (e *emitter) module() []byte {
	p := e.p
	code := e.code() // first, because it may add helpers and types
	out := make([]byte, 0, len(code)+len(code)/8+4096)
	out = append(out, "\x00asm\x01\x00\x00\x00"...)
	var b []byte
	section := func(id byte, items int, write func()) {
		if items == 0 {
			return
		}
		b = appendU32(b[:0], uint32(items))
		write()
		out = appendSection(out, id, b)
	}
	section(sectionType, len(p.types)+len(e.addedTypes), func() {
		for i := range p.types {
			b = append(b, 0x60)
			b = appendName(b, string(p.types[i].params))
			b = appendName(b, string(p.types[i].results))
		}
		for _, t := range e.addedTypes {
			b = append(b, t...)
		}
	})
	section(sectionImport, p.importCount+int(e.shift), func() {
		b = append(b, p.imports...)
		if e.opt.Meter {
			b = appendName(b, refuelModule)
			b = appendName(b, refuelName)
			b = append(b, externFunc)
			b = appendU32(b, e.noResult)
		}
	})
	section(sectionFunction, len(p.funcs)+len(e.helpers), func() {
		for _, t := range p.funcs {
			b = appendU32(b, t)
		}
		for i := range e.helpers {
			b = appendU32(b, e.helpers[i].typ)
		}
	})
	tables, elements := p.tables, p.elements
	if e.dispatchers != nil {
		tables, elements = nil, nil
	}
	section(sectionTable, len(tables), func() {
		for i := range tables {
			b = append(b, tables[i].raw...)
		}
	})
	if p.hasMemory {
		section(sectionMemory, 1, func() { b = append(b, p.memory...) })
	}
	e.globalSection(section, &b)
	e.exportSection(section, &b)
	section(sectionElement, len(elements), func() {
		for i := range elements {
			b = appendElement(b, &elements[i], e.funcIndex)
		}
	})
	if len(p.funcs)+len(e.helpers) > 0 {
		out = appendSection(out, sectionCode, code)
	}
	return out
}

func (e *emitter) globalSection(section func(byte, int, func()), b *[]byte) {
	count := len(e.p.globals)
	if e.opt.Meter {
		count++
	}
	section(sectionGlobal, count, func() {
		for i := range e.p.globals {
			g := &e.p.globals[i]
			*b = append(*b, byte(g.typ), boolByte(g.mutable))
			if g.init.op == opRefFunc {
				*b = append(*b, byte(opRefFunc))
				*b = appendU32(*b, e.funcIndex(uint32(g.init.bits)))
				*b = append(*b, byte(opEnd))
			} else {
				*b = append(*b, g.init.raw...)
			}
		}
		if e.opt.Meter {
			*b = append(*b, byte(I64), 1, byte(opI64Const), 0, byte(opEnd))
		}
	})
}

func (e *emitter) exportSection(section func(byte, int, func()), b *[]byte) {
	count := len(e.p.exports)
	if e.opt.Meter {
		count++
	}
	section(sectionExport, count, func() {
		for _, x := range e.p.exports {
			*b = appendName(*b, x.name)
			*b = append(*b, x.kind)
			if x.kind == externFunc {
				x.index = e.funcIndex(x.index)
			}
			*b = appendU32(*b, x.index)
		}
		if e.opt.Meter {
			*b = appendName(*b, FuelGlobal)
			*b = append(*b, externGlobal)
			*b = appendU32(*b, e.fuel)
		}
	})
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// code returns the content of the code section.
func (e *emitter) code() []byte {
	p := e.p
	size := 0
	for i := range p.bodies {
		size += p.bodies[i].end - p.bodies[i].start + 16
	}
	bodies := make([]byte, 0, size+size/8)
	scratch := make([]byte, 0, 1<<16)
	instrs := make([]instr, 0, e.s.instrs)
	for i := range p.bodies {
		b := &p.bodies[i]
		r := &reader{buf: p.wasm, pos: b.start, end: b.end}
		instrs = decodeExpr(r, instrs[:0])
		e.findChecks(i, instrs)
		if e.bounds != nil && e.bounds.plan(i, instrs, e.checks, e.opt.Meter && e.cut.entry[i]) {
			scratch = e.edited(scratch[:0], i, instrs)
		} else {
			scratch = e.body(append(scratch[:0], b.locals...), i, instrs, nil, nil)
		}
		bodies = appendU32(bodies, uint32(len(scratch)))
		bodies = append(bodies, scratch...)
	}
	for i := range e.helpers {
		bodies = appendU32(bodies, uint32(len(e.helpers[i].body)))
		bodies = append(bodies, e.helpers[i].body...)
	}
	count := appendU32(nil, uint32(len(p.bodies)+len(e.helpers)))
	return append(count, bodies...)
}

// onOwnCycle reports whether in, an instruction of function f, is a call that
// can lead back to f.
func (e *emitter) onOwnCycle(f int, in *instr) bool {
	var to uint32
	switch in.op {
	case opCall, opReturnCall:
		imported := uint32(len(e.p.importedFuncs))
		if in.a < imported {
			return false
		}
		to = in.a - imported
	case opCallIndirect, opReturnCallIndirect:
		to = uint32(len(e.p.bodies)) + e.p.types[in.a].same
	default:
		return false
	}
	return e.cut.component[to] == e.cut.component[f]
}

// findChecks sets e.checks to the calls of function f that are metered.
func (e *emitter) findChecks(f int, instrs []instr) {
	e.checks = e.checks[:0]
	if !e.opt.Meter || !e.cut.sites[f] {
		return
	}
	e.flow.enter()
	for i := range instrs {
		if e.flow.step(&reader{buf: e.p.wasm}, &instrs[i]) && e.onOwnCycle(f, &instrs[i]) {
			e.checks = append(e.checks, int32(i))
		}
	}
}

// edited appends function f with the edits that e.bounds has planned. The
// declarations come last, because edits need locals.
func (e *emitter) edited(out []byte, f int, instrs []instr) []byte {
	b := e.bounds
	e.editedCode = e.body(e.editedCode[:0], f, instrs, b.edits, b.refreshes)
	e.stats.Accesses += len(b.accesses)
	e.stats.AccessesRewritten += len(b.edits)
	out = b.declare(out, e.p.bodies[f].locals)
	return append(out, e.editedCode...)
}

// body appends the instructions of function f, rewritten. What stays is
// copied in runs.
func (e *emitter) body(out []byte, f int, instrs []instr, edits []edit, refreshes []refresh) []byte {
	wasm, checks := e.p.wasm, e.checks
	refreshAt := func(at int, before bool) {
		for len(refreshes) > 0 && int(refreshes[0].at) == at && refreshes[0].before == before {
			out = appendIndexed(out, opLocalGet, refreshes[0].local)
			out = appendIndexed(out, opLocalSet, refreshes[0].local)
			refreshes = refreshes[1:]
		}
	}
	if e.opt.Meter && e.cut.entry[f] {
		out = append(out, e.check...)
		e.stats.FunctionsMetered++
	}
	refreshAt(-1, false)
	if e.opt.Branches {
		e.enterLabels(f)
	}
	from := instrs[0].start
	flush := func(to uint32) {
		out = append(out, wasm[from:to]...)
		from = to
	}
	for i := range instrs {
		in := &instrs[i]
		if len(checks) > 0 && int(checks[0]) == i {
			checks = checks[1:]
			flush(in.start)
			out = append(out, e.check...)
			e.stats.CallsMetered++
			refreshAt(i, true)
		}
		if e.opt.Branches {
			if in.op == opEnd && e.labels[len(e.labels)-1].bareIf {
				// At an else the engine notes what it knows of addresses on both
				// ways; without one it forgets all it knew before the if.
				flush(in.start)
				out = append(out, byte(opElse))
			}
			e.trackLabels(in)
		}
		if len(edits) > 0 && int(edits[0].at) == i {
			flush(in.start)
			out = e.bounds.rewrite(out, in, &edits[0])
			edits = edits[1:]
			from = in.end
			continue
		}
		switch in.op {
		case opBrIf:
			if e.opt.Branches {
				if to := e.labels[len(e.labels)-1-int(in.a)]; !to.carries {
					out, from = e.branch(out, instrs, i, from, to.loop)
				}
			}
		case opLoop:
			if e.opt.Meter {
				flush(in.end)
				out = append(out, e.check...)
				e.stats.LoopsMetered++
			}
		case opMemoryCopy, opMemoryFill:
			if e.opt.Meter && replacesBulk(instrs, i) {
				flush(in.start)
				out = appendIndexed(out, opCall, e.bulkHelper(in.op))
				from = in.end
				e.stats.BulkMetered++
			}
		case opCallIndirect, opReturnCallIndirect:
			if e.dispatchers != nil {
				flush(in.start)
				op := opCall
				if in.op == opReturnCallIndirect {
					op = opReturnCall
				}
				out = appendIndexed(out, op, e.dispatcher(in.b, in.a))
				from = in.end
			}
		case opCall, opReturnCall, opRefFunc:
			if e.shift > 0 {
				flush(in.start)
				out = append(out, byte(in.op))
				out = appendU32(out, e.funcIndex(in.a))
				from = in.end
			}
		}
		if len(refreshes) > 0 && int(refreshes[0].at) == i {
			flush(in.end)
			refreshAt(i, false)
		}
	}
	flush(instrs[len(instrs)-1].end)
	return out
}
