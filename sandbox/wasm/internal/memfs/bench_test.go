package memfs

import (
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

var sink *FS

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sink = New(Config{MaxFiles: 1000, MaxBytes: 32 << 20})
	}
}

// BenchmarkWrite writes a file of 1 MiB in pieces.
func BenchmarkWrite(b *testing.B) {
	for _, piece := range []int{4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("piece=%dKiB", piece>>10), func(b *testing.B) {
			const size = 1 << 20
			p := make([]byte, piece)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				f := New(Config{MaxFiles: 1000, MaxBytes: 32 << 20})
				h, _ := f.OpenFile("tmp/a", create, 0)
				for range size / piece {
					if n, errno := h.Write(p); n != piece || errno != 0 {
						b.Fatalf("Write: %d, %v", n, errno)
					}
				}
			}
		})
	}
}

func BenchmarkOpenClose(b *testing.B) {
	f := New(Config{MaxFiles: 1000, MaxBytes: 32 << 20})
	h, _ := f.OpenFile("tmp/a", create, 0)
	h.Close()
	b.ReportAllocs()
	for b.Loop() {
		h, errno := f.OpenFile("tmp/a", sys.O_RDONLY, 0)
		if errno != 0 {
			b.Fatal(errno)
		}
		h.Close()
	}
}
