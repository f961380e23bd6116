package memfs

// chunkSize is the unit in which a file's bytes are held, so that appending
// never copies what is already there.
const chunkSize = 64 << 10

// minChunk is the least that is allocated for the first bytes of a file.
const minChunk = 512

// content is the bytes of a regular file. Chunks that nobody wrote to are nil
// and read as zeros. Only the first chunk may be shorter than chunkSize, and
// grows by doubling, so that small files are cheap. Bytes of a chunk behind
// size are zero.
type content struct {
	size   int64
	chunks [][]byte
}

// readAt copies from off on and gives how many bytes there were.
func (c *content) readAt(p []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	for rest := p; len(rest) > 0; {
		i, at := int(off/chunkSize), int(off%chunkSize)
		part := rest[:min(len(rest), chunkSize-at)]
		n := 0
		if i < len(c.chunks) && at < len(c.chunks[i]) {
			n = copy(part, c.chunks[i][at:])
		}
		clear(part[n:])
		rest, off = rest[len(part):], off+int64(len(part))
	}
	return len(p)
}

// writeAt stores p at off and moves the end of the file if it lies before the
// end of p. Preconditions: the caller has checked that there is room.
func (c *content) writeAt(p []byte, off int64) {
	for len(p) > 0 {
		i, at := int(off/chunkSize), int(off%chunkSize)
		part := p[:min(len(p), chunkSize-at)]
		copy(c.chunk(i, at+len(part))[at:], part)
		p, off = p[len(part):], off+int64(len(part))
	}
	c.size = max(c.size, off)
}

// chunk gives chunk i with at least n bytes.
func (c *content) chunk(i, n int) []byte {
	if i >= len(c.chunks) {
		c.chunks = append(c.chunks, make([][]byte, i+1-len(c.chunks))...)
	}
	if len(c.chunks[i]) < n {
		size := chunkSize
		if i == 0 {
			size = chunkFor(n)
		}
		grown := make([]byte, size)
		copy(grown, c.chunks[i])
		c.chunks[i] = grown
	}
	return c.chunks[i]
}

// chunkFor is the size of a first chunk that holds n bytes.
func chunkFor(n int) int {
	size := minChunk
	for size < n {
		size *= 2
	}
	return size
}

// truncate sets the size. Memory that is no longer needed goes; otherwise many
// files, each filled and cut short, would hold far more than their size.
func (c *content) truncate(size int64) {
	if size >= c.size {
		c.size = size
		return
	}
	c.size = size
	keep := int((size + chunkSize - 1) / chunkSize)
	if keep == 0 {
		c.chunks = nil
		return
	}
	if keep >= len(c.chunks) {
		c.clearTail()
		return
	}
	c.chunks = append(make([][]byte, 0, keep), c.chunks[:keep]...)
	c.clearTail()
}

// clearTail makes the bytes behind size zero again, and shortens a first chunk
// that is now too long.
func (c *content) clearTail() {
	i, at := int(c.size/chunkSize), int(c.size%chunkSize)
	if i >= len(c.chunks) || at >= len(c.chunks[i]) {
		return
	}
	if want := chunkFor(at); i == 0 && want < len(c.chunks[0]) {
		c.chunks[0] = append(make([]byte, 0, want), c.chunks[0][:want]...)
	}
	clear(c.chunks[i][at:])
}
