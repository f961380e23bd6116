package wasiguard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/memfs"
)

// guestModule assembles a module with a memory of the given pages that imports
// all WASI functions and exports each again, wrapped, so that the host function
// sees a guest as its caller.
func guestModule(functions map[string]original, pages uint64) []byte {
	names := slices.Sorted(maps.Keys(functions))
	uleb := func(n uint64) (b []byte) {
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		return append(b, byte(n))
	}
	text := func(s string) []byte { return append(uleb(uint64(len(s))), s...) }
	section := func(id byte, count int, body ...[]byte) []byte {
		all := slices.Concat(append([][]byte{uleb(uint64(count))}, body...)...)
		return slices.Concat([]byte{id}, uleb(uint64(len(all))), all)
	}
	var types, imports, funcs, exports, bodies [][]byte
	for i, name := range names {
		f := functions[name]
		types = append(types, []byte{0x60}, uleb(uint64(len(f.params))), f.params, uleb(uint64(len(f.results))), f.results)
		imports = append(imports, text("wasi_snapshot_preview1"), text(name), []byte{0}, uleb(uint64(i)))
		funcs = append(funcs, uleb(uint64(i)))
		exports = append(exports, text(name), []byte{0}, uleb(uint64(len(names)+i)))
		body := []byte{0} // no locals
		for p := range f.params {
			body = append(body, 0x20, byte(p)) // local.get
		}
		body = slices.Concat(body, []byte{0x10}, uleb(uint64(i)), []byte{0x0b}) // call, end
		bodies = append(bodies, uleb(uint64(len(body))), body)
	}
	exports = append(exports, text("memory"), []byte{2, 0})
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, len(names), types...),
		section(2, len(names), imports...),
		section(3, len(names), funcs...),
		section(5, 1, []byte{0}, uleb(pages)),
		section(7, len(names)+1, exports...),
		section(10, len(names), bodies...))
}

// engine is what all tests share: compiled once.
type engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

const guestPages = 40

// guarded and bare are the engine with and without guards. The bare one is for
// showing that an attack works where no guard is.
var (
	guarded = sync.OnceValues(func() (*engine, error) { return newEngine(Instantiate) })
	bare    = sync.OnceValues(func() (*engine, error) {
		return newEngine(func(ctx context.Context, r wazero.Runtime) error {
			_, err := wasi.Instantiate(ctx, r)
			return err
		})
	})
)

func newEngine(instantiate func(context.Context, wazero.Runtime) error) (*engine, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(2*guestPages))
	types, err := originals(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := instantiate(ctx, r); err != nil {
		return nil, err
	}
	m, err := r.CompileModule(ctx, guestModule(types, guestPages))
	return &engine{r, m}, err
}

// errStop is what the test's world ends a call with.
var errStop = errors.New("the call is over")

// testWorld is a World with clocks that only sleeping moves.
type testWorld struct {
	fs         *memfs.FS
	wall, mono int64
	left       time.Duration // until the call is over
	checks     int
	stopAt     int // the check that ends the call; 0 for none
}

func (w *testWorld) Walltime() int64   { return w.wall }
func (w *testWorld) Nanotime() int64   { return w.mono }
func (w *testWorld) FileErrno() uint32 { return w.fs.TakeErrno() }

func (w *testWorld) FollowTimes(follow bool) { w.fs.FollowTimes(follow) }

func (w *testWorld) Sleep(d time.Duration) {
	if d <= 0 {
		panic(fmt.Sprintf("Sleep(%v)", d))
	}
	if w.left -= d; w.left < 0 {
		panic(errStop)
	}
	w.wall += int64(d)
	w.mono += int64(d)
}

func (w *testWorld) Check() {
	if w.checks++; w.checks == w.stopAt {
		panic(errStop)
	}
}

// guest is a running instance.
type guest struct {
	t     testing.TB
	ctx   context.Context
	mod   api.Module
	mem   api.Memory
	fs    *memfs.FS
	world *testWorld
	out   *countingWriter
}

type countingWriter struct {
	kept    []byte
	written int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.written += int64(len(p))
	w.kept = append(w.kept, p[:min(len(p), 1000-len(w.kept))]...)
	return len(p), nil
}

var testLimits = memfs.Config{MaxFiles: 100, MaxBytes: 1 << 20, Clock: func() time.Time { return time.Unix(7, 0) }}

func newGuest(t testing.TB, limits memfs.Config) *guest {
	t.Helper()
	return newGuestIn(t, guarded, limits)
}

