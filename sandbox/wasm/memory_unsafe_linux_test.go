package wasm

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func TestLinearMemory(t *testing.T) {
	img := testImage(t)
	m, err := newLinearMemory(img, 4*pageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	b := m.Reallocate(pageSize) // the module's own minimum, less than the image
	if !bytes.Equal(b, img.bytes()) {
		t.Fatal("memory does not start as the image")
	}
	if got := m.dirtied(); got != 0 {
		t.Errorf("%d bytes are private before any write", got)
	}
	b[5000] = 'T'
	b[5001] = 'H'
	if img.bytes()[5000] != 't' {
		t.Fatal("a write reached the image")
	}
	if diff := cmp.Diff([]span{{4096, hostPage}}, m.pages(privatePages, img.size), compareImage); diff != "" {
		t.Error(diff)
	}
	b = m.Reallocate(img.size + 3*pageSize)
	if uint64(len(b)) != img.size+3*pageSize || b[5000] != 'T' {
		t.Fatalf("grown to %d bytes", len(b))
	}
	b[len(b)-1] = 1
	if got := m.dirtied(); got != 2*hostPage {
		t.Errorf("%d bytes are private, want 2 pages", got)
	}
	m.limit = img.size + 4*pageSize
	if m.Reallocate(img.size+5*pageSize) != nil || !m.refused {
		t.Error("growth past the limit was not refused")
	}
	if m.Reallocate(img.size+4*pageSize) == nil {
		t.Error("growth up to the limit was refused")
	}
}

func TestWarm(t *testing.T) {
	img := testImage(t)
	img.read = []span{{0, 4 * hostPage}}
	m, err := newLinearMemory(img, pageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	img.warm(m)
	img.mapRead(m)
	if diff := cmp.Diff(img.hot, m.pages(privatePages, img.size), compareImage); diff != "" {
		t.Errorf("private pages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(img.read, m.pages(mappedPages, img.size), compareImage); diff != "" {
		t.Errorf("mapped pages (-want +got):\n%s", diff)
	}
	if !bytes.Equal(m.Reallocate(0), img.bytes()) {
		t.Error("warming changed the memory")
	}
}

// TestPagesBothWays: the scan of newer kernels and the table of older ones
// must agree.
func TestPagesBothWays(t *testing.T) {
	img := testImage(t)
	m, err := newLinearMemory(img, 400*pageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	b := m.Reallocate(img.size + 300*pageSize)
	for i := 0; i < len(b); i += 3 * hostPage {
		b[i] = 1
	}
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.reservation))))
	for kind, least := range map[pageKind]int{privatePages: (len(b) + 3*hostPage - 1) / (3 * hostPage), mappedPages: 1} {
		var scanned, read int
		if !scanPages(pagemap(), kind, start, m.size, func(s span) { scanned += int(s.size) }) {
			t.Skip("this kernel has no PAGEMAP_SCAN (Linux 6.7)")
		}
		readPages(pagemap(), kind, start, m.size, func(s span) { read += int(s.size) })
		if read != scanned || read < least*hostPage {
			t.Errorf("kind %d: %d bytes by the table, %d by the scan, want at least %d pages", kind, read, scanned, least)
		}
	}
}
