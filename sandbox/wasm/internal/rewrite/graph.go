package rewrite

// graph is the call graph: one node for each function with a body, and behind
// them one for each signature. A function that calls indirectly points to the
// signature; a signature points to every function that has it and whose
// address is taken.
type graph struct {
	nodes int
	funcs int
	begin []uint32 // edges of node n are edges[begin[n]:begin[n+1]]
	edges []uint32
}

func (g *graph) out(n uint32) []uint32 { return g.edges[g.begin[n]:g.begin[n+1]] }

func newGraph(p *parsed, s *scanned) *graph {
	g := &graph{funcs: len(p.bodies), nodes: len(p.bodies) + len(p.types)}
	taken := make([][]uint32, len(p.types))
	total := len(s.calls) + len(s.sigs)
	for f, is := range s.taken {
		if is {
			sig := p.types[p.funcs[f]].same
			taken[sig] = append(taken[sig], uint32(f))
			total++
		}
	}
	g.begin = make([]uint32, 0, g.nodes+1)
	g.edges = make([]uint32, 0, total)
	for f := range p.bodies {
		g.begin = append(g.begin, uint32(len(g.edges)))
		g.edges = append(g.edges, s.callsOf(f)...)
		for _, sig := range s.sigsOf(f) {
			g.edges = append(g.edges, uint32(g.funcs)+sig)
		}
	}
	for sig := range p.types {
		g.begin = append(g.begin, uint32(len(g.edges)))
		g.edges = append(g.edges, taken[sig]...)
	}
	g.begin = append(g.begin, uint32(len(g.edges)))
	return g
}

// components calls visit with every strongly connected component that has a
// cycle, of the graph without the nodes that removed marks and, if within is
// not nil, limited to those nodes. The slice is reused. It is Tarjan's
// algorithm without recursion.
func (g *graph) components(removed []bool, within []uint32, visit func([]uint32)) {
	const unseen = 0
	index := make([]uint32, g.nodes)
	low := make([]uint32, g.nodes)
	onStack := make([]bool, g.nodes)
	var inside []bool
	if within != nil {
		inside = make([]bool, g.nodes)
		for _, n := range within {
			inside[n] = true
		}
	}
	skip := func(n uint32) bool { return removed[n] || (inside != nil && !inside[n]) }
	type frame struct{ node, edge uint32 }
	var (
		stack []uint32
		work  []frame
		next  uint32 = 1
	)
	enter := func(n uint32) {
		index[n], low[n] = next, next
		next++
		stack = append(stack, n)
		onStack[n] = true
		work = append(work, frame{node: n, edge: g.begin[n]})
	}
	from := func(root uint32) {
		if skip(root) || index[root] != unseen {
			return
		}
		enter(root)
		for len(work) > 0 {
			top := &work[len(work)-1]
			n := top.node
			if top.edge < g.begin[n+1] {
				to := g.edges[top.edge]
				top.edge++
				switch {
				case skip(to):
				case index[to] == unseen:
					enter(to)
				case onStack[to]:
					low[n] = min(low[n], index[to])
				}
				continue
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				parent := work[len(work)-1].node
				low[parent] = min(low[parent], low[n])
			}
			if low[n] != index[n] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != n {
				at--
			}
			members := stack[at:]
			for _, m := range members {
				onStack[m] = false
			}
			stack = stack[:at]
			if len(members) > 1 || g.selfLoop(n) {
				visit(members)
			}
		}
	}
	if within != nil {
		for _, n := range within {
			from(n)
		}
		return
	}
	for n := range uint32(g.nodes) {
		from(n)
	}
}

func (g *graph) selfLoop(n uint32) bool {
	for _, to := range g.out(n) {
		if to == n {
			return true
		}
	}
	return false
}

// cut picks functions so that every cycle of the graph holds one of them: the
// result is indexed by function. It prefers few functions, and is not minimal.
func (g *graph) cut() []bool {
	removed := make([]bool, g.nodes)
	callers, targets := g.signatures()
	// First the cycles through signatures: on each signature's cycles meter
	// either those who call it or those it can reach, whichever are fewer.
	component := make([]uint32, g.nodes)
	var number uint32
	g.components(removed, nil, func(members []uint32) {
		number++
		for _, n := range members {
			component[n] = number
		}
	})
	for sig := range uint32(g.nodes - g.funcs) {
		c := component[uint32(g.funcs)+sig]
		if c == 0 {
			continue
		}
		side := func(funcs []uint32, mark bool) (count int) {
			for _, f := range funcs {
				if component[f] == c && !removed[f] {
					count++
					if mark {
						removed[f] = true
					}
				}
			}
			return count
		}
		if side(callers[sig], false) < side(targets(sig), false) {
			side(callers[sig], true)
		} else {
			side(targets(sig), true)
		}
	}
	// Then, of what is left, the function with the most calls in and out of
	// its component, until no component is left.
	var pending [][]uint32
	keep := func(members []uint32) { pending = append(pending, append([]uint32(nil), members...)) }
	g.components(removed, nil, keep)
	for len(pending) > 0 {
		members := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		removed[g.busiest(members)] = true
		g.components(removed, members, keep)
	}
	return removed[:g.funcs]
}

// signatures returns, for each signature, the functions that call it, each
// once, and the functions that it can reach.
func (g *graph) signatures() (callers [][]uint32, targets func(sig uint32) []uint32) {
	callers = make([][]uint32, g.nodes-g.funcs)
	for f := range uint32(g.funcs) {
		for _, to := range g.out(f) {
			if to < uint32(g.funcs) {
				continue
			}
			sig := to - uint32(g.funcs)
			if c := callers[sig]; len(c) == 0 || c[len(c)-1] != f {
				callers[sig] = append(c, f)
			}
		}
	}
	return callers, func(sig uint32) []uint32 { return g.out(uint32(g.funcs) + sig) }
}

// busiest returns the function with the largest product of its calls from and
// to other members of its component.
func (g *graph) busiest(members []uint32) uint32 {
	in := make(map[uint32]int, len(members))
	for _, n := range members {
		in[n] = 0
	}
	out := make(map[uint32]int, len(members))
	for _, n := range members {
		for _, to := range g.out(n) {
			if to == n {
				return n // calls itself: has to be taken in any case
			}
			if _, ok := in[to]; ok {
				in[to]++
				out[n]++
			}
		}
	}
	best := members[0]
	for _, n := range members {
		if in[n]*out[n] > in[best]*out[best] {
			best = n
		}
	}
	return best
}
