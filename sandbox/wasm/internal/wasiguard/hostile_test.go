package wasiguard

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/memfs"
)

// allocated is how many bytes the host allocates while f runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// live is how many bytes the host holds.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// atMost fails if f makes the host allocate more.
func atMost(t *testing.T, limit uint64, what string, f func()) {
	t.Helper()
	if n := allocated(f); n > limit {
		t.Errorf("%s makes the host allocate %d bytes, want at most %d", what, n, limit)
	}
}

func TestPathsAreBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	const long = 2 << 20 // of the guest's memory
	for i := range uint32(long) {
		g.mem.WriteByte(atBuffer+i, 'a')
	}
	tests := []struct {
		name string
		args []uint64
	}{
		{"path_create_directory", []uint64{root, atBuffer, long}},
		{"path_filestat_get", []uint64{root, 0, atBuffer, long, atResult}},
		{"path_filestat_set_times", []uint64{root, 0, atBuffer, long, 0, 0, 0}},
		{"path_link", []uint64{root, 0, atBuffer, long, root, atPath, 1}},
		{"path_link", []uint64{root, 0, atPath, 1, root, atBuffer, long}},
		{"path_open", []uint64{root, 0, atBuffer, long, oCreat, rightsBoth, 0, 0, atResult}},
		{"path_readlink", []uint64{root, atBuffer, long, atPath, 100, atResult}},
		{"path_remove_directory", []uint64{root, atBuffer, long}},
		{"path_rename", []uint64{root, atBuffer, long, root, atPath, 1}},
		{"path_rename", []uint64{root, atPath, 1, root, atBuffer, long}},
		{"path_symlink", []uint64{atBuffer, long, root, atPath, 1}},
		{"path_symlink", []uint64{atPath, 1, root, atBuffer, long}},
		{"path_unlink_file", []uint64{root, atBuffer, long}},
	}
	g.put(atPath, "x")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			atMost(t, 64<<10, tt.name, func() { g.want(errNametoolong, tt.name, tt.args...) })
			for i, a := range tt.args {
				if a == long {
					args := append([]uint64{}, tt.args...)
					args[i] = 0
					g.want(errNoent, tt.name, args...)
				}
			}
		})
	}
}

// TestNamesOfDirectoriesAreBounded opens "." relative to itself again and
// again: wazero keeps a longer name each time.
func TestNamesOfDirectoriesAreBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	ptr, size := g.put(atPath, ".")
	fd := uint64(root)
	for i := range 10_000 {
		errno := g.call("path_open", fd, 0, ptr, size, oDirectory, rightRead, 0, 0, atResult)
		if errno == errNametoolong {
			if i < 1000 {
				t.Errorf("the name is too long after %d opens", i)
			}
			return
		}
		if errno != 0 {
			t.Fatalf("open %d: %d", i, errno)
		}
		if fd != root {
			g.want(0, "fd_close", fd)
		}
		fd = uint64(g.result())
	}
	t.Error("the name of a directory grows without end")
}

func TestVectorsAreBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	file := g.open("tmp/f", oCreat, rightsBoth, 0)
	same := func(n int, size uint32) (uint64, uint64) {
		var all []uint32
		for range n {
			all = append(all, 0, size)
		}
		return g.vector(all...)
	}
	for _, f := range []struct {
		name string
		args func(ptr, count uint64) []uint64
	}{
		{"fd_write", func(p, n uint64) []uint64 { return []uint64{file, p, n, atResult} }},
		{"fd_read", func(p, n uint64) []uint64 { return []uint64{file, p, n, atResult} }},
		{"fd_pwrite", func(p, n uint64) []uint64 { return []uint64{file, p, n, 0, atResult} }},
		{"fd_pread", func(p, n uint64) []uint64 { return []uint64{file, p, n, 0, atResult} }},
	} {
		t.Run(f.name, func(t *testing.T) {
			for _, count := range []uint64{maxVectors + 1, 1 << 16, 0x1000_0000, 0x2000_0000, 0x2000_0001, 0x8000_0000, math.MaxUint32} {
				atMost(t, 64<<10, fmt.Sprint(count, " pieces"), func() { g.want(errInval, f.name, f.args(atVector, count)...) })
			}
			ptr, count := same(maxVectors, 1<<21)
			g.want(errInval, f.name, f.args(ptr, count)...) // 2 GiB together
			for _, at := range []uint64{memEnd, memEnd - 4, math.MaxUint32, math.MaxUint32 - 7} {
				g.want(errFault, f.name, f.args(at, 1)...)
			}
			for _, piece := range [][2]uint32{{memEnd, 1}, {memEnd - 1, 2}, {math.MaxUint32, math.MaxUint32}, {0, math.MaxUint32}, {1, math.MaxUint32}} {
				ptr, count := g.vector(0, 0, piece[0], piece[1])
				g.want(errFault, f.name, f.args(ptr, count)...)
			}
			g.want(0, f.name, f.args(atVector, 0)...)
		})
	}
	if _, bytes := g.fs.Used(); bytes != 0 {
		t.Errorf("refused writes left %d bytes", bytes)
	}
}

