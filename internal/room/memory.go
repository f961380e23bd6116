package room

import "sync"

// memory counts the bytes that callers hold.
type memory struct {
	most, each int64

	mu  sync.Mutex
	all int64
	by  map[Caller]int64 // those who hold some
}

// take takes n bytes. It reports false, and takes none, if there are not so many.
func (m *memory) take(c Caller, n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The other way round there could be an overflow.
	if n > m.most-m.all || n > m.each-m.by[c] {
		return false
	}
	m.all += n
	m.by[c] += n
	return true
}

func (m *memory) give(c Caller, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all -= n
	if m.by[c] -= n; m.by[c] == 0 {
		delete(m.by, c)
	}
}

func (m *memory) held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

// Held is memory that a piece of work holds. It is used by one goroutine at a time.
type Held struct {
	share Share
	bytes int64
}

// Add holds n more bytes. It reports false, and holds what it did, if there are
// not so many.
func (h *Held) Add(n int64) bool {
	if !h.share.room.memory.take(h.share.of, n) {
		return false
	}
	h.bytes += n
	return true
}

// Bytes is how much is held.
func (h *Held) Bytes() int64 { return h.bytes }

// Give gives back n of the bytes that are held.
func (h *Held) Give(n int64) {
	h.share.room.memory.give(h.share.of, n)
	h.bytes -= n
}

// Release gives back what is held.
func (h *Held) Release() {
	h.share.room.memory.give(h.share.of, h.bytes)
	h.bytes = 0
}

// Take holds n bytes until give is called. ok is false if there are not so many.
func (s Share) Take(n int64) (give func(), ok bool) {
	h := s.Hold()
	ok = h.Add(n)
	return sync.OnceFunc(h.Release), ok
}
