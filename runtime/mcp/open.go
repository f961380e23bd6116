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

// open is what a client has under way.
type open struct {
	maxBytes int

	mu    sync.Mutex
	sizes map[jsonrpc.ID]int // of the requests that wait for an answer
	bytes int                // of all of them
}

func newOpen(maxMessage int) *open {
	return &open{maxBytes: 2 * maxMessage, sizes: make(map[jsonrpc.ID]int)}
}

// start notes down a request. It is refused if its ID is that of another one, or
// if there are too many.
func (o *open) start(r *jsonrpc.Request, text []byte) *refusal {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch _, taken := o.sizes[r.ID]; {
	case taken:
		// With its ID, this would be taken for the first one's answer.
		return &refusal{null, jsonrpc.CodeInvalidRequest, "the id is that of a request that has not been answered yet"}
	case len(o.sizes) >= maxOpen || len(o.sizes) > 0 && o.bytes+len(text) > o.maxBytes:
		id, _ := idOf(text)
		return &refusal{id, codeBusy, "too many requests at once; nothing was done; send it again when others have been answered"}
	}
	o.sizes[r.ID] = len(text)
	o.bytes += len(text)
	return nil
}

// end forgets a request that was answered.
func (o *open) end(id jsonrpc.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.sizes[id]
	delete(o.sizes, id)
}