func TestManyPiecesLookAtTheDeadline(t *testing.T) {
	g := newGuest(t, testLimits)
	g.world.stopAt = 3
	ptr, count := g.vector(0, 1<<20, 0, 1<<20, 0, 1<<20, 0, 1<<20)
	if _, err := g.try("fd_write", 1, ptr, count, atResult); !errors.Is(err, errStop) {
		t.Errorf("writing ended with %v, want the call's end", err)
	}
	if g.out.written != 2<<20 {
		t.Errorf("%d bytes were written before the end", g.out.written)
	}
}

// TestListOfPiecesUnderItsOwnResult writes the count over the list itself.
func TestListOfPiecesUnderItsOwnResult(t *testing.T) {
	g := newGuest(t, testLimits)
	ptr, count := g.vector(0, 1, 0, 1, 0, 1)
	for i := range uint64(24) {
		g.vector(0, 1, 0, 1, 0, 1)
		g.call("fd_write", 1, ptr, count, ptr+i)
	}
}

func TestRandom(t *testing.T) {
	g := newGuest(t, testLimits)
	atMost(t, 64<<10, "random_get", func() { g.want(0, "random_get", 0, memEnd) })
	if g.world.checks == 0 {
		t.Error("a large request never looks at the deadline")
	}
	if zero := strings.Count(g.text(memEnd-1000, 1000), "\x00"); zero > 100 {
		t.Errorf("%d of the last 1000 bytes are zero", zero)
	}
	g.want(0, "random_get", memEnd, 0)
	for _, a := range [][2]uint64{{1, memEnd}, {memEnd, 1}, {math.MaxUint32, math.MaxUint32}, {0, math.MaxUint32}} {
		g.mem.WriteByte(1, 0xaa)
		g.want(errFault, "random_get", a[0], a[1])
		if b, _ := g.mem.ReadByte(1); b != 0xaa {
			t.Errorf("random_get%v fails and writes", a)
		}
	}
	g.world.checks, g.world.stopAt = 0, 1
	if _, err := g.try("random_get", 0, memEnd); !errors.Is(err, errStop) {
		t.Errorf("random_get ended with %v, want the call's end", err)
	}
}

func TestDescriptorsAreBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	file := g.open("tmp/f", oCreat, rightsBoth, 0)
	for _, to := range []uint64{4 + 1, 1000, 1 << 20, math.MaxInt32, 1 << 31, math.MaxUint32} {
		atMost(t, 64<<10, fmt.Sprint("fd_renumber to ", to), func() { g.want(errBadf, "fd_renumber", file, to) })
	}
	g.want(errBadf, "fd_renumber", 77, file)
	g.want(0, "fd_renumber", file, file)
	g.write(file, "still open")

	opened, last := 0, uint32(0)
	for range 100_000 {
		if _, errno := g.tryOpen("tmp/f", 0, rightRead, 0); errno != 0 {
			last = errno
			break
		}
		opened++
	}
	if last != 33 || opened > memfs.MaxOpen {
		t.Errorf("%d descriptors could be opened, then came error %d, want 33", opened, last)
	}
	if fd := g.result(); fd > memfs.MaxOpen+8 {
		t.Errorf("the last descriptor is %d", fd)
	}
	g.want(0, "fd_close", 10)
	g.open("tmp/f", 0, rightRead, 0)
	g.want(0, "fd_close", root)
	if _, errno := g.tryOpen("tmp/f", 0, rightRead, 0); errno != errBadf {
		t.Errorf("opening below the closed root: %d", errno)
	}
}

func TestReaddirIsBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	for i := range 90 {
		g.want(0, "fd_close", g.open(fmt.Sprint("tmp/file", i), oCreat, rightsBoth, 0))
	}
	dir := g.open("tmp", oDirectory, rightRead, 0)
	for _, size := range []uint64{maxListing + 1, 1 << 31, math.MaxUint32} {
		atMost(t, 64<<10, fmt.Sprint("fd_readdir of ", size), func() { g.want(errInval, "fd_readdir", dir, atBuffer, size, 0, atResult) })
	}
	for _, size := range []uint64{0, 1, 23} {
		g.want(errInval, "fd_readdir", dir, atBuffer, size, 0, atResult)
	}
	for _, cookie := range []uint64{1, 1000, math.MaxInt64, math.MaxUint64} {
		g.want(errNoent, "fd_readdir", dir, atBuffer, 100, cookie, atResult)
	}
	g.want(errFault, "fd_readdir", dir, memEnd-1, 1000, 0, atResult)
	g.want(errFault, "fd_readdir", dir, atBuffer, 1000, 0, memEnd)
}

func TestSizesAreBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	file := g.open("tmp/f", oCreat, rightsBoth, 0)
	const enospc = 51
	for _, size := range []uint64{1<<20 + 1, 1 << 40, math.MaxInt64} {
		atMost(t, 64<<10, fmt.Sprint("a size of ", size), func() {
			g.want(enospc, "fd_filestat_set_size", file, size)
			g.want(enospc, "fd_allocate", file, 0, size)
			g.want(enospc, "fd_allocate", file, size-1, 1)
		})
	}
	g.want(errInval, "fd_filestat_set_size", file, 1<<63)
	g.want(errInval, "fd_allocate", file, 1<<63, 1<<63)
	g.want(errInval, "fd_allocate", file, 0, 0)
	g.want(errFbig, "fd_allocate", file, math.MaxInt64, 1)
	g.put(atBuffer, "x")
	ptr, count := g.vector(atBuffer, 1)
	for _, off := range []uint64{1 << 20, 1 << 40, math.MaxInt64 - 1} {
		g.want(enospc, "fd_pwrite", file, ptr, count, off, atResult)
	}
	g.want(errFbig, "fd_pwrite", file, ptr, count, math.MaxInt64, atResult)
	g.want(errInval, "fd_pwrite", file, ptr, count, 1<<63, atResult)
	g.want(0, "fd_pread", file, ptr, count, math.MaxInt64, atResult)
	g.want(errInval, "fd_pread", file, ptr, count, 1<<63, atResult)
	g.want(0, "fd_seek", file, math.MaxInt64, 0, atResult)
	g.want(errInval, "fd_seek", file, math.MaxInt64, 1, atResult)
	g.want(errFbig, "fd_write", file, ptr, count, atResult)
	g.want(errInval, "fd_seek", file, 0, 3, atResult)
	g.want(errInval, "fd_seek", file, 0, math.MaxUint32, atResult)
	if _, bytes := g.fs.Used(); bytes != 0 {
		t.Errorf("refused sizes left %d bytes", bytes)
	}
}

func TestPollIsBounded(t *testing.T) {
	g := newGuest(t, testLimits)
	for _, n := range []uint64{0, maxSubscriptions + 1, 100_000, 0x0555_5556, 0x1000_0001, 1 << 31, math.MaxUint32} {
		atMost(t, 64<<10, fmt.Sprint(n, " subscriptions"), func() { g.want(errInval, "poll_oneoff", 0, atBuffer, n, atResult) })
	}
	for _, args := range [][]uint64{
		{memEnd - 47, atBuffer, 1, atResult}, {math.MaxUint32, atBuffer, 1, atResult},
		{0, memEnd - 31, 1, atResult}, {0, math.MaxUint32, 1, atResult},
		{0, atBuffer, 1, memEnd - 3}, {0, atBuffer, 1, math.MaxUint32},
	} {
		g.want(errFault, "poll_oneoff", args...)
	}
	ctx := g.ctx
	g.ctx = t.Context() // without a world
	g.want(errNotsup, "poll_oneoff", 0, atBuffer, 1, atResult)
	g.ctx = ctx
}

func TestSleepEndsWithTheCall(t *testing.T) {
	for _, tt := range []struct {
		name    string
		timeout uint64
		flags   uint16
	}{
		{"a little too long", uint64(time.Second) + 1, 0},
		{"an hour", uint64(time.Hour), 0},
		{"for ever", math.MaxUint64, 0},
		{"until the end of time", math.MaxUint64, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuest(t, testLimits)
			g.world.left = time.Second
			g.subscribe(0, sub{id: clockMonotonic, timeout: tt.timeout, flags: tt.flags})
			if _, err := g.try("poll_oneoff", atPath, atBuffer, 1, atResult); !errors.Is(err, errStop) {
				t.Errorf("sleeping ended with %v, want the call's end", err)
			}
		})
	}
}

// TestExit shows that no status looks like a deadline or a cancellation, for
// which wazero reserves two.
func TestExit(t *testing.T) {
	for status, want := range map[uint64]uint32{
		0: 0, 1: 1, 255: 255, 256: 0,
		uint64(sys.ExitCodeContextCanceled): 255, uint64(sys.ExitCodeDeadlineExceeded): 255,
	} {
		g := newGuest(t, testLimits)
		_, err := g.try("proc_exit", status)
		exit, ok := errors.AsType[*sys.ExitError](err)
		if !ok || exit.ExitCode() != want {
			t.Errorf("proc_exit(%#x) ended with %v, want status %d", status, err, want)
		}
	}
}

