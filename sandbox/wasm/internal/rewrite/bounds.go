package rewrite

// The engine checks every access to memory by itself, in eight or more
// instructions, unless it knows already that the same base with a larger
// constant offset was good. "The same base" is the same value of its
// intermediate form; what it knows flows along branches and is intersected
// where they meet. On CPython three of four accesses are checked, and that is
// 40 % of all time. This pass rewrites accesses so that it recognises more:
//
//   - constant addresses become offsets of a local that is always zero;
//   - the first access through a base in a run of straight code checks for the
//     largest offset in it: if that is outside the memory the run traps in any
//     case, and nobody looks at the memory of a call that trapped;
//   - the second read of a local behind a join is a new value to the engine,
//     with nothing known; the first is written back to the local, so that all
//     are the same one.
//
// It follows the engine's construction of values closely enough to tell which
// two reads are the same value. If it were wrong about that, an access would
// be checked once more; the checks are the engine's own and all stay.

// access is one load or store of a function.
type access struct {
	at int32
	// value is the base. For a constant address inside the initial memory that
	// is the local that stays zero, and static is set.
	value  int32
	static bool
	// end is where the access ends, counted from value.
	end uint64
	run int32
	// reach is the largest end in the rest of the run with the same base.
	reach uint64
}

// edit is what happens to one access.
type edit struct {
	at int32
	// static: the address is the local that stays zero.
	static bool
	// touch is the end of what is checked first; 0 is nothing.
	touch uint64
	// offset is the new offset.
	offset uint32
}

// refresh says that a local is read and written back, so that its value behind
// a join has one name.
type refresh struct {
	at     int32
	before bool
	local  uint32
}

// bounds plans the edits of one function after the other.
type bounds struct {
	p   *parsed
	sim simulator

	accesses  []access
	edits     []edit
	refreshes []refresh

	// By value: how many accesses have it as base, the last one of them, the
	// largest end, and, in the current run, the largest end so far.
	uses, last, runOf []int32
	largest, reached  []uint64

	// zero is the local that stays zero; added are the types of the locals
	// from it on.
	zero  uint32
	added []ValueType
	// stored is the local that holds a stored value of some type during one
	// edit, base the one for an address; 0 is none yet.
	stored map[ValueType]uint32
	base   uint32
}

func newBounds(p *parsed, opt Options) *bounds {
	return &bounds{p: p, stored: make(map[ValueType]uint32), sim: simulator{p: p, meterLoops: opt.Meter}}
}

// plan finds the edits of function f and reports whether there are any.
// It gives none for functions with vectors, which it does not follow, and for
// those in which following all locals through all branches would take too
// long.
func (b *bounds) plan(f int, instrs []instr, checks []int32, entry bool) bool {
	locals := uint32(len(b.p.types[b.p.funcs[f]].params)) + b.p.bodies[f].localCount
	b.accesses, b.edits, b.refreshes = b.accesses[:0], b.edits[:0], b.refreshes[:0]
	if !worth(instrs, locals) {
		return false
	}
	b.zero = locals
	b.added = append(b.added[:0], I32)
	clear(b.stored)
	b.base = 0
	b.sim.checks, b.sim.meterEntry = checks, entry

	b.sim.onAccess = b.collect
	b.sim.onJoin = func(int32, bool) {}
	b.sim.start(f, int(locals+1))
	b.sim.all(instrs)
	b.summarise()

	next := 0
	b.sim.onAccess = func(_ int32, in *instr) {
		b.choose(&b.accesses[next], in)
		next++
	}
	b.sim.onJoin = b.join
	b.sim.start(f, int(locals+1))
	b.sim.all(instrs)
	return locals+uint32(len(b.added)) <= maxLocals && len(b.edits)+len(b.refreshes) > 0
}

func worth(instrs []instr, locals uint32) bool {
	const budget = 200_000_000
	branches, accesses := uint64(0), 0
	for i := range instrs {
		switch op := instrs[i].op; {
		case op>>8 == 0xfd:
			return false
		case op == opIf, op == opBr, op == opBrIf, op == opLoop, op == opEnd:
			branches++
		case op == opBrTable:
			branches += uint64(instrs[i].end - instrs[i].start)
		case accessSize(op) > 0:
			accesses++
		}
	}
	return accesses > 0 && branches*uint64(locals+1) < budget
}

// address is the operand of a load or store that has not been taken yet.
func (s *simulator) address(store bool) int32 {
	depth := 1
	if store {
		depth = 2
	}
	low := s.frames[len(s.frames)-1].height
	if len(s.stack)-depth < low {
		return s.fresh() // not valid, so that no engine will run it
	}
	return s.stack[len(s.stack)-depth]
}

