package rewrite

import "math"

// simulator follows one function's values and control flow the way the engine
// builds its intermediate form, as far as addresses go.
type simulator struct {
	p *parsed
	// checks says before which instructions a metering sequence stands; one
	// stands behind every loop if meterLoops.
	checks                 []int32
	meterLoops, meterEntry bool

	values []value
	stack  []int32
	locals []int32 // value of each local
	frames []simFrame
	facts  facts
	// dead: the code cannot be reached. depth counts the blocks opened since.
	dead  bool
	depth int

	// run is the same at two places if nothing but arithmetic and accesses to
	// memory lies between them.
	run int32

	// onAccess is called for each load and store, before it takes its operands;
	// onJoin where reads of locals go through a join first: behind the
	// instruction (behind the entry for -1), or in front of it.
	onAccess func(at int32, in *instr)
	onJoin   func(at int32, before bool)

	spareLocals [][]int32
	spareFacts  [][]fact
}

// value is one value: a constant of type i32, or anything.
type value struct {
	constant bool
	bits     uint32
}

// noValue marks a local that has different values on the ways to a join.
const noValue = math.MinInt32

// simFrame is an open block.
type simFrame struct {
	op              opcode
	height          int // of the stack below the parameters
	params, results int
	// ways counts the ways to the end (or none for a loop, whose label is its
	// start); locals and facts are what they agree on.
	ways   int
	locals []int32
	facts  []fact
	// The state for the else part.
	elseLocals []int32
	elseFacts  []fact
	elseParams []int32
}

func (s *simulator) start(f int, locals int) {
	b := &s.p.types[s.p.funcs[f]]
	s.values = s.values[:0]
	s.stack = s.stack[:0]
	s.frames = s.frames[:0]
	s.facts.reset()
	s.dead, s.depth = false, 0
	s.run = 0
	s.locals = s.locals[:0]
	for range locals {
		s.locals = append(s.locals, s.fresh())
	}
	s.frames = append(s.frames, simFrame{op: opBlock, results: len(b.results)})
}

// fresh makes a value that nothing is known of.
func (s *simulator) fresh() int32 {
	s.values = append(s.values, value{})
	return int32(len(s.values) - 1)
}

func (s *simulator) push(v int32) { s.stack = append(s.stack, v) }

// pop takes the top value. A module that is not valid may take too much; what
// it gets does not matter, because no engine accepts it.
func (s *simulator) pop() int32 {
	low := 0
	if n := len(s.frames); n > 0 {
		low = s.frames[n-1].height
	}
	if len(s.stack) <= low {
		return s.fresh()
	}
	v := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return v
}

// all runs the simulation.
func (s *simulator) all(instrs []instr) {
	if s.meterEntry {
		s.onJoin(-1, false)
	}
	next := 0
	for i := range instrs {
		for next < len(s.checks) && int(s.checks[next]) <= i {
			if int(s.checks[next]) == i && !s.dead {
				s.onJoin(int32(i), true)
			}
			next++
		}
		if len(s.frames) == 0 {
			return
		}
		s.step(int32(i), &instrs[i])
	}
}

func (s *simulator) step(at int32, in *instr) {
	if s.dead {
		s.skip(at, in)
		return
	}
	switch in.op {
	case opLocalGet:
		s.push(s.locals[in.a])
	case opLocalSet:
		s.locals[in.a] = s.pop()
	case opLocalTee:
		v := s.pop()
		s.locals[in.a] = v
		s.push(v)
	case opI32Const:
		s.values = append(s.values, value{constant: true, bits: in.a})
		s.push(int32(len(s.values) - 1))
	case opBlock, opLoop, opIf:
		s.open(at, in)
	case opElse:
		s.otherwise()
	case opEnd:
		s.end(at)
	case opBr, opReturn:
		label := in.a
		if in.op == opReturn {
			label = uint32(len(s.frames) - 1)
		}
		s.branch(label, true)
		s.die()
	case opBrIf:
		s.pop()
		s.branch(in.a, true)
		s.run++
	case opBrTable:
		// The engine puts a block of its own on each way, and passes nothing
		// of what it knows through it.
		labels(s.p.wasm, in, func(l uint32) { s.branch(l, false) })
		s.die()
	case opUnreachable, opReturnCall, opReturnCallIndirect:
		s.die()
	case opCall:
		s.call(&s.p.types[s.p.funcTypeIndex(in.a)])
	case opCallIndirect:
		s.pop()
		s.call(&s.p.types[in.a])
	default:
		if accessSize(in.op) > 0 {
			s.onAccess(at, in)
		}
		e := effectOf(in.op)
		if e.pops == 3 || in.op == opMemoryGrow {
			s.run++ // select too, which does no harm
		}
		for range e.pops {
			s.pop()
		}
		for range e.pushes {
			s.push(s.fresh())
		}
	}
}

func (s *simulator) call(t *funcType) {
	for range t.params {
		s.pop()
	}
	for range t.results {
		s.push(s.fresh())
	}
	s.run++
}

func (s *simulator) open(at int32, in *instr) {
	f := simFrame{op: in.op}
	switch {
	case in.a == oneResult:
		f.results = 1
	case in.a < oneResult:
		t := &s.p.types[in.a]
		f.params, f.results = len(t.params), len(t.results)
	}
	if in.op == opIf {
		s.pop()
		s.run++
	}
	f.height = max(len(s.stack)-f.params, 0)
	switch in.op {
	case opIf:
		f.elseLocals = append(s.localsBuffer(), s.locals...)
		f.elseFacts = s.facts.save(s.factsBuffer())
		f.elseParams = append([]int32(nil), s.stack[f.height:]...)
	case opLoop:
		// Every local may come from the loop's end too: a new value.
		for i := range s.locals {
			s.locals[i] = s.fresh()
		}
		for i := f.height; i < len(s.stack); i++ {
			s.stack[i] = s.fresh()
		}
		s.facts.reset()
		s.run++
	}
	s.frames = append(s.frames, f)
	if in.op == opLoop && s.meterLoops {
		s.onJoin(at, false)
	}
}