// TestStreamsAreNoFiles passes streams where a file is expected. wazero follows
// a nil pointer for one of them.
func TestStreamsAreNoFiles(t *testing.T) {
	g := newGuest(t, testLimits)
	for fd := range uint64(3) {
		g.want(errBadf, "fd_filestat_set_times", fd, 1, 1, 5)
		g.want(errBadf, "fd_prestat_get", fd, atResult)
		g.want(errBadf, "fd_prestat_dir_name", fd, atBuffer, 0)
		g.want(errSpipe, "fd_seek", fd, 0, 0, atResult)
		g.want(errSpipe, "fd_tell", fd, atResult)
		g.want(errNosys, "fd_filestat_set_size", fd, 1)
		g.want(errNosys, "fd_allocate", fd, 0, 1)
		g.want(errBadf, "fd_readdir", fd, atBuffer, 100, 0, atResult)
	}
}

// TestFlood writes a GiB in pieces of 64 KiB, to one file and to many.
func TestFlood(t *testing.T) {
	const limit = 4 << 20
	for _, tt := range []struct {
		name  string
		files int
	}{{"one file", 1}, {"many files", 100}} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuest(t, memfs.Config{MaxFiles: tt.files, MaxBytes: limit})
			var fds []uint64
			for i := range tt.files {
				fds = append(fds, g.open(fmt.Sprint("tmp/f", i), oCreat, rightsBoth, 0))
			}
			ptr, count := g.vector(atBuffer, 64<<10)
			written, refused := 0, 0
			before := live()
			for i := range 1 << 14 {
				switch g.call("fd_write", fds[i%len(fds)], ptr, count, atResult) {
				case 0:
					written += int(g.result())
				case 51:
					refused++
				}
			}
			if grown := live() - before; grown > 2*limit+1<<20 {
				t.Errorf("the host holds %d bytes more than before", grown)
			}
			if written != limit || refused != 1<<14-limit/(64<<10) {
				t.Errorf("%d bytes were written and %d writes refused, want %d bytes", written, refused, limit)
			}
			if _, errno := g.tryOpen("tmp/more", oCreat, rightsBoth, 0); errno != 51 {
				t.Errorf("one file more: %d, want 51", errno)
			}
		})
	}
}

// TestNothingIsLeft closes instances in the middle of what they do.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for seed := range uint64(100) {
		g := newGuest(t, testLimits)
		g.prepare()
		for _, c := range decodeCalls(g, randomBytes(seed, 600)) {
			if !g.survives(c) {
				break
			}
		}
		if err := g.mod.Close(g.ctx); err != nil {
			t.Fatal(err)
		}
		for i := range memfs.MaxOpen {
			if _, errno := g.fs.OpenFile("dev/null", 0, 0); errno != 0 {
				t.Fatalf("seed %d: %d descriptors are left open", seed, memfs.MaxOpen-i)
			}
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, before there were %d", after, before)
	}
}

// TestTable refuses a wazero that the table does not fit.
func TestTable(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	known := table["fd_read"]
	delete(table, "fd_read")
	table["fd_gone"] = forward
	defer func() {
		table["fd_read"] = known
		delete(table, "fd_gone")
	}()
	err := Instantiate(t.Context(), r)
	for _, name := range []string{"fd_read", "fd_gone"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Instantiate gives %v, want an error that names %s", err, name)
		}
	}
}

func TestFullFileKeepsWhatFits(t *testing.T) {
	g := newGuest(t, memfs.Config{MaxFiles: 1, MaxBytes: 10})
	file := g.open("tmp/f", oCreat, rightsBoth, 0)
	g.put(atBuffer, "abcdefgh")
	ptr, count := g.vector(atBuffer, 6, atBuffer, 8, atBuffer, 8)
	g.want(0, "fd_write", file, ptr, count, atResult)
	if n := g.result(); n != 10 {
		t.Errorf("%d bytes are said to be written, want 10", n)
	}
	if got := g.content("f"); got != "abcdefabcd" {
		t.Errorf("content is %q", got)
	}
	g.want(51, "fd_write", file, ptr, count, atResult)
	g.want(0, "fd_pwrite", file, ptr, count, 4, atResult)
	if got := g.content("f"); g.result() != 6 || got != "abcdabcdef" {
		t.Errorf("fd_pwrite wrote %d bytes, content is %q", g.result(), got)
	}
}