// collect records an access in the first round.
func (b *bounds) collect(at int32, in *instr) {
	s := &b.sim
	_, store := isStore(in.op)
	v := s.address(store)
	a := access{at: at, value: v, end: uint64(in.b) + uint64(accessSize(in.op)), run: s.run}
	if x := s.values[v]; x.constant {
		if end := uint64(x.bits) + a.end; end <= uint64(b.p.minPages)*pageSize {
			a.static, a.value, a.end = true, s.locals[b.zero], end
		}
	}
	b.accesses = append(b.accesses, a)
}

// summarise turns what was collected into the tables of the second round.
func (b *bounds) summarise() {
	n := len(b.sim.values)
	b.uses, b.last, b.runOf = resized(b.uses, n), resized(b.last, n), resized(b.runOf, n)
	b.largest, b.reached = resized(b.largest, n), resized(b.reached, n)
	for i := range b.accesses {
		a := &b.accesses[i]
		b.uses[a.value]++
		b.last[a.value] = a.at
		b.largest[a.value] = max(b.largest[a.value], a.end)
	}
	for i := len(b.accesses) - 1; i >= 0; i-- {
		a := &b.accesses[i]
		if b.runOf[a.value] != a.run+1 {
			b.runOf[a.value], b.reached[a.value] = a.run+1, 0
		}
		b.reached[a.value] = max(b.reached[a.value], a.end)
		a.reach = b.reached[a.value]
	}
}

func resized[T int32 | uint64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// choose decides on an access in the second round.
func (b *bounds) choose(a *access, in *instr) {
	if a.static {
		// All of the initial memory is always there: reach as far as anything.
		touch := b.reach(a.value, a.end, b.largest[a.value])
		b.edits = append(b.edits, edit{at: a.at, static: true, touch: touch, offset: uint32(a.end - uint64(accessSize(in.op)))})
		return
	}
	if touch := b.reach(a.value, a.end, a.reach); touch > 0 {
		b.edits = append(b.edits, edit{at: a.at, touch: touch, offset: in.b})
	}
}

// reach notes that an access through v up to end is checked, and returns up to
// where it should be: 0 if the access by itself will do.
func (b *bounds) reach(v int32, end, most uint64) uint64 {
	known := b.sim.facts.get(v)
	if known >= end {
		return 0
	}
	most = max(most, end)
	b.sim.facts.set(v, most)
	if most == end {
		return 0
	}
	return most
}

// join refreshes the locals whose values matter behind a join.
func (b *bounds) join(at int32, before bool) {
	s := &b.sim
	for i, v := range s.locals {
		if b.last[v] > at && (b.uses[v] > 1 || s.facts.get(v) > 0) {
			b.refreshes = append(b.refreshes, refresh{at, before, uint32(i)})
		}
	}
}

// local adds one.
func (b *bounds) local(t ValueType) uint32 {
	b.added = append(b.added, t)
	return b.zero + uint32(len(b.added)) - 1
}

// declare writes the declarations of a function's locals with the added ones.
func (b *bounds) declare(out, locals []byte) []byte {
	r := &reader{buf: locals, end: len(locals)}
	groups := r.u32()
	runs := uint32(0)
	for i, t := range b.added {
		if i == 0 || b.added[i-1] != t {
			runs++
		}
	}
	out = appendU32(out, groups+runs)
	out = append(out, locals[r.pos:]...)
	for i := 0; i < len(b.added); {
		n := i
		for n < len(b.added) && b.added[n] == b.added[i] {
			n++
		}
		out = append(appendU32(out, uint32(n-i)), byte(b.added[i]))
		i = n
	}
	return out
}

// rewrite writes the access in, whose operands are on the stack, as e says.
// Locals cost nothing here: to the engine they are names of values.
func (b *bounds) rewrite(out []byte, in *instr, e *edit) []byte {
	c := code(out)
	var kept uint32
	typ, store := isStore(in.op)
	if store {
		kept = b.stored[typ]
		if kept == 0 {
			kept = b.local(typ)
			b.stored[typ] = kept
		}
		c.set(kept)
	}
	base := b.zero
	if e.static {
		c.op(opDrop)
	} else {
		if b.base == 0 {
			b.base = b.local(I32)
		}
		base = b.base
		c.set(base)
	}
	if e.touch > 0 {
		c.get(base)
		c.load8(uint32(e.touch - 1))
		c.op(opDrop)
	}
	c.get(base)
	if store {
		c.get(kept)
	}
	c.op(in.op)
	c = appendU32(c, in.a)
	return appendU32(c, e.offset)
}
