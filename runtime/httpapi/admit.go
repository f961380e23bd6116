package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/mayfly-run/mayfly/internal/room"
)

func (c Caller) id() room.Caller { return room.Caller{Principal: c.Principal, Tenant: c.Tenant} }

// makeRoom makes what callers share.
func (s *Server) makeRoom() {
	c := s.config
	places := room.Config{Places: c.MaxCalls, PlacesEach: c.MaxCallsEach, Queue: c.MaxQueue}
	acts := places
	acts.Queue *= 4 // they wait for each other, and not for calls
	s.acts = room.New(acts)
	places.Bytes, places.BytesEach = c.MaxMemory, c.MaxMemory
	if c.MaxCallsEach < c.MaxCalls {
		// As with places: nobody has all. The division first, so that nothing
		// overflows.
		places.BytesEach = max(c.MaxMemory/int64(c.MaxCalls)*int64(c.MaxCallsEach), min(4*c.MaxBody, c.MaxMemory))
	}
	s.work = room.New(places)
	s.unpacking = room.New(room.Config{Places: 1, PlacesEach: 1, Queue: c.MaxCalls}).Of(room.Caller{})
}

func (q *request) noRoom() *refused { return q.s.busy("as many requests are answered and wait as may") }

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// place waits for a place for a call of the caller's, until the request ends.
func (q *request) place() *refused {
	q.s.running.Add(1)
	q.leave = append(q.leave, q.s.running.Done)
	leave, ok := q.s.work.Of(q.caller.id()).Enter(q.r.Context())
	if !ok {
		return q.noRoom()
	}
	q.leave = append(q.leave, leave)
	if q.s.isStopping() {
		return refuse(http.StatusServiceUnavailable, "stopping", "", "the server is about to end; nothing was done").retry(1)
	}
	return nil
}

// act waits for a place for what is no call, until the request ends.
func (q *request) act() *refused {
	leave, ok := q.s.acts.Of(q.caller.id()).Enter(q.r.Context())
	if !ok {
		return q.noRoom()
	}
	q.leave = append(q.leave, leave)
	return nil
}

// hold takes memory for what is made of a request, until that ends.
func (q *request) hold(n int64) *refused {
	if most := q.s.work.Of(q.caller.id()).Most(); n > most {
		return refuse(http.StatusRequestEntityTooLarge, "too_large", "", "as values it would take %d bytes of memory, and it may take %d; send less at once", n, most)
	}
	if !q.held.Add(n) {
		return q.s.busy("other requests take the memory that this one needs")
	}
	return nil
}

// end gives back what the request has. It can be called more than once.
func (q *request) end() {
	for _, leave := range slices.Backward(q.leave) {
		leave()
	}
	q.leave = nil
	if q.held != nil {
		q.held.Release()
	}
}

// Room is what a caller may have under way. Calls that reach a server by another way
// than its own routes take their places from it.
type Room struct {
	s  *Server
	id room.Caller
}

// RoomOf gives the room of who sent a request that was let in.
func RoomOf(ctx context.Context) (Room, bool) {
	q, ok := ctx.Value(callerKey{}).(*request)
	if !ok {
		return Room{}, false
	}
	return Room{q.s, q.caller.id()}, true
}

// Call waits for a place for a call, which leave gives back. ok is false if there is
// none, if ctx ends, or if the server is about to.
func (r Room) Call(ctx context.Context) (leave func(), ok bool) {
	if leave, ok = r.s.work.Of(r.id).Enter(ctx); ok && r.s.isStopping() {
		leave()
		ok = false
	}
	return leave, r.told(ctx, ok)
}

// Act waits for a place for what is short and no call.
func (r Room) Act(ctx context.Context) (leave func(), ok bool) {
	leave, ok = r.s.acts.Of(r.id).Enter(ctx)
	return leave, r.told(ctx, ok)
}

// Take takes n bytes of memory, which give gives back. ok is false if there are not
// so many.
func (r Room) Take(n int64) (give func(), ok bool) {
	give, ok = r.s.work.Of(r.id).Take(n)
	return give, r.told(r.s.calls, ok)
}

// told counts what is told that the host is busy.
func (r Room) told(ctx context.Context, ok bool) bool {
	if !ok && ctx.Err() == nil {
		r.s.refuse(ctx, r.id)
	}
	return ok
}

// mcp hands a request to the handler of /mcp.
func (q *request) mcp() {
	q.s.config.MCP.ServeHTTP(&patient{ResponseWriter: q.w, s: q.s}, q.r)
}

// patient gives the client time for each part of an answer that goes on.
type patient struct {
	http.ResponseWriter
	s *Server
}

func (p *patient) Write(text []byte) (int, error) {
	p.s.writeDeadline(p.ResponseWriter)
	return p.ResponseWriter.Write(text)
}

// Flush is for handlers that look for an [http.Flusher].
func (p *patient) Flush() {
	p.s.writeDeadline(p.ResponseWriter)
	_ = http.NewResponseController(p.ResponseWriter).Flush() // what failed, the next Write says
}

// Unwrap is for [http.ResponseController].
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
