package rewrite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkMetered reads a metered module on its own terms and checks that every
// loop begins with the metering sequence and that without the functions that
// begin with it no cycle of calls is left.
func checkMetered(t *testing.T, m Module) {
	t.Helper()
	wasm := m.Wasm
	p, err := parse(wasm1(wasm))
	if err != nil {
		t.Fatalf("parse the metered module: %v", err)
	}
	fuel := uint32(len(p.importGlobals) + len(p.globals) - 1)
	refuel := uint32(len(p.importedFuncs) - 1)
	// The helper that calls refuel is the one function that does so and no more.
	refill := ^uint32(0)
	for i := range p.bodies {
		body := wasm[p.bodies[i].start:p.bodies[i].end]
		if bytes.Equal(body, append(appendIndexed(nil, opCall, refuel), byte(opEnd))) {
			refill = uint32(len(p.importedFuncs) + i)
		}
	}
	e := &emitter{fuel: fuel, refill: refill}
	check := e.meterSequence()
	begins := func(at uint32) bool { return bytes.HasPrefix(wasm[at:], check) }
	imported := uint32(len(p.importedFuncs))
	targets := make(map[uint32][]uint32) // by canonical type
	for _, el := range p.elements {
		for _, f := range el.funcs {
			if f != nullFunc && f >= imported {
				sig := p.types[p.funcTypeIndex(f)].same
				targets[sig] = append(targets[sig], f)
			}
		}
	}
	calls := make(map[uint32][]uint32)
	for i := range p.bodies {
		b := &p.bodies[i]
		r := &reader{buf: wasm, pos: b.start, end: b.end}
		f := imported + uint32(i)
		instrs := decodeExpr(r, nil)
		bulk := false
		for _, in := range instrs {
			bulk = bulk || in.op == opMemoryCopy || in.op == opMemoryFill
		}
		for _, in := range instrs {
			// The helpers of bulk operations look at the fuel elsewhere.
			if in.op == opLoop && !begins(in.end) && !(bulk && i >= m.Stats.Functions) {
				t.Errorf("function %d: loop at %#x is not metered", f, in.start)
			}
		}
		for at := range reachedUnmetered(wasm, instrs, begins) {
			switch in := &instrs[at]; in.op {
			case opCall, opReturnCall:
				if in.a >= imported {
					calls[f] = append(calls[f], in.a)
				}
			case opCallIndirect, opReturnCallIndirect:
				calls[f] = append(calls[f], targets[p.types[in.a].same]...)
			}
		}
	}
	const (
		active = 1
		done   = 2
	)
	state := make(map[uint32]int)
	var visit func(f uint32)
	visit = func(f uint32) {
		state[f] = active
		for _, to := range calls[f] {
			switch state[to] {
			case active:
				t.Errorf("a cycle of calls through functions %d and %d is not metered", f, to)
			case 0:
				visit(to)
			}
		}
		state[f] = done
	}
	for f := range calls {
		if state[f] == 0 {
			visit(f)
		}
	}
}

// reachedUnmetered searches the instructions that some path from the first one
// reaches without the metering sequence.
func reachedUnmetered(wasm []byte, instrs []instr, begins func(uint32) bool) map[int]bool {
	// Where each block ends, and where its else is.
	ends, elses := make(map[int]int), make(map[int]int)
	enclosing := make([][]int, len(instrs)) // open blocks at each instruction
	var open []int
	for i := range instrs {
		enclosing[i] = append([]int(nil), open...)
		switch instrs[i].op {
		case opBlock, opLoop, opIf:
			open = append(open, i)
		case opElse:
			elses[open[len(open)-1]] = i
		case opEnd:
			if len(open) > 0 {
				ends[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	reached := make(map[int]bool)
	todo := []int{0}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[i] || i >= len(instrs) || begins(instrs[i].start) {
			continue
		}
		reached[i] = true
		branch := func(label uint32) {
			if int(label) == len(enclosing[i]) {
				return // leaves the function
			}
			to := enclosing[i][len(enclosing[i])-1-int(label)]
			if instrs[to].op == opLoop {
				todo = append(todo, to+1)
			} else {
				todo = append(todo, ends[to])
			}
		}
		in := &instrs[i]
		switch in.op {
		case opBr:
			branch(in.a)
			continue
		case opBrIf:
			branch(in.a)
		case opBrTable:
			labels(wasm, in, branch)
			continue
		case opReturn, opUnreachable, opReturnCall, opReturnCallIndirect:
			continue
		case opIf:
			if e, ok := elses[i]; ok {
				todo = append(todo, e+1)
			} else {
				todo = append(todo, ends[i])
			}
		case opElse:
			todo = append(todo, ends[enclosing[i][len(enclosing[i])-1]])
			continue
		}
		todo = append(todo, i+1)
	}
	return reached
}

// wasm1 hides the names that the rewriter would refuse to see again.
func wasm1(wasm []byte) []byte {
	wasm = bytes.Replace(wasm, []byte(FuelGlobal), []byte("mayfly_fuel"[:10]+"_"), 1)
	return bytes.Replace(wasm, []byte("\x06"+refuelName), []byte("\x06Refuel"), 1)
}

// TestCut meters random call graphs of many shapes.
func TestCut(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := asmModule{types: []string{"->", "i32 ->", "->"}, table: "64"}
		n := 1 + r.IntN(40)
		calls := r.IntN(4)
		types := make([]int, n)
		for i := range types {
			types[i] = r.IntN(3)
		}
		for i := range n {
			f := asmFunc{typ: types[i]}
			for range r.IntN(calls + 1) {
				to := r.IntN(n)
				f.code += " block void i32.const 0 br_if 0"
				if r.IntN(4) == 0 {
					f.code += []string{
						" i32.const 0 call_indirect 0 0",
						" i32.const 0 i32.const 1 call_indirect 1 0",
						" i32.const 2 call_indirect 2 0",
					}[r.IntN(3)]
				} else {
					if types[to] == 1 {
						f.code += " i32.const 0"
					}
					f.code += fmt.Sprintf(" call %d", to)
				}
				f.code += " end"
			}
			m.funcs = append(m.funcs, f)
		}
		for at := range r.IntN(10) {
			m.elements = append(m.elements, asmElement{at * 3, []int{r.IntN(n), r.IntN(n)}})
		}
		binary := m.assemble(t)
		rewritten, err := Rewrite(binary, Options{Meter: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkMetered(t, rewritten)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
