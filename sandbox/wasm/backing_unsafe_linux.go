package wasm

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing holds an image's bytes in a sealed memory file. A file on disk could
// be truncated under a mapping, which kills the process; this one cannot
// change.
type backing struct {
	fd     int
	shared []byte // read-only view
}

const hostPage = 4096

func newBacking(memory []byte) (backing, error) {
	fd, err := unix.MemfdCreate("mayfly-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return backing{}, fmt.Errorf("make a memory file for the image: %w", err)
	}
	if err := fill(fd, memory); err != nil {
		_ = unix.Close(fd)
		return backing{}, fmt.Errorf("fill the image's memory file: %w", err)
	}
	view, err := unix.Mmap(fd, 0, len(memory), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return backing{}, fmt.Errorf("map the image's memory file: %w", err)
	}
	return backing{fd: fd, shared: view}, nil
}

// fill writes memory to the file, leaving pages of zeros as holes, and seals
// it against every later change.
func fill(fd int, memory []byte) error {
	if err := unix.Ftruncate(fd, int64(len(memory))); err != nil {
		return err
	}
	zero := make([]byte, hostPage)
	for at := 0; at < len(memory); {
		if bytes.Equal(memory[at:at+hostPage], zero) {
			at += hostPage
			continue
		}
		end := at + hostPage
		for end < len(memory) && !bytes.Equal(memory[end:end+hostPage], zero) {
			end += hostPage
		}
		for at < end {
			n, err := unix.Pwrite(fd, memory[at:end], int64(at))
			if err != nil {
				return err
			}
			at += n
		}
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
		unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE|unix.F_SEAL_SEAL)
	return err
}

// bytes is the image's memory, read-only.
func (b *backing) bytes() []byte { return b.shared }

// mapAt maps the image copy-on-write over the start of r.
func (img *image) mapAt(r []byte) error {
	_, err := unix.MmapPtr(img.fd, 0, unsafe.Pointer(unsafe.SliceData(r)), uintptr(img.size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("map the image: %w", err)
	}
	return nil
}

// warm makes the pages that a small call writes to private now, ahead of need,
// in a few calls instead of one fault each. Like mapRead it only saves time: a
// kernel without it (before 5.14) leaves the faults to the call.
func (img *image) warm(m *linearMemory) { populate(m, img.hot, unix.MADV_POPULATE_WRITE) }

// mapRead maps the pages that a small call reads.
func (img *image) mapRead(m *linearMemory) { populate(m, img.read, unix.MADV_POPULATE_READ) }

func populate(m *linearMemory, spans []span, how int) {
	for _, s := range spans {
		if unix.Madvise(m.reservation[s.start:s.start+s.size], how) != nil {
			return
		}
	}
}

func (b *backing) close() {
	_ = unix.Munmap(b.shared)
	_ = unix.Close(b.fd)
}
