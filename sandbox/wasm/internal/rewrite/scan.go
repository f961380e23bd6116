package rewrite

// scanned is what the first pass over all bodies finds.
type scanned struct {
	funcs []scannedFunc
	// calls holds the direct calls of all functions, as indexes among the
	// functions with a body; calls of imports are left out. sigs holds the
	// indirect calls, as canonical type indexes. The bit inLoop marks those that
	// are reached through a loop's header only: a cycle through such a call is
	// metered by the loop.
	calls, sigs []uint32
	// taken says which functions with a body can be called indirectly.
	taken []bool
	// references says that code handles references or sizes of tables.
	references bool
	// instrs is the largest number of instructions in one body.
	instrs int
}

// inLoop marks a call; see scanned. Indexes are far below it, because each
// function takes some bytes of a module of at most 2 GiB.
const inLoop = 1 << 31

// scannedFunc is one function's part of scanned: its own slices end where the
// next function's begin.
type scannedFunc struct {
	calls, sigs uint32
	loops       uint32
	bulk        bool
}

func (s *scanned) callsOf(f int) []uint32 {
	end := uint32(len(s.calls))
	if f+1 < len(s.funcs) {
		end = s.funcs[f+1].calls
	}
	return s.calls[s.funcs[f].calls:end]
}

func (s *scanned) sigsOf(f int) []uint32 {
	end := uint32(len(s.sigs))
	if f+1 < len(s.funcs) {
		end = s.funcs[f+1].sigs
	}
	return s.sigs[s.funcs[f].sigs:end]
}

// scan decodes every body, refuses what the rewriter does not accept, and
// checks every index that the rewritten module gives a new meaning: indexes
// just above the module's own would reach what the rewriter adds.
func scan(p *parsed) (*scanned, error) {
	s := &scanned{
		funcs: make([]scannedFunc, len(p.bodies)),
		calls: make([]uint32, 0, len(p.wasm)/64),
		taken: make([]bool, len(p.bodies)),
	}
	imported := uint32(len(p.importedFuncs))
	take := func(f uint32) {
		if f != nullFunc && f >= imported {
			s.taken[f-imported] = true
		}
	}
	for i := range p.elements {
		if p.elements[i].typ == FuncRef {
			for _, f := range p.elements[i].funcs {
				take(f)
			}
		}
	}
	for i := range p.globals {
		if c := &p.globals[i].init; c.op == opRefFunc {
			take(uint32(c.bits))
		}
	}
	var instrs []instr
	var flow unmeteredFlow
	for i := range p.bodies {
		f := &s.funcs[i]
		f.calls, f.sigs = uint32(len(s.calls)), uint32(len(s.sigs))
		b := &p.bodies[i]
		r := &reader{buf: p.wasm, pos: b.start, end: b.end}
		instrs = decodeExpr(r, instrs[:0])
		if r.err == nil && r.pos != r.end {
			r.failAt(r.pos, "%d bytes behind the end of a function body", r.left())
		}
		s.instrs = max(s.instrs, len(instrs))
		flow.enter()
		locals := uint64(len(p.types[p.funcs[i]].params)) + uint64(b.localCount)
		for k := range instrs {
			if r.err != nil {
				break
			}
			in := &instrs[k]
			// What was read before the error is not used either: an index in it may
			// be that of nothing.
			if p.checkInstr(r, in, locals); r.err != nil {
				break
			}
			var mark uint32
			if !flow.step(r, in) {
				mark = inLoop
			}
			switch in.op {
			case opLoop:
				f.loops++
			case opCall, opReturnCall:
				if in.a >= imported {
					s.calls = append(s.calls, in.a-imported|mark)
				}
			case opCallIndirect, opReturnCallIndirect:
				if in.a < uint32(len(p.types)) {
					s.sigs = append(s.sigs, p.types[in.a].same|mark)
				}
			case opRefFunc:
				take(in.a)
				s.references = true
			case opTableGet, opTableSize:
				s.references = true
			case opMemoryCopy, opMemoryFill:
				f.bulk = true
			}
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return s, nil
}

// checkInstr refuses instructions and indexes; see scan.
func (p *parsed) checkInstr(r *reader, in *instr, locals uint64) {
	within := func(what string, have uint64) {
		if uint64(in.a) >= have {
			r.failAt(int(in.start), "%s index %d, there are %d", what, in.a, have)
		}
	}
	switch in.op {
	case opBlock, opLoop, opIf:
		if in.a < oneResult {
			within("type", uint64(len(p.types)))
		}
	case opCall, opReturnCall, opRefFunc:
		within("function", uint64(p.funcCount()))
	case opCallIndirect, opReturnCallIndirect:
		within("type", uint64(len(p.types)))
	case opLocalGet, opLocalSet, opLocalTee:
		within("local", locals)
	case opGlobalGet, opGlobalSet:
		within("global", uint64(len(p.importGlobals)+len(p.globals)))
	case opTableSet, opTableInit, opElemDrop, opTableCopy, opTableGrow, opTableFill:
		r.failAt(int(in.start), "instruction that changes a table or its elements")
	case opMemoryInit, opDataDrop:
		r.failAt(int(in.start), "instruction that uses passive data")
	}
}
