// Package room bounds what is under way in a server, and shares it out between
// callers: places for pieces of work, and bytes of memory.
//
// Whoever has the fewest places is next, and nobody can have all of either. So one
// caller's flood is that caller's alone.
package room

import "context"

// Config says how much there is.
type Config struct {
	// Places is how many pieces of work run at once; PlacesEach, how many of one
	// caller. Queue is how many more may wait.
	Places, PlacesEach, Queue int
	// Bytes is how much memory there is; BytesEach, how much one caller may hold.
	Bytes, BytesEach int64
}

// Caller is who shares.
type Caller struct{ Principal, Tenant string }

// Room is what callers share. New makes one.
type Room struct {
	places *places
	memory *memory
}

// New makes a room.
func New(c Config) *Room {
	return &Room{
		places: &places{most: c.Places, each: c.PlacesEach, queue: c.Queue, callers: make(map[Caller]*taken)},
		memory: &memory{most: c.Bytes, each: c.BytesEach, by: make(map[Caller]int64)},
	}
}

// Places are how many pieces of work run and wait.
func (r *Room) Places() (running, waiting int) { return r.places.counts() }

// Bytes is how much memory is held.
func (r *Room) Bytes() int64 { return r.memory.held() }

// Of is a caller's share.
func (r *Room) Of(c Caller) Share { return Share{r, c} }

// Share is one caller's part of a room.
type Share struct {
	room *Room
	of   Caller
}

// Enter waits for a place, which leave gives back; it can be called more than
// once. ok is false if there is no room, or ctx ends.
func (s Share) Enter(ctx context.Context) (leave func(), ok bool) {
	return s.room.places.enter(ctx, s.of)
}

// Full reports whether there would be no place, not even to wait.
func (s Share) Full() bool { return s.room.places.full(s.of) }

// Hold is an account of memory that starts empty.
func (s Share) Hold() *Held { return &Held{share: s} }

// Most is how much memory the caller may hold at most.
func (s Share) Most() int64 { return s.room.memory.each }
