package rewrite

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// generate makes a valid module out of any bytes. Every function and every
// loop counts down the exported global "steps" and traps below zero, so that
// each call ends, at the same point whatever the rewriter did.
//
// NaN bits never reach the outside: the result of an operation that can make a
// NaN is replaced by one fixed NaN.
func generate(data []byte) (asmModule, []generatedCall) {
	h := fnv.New64a()
	h.Write(data)
	g := &generator{data: data, random: rand.New(rand.NewPCG(h.Sum64(), 1)), nodes: 700}
	g.module()
	var calls []generatedCall
	for range 3 + g.choose(4) {
		f := g.choose(len(g.m.funcs))
		c := generatedCall{export: fmt.Sprintf("f%d", f)}
		for _, typ := range g.params(g.m.funcs[f].typ) {
			c.args = append(c.args, g.argument(typ))
		}
		calls = append(calls, c)
	}
	return g.m, calls
}

type generatedCall struct {
	export string
	args   []uint64
}

type generator struct {
	data   []byte
	random *rand.Rand
	nodes  int // instructions still allowed
	m      asmModule
	// The function being made.
	code   strings.Builder
	locals []string
	labels [][]string
	depth  int
	result []string
}

const generatedSteps = 400

// choose returns a number below n: from the data while there is some, then
// from a generator seeded by them, and 0 when the module is large enough.
func (g *generator) choose(n int) int {
	if len(g.data) > 0 {
		b := g.data[0]
		g.data = g.data[1:]
		return int(b) % n
	}
	if g.nodes <= 0 {
		return 0
	}
	return g.random.IntN(n)
}

func (g *generator) emit(format string, args ...any) {
	fmt.Fprintf(&g.code, format+" ", args...)
	g.nodes--
}

func pick[T any](g *generator, from ...T) T { return from[g.choose(len(from))] }

func (g *generator) params(typ int) []string {
	p, _, _ := strings.Cut(g.m.types[typ], "->")
	return strings.Fields(p)
}

func (g *generator) results(typ int) []string {
	_, r, _ := strings.Cut(g.m.types[typ], "->")
	return strings.Fields(r)
}

// The globals of every generated module.
var generatedGlobals = []string{"i32", "i64", "f64", "i32"}

const stepsGlobal = 3

func (g *generator) module() {
	g.m.types = []string{"->", "i32 -> i32", "i32 i32 -> i32", "-> i32", "i64 f64 -> f64", "i32 i64 -> i64 i32", "i32 -> i32"}
	for range g.choose(3) {
		n := g.choose(3)
		types := func(n int) string {
			var s strings.Builder
			for range n {
				s.WriteString(pick(g, "i32 ", "i64 ", "f64 ", "f32 "))
			}
			return s.String()
		}
		g.m.types = append(g.m.types, types(n)+"-> "+types(g.choose(3)))
	}
	g.m.imports = []asmImport{{"env", "odd", "func 1"}}
	g.m.memory = pick(g, "1 3", "1 1", "2", "1 2")
	g.m.globals = []string{"i32 mut i32.const 5", "i64 mut i64.const -7", "f64 mut f64.const 1.5",
		fmt.Sprintf("i32 mut i32.const %d", generatedSteps)}
	g.m.exports = []string{"g0 global 0", "g1 global 1", "g2 global 2", "steps global 3", "memory memory 0"}
	n := 1 + g.choose(6)
	for i := range n {
		g.m.funcs = append(g.m.funcs, asmFunc{typ: g.choose(len(g.m.types))})
		g.m.exports = append(g.m.exports, fmt.Sprintf("f%d func %d", i, i+1))
	}
	size := 1 + g.choose(9)
	g.m.table = fmt.Sprint(size)
	for at := g.choose(3); at < size; {
		e := asmElement{offset: at}
		for range min(1+g.choose(4), size-at) {
			e.funcs = append(e.funcs, g.choose(n+2)-1) // −1 is null, 0 the import
		}
		g.m.elements = append(g.m.elements, e)
		at += len(e.funcs) + g.choose(3)
	}
	for range g.choose(3) {
		g.m.data = append(g.m.data, asmData{g.choose(65000), fmt.Sprintf("data%d", g.choose(100))})
	}
	share := g.nodes / n
	for i := range g.m.funcs {
		rest := g.nodes - share
		g.nodes = share
		g.function(&g.m.funcs[i])
		g.nodes += rest
	}
}

