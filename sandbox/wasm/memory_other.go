//go:build !linux

package wasm

import (
	"bytes"
	"time"
)

// linearMemory is one instance's memory, a copy of the image. It keeps the same
// limits as on Linux; only the start of a call is slower.
type linearMemory struct {
	buf     []byte
	size    uint64
	limit   uint64
	refused bool
	files   func() uint64
}

const copyRun = 4096

func newLinearMemory(img *image, grow uint64) (*linearMemory, error) {
	m := &linearMemory{limit: grow, files: noFiles}
	if img == nil {
		return m, nil
	}
	m.size, m.limit = img.size, img.size+grow
	m.buf = make([]byte, img.size)
	zero := make([]byte, copyRun)
	for at := 0; at < len(img.memory); at += copyRun {
		if page := img.memory[at : at+copyRun]; !bytes.Equal(page, zero) {
			copy(m.buf[at:], page)
		}
	}
	return m, nil
}

// Reallocate implements experimental.LinearMemory.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > m.size && size+m.files() > m.limit {
		m.refused = true
		return nil
	}
	if size > m.size {
		m.buf = append(m.buf, make([]byte, size-m.size)...)
		m.size = size
	}
	return m.buf
}

// Free implements experimental.LinearMemory.
func (m *linearMemory) Free() { m.buf = nil }

type pageKind int

const (
	privatePages pageKind = iota
	mappedPages
)

func (m *linearMemory) pages(pageKind, uint64) []span { return nil }
func (m *linearMemory) dirtied() uint64               { return 0 }

// backing holds an image's bytes.
type backing struct{ memory []byte }

func newBacking(memory []byte) (backing, error) { return backing{bytes.Clone(memory)}, nil }
func (b *backing) bytes() []byte                { return b.memory }
func (b *backing) close()                       {}
func (img *image) warm(*linearMemory)           {}
func (img *image) mapRead(*linearMemory)        {}

func threadCPU() time.Duration { return 0 }
