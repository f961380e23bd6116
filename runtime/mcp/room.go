package mcp

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/internal/room"
)

// Room is what a client may have under way. Whoever serves clients in other ways too
// gives sessions a part of the same room.
type Room interface {
	// Call waits for a place for a call, which leave gives back. ok is false if there
	// is none, or ctx ends.
	Call(ctx context.Context) (leave func(), ok bool)
	// Act waits for a place for what is short and no call: a session that starts, a
	// list of tools.
	Act(ctx context.Context) (leave func(), ok bool)
	// Take takes n bytes of memory for what a client sent, which give gives back. ok
	// is false if there are not so many.
	Take(n int64) (give func(), ok bool)
}

// Defaults of a room of one's own.
const (
	DefaultMaxCalls        = 16
	DefaultMaxMemory int64 = 512 << 20
)

// ownRoom is for sessions that are given none.
type ownRoom struct{ calls, acts room.Share }

func newOwnRoom(calls int, memory int64) ownRoom {
	c := room.Config{Places: calls, PlacesEach: calls, Queue: maxOpen, Bytes: memory, BytesEach: memory}
	return ownRoom{room.New(c).Of(room.Caller{}), room.New(c).Of(room.Caller{})}
}

func (r ownRoom) Call(ctx context.Context) (func(), bool) { return r.calls.Enter(ctx) }
func (r ownRoom) Act(ctx context.Context) (func(), bool)  { return r.acts.Enter(ctx) }
func (r ownRoom) Take(n int64) (func(), bool)             { return r.calls.Take(n) }

// account is what one request has of a room.
type account struct {
	room Room

	mu    sync.Mutex
	ended bool
	back  []func()
}

// take takes memory until the request ends.
func (a *account) take(n int64) bool {
	give, ok := a.room.Take(n)
	return ok && a.keep(give)
}

// keep gives something back when the request ends. It reports false, and does so at
// once, if that has ended.
func (a *account) keep(back func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		back()
		return false
	}
	a.back = append(a.back, back)
	return true
}

func (a *account) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, back := range a.back {
		back()
	}
	a.back = nil
}

// copies is how many there are of a message: as it came, and what is kept of it.
const copies = 2

// What a text takes as values at most is so many times its length. Of a short one it
// is not worth while to know better.
const (
	worstValues = 36
	shortText   = 4 << 10
)

// valuesOf is about how many bytes a JSON text takes as values.
func valuesOf(text []byte) int64 {
	if len(text) > shortText {
		if size, err := canonjson.Check(text, canonjson.Limits{MaxBytes: len(text), MaxDepth: maxDepth}); err == nil {
			return size
		}
	}
	return worstValues * int64(len(text))
}

// valuesAround is what a message takes as values without the arguments of a call,
// which the call itself counts.
func valuesAround(method string, text, params []byte) int64 {
	size := valuesOf(text)
	if method == "tools/call" && len(text) > shortText {
		size -= valuesOf(argumentsIn(params))
	}
	return max(size, 0)
}

// argumentsIn gives the arguments in the parameters of a call, which have been read
// strictly.
func argumentsIn(params []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(params))
	if d.PeekKind() != '{' {
		return nil
	}
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		is := name.String() == "arguments"
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if is {
			return value
		}
	}
	return nil
}

// answers knows which requests over HTTP wait for an answer. A call whose result is
// long keeps its place until the client has taken that: those who are slow to take
// theirs are as few as there are places.
type answers struct {
	mu   sync.Mutex
	open map[string]*account
}

// answerHeader is where a request carries its own key. What a client sends there is
// not looked at.
const answerHeader = "Mayfly-Answer"

// add adds a request; remove takes it out.
func (a *answers) add(h http.Header, key string, to *account) (remove func()) {
	h.Set(answerHeader, key)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[key] = to
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, key)
	}
}

// keep gives something back when the request of that key has been answered; at once
// if there is nobody who waits.
func (a *answers) keep(key string, back func()) {
	var to *account
	if a != nil {
		a.mu.Lock()
		to = a.open[key]
		a.mu.Unlock()
	}
	if to == nil {
		back()
		return
	}
	to.keep(back)
}