func (g *generator) function(f *asmFunc) {
	g.code.Reset()
	g.locals = append([]string(nil), g.params(f.typ)...)
	params := len(g.locals)
	g.locals = append(g.locals, "i32", "i64", "f64", "f32", "i32", "f64", "f32")
	f.locals = strings.Join(g.locals[params:], " ")
	g.result = g.results(f.typ)
	g.labels = [][]string{g.result}
	g.depth = 0
	if len(g.result) == 0 && g.choose(20) == 19 {
		f.code = "" // nothing but its end
		return
	}
	g.step()
	for range 1 + g.choose(5) {
		g.statement()
	}
	for _, typ := range g.result {
		g.value(typ)
	}
	f.code = g.code.String()
}

// step is what bounds each call.
func (g *generator) step() {
	g.emit("global.get %d i32.const 1 i32.sub global.set %[1]d global.get %[1]d i32.const 0 i32.lt_s if void unreachable end", stepsGlobal)
}

// local returns a local of the type, not one of the last two, which hold NaN
// candidates.
func (g *generator) local(typ string) int {
	var have []int
	for i, l := range g.locals[:len(g.locals)-2] {
		if l == typ {
			have = append(have, i)
		}
	}
	return pick(g, have...)
}

func (g *generator) block(kind string, params, results []string, body func()) {
	typ := strings.Join(params, " ") + "->" + strings.Join(results, " ")
	switch {
	case len(params) == 0 && len(results) == 0:
		g.emit("%s void", kind)
	case len(params) == 0 && len(results) == 1:
		g.emit("%s %s", kind, results[0])
	default:
		at := -1
		for i := range g.m.types {
			if strings.Join(g.params(i), " ")+"->"+strings.Join(g.results(i), " ") == typ {
				at = i
			}
		}
		if at < 0 {
			at = len(g.m.types)
			g.m.types = append(g.m.types, typ)
		}
		g.emit("%s %d", kind, at)
	}
	label := results
	if kind == "loop" {
		label = params
	}
	g.labels = append(g.labels, label)
	g.depth++
	body()
	g.depth--
	g.labels = g.labels[:len(g.labels)-1]
	g.emit("end")
}

func (g *generator) types(most int) []string {
	var s []string
	for range g.choose(most + 1) {
		s = append(s, pick(g, "i32", "i64", "f64", "f32"))
	}
	return s
}

func (g *generator) statement() {
	if g.depth > 6 || g.nodes <= 0 {
		g.emit("nop")
		return
	}
	switch g.choose(15) {
	case 0, 1:
		l := g.choose(len(g.locals) - 2)
		g.value(g.locals[l])
		g.emit("local.set %d", l)
	case 2:
		i := g.choose(3)
		g.value(generatedGlobals[i])
		g.emit("global.set %d", i)
	case 3:
		g.store()
	case 4:
		g.accesses()
	case 5:
		g.value("i32")
		g.block("if", nil, nil, func() {
			g.statements()
			if g.choose(2) == 1 {
				g.emit("else")
				g.statements()
			}
		})
	case 6:
		g.block("block", nil, nil, g.statements)
	case 7:
		g.loop(nil)
	case 8:
		g.branch("br_if")
	case 9:
		if g.choose(3) == 0 {
			g.branch("br")
		} else {
			g.branchTable()
		}
	case 10:
		if g.choose(4) == 0 {
			for _, typ := range g.result {
				g.value(typ)
			}
			g.emit("return")
		} else {
			g.bulk()
		}
	case 11:
		g.call(nil)
	case 12:
		g.callIndirect(nil)
	case 13:
		g.bulk()
	case 14:
		g.value(pick(g, "i32", "i64", "f64", "f32"))
		g.emit("drop")
	}
}

