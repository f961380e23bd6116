package wasiguard

import (
	"testing"

	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/memfs"
)

// BenchmarkCall compares WASI calls with and without guards, the way a guest
// makes them.
func BenchmarkCall(b *testing.B) {
	engines := []struct {
		name string
		get  func() (*engine, error)
	}{{"guarded", guarded}, {"bare", bare}}
	for _, e := range engines {
		limits := memfs.Config{MaxFiles: 100, MaxBytes: 32 << 20}
		b.Run("call=open+close/engine="+e.name, func(b *testing.B) {
			g := newGuestIn(b, e.get, limits)
			g.want(0, "fd_close", g.open("tmp/f", oCreat, rightsBoth, 0))
			ptr, size := g.put(atPath, "tmp/f")
			open, closes := g.mod.ExportedFunction("path_open"), g.mod.ExportedFunction("fd_close")
			stack := make([]uint64, 9)
			b.ReportAllocs()
			for b.Loop() {
				copy(stack, []uint64{root, 0, ptr, size, 0, rightRead, 0, 0, atResult})
				_ = open.CallWithStack(g.ctx, stack)
				fd := uint64(g.result())
				stack[0] = fd
				if _ = closes.CallWithStack(g.ctx, stack); stack[0] != 0 {
					b.Fatal("fd_close fails")
				}
			}
		})
		b.Run("call=write-1MiB-by-4KiB/engine="+e.name, func(b *testing.B) {
			g := newGuestIn(b, e.get, limits)
			fd := g.open("tmp/f", oCreat, rightsBoth, 0)
			write, truncate := g.mod.ExportedFunction("fd_pwrite"), g.mod.ExportedFunction("fd_filestat_set_size")
			ptr, count := g.vector(atBuffer, 4096)
			stack := make([]uint64, 5)
			b.SetBytes(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				for off := uint64(0); off < 1<<20; off += 4096 {
					copy(stack, []uint64{fd, ptr, count, off, atResult})
					if _ = write.CallWithStack(g.ctx, stack); stack[0] != 0 {
						b.Fatal("fd_pwrite fails")
					}
				}
				stack[0], stack[1] = fd, 0
				_ = truncate.CallWithStack(g.ctx, stack)
			}
		})
		b.Run("call=clock_time_get/engine="+e.name, func(b *testing.B) {
			g := newGuestIn(b, e.get, limits)
			clock := g.mod.ExportedFunction("clock_time_get")
			stack := make([]uint64, 3)
			b.ReportAllocs()
			for b.Loop() {
				copy(stack, []uint64{clockMonotonic, 0, atResult})
				_ = clock.CallWithStack(g.ctx, stack)
			}
		})
	}
}
