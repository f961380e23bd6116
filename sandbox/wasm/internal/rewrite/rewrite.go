package rewrite

// Names that metering adds to a module.
const (
	// FuelGlobal is the exported mutable i64 global that holds the fuel left.
	// It starts at 0: the host sets it before it calls into the module.
	FuelGlobal = "mayfly_fuel"

	refuelModule = "mayfly"
	refuelName   = "refuel"
)

// Revision changes whenever the same module and options give other bytes than
// before. It belongs into the key of whatever is kept of a rewritten module.
const Revision = 1

// Options choose what [Rewrite] does. The zero value is the plain structural
// rewrite: sections dropped, code as it was.
type Options struct {
	// Meter makes the code count fuel in FuelGlobal and call the import
	// mayfly.refuel : () → () whenever that falls below zero: one unit for each
	// pass of a loop and for each call that can be part of recursion (one in
	// each circle of calls is enough), and one for every 32 bytes that memory.copy and memory.fill
	// move. When refuel returns, the code goes on.
	Meter bool
	// Branches writes conditional branches in the form that the engine compiles
	// best: br_if as an if with a br inside, and every if with an else.
	Branches bool
	// Bounds rewrites accesses to memory so that the engine recognises more of
	// its own checks as done already. It implies Branches.
	Bounds bool
	// Devirtualise replaces the function tables by code, if nothing but
	// indirect calls needs them: an instance without tables is made in a tenth
	// of the time. An indirect call of what is not there traps as unreachable.
	Devirtualise bool
}

// Segment is what one active data segment put into memory.
type Segment struct {
	Offset uint32
	// Bytes alias the original module.
	Bytes []byte
}

// Global is a mutable global of the original module.
type Global struct {
	// Name is the (first) name under which it is exported.
	Name string
	Type ValueType
	// Init holds the bits of its initial value.
	Init uint64
}

// Stats say what was done.
type Stats struct {
	// Functions counts those with a body, in the original.
	Functions int
	// LoopsMetered, FunctionsMetered and CallsMetered count the places that use
	// fuel: loops, entries of functions, and calls where metering the entry of
	// the caller would cost more.
	LoopsMetered, FunctionsMetered, CallsMetered int
	// Accesses counts the loads and stores that Options.Bounds looked at,
	// AccessesRewritten those that it changed.
	Accesses, AccessesRewritten int
	// TableEntries counts the elements of the tables that became code.
	TableEntries int
	// BulkMetered counts the memory.copy and memory.fill that became calls.
	BulkMetered int
	// SegmentsDropped and BytesDropped are the data segments and their content.
	SegmentsDropped int
	BytesDropped    int64
}

// Module is a rewritten module and what the host must know to run it.
type Module struct {
	// Wasm is the run module.
	Wasm []byte
	// Data is what the active data segments held, in their order: a later one
	// overwrites an earlier one.
	Data []Segment
	// MinPages and MaxPages are the memory's limits in pages of 64 KiB;
	// MaxPages is 65536 where the module gives none. Both are 0 when it has no
	// memory.
	MinPages, MaxPages uint32
	// Globals are all mutable globals but FuelGlobal, in the module's order.
	Globals []Global
	Stats   Stats
}

// Rewrite makes the run module. Its error is an *[Error] when the module is
// malformed or asks for something that the package's comment excludes.
func Rewrite(module []byte, opt Options) (Module, error) {
	opt.Branches = opt.Branches || opt.Bounds
	p, err := parse(module)
	if err != nil {
		return Module{}, err
	}
	globals, err := p.mutableGlobals()
	if err != nil {
		return Module{}, err
	}
	s, err := scan(p)
	if err != nil {
		return Module{}, err
	}
	m := Module{
		Data: p.data, MinPages: p.minPages, MaxPages: p.maxPages, Globals: globals,
	}
	e := newEmitter(p, s, opt)
	m.Wasm = e.module()
	m.Stats = e.stats
	m.Stats.Functions, m.Stats.SegmentsDropped = len(p.bodies), len(p.data)
	for i := range p.data {
		m.Stats.BytesDropped += int64(len(p.data[i].Bytes))
	}
	return m, nil
}

// mutableGlobals lists them under their export names and refuses those that
// a snapshot could not take.
func (p *parsed) mutableGlobals() ([]Global, error) {
	names := make(map[uint32]string)
	for _, e := range p.exports {
		if _, has := names[e.index]; e.kind == externGlobal && !has {
			names[e.index] = e.name
		}
	}
	var list []Global
	for i := range p.globals {
		g := &p.globals[i]
		if !g.mutable {
			continue
		}
		name, exported := names[uint32(len(p.importGlobals)+i)]
		if !exported {
			return nil, &Error{Offset: g.at, Reason: "mutable global that is not exported"}
		}
		var want opcode
		switch g.typ {
		case I32:
			want = opI32Const
		case I64:
			want = opI64Const
		case F32:
			want = opF32Const
		case F64:
			want = opF64Const
		default:
			return nil, &Error{Offset: g.at, Reason: "mutable global of type " + g.typ.String()}
		}
		if g.init.op != want {
			return nil, &Error{Offset: g.init.at, Reason: "mutable global that does not start at a constant of its type"}
		}
		list = append(list, Global{Name: name, Type: g.typ, Init: g.init.bits})
	}
	return list, nil
}