func (g *generator) statements() {
	for range 1 + g.choose(3) {
		g.statement()
	}
}

// loop makes one with up to two parameters and results.
func (g *generator) loop(results []string) {
	params := g.types(2)
	for _, typ := range params {
		g.value(typ)
	}
	extra := g.types(1)
	all := append(append([]string(nil), results...), extra...)
	g.block("loop", params, all, func() {
		for range params {
			g.emit("drop")
		}
		g.step()
		g.statements()
		if g.choose(2) == 0 {
			// Once more, if there is a reason.
			for _, typ := range params {
				g.value(typ)
			}
			g.value("i32")
			g.emit("i32.const 7 i32.and i32.eqz br_if 0")
			for range params {
				g.emit("drop")
			}
		}
		for _, typ := range all {
			g.value(typ)
		}
	})
	for range extra {
		g.emit("drop")
	}
}

func (g *generator) branch(kind string) {
	l := g.choose(len(g.labels))
	types := g.labels[len(g.labels)-1-l]
	for _, typ := range types {
		g.value(typ)
	}
	if kind == "br" {
		g.emit("br %d", l)
		return
	}
	g.value("i32")
	g.emit("br_if %d", l)
	for range types {
		g.emit("drop")
	}
}

// branchTable jumps to labels that want the same types.
func (g *generator) branchTable() {
	l := g.choose(len(g.labels))
	types := g.labels[len(g.labels)-1-l]
	var same []int
	for i := range g.labels {
		if fmt.Sprint(g.labels[len(g.labels)-1-i]) == fmt.Sprint(types) {
			same = append(same, i)
		}
	}
	for _, typ := range types {
		g.value(typ)
	}
	g.value("i32")
	n := 1 + g.choose(4)
	var s strings.Builder
	for range n + 1 {
		s.WriteString(fmt.Sprintf(" %d", pick(g, same...)))
	}
	g.emit("i32.const 7 i32.and br_table %d%s", n, s.String())
}

// address pushes a good address nearly always, often one near the end of a
// page.
func (g *generator) address() {
	switch g.choose(8) {
	case 0, 1:
		g.emit("i32.const %d", pick(g, 0, 4, 1020, 1024, 32768, 65500, 65520))
	case 2, 3:
		g.emit("local.get %d i32.const %d i32.and", g.local("i32"), pick(g, 0xfff8, 0xff, 0x7fff))
	case 4, 5:
		g.value("i32")
		g.emit("i32.const %d i32.and", pick(g, 0x7fff, 0xff8, 0xff))
	case 6:
		g.emit("local.get %d i32.const 4095 i32.and i32.const %d i32.add", g.local("i32"), pick(g, 4, 8, 64, 1000, 60000))
	default:
		if g.choose(4) != 0 {
			g.emit("i32.const %d", pick(g, 65528, 65532, 65535, 16))
			return
		}
		g.emit("i32.const %d", pick(g, 65536, 131064, 131071, -1, -4, 196600))
	}
}

func (g *generator) offset() int {
	if g.choose(40) == 39 {
		return pick(g, 65000, 65535, 70000, 1<<32-1)
	}
	return pick(g, 0, 0, 0, 4, 8, 12, 16)
}

func (g *generator) store() {
	op := pick(g, "i32.store", "i64.store", "f64.store", "f32.store", "i32.store8", "i32.store16", "i64.store32", "i64.store8")
	g.address()
	g.value(op[:3])
	g.emit("%s %d", op, g.offset())
}

