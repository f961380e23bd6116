package rewrite

// label is an open block as a branch sees it.
type label struct {
	loop    bool
	carries bool // a branch to it carries values
	bareIf  bool // an if without an else so far
}

// enterLabels begins function f.
func (e *emitter) enterLabels(f int) {
	e.labels = append(e.labels[:0], label{carries: len(e.p.types[e.p.funcs[f]].results) > 0})
}

// trackLabels keeps e.labels up to date.
func (e *emitter) trackLabels(in *instr) {
	switch in.op {
	case opBlock, opIf, opLoop:
		l := label{loop: in.op == opLoop, bareIf: in.op == opIf, carries: in.a == oneResult && in.op != opLoop}
		if in.a < oneResult {
			t := &e.p.types[in.a]
			l.carries = len(t.results) > 0
			if l.loop {
				l.carries = len(t.params) > 0
			}
		}
		e.labels = append(e.labels, l)
	case opElse:
		e.labels[len(e.labels)-1].bareIf = false
	case opEnd:
		e.labels = e.labels[:len(e.labels)-1]
	}
}

// branch writes instrs[i], a br_if, as an if with a br inside. from is the
// start of what has not been copied yet; the new one is returned.
//
// For br_if the engine splits the edge to the target, because the target has
// other ways in and the block has another way out, and then does not see any
// more that the branch directly follows its comparison: it writes the outcome
// into a register and tests that. An if has no such edge. Which arm holds the
// br decides where the engine puts it: a jump back to a loop stays where it
// is; one to a label further down goes to just in front of the label, so that
// the way without a branch falls through.
func (e *emitter) branch(out []byte, instrs []instr, i int, from uint32, loop bool) ([]byte, uint32) {
	wasm, in := e.p.wasm, &instrs[i]
	if loop {
		out = append(out, wasm[from:in.start]...)
		out = append(out, byte(opIf), 0x40)
	} else {
		var before opcode
		if i > 0 {
			before = instrs[i-1].op
		}
		switch {
		case before >= opF32Eq && before <= opF64Ge:
			// There is no opposite of a comparison of floats, because of NaN.
			return out, from
		case before == opI32Eqz:
			out = append(out, wasm[from:instrs[i-1].start]...)
		case oppositeOf(before) != 0:
			out = append(out, wasm[from:instrs[i-1].start]...)
			out = append(out, byte(oppositeOf(before)))
		default:
			out = append(out, wasm[from:in.start]...)
			out = append(out, byte(opI32Eqz))
		}
		out = append(out, byte(opIf), 0x40, byte(opElse))
	}
	out = appendIndexed(out, opBr, in.a+1)
	if loop {
		out = append(out, byte(opElse))
	}
	return append(out, byte(opEnd)), in.end
}

// oppositeOf returns the comparison of integers that is true where op is
// false, or 0 if op is none.
func oppositeOf(op opcode) opcode {
	const (
		i32Eq = 0x46
		i32Ge = 0x4f
		i64Eq = 0x51
		i64Ge = 0x5a
	)
	var first opcode
	switch {
	case op >= i32Eq && op <= i32Ge:
		first = i32Eq
	case op >= i64Eq && op <= i64Ge:
		first = i64Eq
	default:
		return 0
	}
	// eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
	return first + [...]opcode{1, 0, 8, 9, 6, 7, 4, 5, 2, 3}[op-first]
}
