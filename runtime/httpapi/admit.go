package httpapi

import (
	"context"
	"net/http"
	"sync"
)

// admission bounds how many calls run and wait. Callers share the places: whoever
// has the fewest is next, and when the queue is full the newest of whoever waits
// most often makes room for somebody who waits less. So one caller's flood is that
// caller's alone.
type admission struct {
	calls, each, queue int

	mu      sync.Mutex
	running int
	waiting int
	arrived uint64
	callers map[callerID]*admitted // those with a call that runs or waits
}

// callerID is who shares.
type callerID struct{ principal, tenant string }

func (c Caller) id() callerID { return callerID{c.Principal, c.Tenant} }

// admitted are the calls of one caller.
type admitted struct {
	running int
	waiting []*waiter // the oldest first
}

// waiter is a call that waits for a place.
type waiter struct {
	number uint64    // the older, the smaller
	let    chan bool // told once: whether it may run
}

// newAdmission makes an admission; each is how many places one caller may have.
func newAdmission(calls, each, queue int) *admission {
	return &admission{calls: calls, each: each, queue: queue, callers: make(map[callerID]*admitted)}
}

// full reports whether there would be no room for a call, not even to wait.
func (a *admission) full(id callerID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.callers[id]
	if who == nil {
		who = &admitted{}
	}
	return !a.mayRun(who) && a.waiting >= a.queue && a.longest(who) == nil
}

// enter waits for a place. It reports false if there is no room, or ctx ends.
func (a *admission) enter(ctx context.Context, id callerID) bool {
	a.mu.Lock()
	who := a.callers[id]
	if who == nil {
		who = &admitted{}
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
func (a *admission) mayRun(who *admitted) bool { return a.running < a.calls && who.running < a.each }

func (a *admission) run(who *admitted) {
	who.running++
	a.running++
}

// longest is who has the most calls that wait, if that is more than who would have
// with one more. Preconditions: a.mu is held.
func (a *admission) longest(who *admitted) *admitted {
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
func (a *admission) giveUp(id callerID, w *waiter) {
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
func (a *admission) leave(id callerID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left(id)
}

func (a *admission) left(id callerID) {
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
func (a *admission) next() (next *admitted) {
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
func (a *admission) forget(id callerID) {
	if c := a.callers[id]; c != nil && c.running == 0 && len(c.waiting) == 0 {
		delete(a.callers, id)
	}
}

// counts are how many calls run and wait.
func (a *admission) counts() (running, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, a.waiting
}

// busy is what a client is told for whom there is no room.
func (s *Server) busy(why string) *refused {
	if s.config.Metrics != nil {
		s.config.Metrics.busy.Inc()
	}
	return refuse(http.StatusServiceUnavailable, "busy", "", "%s; nothing was done; send the request again a little later", why).retry(1)
}

// place takes a place for a piece of work of the caller's, which must be given
// back.
func (q *request) place() (leave func(), _ *refused) {
	id := q.caller.id()
	if !q.s.admission.enter(q.r.Context(), id) {
		return nil, q.noRoom()
	}
	return func() { q.s.admission.leave(id) }, nil
}

func (q *request) noRoom() *refused { return q.s.busy("as many calls run and wait as may") }

// readWork reads the body of a request that needs a place. If there will be none,
// there is no use in reading it.
func (q *request) readWork(v any) *refused {
	if q.s.admission.full(q.caller.id()) {
		return q.noRoom()
	}
	return q.read(v)
}