func newGuestIn(t testing.TB, engine func() (*engine, error), limits memfs.Config) *guest {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{t: t, fs: memfs.New(limits), out: &countingWriter{}}
	g.world = &testWorld{fs: g.fs, wall: 1_000_000, mono: 5_000, left: time.Hour}
	g.ctx = context.WithValue(t.Context(), Key{}, g.world)
	config := wazero.NewModuleConfig().WithName("").WithStdout(g.out).WithStderr(g.out).
		WithWalltime(func() (int64, int32) { return 7, 0 }, 1000).
		WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(g.fs, "/"))
	if g.mod, err = e.runtime.InstantiateModule(g.ctx, e.module, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.mod.Close(context.Background()) })
	g.mem = g.mod.Memory()
	return g
}

// try calls a function and gives its result, or the error that ended the call.
func (g *guest) try(name string, args ...uint64) (uint32, error) {
	g.t.Helper()
	result, err := g.mod.ExportedFunction(name).Call(g.ctx, args...)
	if err != nil || len(result) == 0 {
		return 0, err
	}
	return uint32(result[0]), nil
}

// call is try for calls that must come back.
func (g *guest) call(name string, args ...uint64) uint32 {
	g.t.Helper()
	errno, err := g.try(name, args...)
	if err != nil {
		g.t.Fatalf("%s%v ended the call: %v", name, args, err)
	}
	return errno
}

func (g *guest) want(errno uint32, name string, args ...uint64) {
	g.t.Helper()
	if got := g.call(name, args...); got != errno {
		g.t.Errorf("%s%v = %d, want %d", name, args, got, errno)
	}
}

// Where the tests keep things in the guest's memory.
const (
	atPath   = 0x1000
	atPath2  = 0x3000
	atVector = 0x5000
	atResult = 0x8000
	atBuffer = 0x10000
	memEnd   = guestPages << 16
	root     = 3 // the preopened directory
)

// put stores text and gives address and length.
func (g *guest) put(at uint32, s string) (ptr, size uint64) {
	g.mem.WriteString(at, s)
	return uint64(at), uint64(len(s))
}

func (g *guest) result() uint32 {
	n, _ := g.mem.ReadUint32Le(atResult)
	return n
}

func (g *guest) result64(at uint32) uint64 {
	n, _ := g.mem.ReadUint64Le(at)
	return n
}

func (g *guest) text(at, size uint32) string {
	b, ok := g.mem.Read(at, size)
	if !ok {
		g.t.Fatalf("no memory at %d+%d", at, size)
	}
	return string(b)
}

// Flags of path_open.
const (
	oCreat     = 1
	oDirectory = 2
	oExcl      = 4
	oTrunc     = 8
	fdAppend   = 1
	fdNonblock = 4
	rightRead  = 1 << 1
	rightWrite = 1 << 6
	rightsBoth = rightRead | rightWrite
	follow     = 1
)

func (g *guest) tryOpen(path string, oflags, rights, fdflags uint64) (fd uint64, errno uint32) {
	g.t.Helper()
	ptr, size := g.put(atPath, path)
	errno = g.call("path_open", root, follow, ptr, size, oflags, rights, rights, fdflags, atResult)
	return uint64(g.result()), errno
}

func (g *guest) open(path string, oflags, rights, fdflags uint64) uint64 {
	g.t.Helper()
	fd, errno := g.tryOpen(path, oflags, rights, fdflags)
	if errno != 0 {
		g.t.Fatalf("path_open(%s) = %d", path, errno)
	}
	return fd
}

// vector stores a list of pieces, each an address and a length, and gives the
// two arguments that name it.
func (g *guest) vector(pieces ...uint32) (ptr, count uint64) {
	for i, v := range pieces {
		g.mem.WriteUint32Le(atVector+uint32(i)*4, v)
	}
	return atVector, uint64(len(pieces) / 2)
}

// write writes text through fd_write.
func (g *guest) write(fd uint64, s string) {
	g.t.Helper()
	g.put(atBuffer, s)
	ptr, count := g.vector(atBuffer, uint32(len(s)))
	g.want(0, "fd_write", fd, ptr, count, atResult)
	if n := g.result(); int(n) != len(s) {
		g.t.Errorf("fd_write wrote %d of %d bytes", n, len(s))
	}
}

// content reads a file of /tmp from the host's side.
func (g *guest) content(name string) string {
	for n, c := range g.fs.Files("/tmp") {
		if n == name {
			return string(c.Bytes())
		}
	}
	g.t.Errorf("there is no file %s", name)
	return ""
}
