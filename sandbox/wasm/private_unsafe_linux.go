package wasm

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"
)

// Bits of an entry of /proc/self/pagemap.
const (
	pagemapPresent = 1 << 63
	pagemapSwapped = 1 << 62
	pagemapFile    = 1 << 61 // of a file or shared: not private
)

var pagemap = sync.OnceValue(func() *os.File {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	return f
})

// private lists the ranges of the first size bytes whose pages belong to this
// instance alone. Empty where the kernel does not tell.
func (m *linearMemory) private(size uint64) []span {
	var spans []span
	m.eachPrivate(size, func(at uint32) {
		if n := len(spans); n > 0 && spans[n-1].start+spans[n-1].size == at {
			spans[n-1].size += hostPage
			return
		}
		spans = append(spans, span{at, hostPage})
	})
	return spans
}

// dirtied is how many bytes of memory belong to this instance alone.
func (m *linearMemory) dirtied() uint64 {
	var n uint64
	m.eachPrivate(m.size, func(uint32) { n += hostPage })
	return n
}

func (m *linearMemory) eachPrivate(size uint64, found func(at uint32)) {
	f := pagemap()
	if f == nil {
		return
	}
	first := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.reservation)))) / hostPage
	buf := make([]byte, 64<<10)
	for at := uint64(0); at < size; {
		want := min(uint64(len(buf)), (size-at)/hostPage*8)
		n, err := f.ReadAt(buf[:want], int64(first+at/hostPage)*8)
		if n == 0 || err != nil {
			return
		}
		for i := 0; i+8 <= n; i += 8 {
			bits := binary.LittleEndian.Uint64(buf[i:])
			if bits&(pagemapPresent|pagemapSwapped) != 0 && bits&pagemapFile == 0 {
				found(uint32(at))
			}
			at += hostPage
		}
	}
}