// accesses makes a run of loads and stores with one base.
func (g *generator) accesses() {
	base := g.local("i32")
	switch g.choose(8) {
	case 0:
	case 1, 2, 3:
		g.emit("local.get %d i32.const 32760 i32.and local.set %[1]d", base)
	default:
		g.emit("i32.const %d local.set %d", pick(g, 16, 4096, 65490, 65500, 65520, 131000), base)
	}
	into := g.local("i32")
	for range 2 + g.choose(5) {
		off := pick(g, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36)
		g.emit("local.get %d", base)
		switch g.choose(6) {
		case 0:
			g.emit("i32.const %d i32.add", pick(g, 4, 8, 16, 32, -4))
		case 1:
			g.emit("i32.const %d i32.sub", pick(g, 4, 8, 16))
		case 2:
			g.statement() // between the address and its use, and often a branch
		}
		switch g.choose(5) {
		case 0:
			g.emit("i32.load %d local.set %d", off, into)
		case 1:
			g.emit("i64.load %d drop", off)
		case 2:
			g.emit("i32.const %d i32.store %d", g.choose(256), off)
		case 3:
			g.value("i64")
			g.emit("i64.store %d", off)
		default:
			g.emit("i32.load8_s %d local.set %d", off, into)
		}
	}
}

func (g *generator) bulk() {
	length := func() {
		if g.choose(3) == 0 {
			g.emit("i32.const %d", pick(g, 0, 1, 8, 256, 257, 0, 100, 4096, 65536, 300000))
		} else {
			g.value("i32")
			g.emit("i32.const %d i32.and", pick(g, 255, 15, 4095))
		}
	}
	g.address()
	if g.choose(2) == 0 {
		g.address()
		length()
		g.emit("memory.copy")
	} else {
		g.value("i32")
		length()
		g.emit("memory.fill")
	}
}

// call calls a function with these results, or any if nil, and then drops its
// results.
func (g *generator) call(results []string) bool {
	var fit []int
	for i := range len(g.m.funcs) + 1 {
		if results == nil || fmt.Sprint(g.results(g.typeOf(i))) == fmt.Sprint(results) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return false
	}
	f := pick(g, fit...)
	for _, typ := range g.params(g.typeOf(f)) {
		g.value(typ)
	}
	g.emit("call %d", f)
	if results == nil {
		for range g.results(g.typeOf(f)) {
			g.emit("drop")
		}
	}
	return true
}

func (g *generator) typeOf(f int) int {
	if f == 0 {
		return 1
	}
	return g.m.funcs[f-1].typ
}

func (g *generator) callIndirect(results []string) bool {
	var fit []int
	for i := range g.m.types {
		if results == nil || fmt.Sprint(g.results(i)) == fmt.Sprint(results) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return false
	}
	typ := pick(g, fit...)
	// Prefer what some element has.
	if g.choose(12) != 0 {
		for at := range g.m.elements {
			for k, f := range g.m.elements[at].funcs {
				if f >= 0 && g.typeOf(f) == typ {
					for _, p := range g.params(typ) {
						g.value(p)
					}
					g.emit("i32.const %d call_indirect %d 0", g.m.elements[at].offset+k, typ)
					if results == nil {
						for range g.results(typ) {
							g.emit("drop")
						}
					}
					return true
				}
			}
		}
	}
	if g.choose(4) != 0 {
		return results == nil
	}
	for _, p := range g.params(typ) {
		g.value(p)
	}
	g.value("i32")
	g.emit("i32.const 15 i32.and call_indirect %d 0", typ)
	if results == nil {
		for range g.results(typ) {
			g.emit("drop")
		}
	}
	return true
}

