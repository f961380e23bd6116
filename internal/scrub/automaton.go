package scrub

import "math/bits"

// automaton finds all of a set of patterns in one pass (Aho and Corasick). Its
// time does not depend on how the text is made, but for the number of different
// bytes that can follow one another in the patterns.
type automaton struct {
	nodes []node
	// first has the root's children, which nearly every byte of a text asks for.
	first [256]int32
	// deep is the length of the longest pattern.
	deep int
}

// node is a prefix of patterns. Node 0 is the empty one; 0 as a child is none.
type node struct {
	child, next int32 // the first child, and the next one of the same parent
	fail        int32 // the longest prefix that this one ends in
	depth       int32
	found       int32 // length of the longest pattern that this prefix ends in
	name        int32
	label       byte
}

func newAutomaton() *automaton { return &automaton{nodes: make([]node, 1)} }

func (a *automaton) add(pattern []byte, name int32) {
	if len(pattern) == 0 {
		return
	}
	at := int32(0)
	for _, b := range pattern {
		to := a.step(at, b)
		if to == 0 {
			to = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{label: b, depth: a.nodes[at].depth + 1, next: a.nodes[at].child})
			a.nodes[at].child = to
			if at == 0 {
				a.first[b] = to
			}
		}
		at = to
	}
	if n := &a.nodes[at]; n.found == 0 {
		n.found, n.name = n.depth, name
	}
	a.deep = max(a.deep, len(pattern))
}

// step gives the child of a node; 0: there is none.
func (a *automaton) step(at int32, b byte) int32 {
	if at == 0 {
		return a.first[b]
	}
	to := a.nodes[at].child
	for to != 0 && a.nodes[to].label != b {
		to = a.nodes[to].next
	}
	return to
}

// finish links the nodes, shorter prefixes first.
func (a *automaton) finish() {
	queue := make([]int32, 0, len(a.nodes))
	for to := a.nodes[0].child; to != 0; to = a.nodes[to].next {
		queue = append(queue, to)
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for to := a.nodes[at].child; to != 0; to = a.nodes[to].next {
			n := &a.nodes[to]
			n.fail = a.follow(a.nodes[at].fail, n.label)
			if f := a.nodes[n.fail]; n.found == 0 {
				n.found, n.name = f.found, f.name
			}
			queue = append(queue, to)
		}
	}
}

// follow gives the longest prefix that what is at and one more byte end in.
func (a *automaton) follow(at int32, b byte) int32 {
	for {
		if to := a.step(at, b); to != 0 || at == 0 {
			return to
		}
		at = a.nodes[at].fail
	}
}

// scratch is memory that searches can share.
type scratch struct {
	starts []int // a power of two of them
	places []place
}

// ring has room for where the last n bytes stood in the text.
func (m *scratch) ring(n int) []int {
	if n >= len(m.starts) {
		m.starts = make([]int, 1<<bits.Len(uint(n)))
	}
	return m.starts
}

// find adds the places of all patterns in what r reads. If the text was cut, a
// pattern that its end is the start of counts as well, up to cut, its length.
func (a *automaton) find(m *scratch, r reader, cut int) {
	places := m.places
	mine := len(places)
	starts := m.ring(a.deep)
	size := len(starts)
	at, n, end := int32(0), 0, 0
	for {
		u, ok := r.next()
		if !ok {
			break
		}
		starts[n&(size-1)] = u.start
		n++
		end = u.end
		at = a.follow(at, u.b)
		node := &a.nodes[at]
		if node.found == 0 {
			continue
		}
		p := place{starts[(n-int(node.found))&(size-1)], end, node.name}
		// A pattern within a longer one that ends later comes first: keep one.
		if k := len(places) - 1; k >= mine && places[k].end > p.start {
			if p.start <= places[k].start {
				places[k].start, places[k].name = p.start, p.name
			}
			places[k].end = p.end
		} else {
			places = append(places, p)
		}
	}
	if depth := int(a.nodes[at].depth); cut > 0 && depth > 0 {
		places = append(places, place{starts[(n-depth)&(size-1)], cut, a.nameBelow(at)})
	}
	m.places = places
}

// nameBelow gives the name of a pattern that a prefix belongs to.
func (a *automaton) nameBelow(at int32) int32 {
	for a.nodes[at].child != 0 {
		at = a.nodes[at].child
	}
	return a.nodes[at].name
}
