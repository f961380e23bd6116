package wasm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// linearMemory is one instance's memory: a reservation of address space whose
// start is the image, mapped copy-on-write, and whose rest becomes usable page
// by page as the guest grows it.
//
// wazero checks every access against the current size, so the reservation's
// protection is a second fence, not the first.
type linearMemory struct {
	reservation []byte
	size        uint64        // bytes usable now
	limit       uint64        // bytes that size may reach
	refused     bool          // a growth past limit was asked for
	files       func() uint64 // bytes of the guest's files, which count too
}

// newLinearMemory maps img (nil: nothing, for a boot) and reserves room to grow
// by at most grow bytes.
func newLinearMemory(img *image, grow uint64) (*linearMemory, error) {
	var size uint64
	if img != nil {
		size = img.size
	}
	r, err := unix.Mmap(-1, 0, int(size+grow), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", size+grow, err)
	}
	m := &linearMemory{reservation: r, size: size, limit: size + grow, files: noFiles}
	if img != nil {
		if err := img.mapAt(r); err != nil {
			m.Free()
			return nil, err
		}
	}
	return m, nil
}

// Reallocate implements experimental.LinearMemory. The first call, with the
// module's own minimum, gets the whole image.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > m.size && size+m.files() > m.limit {
		m.refused = true
		return nil
	}
	if size > m.size {
		if err := unix.Mprotect(m.reservation[m.size:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			// The host has no memory to give: for the guest that is the same
			// as its own limit.
			m.refused = true
			return nil
		}
		m.size = size
	}
	return m.reservation[:m.size:m.size]
}

// Free implements experimental.LinearMemory.
func (m *linearMemory) Free() {
	if m.reservation != nil {
		_ = unix.Munmap(m.reservation)
		m.reservation = nil
	}
}
