package rewrite

import (
	"cmp"
	"slices"
)

// The engine evaluates the initialiser of each table element anew for each
// instance, at three allocations apiece: most of the time that a fresh
// instance of an interpreter takes. The table does not change, so its content
// can be code: for each signature one function that takes the arguments and
// the index and calls the function that stands there. Then the table goes.

// dispatchKey is what an indirect call names: a table and a canonical type.
type dispatchKey struct{ table, sig uint32 }

// dispatchEntry is one element of one signature.
type dispatchEntry struct{ index, function uint32 }

// devirtualisable reports whether nothing but indirect calls looks at the
// tables.
func (p *parsed) devirtualisable(s *scanned) bool {
	if len(p.tables) == 0 || s.references {
		return false
	}
	for _, x := range p.exports {
		if x.kind == externTable {
			return false
		}
	}
	for i := range p.globals {
		if p.globals[i].init.op == opRefFunc {
			return false
		}
	}
	for i := range p.elements {
		if p.elements[i].declarative {
			return false
		}
	}
	return true
}

// tableEntries lists the elements by table and signature, in the order of
// their indexes.
func (p *parsed) tableEntries() map[dispatchKey][]dispatchEntry {
	type place struct{ table, index uint32 }
	content := make(map[place]uint32)
	for i := range p.elements {
		e := &p.elements[i]
		for k, f := range e.funcs {
			content[place{e.table, e.offset + uint32(k)}] = f
		}
	}
	entries := make(map[dispatchKey][]dispatchEntry)
	for at, f := range content {
		if f == nullFunc {
			continue
		}
		key := dispatchKey{at.table, p.types[p.funcTypeIndex(f)].same}
		entries[key] = append(entries[key], dispatchEntry{at.index, f})
	}
	for _, list := range entries {
		slices.SortFunc(list, func(a, b dispatchEntry) int { return cmp.Compare(a.index, b.index) })
	}
	return entries
}

// dispatcher returns the function index of the function that stands for
// indirect calls of a type through a table.
func (e *emitter) dispatcher(table, typ uint32) uint32 {
	key := dispatchKey{table, e.p.types[typ].same}
	if f, ok := e.dispatchers[key]; ok {
		return f
	}
	t := &e.p.types[typ]
	d := dispatch{e: e, params: uint32(len(t.params))}
	d.code = append(d.code, 0) // no locals
	d.choose(e.entries[key])
	d.code.op(opUnreachable, opEnd)
	f := e.addHelper(helper{typ: e.typeOf(string(t.params)+string([]byte{byte(I32)}), string(t.results)), body: d.code})
	e.dispatchers[key] = f
	return f
}

// dispatch builds one dispatcher.
type dispatch struct {
	e      *emitter
	code   code
	params uint32 // the index is the parameter behind them
}

const (
	// dispatchFew entries are compared with one after the other.
	dispatchFew = 3
	// dispatchHoles is how many indexes of other signatures a jump table may
	// have for each of its own.
	dispatchHoles = 7
)

// choose calls the entry that has the index, and falls through if none has.
func (d *dispatch) choose(entries []dispatchEntry) {
	if len(entries) == 0 {
		return
	}
	first, last := entries[0].index, entries[len(entries)-1].index
	switch {
	case len(entries) <= dispatchFew:
		for _, x := range entries {
			d.code.get(d.params)
			d.code.i32(int32(x.index))
			d.code.op(opI32Eq)
			d.code.block(opIf)
			d.call(x.function)
			d.code.op(opEnd)
		}
	case uint64(last-first) < uint64(len(entries))*(dispatchHoles+1):
		d.jumpTable(entries)
	default:
		at := widestGap(entries)
		d.code.get(d.params)
		d.code.i32(int32(entries[at].index))
		d.code.op(opI32LtU)
		d.code.block(opIf)
		d.choose(entries[:at])
		d.code.op(opElse)
		d.choose(entries[at:])
		d.code.op(opEnd)
	}
}

// widestGap returns the entry behind the widest gap, the one nearest to the
// middle of several.
func widestGap(entries []dispatchEntry) int {
	best := 1
	for i := 2; i < len(entries); i++ {
		gap, widest := entries[i].index-entries[i-1].index, entries[best].index-entries[best-1].index
		fromMiddle := func(i int) int { return max(2*i-len(entries), len(entries)-2*i) }
		if gap > widest || gap == widest && fromMiddle(i) < fromMiddle(best) {
			best = i
		}
	}
	return best
}

func (d *dispatch) jumpTable(entries []dispatchEntry) {
	// One block for each function; the innermost belongs to the first.
	labels := make(map[uint32]uint32)
	var functions []uint32
	for _, x := range entries {
		if _, ok := labels[x.function]; !ok {
			labels[x.function] = uint32(len(functions))
			functions = append(functions, x.function)
		}
	}
	none := uint32(len(functions))
	for range none + 1 {
		d.code.block(opBlock)
	}
	first, last := entries[0].index, entries[len(entries)-1].index
	d.code.get(d.params)
	d.code.i32(int32(first))
	d.code.op(opI32Sub, opBrTable)
	d.code = appendU32(d.code, last-first+1)
	next := 0
	for i := first; ; i++ {
		label := none
		if entries[next].index == i {
			label = labels[entries[next].function]
			next++
		}
		d.code = appendU32(d.code, label)
		if i == last {
			break
		}
	}
	d.code = appendU32(d.code, none)
	for _, f := range functions {
		d.code.op(opEnd)
		d.call(f)
	}
	d.code.op(opEnd)
}

func (d *dispatch) call(function uint32) {
	for i := range d.params {
		d.code.get(i)
	}
	d.code.index(opCall, d.e.funcIndex(function))
	d.code.op(opReturn)
}
