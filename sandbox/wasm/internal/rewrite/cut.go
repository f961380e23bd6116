package rewrite

import (
	"container/heap"
	"slices"
)

// cut says where calls are metered.
type cut struct {
	// entry: the function is metered at its entry. sites: instead, its calls
	// of members of its own component are, each in front of the call.
	entry, sites []bool
	// component numbers the strongly connected components that have a cycle,
	// from 1, by node; 0 is in none.
	component []uint32
}

// maxSites is how many calls of one function are metered in place of its
// entry. They lie on no loop, so that a function with one such call never uses
// more fuel than by its entry, and often less: what everybody calls, such as
// an allocator, calls back into the interpreter on paths that hardly run.
const maxSites = 3

// newCut picks places so that every cycle of calls passes one, few and seldom
// reached as far as can be told from the calls alone. It is a heuristic: the
// best choice is NP-hard and would need a profile. unmetered holds the calls
// that are reached without a loop, all the others too.
func newCut(unmetered, all *graph) *cut {
	g := unmetered
	c := &cut{entry: make([]bool, g.funcs), sites: make([]bool, g.funcs), component: make([]uint32, g.nodes)}
	s := newSearcher(g)
	rank := all.rank()
	everything := make([]uint32, g.nodes)
	for n := range everything {
		everything[n] = uint32(n)
	}
	var pending [][]uint32
	number := uint32(0)
	s.components(everything, func(members []uint32) {
		number++
		for _, n := range members {
			c.component[n] = number
		}
		pending = append(pending, slices.Clone(members))
	})
	var chosen []uint32
	for len(pending) > 0 {
		members := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		chosen = append(chosen, s.pick(members, rank)...)
		s.components(members, func(members []uint32) { pending = append(pending, slices.Clone(members)) })
	}
	s.spare(chosen, rank)
	for _, n := range chosen {
		if !s.removed[n] {
			continue
		}
		sites := 0
		for _, to := range g.out(n) {
			if c.component[to] == c.component[n] {
				sites++
			}
		}
		if sites <= maxSites {
			c.sites[n] = true
		} else {
			c.entry[n] = true
		}
	}
	return c
}

// pick removes some functions of a component, the cheapest for what they cut
// first, and returns them. It stops early because a component falls apart as
// its functions go.
func (s *searcher) pick(members []uint32, rank []float64) []uint32 {
	var q pickQueue
	for i, n := range members {
		s.place[n] = int32(i + 1)
	}
	defer func() {
		for _, n := range members {
			s.place[n] = 0
		}
	}()
	in := make([]int, len(members))
	out := make([]int, len(members))
	for i, n := range members {
		for _, to := range s.g.out(n) {
			if j := s.place[to] - 1; j >= 0 {
				in[j]++
				out[i]++
			}
		}
	}
	// callers[from[i]:from[i+1]] are the places of those that call member i.
	from := make([]int, len(members)+1)
	for i := range members {
		from[i+1] = from[i] + in[i]
	}
	callers := make([]int32, from[len(members)])
	filled := slices.Clone(from)
	for i, n := range members {
		for _, to := range s.g.out(n) {
			if j := s.place[to] - 1; j >= 0 {
				callers[filled[j]] = int32(i)
				filled[j]++
			}
		}
	}
	score := func(i int) float64 { return rank[members[i]] / (float64(in[i]) * float64(out[i])) }
	for i, n := range members {
		if n < uint32(s.g.funcs) {
			q = append(q, pickItem{score(i), i})
		}
	}
	heap.Init(&q)
	var picked []uint32
	// gone nodes lie on no cycle any more.
	gone := make([]bool, len(members))
	var todo []int32
	drop := func(i int) {
		todo = append(todo[:0], int32(i))
		for len(todo) > 0 {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if gone[i] {
				continue
			}
			gone[i] = true
			for _, to := range s.g.out(members[i]) {
				if j := s.place[to] - 1; j >= 0 && !gone[j] {
					if in[j]--; in[j] == 0 {
						todo = append(todo, j)
					}
				}
			}
			for _, j := range callers[from[i]:from[i+1]] {
				if !gone[j] {
					if out[j]--; out[j] == 0 {
						todo = append(todo, j)
					}
				}
			}
		}
	}
	for limit := 1 + len(members)/64; len(picked) < limit && len(q) > 0; {
		item := heap.Pop(&q).(pickItem)
		if gone[item.member] {
			continue
		}
		// Scores only grow, as the neighbours go.
		if now := score(item.member); now > item.score {
			heap.Push(&q, pickItem{now, item.member})
			continue
		}
		n := members[item.member]
		s.removed[n] = true
		picked = append(picked, n)
		drop(item.member)
	}
	return picked
}

// spare takes functions back that turned out not to be needed, the busiest
// first.
func (s *searcher) spare(chosen []uint32, rank []float64) {
	slices.SortFunc(chosen, func(a, b uint32) int {
		if rank[a] != rank[b] {
			if rank[a] > rank[b] {
				return -1
			}
			return 1
		}
		return int(a) - int(b)
	})
	budget := 30_000_000
	for _, n := range chosen {
		if budget <= 0 {
			return
		}
		if !s.onCycle(n, &budget) {
			s.removed[n] = false
		}
	}
}

type pickItem struct {
	score  float64
	member int
}

// pickQueue is a heap by score, then by place, so that the choice is the same
// every time.
type pickQueue []pickItem

func (q pickQueue) Len() int { return len(q) }
func (q pickQueue) Less(i, j int) bool {
	return q[i].score < q[j].score || q[i].score == q[j].score && q[i].member < q[j].member
}
func (q pickQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pickQueue) Push(x any)   { *q = append(*q, x.(pickItem)) }
func (q *pickQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
