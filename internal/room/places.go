package room

import (
	"context"
	"sync"
)

// places bounds how many pieces of work run and wait. Whoever has the fewest is
// next, and when the queue is full the newest of whoever waits most often makes
// room for somebody who waits less.
type places struct {
	most, each, queue int

	mu      sync.Mutex
	running int
	waiting int
	arrived uint64
	callers map[Caller]*taken // those with work that runs or waits
}

// taken are the places of one caller.
type taken struct {
	running int
	waiting []*waiter // the oldest first
}

// waiter is work that waits for a place.
type waiter struct {
	number uint64    // the older, the smaller
	let    chan bool // told once: whether it may run
}

// full reports whether there would be no room for a call, not even to wait.
func (a *places) full(id Caller) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.callers[id]
	if who == nil {
		who = &taken{}
	}
	return !a.mayRun(who) && a.waiting >= a.queue && a.longest(who) == nil
}

// enter waits for a place. ok is false if there is no room, or ctx ends.
func (a *places) enter(ctx context.Context, id Caller) (leave func(), ok bool) {
	if !a.wait(ctx, id) {
		return func() {}, false
	}
	return sync.OnceFunc(func() { a.leave(id) }), true
}

func (a *places) wait(ctx context.Context, id Caller) bool {
	a.mu.Lock()
	who := a.callers[id]
	if who == nil {
		who = &taken{}
	}
	if a.mayRun(who) {
		a.run(who)
		a.callers[id] = who
		a.mu.Unlock()
		return true
	}
	if a.waiting >= a.queue {
		most := a.longest(who)
		if most == nil {
			a.mu.Unlock()
			return false
		}
		newest := len(most.waiting) - 1
		most.waiting[newest].let <- false
		most.waiting = most.waiting[:newest]
		a.waiting--
	}
	a.arrived++
	w := &waiter{number: a.arrived, let: make(chan bool, 1)}
	who.waiting = append(who.waiting, w)
	a.waiting++
	a.callers[id] = who
	a.mu.Unlock()
	select {
	case let := <-w.let:
		return let
	case <-ctx.Done():
		a.giveUp(id, w)
		return false
	}
}

// mayRun reports whether a call of who can run now. Whoever waits cannot: a place
// that is free is given away at once. Preconditions: a.mu is held.
func (a *places) mayRun(who *taken) bool { return a.running < a.most && who.running < a.each }

func (a *places) run(who *taken) {
	who.running++
	a.running++
}

// longest is who has the most calls that wait, if that is more than who would have
// with one more. Preconditions: a.mu is held.
func (a *places) longest(who *taken) *taken {
	most := who
	for _, c := range a.callers {
		if len(c.waiting) > len(most.waiting) {
			most = c
		}
	}
	if len(most.waiting) <= len(who.waiting)+1 {
		return nil
	}
	return most
}

// giveUp takes a call that waits out of the queue.
func (a *places) giveUp(id Caller, w *waiter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case let := <-w.let:
		if let {
			a.left(id) // it was let in meanwhile
		}
		return
	default:
	}
	who := a.callers[id]
	for i := range who.waiting {
		if who.waiting[i] == w {
			who.waiting = append(who.waiting[:i:i], who.waiting[i+1:]...)
			a.waiting--
			break
		}
	}
	a.forget(id)
}

// leave gives the place of a call of that caller to the next.
func (a *places) leave(id Caller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left(id)
}

func (a *places) left(id Caller) {
	a.callers[id].running--
	a.running--
	a.forget(id)
	for next := a.next(); next != nil; next = a.next() {
		next.waiting[0].let <- true
		next.waiting = next.waiting[1:]
		a.waiting--
		a.run(next)
	}
}

// next is whose turn it is: of those who wait and may run, who has the fewest calls
// that run, and of these who has waited longest. Preconditions: a.mu is held.
func (a *places) next() (next *taken) {
	for _, c := range a.callers {
		if len(c.waiting) == 0 || !a.mayRun(c) {
			continue
		}
		if next == nil || c.running < next.running || c.running == next.running && c.waiting[0].number < next.waiting[0].number {
			next = c
		}
	}
	return next
}

// forget forgets a caller who has nothing under way. Preconditions: a.mu is held.
func (a *places) forget(id Caller) {
	if c := a.callers[id]; c != nil && c.running == 0 && len(c.waiting) == 0 {
		delete(a.callers, id)
	}
}

// counts are how many calls run and wait.
func (a *places) counts() (running, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, a.waiting
}
