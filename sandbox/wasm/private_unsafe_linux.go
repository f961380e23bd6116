package wasm

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pagemap is the kernel's table of this process's pages; nil where the kernel
// does not show it.
var pagemap = sync.OnceValue(func() *os.File {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	return f
})

// pageKind is what the kernel is asked for.
type pageKind int

const (
	privatePages pageKind = iota // that belong to this instance alone
	mappedPages                  // that can be read without a fault, the image's too
)

// pages lists the ranges of the first size bytes whose pages are of a kind.
// Empty where the kernel does not tell.
func (m *linearMemory) pages(kind pageKind, size uint64) []span {
	var spans []span
	m.eachPage(kind, size, func(s span) {
		if n := len(spans); n > 0 && spans[n-1].start+spans[n-1].size == s.start {
			spans[n-1].size += s.size
			return
		}
		spans = append(spans, s)
	})
	return spans
}

// dirtied is how many bytes of memory belong to this instance alone.
func (m *linearMemory) dirtied() uint64 {
	var n uint64
	m.eachPage(privatePages, m.size, func(s span) { n += uint64(s.size) })
	return n
}

func (m *linearMemory) eachPage(kind pageKind, size uint64, found func(span)) {
	f := pagemap()
	if f == nil {
		return
	}
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.reservation))))
	if !scanPages(f, kind, start, size, found) {
		readPages(f, kind, start, size, found)
	}
}

// scanArg and scanRegion are struct pm_scan_arg and struct page_region of the
// kernel's PAGEMAP_SCAN (since 6.7), see its admin guide on pagemap.
type scanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages   uint64
	categoryInverted, categoryMask, categoryAnyOf, returnMask uint64
}

type scanRegion struct{ start, end, _ uint64 } // the last is the categories

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	scanFile    = 1 << 2
	scanPresent = 1 << 3
	scanSwapped = 1 << 4
	scanZero    = 1 << 5
)

// scanPages asks the kernel for the ranges. It walks page tables only where
// there are any, so it costs little for a memory that is mostly untouched.
func scanPages(f *os.File, kind pageKind, start, size uint64, found func(span)) bool {
	var regions [64]scanRegion
	arg := scanArg{
		size: uint64(unsafe.Sizeof(scanArg{})), start: start, end: start + size,
		vec: uint64(uintptr(unsafe.Pointer(&regions))), vecLen: uint64(len(regions)),
		categoryAnyOf: scanPresent | scanSwapped, returnMask: scanPresent,
	}
	if kind == privatePages {
		arg.categoryInverted, arg.categoryMask = scanFile|scanZero, scanFile|scanZero
	}
	for arg.start < arg.end {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), pagemapScan, uintptr(unsafe.Pointer(&arg)))
		if errno != 0 {
			return false
		}
		for _, r := range regions[:n] {
			found(span{uint32(r.start - start), uint32(r.end - r.start)})
		}
		if arg.walkEnd <= arg.start {
			return false
		}
		arg.start = arg.walkEnd
	}
	return true
}

// Bits of an entry of /proc/self/pagemap.
const (
	pagemapPresent = 1 << 63
	pagemapSwapped = 1 << 62
	pagemapFile    = 1 << 61 // of a file or shared: not private
)

// readPages does the same on older kernels, from one entry for each page.
func readPages(f *os.File, kind pageKind, start, size uint64, found func(span)) {
	buf := make([]byte, 64<<10)
	for at := uint64(0); at < size; {
		want := min(uint64(len(buf)), (size-at)/hostPage*8)
		n, err := f.ReadAt(buf[:want], int64((start+at)/hostPage)*8)
		if n == 0 || err != nil {
			return
		}
		for i := 0; i+8 <= n; i += 8 {
			bits := binary.LittleEndian.Uint64(buf[i:])
			if bits&(pagemapPresent|pagemapSwapped) != 0 && (kind == mappedPages || bits&pagemapFile == 0) {
				found(span{uint32(at), hostPage})
			}
			at += hostPage
		}
	}
}
