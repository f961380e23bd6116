package wasm

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"path"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"

	crand "crypto/rand"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/memfs"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/wasiguard"
)

// world is what one instance can see through WASI. It is made with the
// instance, which may be before its call is known, and is told of the call
// when that begins.
type world struct {
	out   output
	clock clock
	rand  io.Reader
	files *memfs.FS
	tree  *memfs.Tree // what /mnt shows, nil for none
	call  *call       // nil while the instance waits
}

// clock gives the guest its time. The zero value is live time.
type clock struct {
	base  int64 // monotonic nanoseconds that the image had already seen
	fixed bool
	wall  int64 // fixed: nanoseconds since 1970
	ticks int64 // fixed: nanoseconds passed
}

// processStart anchors the monotonic clock: Go's own is only a difference.
var processStart = sync.OnceValue(time.Now)

// tick is how far a fixed clock moves with each reading. Without it, code that
// waits for the time to change would never end.
const tick = int64(time.Microsecond)

func (c *clock) walltime() (sec int64, nsec int32) {
	if !c.fixed {
		now := time.Now()
		return now.Unix(), int32(now.Nanosecond())
	}
	c.ticks += tick
	t := c.wall + c.ticks
	sec, nsec = t/1e9, int32(t%1e9)
	if nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return sec, nsec
}

func (c *clock) nanotime() int64 {
	if !c.fixed {
		return c.base + int64(time.Since(processStart()))
	}
	c.ticks += tick
	return c.base + c.ticks
}

// begin ties the world to its call.
func (w *world) begin(c *call) {
	w.call = c
	w.out.reset(c.spec.Limits.MaxOutput)
	w.rand = crand.Reader
	w.files.Configure(memfs.Config{
		MaxFiles: c.spec.Limits.MaxFiles,
		MaxBytes: c.spec.Limits.MaxFileBytes,
		Room:     c.inst.memory.room,
		Clock:    func() time.Time { return time.Unix(0, w.Walltime()) },
		Tree:     w.tree,
	})
	w.files.Provide(path.Base(sandbox.ArtifactDir))
	c.inst.memory.files = w.fileBytes
	if d := c.spec.Deterministic; d != nil {
		w.clock.fixed = true
		w.clock.wall = d.Clock.UnixNano()
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], d.Seed)
		w.rand = rand.NewChaCha8(seed)
	}
}

// bootTimestamp is the guest's time while it boots, 2000-01-01.
const bootTimestamp = 946_684_800 * int64(time.Second)

// beginBoot lets a guest boot: what it writes is kept for an error message.
// Its clock and its random bytes are always the same, so that the image is:
// otherwise the deterministic mode would hold for one image only. Nothing in
// an image is a secret from the code that runs in it anyway.
func (w *world) beginBoot() {
	w.out.reset(maxMessage)
	w.clock.fixed, w.clock.wall = true, bootTimestamp
	w.rand = rand.NewChaCha8([32]byte{})
}

// said is what a guest wrote while it booted, for an error message.
func (w *world) said() string {
	if len(w.out.stderr.kept) == 0 {
		return ""
	}
	return "; it wrote: " + string(w.out.stderr.kept)
}

// Read implements io.Reader: the guest's random bytes.
func (w *world) Read(p []byte) (int, error) { return w.rand.Read(p) }

// The methods below are wasiguard.World.
var _ wasiguard.World = (*world)(nil)

// Walltime gives nanoseconds since 1970 on the guest's clock.
func (w *world) Walltime() int64 {
	sec, nsec := w.clock.walltime()
	return sec*1e9 + int64(nsec)
}

// Nanotime gives the guest's monotonic clock.
func (w *world) Nanotime() int64 { return w.clock.nanotime() }

// Check ends the call if its time is over.
func (w *world) Check() {
	if w.call != nil {
		w.call.checkTime()
	}
}

// FileErrno gives the file system's last error that wazero has no name for.
func (w *world) FileErrno() uint32 { return w.files.TakeErrno() }

// FollowTimes says whose times are set by the path of a symbolic link.
func (w *world) FollowTimes(follow bool) { w.files.FollowTimes(follow) }

func (w *world) fileBytes() uint64 {
	_, n := w.files.Used()
	return uint64(n)
}

// Sleep answers a guest's sleep. It ends with the call, whichever comes first.
func (w *world) Sleep(d time.Duration) {
	c := w.call
	if c == nil || d <= 0 {
		return
	}
	if w.clock.fixed {
		w.clock.ticks += int64(min(d, maxSleep))
		if time.Duration(w.clock.ticks) > c.spec.Limits.Timeout {
			panic(&stop{sandbox.StatusTimeout, "the call slept past its timeout of " + c.spec.Limits.Timeout.String()})
		}
		return
	}
	t := time.NewTimer(min(d, maxSleep))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.Context.Done():
	}
	c.checkTime()
}

// maxSleep keeps sums of a guest's sleeps far from overflow. No call lasts
// that long.
const maxSleep = 30 * 24 * time.Hour

// moduleConfig ties an instance to its world.
func (w *world) moduleConfig() wazero.ModuleConfig {
	fs := wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(w.files, "/")
	return wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions().
		WithFSConfig(fs).
		WithStdout(&w.out.stdout).
		WithStderr(&w.out.stderr).
		WithRandSource(w).
		WithWalltime(w.clock.walltime, sys.ClockResolution(time.Microsecond)).
		WithNanotime(w.clock.nanotime, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) { w.Sleep(time.Duration(ns)) })
}

// newWorld makes a world without a call.
func newWorld(base int64) *world {
	return &world{clock: clock{base: base}, files: memfs.New(memfs.Config{})}
}