// value pushes a value of the type.
func (g *generator) value(typ string) {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 7 || g.nodes <= 0 {
		g.leaf(typ)
		return
	}
	switch g.choose(12) {
	case 0, 1, 2:
		g.leaf(typ)
	case 3, 4:
		g.operation(typ)
	case 5:
		g.address()
		g.emit("%s %d", pick(g, generatedLoads[typ]...), g.offset())
	case 6:
		g.value(typ)
		g.value(typ)
		g.value("i32")
		g.emit("select")
	case 7:
		g.value("i32")
		g.block("if", nil, []string{typ}, func() {
			g.statements()
			g.value(typ)
			g.emit("else")
			g.value(typ)
		})
	case 8:
		g.block("block", nil, []string{typ}, func() {
			g.statements()
			g.value(typ)
		})
	case 9:
		g.loop([]string{typ})
	case 10:
		if !g.call([]string{typ}) {
			g.leaf(typ)
		}
	case 11:
		if !g.callIndirect([]string{typ}) {
			g.leaf(typ)
		}
	}
}

var generatedLoads = map[string][]string{
	"i32": {"i32.load", "i32.load8_s", "i32.load8_u", "i32.load16_s", "i32.load16_u"},
	"i64": {"i64.load", "i64.load8_u", "i64.load16_s", "i64.load32_s", "i64.load32_u"},
	"f32": {"f32.load"},
	"f64": {"f64.load"},
}

func (g *generator) leaf(typ string) {
	switch g.choose(3) {
	case 0:
		switch typ {
		case "i32", "i64":
			g.emit("%s.const %d", typ, pick(g, 0, 1, -1, 2, 7, 100, 65536, 1<<31-1, -1<<31))
		default:
			g.emit("%s.const %s", typ, pick(g, "0", "1", "-1.5", "1e30", "inf", "nan", "-0"))
		}
	case 1:
		for i, have := range generatedGlobals[:3] {
			if have == typ {
				g.emit("global.get %d", i)
				return
			}
		}
		fallthrough
	default:
		g.emit("local.get %d", g.local(typ))
	}
}

func (g *generator) operation(typ string) {
	if typ == "f32" || typ == "f64" {
		g.value(typ)
		g.value(typ)
		scratch := len(g.locals) - 2 // f64
		if typ == "f32" {
			scratch++
			g.emit("%s", pick(g, "f32.add", "f32.mul", "f32.div", "f32.sub"))
		} else {
			g.emit("%s", pick(g, "f64.add", "f64.mul", "f64.div", "f64.sub", "f64.min", "f64.max"))
		}
		g.emit("local.tee %d %s.const nan local.get %[1]d local.get %[1]d %[2]s.eq select", scratch, typ)
		return
	}
	switch g.choose(6) {
	case 0:
		if typ == "i64" {
			g.value("i32")
			g.emit("i64.extend_i32_u")
		} else {
			g.value("i64")
			g.emit("i32.wrap_i64")
		}
	case 1:
		if typ == "i32" {
			g.emit("memory.size")
			if g.choose(2) == 0 {
				g.emit("drop i32.const 1 memory.grow")
			}
		} else {
			g.value(typ)
			g.emit("%s.popcnt", typ)
		}
	case 2:
		if typ == "i32" {
			g.value("i32")
			g.emit("i32.eqz")
		} else {
			g.value(typ)
			g.emit("%s.clz", typ)
		}
	default:
		g.value(typ)
		g.value(typ)
		g.emit("%s.%s", typ, pick(g, "add", "sub", "mul", "and", "or", "xor", "shl", "shr_u", "shr_s", "rotl", "add", "sub", "or", "xor", "mul", "div_u", "rem_s", "div_s"))
	}
}

func (g *generator) argument(typ string) uint64 {
	v := pick(g, uint64(0), 1, 2, 5, 64, 1000, 65530, 1<<32-1)
	switch typ {
	case "i32":
		return v & (1<<32 - 1)
	case "f32":
		return 0x3f80_0000 | v&0xffff
	case "f64":
		return 0x3ff0_0000_0000_0000 | v
	}
	return v
}
