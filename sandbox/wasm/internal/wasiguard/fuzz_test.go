package wasiguard

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/sys"
)

// FuzzCalls makes random calls with hostile arguments. Whatever a guest does,
// no call may fail other than by ending in a way that is its own, none may make
// the host allocate more than the file system's limits explain, and the file
// system keeps its limits.
func FuzzCalls(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(randomBytes(seed, 600))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := newGuest(t, testLimits)
		g.prepare()
		calls := decodeCalls(g, data)
		for i, c := range calls {
			if !g.survives(c) {
				return
			}
			if t.Failed() {
				t.Fatalf("after:\n\t%s", strings.Join(texts(calls[:i+1]), "\n\t"))
			}
		}
	})
}

func randomBytes(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// fuzzCall is one call to make.
type fuzzCall struct {
	name string
	args []uint64
}

func (c fuzzCall) String() string { return fmt.Sprintf("%s%#x", c.name, c.args) }

func texts(calls []fuzzCall) (all []string) {
	for _, c := range calls {
		all = append(all, c.String())
	}
	return all
}

// fuzzAllocation is what one call may make the host allocate: a file of the
// largest size, twice because its memory is rounded up, and small change.
const fuzzAllocation = 2<<20 + 512<<10

// survives makes a call and says whether another can follow.
func (g *guest) survives(c fuzzCall) (more bool) {
	g.t.Helper()
	var err error
	n := allocated(func() { _, err = g.try(c.name, c.args...) })
	if n > fuzzAllocation {
		g.t.Errorf("%s made the host allocate %d bytes", c, n)
	}
	files, size := g.fs.Used()
	if files > testLimits.MaxFiles || size > testLimits.MaxBytes || files < 0 || size < 0 {
		g.t.Errorf("%s left %d files, %d bytes", c, files, size)
	}
	if _, ok := errors.AsType[*sys.ExitError](err); ok && c.name == "proc_exit" {
		return false
	}
	if errors.Is(err, errStop) {
		return false
	}
	if err != nil {
		g.t.Errorf("%s: %v", c, err)
	}
	return true
}

// Where the generator keeps things.
const (
	fuzzPaths   = 0x2000 // 16 paths, 64 bytes each
	fuzzVectors = 0x4000 // bytes of the fuzzer's: lists of pieces, subscriptions
)

// fuzzPathList are the paths that a generated call may name.
var fuzzPathList = []string{
	".", "tmp", "tmp/a", "tmp/b", "tmp/d", "tmp/d/a", "tmp/l", "tmp/l/x", "dev/null", "..", "/", "tmp/../tmp/a",
	"a", "tmp/a/", "d", strings.Repeat("x/", 30),
}

// decodeCalls turns bytes into calls. The start of the bytes also fills the
// memory that lists of pieces and subscriptions are read from.
func decodeCalls(g *guest, data []byte) (calls []fuzzCall) {
	for i, p := range fuzzPathList {
		g.put(fuzzPaths+uint32(i)*64, p)
	}
	g.mem.Write(fuzzVectors, data[:min(len(data), 4096)])
	// Some pieces and subscriptions that make sense.
	for i := range uint32(8) {
		g.mem.WriteUint32Le(fuzzVectors+256+i*8, atBuffer+i*100)
		g.mem.WriteUint32Le(fuzzVectors+256+i*8+4, i*1000)
		g.mem.WriteUint32Le(fuzzVectors+512+i*8, 0)
		g.mem.WriteUint32Le(fuzzVectors+512+i*8+4, memEnd)
		b, _ := g.mem.Read(fuzzVectors+1024+i*subscriptionSize, subscriptionSize)
		b[8] %= 4
		b[17], b[18], b[19] = 0, 0, 0
		b[40], b[41] = b[40]%3, 0
	}
	e, err := guarded()
	if err != nil {
		g.t.Fatal(err)
	}
	functions := e.module.ExportedFunctions()
	names := slices.Sorted(maps.Keys(functions))
	next := func() uint64 {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return uint64(b)
	}
	for len(data) > 0 && len(calls) < 60 {
		var name string
		if n := next(); n%3 == 0 {
			name = "path_open" // without open files little can be reached
		} else {
			name = names[n%uint64(len(names))]
		}
		c := fuzzCall{name: name}
		for i := 0; i < len(functions[name].ParamTypes()); i++ {
			c.args = append(c.args, fuzzArgument(next))
		}
		if next()%4 != 0 {
			sensible(&c, next)
		}
		calls = append(calls, c)
	}
	return calls
}

// pathArguments says which arguments are a descriptor and a path; table has
// the lengths.
var pathArguments = map[string][][2]int{
	"path_create_directory": {{0, 1}}, "path_filestat_get": {{0, 2}}, "path_filestat_set_times": {{0, 2}},
	"path_link": {{0, 2}, {4, 5}}, "path_open": {{0, 2}}, "path_readlink": {{0, 1}}, "path_remove_directory": {{0, 1}},
	"path_rename": {{0, 1}, {3, 4}}, "path_symlink": {{2, 0}, {2, 3}}, "path_unlink_file": {{0, 1}},
}

// prepare opens a few descriptors, so that there is something to attack.
func (g *guest) prepare() {
	g.want(0, "path_create_directory", append([]uint64{root}, pathArgs(g.put(atPath, "tmp/d"))...)...)
	g.open("tmp/a", oCreat, rightsBoth, 0)
	g.open("tmp/d", oDirectory, rightRead, 0)
	g.open("tmp/b", oCreat, rightsBoth, fdAppend)
	g.open("dev/null", 0, rightsBoth, 0)
}

func pathArgs(ptr, size uint64) []uint64 { return []uint64{ptr, size} }

// sensible makes arguments ones that could succeed: paths and descriptors that
// exist, lists that lie in memory.
func sensible(c *fuzzCall, next func() uint64) {
	for _, a := range pathArguments[c.name] {
		i := next() % uint64(len(fuzzPathList))
		c.args[a[0]] = root
		c.args[a[1]] = fuzzPaths + i*64
		c.args[a[1]+1] = uint64(len(fuzzPathList[i]))
	}
	switch c.name {
	case "path_open":
		c.args[4] %= 16
		c.args[5] = next() << 1
		c.args[7] %= 32
		c.args[8] = atResult
	case "fd_read", "fd_write", "fd_pread", "fd_pwrite":
		c.args[1], c.args[2] = fuzzVectors+256*(next()%3), next()%10
		c.args[len(c.args)-1] = atResult
	case "fd_seek":
		c.args[2], c.args[3] = next()%3, atResult
	case "fd_readdir":
		c.args[1], c.args[2], c.args[3], c.args[4] = atBuffer, 24+next(), next()%5, atResult
	case "fd_tell":
		c.args[1] = atResult
	case "fd_filestat_set_size":
		c.args[1] = next() << 12
	case "fd_allocate":
		c.args[1], c.args[2] = next()<<8, next()<<12
	}
	if strings.HasPrefix(c.name, "fd_") {
		c.args[0] = next() % 12
	}
}

// fuzzArgument chooses an argument: small numbers, which are descriptors,
// counts and flags; places in memory; and everything around the limits.
func fuzzArgument(next func() uint64) uint64 {
	switch n := next(); n % 8 {
	case 0, 1, 2:
		return n / 8
	case 3:
		return []uint64{fuzzVectors, fuzzVectors + 256, fuzzVectors + 512, fuzzVectors + 1024, fuzzPaths, atBuffer, atResult, 0}[n/8%8]
	case 4:
		return memEnd - n/8
	case 5:
		return 1<<(n/8) - 1
	case 6:
		return ^(n / 8)
	default:
		return next() | next()<<8 | next()<<16 | next()<<24
	}
}