// branch merges the state into the label's, unless that is a loop.
func (s *simulator) branch(label uint32, known bool) {
	if int(label) >= len(s.frames) {
		return
	}
	f := &s.frames[len(s.frames)-1-int(label)]
	if f.op == opLoop {
		return
	}
	s.arrive(f, known)
}

func (s *simulator) arrive(f *simFrame, known bool) {
	f.ways++
	if f.ways == 1 {
		f.locals = append(s.localsBuffer(), s.locals...)
		f.facts = s.factsBuffer()
		if known {
			f.facts = s.facts.save(f.facts)
		}
		return
	}
	for i, v := range s.locals {
		if f.locals[i] != v {
			f.locals[i] = noValue
		}
	}
	if known {
		f.facts = s.facts.intersect(f.facts)
	} else {
		f.facts = f.facts[:0]
	}
}

func (s *simulator) die() {
	s.dead = true
	s.depth = 0
}

// skip takes an instruction that cannot be reached.
func (s *simulator) skip(at int32, in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		s.depth++
	case opElse:
		if s.depth == 0 {
			s.otherwise()
		}
	case opEnd:
		if s.depth > 0 {
			s.depth--
			return
		}
		s.end(at)
	}
}

func (s *simulator) otherwise() {
	f := &s.frames[len(s.frames)-1]
	if f.op != opIf {
		return
	}
	if !s.dead {
		s.arrive(f, true)
	}
	s.takeElse(f)
}

// takeElse goes on with the state in which the condition was false.
func (s *simulator) takeElse(f *simFrame) {
	f.op = opElse
	s.dead = false
	s.locals = append(s.locals[:0], f.elseLocals...)
	s.facts.load(f.elseFacts)
	s.spareLocals = append(s.spareLocals, f.elseLocals)
	s.spareFacts = append(s.spareFacts, f.elseFacts)
	f.elseLocals, f.elseFacts = nil, nil
	s.stack = append(s.stack[:f.height], f.elseParams...)
	s.run++
}

func (s *simulator) end(at int32) {
	f := &s.frames[len(s.frames)-1]
	if f.op == opIf { // no else: the pass that shapes branches adds one
		if !s.dead {
			s.arrive(f, true)
		}
		s.takeElse(f)
	}
	if f.op == opLoop {
		s.finish(f)
		return
	}
	if !s.dead {
		s.arrive(f, true)
	}
	if f.ways == 0 {
		s.frames = s.frames[:len(s.frames)-1]
		s.dead, s.depth = true, 0
		return
	}
	s.dead = false
	s.locals = append(s.locals[:0], f.locals...)
	s.facts.load(f.facts)
	s.spareLocals = append(s.spareLocals, f.locals)
	s.spareFacts = append(s.spareFacts, f.facts)
	ways := f.ways
	for i, v := range s.locals {
		if v == noValue {
			s.locals[i] = s.fresh()
		}
	}
	s.finish(f)
	s.run++
	if ways > 1 && len(s.frames) > 0 {
		s.onJoin(at, false)
	}
}

// finish closes the innermost block and leaves its results on the stack.
func (s *simulator) finish(f *simFrame) {
	results := f.results
	s.stack = s.stack[:min(f.height, len(s.stack))]
	dead := s.dead
	s.frames = s.frames[:len(s.frames)-1]
	if dead {
		s.depth = 0
		return
	}
	for range results {
		s.push(s.fresh())
	}
}

func (s *simulator) localsBuffer() []int32 {
	if n := len(s.spareLocals); n > 0 {
		b := s.spareLocals[n-1][:0]
		s.spareLocals = s.spareLocals[:n-1]
		return b
	}
	return make([]int32, 0, len(s.locals))
}

func (s *simulator) factsBuffer() []fact {
	if n := len(s.spareFacts); n > 0 {
		b := s.spareFacts[n-1][:0]
		s.spareFacts = s.spareFacts[:n-1]
		return b
	}
	return nil
}

// fact is one thing known at a place: the memory reaches to bound behind the
// value that is the key. Nothing is ever known of a value on a way that does
// not pass its definition.
type fact struct {
	key   int32
	bound uint64
}

// facts is what is known at the current place.
type facts struct {
	bounds []uint64 // by value
	keys   []int32  // those with a bound
}

func (f *facts) reset() {
	for _, k := range f.keys {
		f.bounds[k] = 0
	}
	f.keys = f.keys[:0]
}

func (f *facts) get(key int32) uint64 {
	if int(key) < len(f.bounds) {
		return f.bounds[key]
	}
	return 0
}

func (f *facts) set(key int32, bound uint64) {
	for int(key) >= len(f.bounds) {
		f.bounds = append(f.bounds, make([]uint64, int(key)+1)...)
	}
	if f.bounds[key] == 0 {
		f.keys = append(f.keys, key)
	}
	f.bounds[key] = bound
}

func (f *facts) save(into []fact) []fact {
	for _, k := range f.keys {
		into = append(into, fact{k, f.bounds[k]})
	}
	return into
}

func (f *facts) load(list []fact) {
	f.reset()
	for _, x := range list {
		f.set(x.key, x.bound)
	}
}

// intersect keeps of list what is known here too.
func (f *facts) intersect(list []fact) []fact {
	kept := list[:0]
	for _, x := range list {
		if b := f.get(x.key); b > 0 {
			x.bound = min(x.bound, b)
			kept = append(kept, x)
		}
	}
	return kept
}
