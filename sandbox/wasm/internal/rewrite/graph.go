package rewrite

import "slices"

// graph is a call graph: one node for each function with a body, and behind
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

// newGraph makes the graph of all calls, or, if unmetered, of those that are
// reached without passing a loop.
func newGraph(p *parsed, s *scanned, unmetered bool) *graph {
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
	add := func(calls []uint32, base uint32) {
		for _, to := range calls {
			if to&inLoop == 0 || !unmetered {
				g.edges = append(g.edges, base+to&^inLoop)
			}
		}
	}
	for f := range p.bodies {
		g.begin = append(g.begin, uint32(len(g.edges)))
		add(s.callsOf(f), 0)
		add(s.sigsOf(f), uint32(g.funcs))
	}
	for sig := range p.types {
		g.begin = append(g.begin, uint32(len(g.edges)))
		g.edges = append(g.edges, taken[sig]...)
	}
	g.begin = append(g.begin, uint32(len(g.edges)))
	return g
}

// rank estimates how often each function runs, as the share of time that
// somebody spends there who follows calls at random and now and then starts
// again anywhere. What everybody calls (allocation, reference counts) comes
// out on top.
func (g *graph) rank() []float64 {
	const (
		follow = 0.85
		rounds = 20
	)
	now, next := make([]float64, g.nodes), make([]float64, g.nodes)
	for n := range now {
		now[n] = 1
	}
	for range rounds {
		for n := range next {
			next[n] = 1 - follow
		}
		for n := range uint32(g.nodes) {
			out := g.out(n)
			share := follow * now[n] / float64(max(len(out), 1))
			for _, to := range out {
				next[to] += share
			}
		}
		now, next = next, now
	}
	return now
}

// searcher finds strongly connected components again and again.
type searcher struct {
	g *graph
	// removed nodes, and the edges from and to them, are left out.
	removed []bool

	index, low []uint32
	onStack    []bool
	stack      []uint32
	work       []searchFrame
	// place is used by pick.
	place []int32
}

type searchFrame struct{ node, edge uint32 }

func newSearcher(g *graph) *searcher {
	return &searcher{
		g: g, removed: make([]bool, g.nodes),
		index: make([]uint32, g.nodes), low: make([]uint32, g.nodes), onStack: make([]bool, g.nodes),
		place: make([]int32, g.nodes),
	}
}

// components calls visit with every strongly connected component that has a
// cycle among the given nodes, which must be all nodes or a component of an
// earlier search. The slice is reused. It is Tarjan's algorithm without
// recursion.
func (s *searcher) components(among []uint32, visit func([]uint32)) {
	// Index 0 is unseen; nodes outside count as seen and finished.
	for _, n := range among {
		s.index[n] = 0
	}
	next := uint32(1)
	enter := func(n uint32) {
		s.index[n], s.low[n] = next, next
		next++
		s.stack = append(s.stack, n)
		s.onStack[n] = true
		s.work = append(s.work, searchFrame{node: n, edge: s.g.begin[n]})
	}
	for _, root := range among {
		if s.removed[root] || s.index[root] != 0 {
			continue
		}
		enter(root)
		for len(s.work) > 0 {
			top := &s.work[len(s.work)-1]
			n := top.node
			if top.edge < s.g.begin[n+1] {
				to := s.g.edges[top.edge]
				top.edge++
				switch {
				case s.removed[to]:
				case s.index[to] == 0:
					enter(to)
				case s.onStack[to]:
					s.low[n] = min(s.low[n], s.index[to])
				}
				continue
			}
			s.work = s.work[:len(s.work)-1]
			if len(s.work) > 0 {
				parent := s.work[len(s.work)-1].node
				s.low[parent] = min(s.low[parent], s.low[n])
			}
			if s.low[n] != s.index[n] {
				continue
			}
			at := len(s.stack) - 1
			for s.stack[at] != n {
				at--
			}
			members := s.stack[at:]
			for _, m := range members {
				s.onStack[m] = false
			}
			s.stack = s.stack[:at]
			if len(members) > 1 || s.selfLoop(n) {
				visit(members)
			}
		}
	}
	// Whatever was left out counts as seen in a later search among others.
	for _, n := range among {
		s.index[n] = ^uint32(0)
	}
}

func (s *searcher) selfLoop(n uint32) bool {
	return slices.Contains(s.g.out(n), n)
}

// onCycle reports whether n, which may be removed itself, would be on a cycle.
// It spends at most budget edges, and says yes when that is not enough.
func (s *searcher) onCycle(n uint32, budget *int) bool {
	s.stack = append(s.stack[:0], n)
	var seen []uint32
	defer func() {
		for _, m := range seen {
			s.onStack[m] = false
		}
		s.stack = s.stack[:0]
	}()
	for len(s.stack) > 0 {
		from := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		for _, to := range s.g.out(from) {
			if *budget--; to == n || *budget <= 0 {
				return true
			}
			if !s.removed[to] && !s.onStack[to] {
				s.onStack[to] = true
				seen = append(seen, to)
				s.stack = append(s.stack, to)
			}
		}
	}
	return false
}
