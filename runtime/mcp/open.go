package mcp

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxOpen is how many requests a client may have under way at once. More is
// refused, so that neither memory nor goroutines grow with what a client sends.
const maxOpen = 64

// codeBusy says that too much is under way.
const codeBusy = -32000

// busyNow is what a client is told for whom there is no room.
const busyNow = "as many requests are answered and wait as may; nothing was done; send it again a little later"

// open is what a client has under way.
type open struct {
	maxBytes int

	mu    sync.Mutex
	calls map[jsonrpc.ID]underWay // that wait for an answer
	bytes int                     // of all of them
}

type underWay struct {
	bytes int
	back  func() // is called when it has been answered; may be nil
}

func newOpen(maxMessage int) *open {
	return &open{maxBytes: 2 * maxMessage, calls: make(map[jsonrpc.ID]underWay)}
}

// start notes down a request. It is refused if its ID is that of another one, or
// if there are too many.
func (o *open) start(r *jsonrpc.Request, text []byte) *refusal {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch _, taken := o.calls[r.ID]; {
	case taken:
		// With its ID, this would be taken for the first one's answer.
		return &refusal{null, jsonrpc.CodeInvalidRequest, "the id is that of a request that has not been answered yet"}
	case len(o.calls) >= maxOpen || len(o.calls) > 0 && o.bytes+len(text) > o.maxBytes:
		id, _ := idOf(text)
		return &refusal{id, codeBusy, "too many requests at once; nothing was done; send it again when others have been answered"}
	}
	o.calls[r.ID] = underWay{bytes: len(text)}
	o.bytes += len(text)
	return nil
}

// after has back called when a request has been answered.
func (o *open) after(id jsonrpc.ID, back func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls[id] = underWay{o.calls[id].bytes, back}
}

// end forgets a request that was answered.
func (o *open) end(id jsonrpc.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.calls[id]
	o.bytes -= c.bytes
	delete(o.calls, id)
	if c.back != nil {
		c.back()
	}
}
