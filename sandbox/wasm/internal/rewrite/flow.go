package rewrite

// unmeteredFlow follows the control flow of one function and knows, at each
// instruction, whether it can be reached from the entry without passing the
// header of a loop. Every loop is metered, so what cannot be is metered too.
type unmeteredFlow struct {
	live   bool
	frames []flowFrame
}

type flowFrame struct {
	loop bool
	// branch: the end is reached by a branch. other: the else part, or the end
	// if there is none, is reached when the condition is false.
	branch, other bool
}

// enter begins a function.
func (f *unmeteredFlow) enter() {
	f.live = true
	f.frames = append(f.frames[:0], flowFrame{})
}

// step takes the next instruction and reports whether it is reached without
// passing a loop. Labels out of range are errors of r.
func (f *unmeteredFlow) step(r *reader, in *instr) bool {
	live := f.live
	switch in.op {
	case opBlock:
		f.frames = append(f.frames, flowFrame{})
	case opIf:
		f.frames = append(f.frames, flowFrame{other: live})
	case opLoop:
		f.frames = append(f.frames, flowFrame{loop: true})
		f.live = false
	case opElse:
		top := &f.frames[len(f.frames)-1]
		top.branch = top.branch || live
		f.live, top.other = top.other, false
	case opEnd:
		top := f.frames[len(f.frames)-1]
		f.frames = f.frames[:len(f.frames)-1]
		f.live = live || top.branch || top.other
	case opBr, opBrIf:
		f.branch(r, in, in.a)
		f.live = live && in.op == opBrIf
	case opBrTable:
		labels(r.buf, in, func(l uint32) { f.branch(r, in, l) })
		f.live = false
	case opReturn, opUnreachable, opReturnCall, opReturnCallIndirect:
		f.live = false
	}
	return live
}

func (f *unmeteredFlow) branch(r *reader, in *instr, label uint32) {
	if uint64(label) >= uint64(len(f.frames)) {
		r.failAt(int(in.start), "label %d, there are %d", label, len(f.frames))
		return
	}
	if to := &f.frames[len(f.frames)-1-int(label)]; !to.loop {
		to.branch = to.branch || f.live
	}
}

// labels calls visit with each label of a decoded br_table, the default last.
func labels(wasm []byte, in *instr, visit func(uint32)) {
	r := reader{buf: wasm, pos: int(in.start) + 1, end: int(in.end)}
	for range r.u32() + 1 {
		visit(r.u32())
	}
}
