package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/rewrite"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/wasiguard"
)

// prepare makes the engine ready for calls: from the cache if there is a good
// entry, else by building one.
func (e *Engine) prepare(ctx context.Context) error {
	sum := sha256.Sum256(e.config.Guest.Module)
	e.guestDigest = hex.EncodeToString(sum[:])
	compiled := e.config.Variant
	compiled.Files = nil // nothing that is cached depends on them
	key := entryKey(e.guestDigest, compiled)
	if e.config.CacheDir == "" {
		return e.build(ctx, "")
	}
	root := filepath.Join(e.config.CacheDir, "engine")
	// Who can write to a directory above an entry can put another in its place.
	if err := checkDirs(e.config.CacheDir, root); err != nil && !errors.Is(err, os.ErrNotExist) {
		e.config.Progress("nothing will be cached: " + err.Error())
		return e.build(ctx, "")
	}
	final := entry{filepath.Join(root, key)}
	module, img, err := final.read()
	if err == nil {
		if err = e.load(ctx, final, module); err == nil {
			e.image = img
			return nil
		}
		img.close()
	}
	if _, missing := os.Lstat(final.dir); missing == nil {
		e.config.Progress("building the cache again: " + err.Error())
		_ = os.RemoveAll(final.dir)
	}
	temp, err := newEntryDir(root)
	if err != nil {
		e.config.Progress("nothing will be cached: " + err.Error())
		return e.build(ctx, "")
	}
	defer os.RemoveAll(temp)
	if err := e.build(ctx, temp); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); !ok {
			return err
		}
		// Such as a full disk. It is the cache's alone: nothing else is written.
		e.config.Progress("nothing will be cached: " + err.Error())
		return e.build(ctx, "")
	}
	if err := (entry{temp}).write(e.module, e.image); err != nil {
		e.config.Progress("nothing was cached: " + err.Error())
		return nil
	}
	// Another process may have been faster; its entry is as good.
	if err := os.Rename(temp, final.dir); err != nil && !errors.Is(err, os.ErrExist) {
		e.config.Progress("nothing was cached: " + err.Error())
	}
	return nil
}

// newEntryDir makes the directory in which an entry is built.
func newEntryDir(root string) (string, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	if err := checkDirs(filepath.Dir(root), root); err != nil {
		return "", err
	}
	return os.MkdirTemp(root, "new-")
}

// load gets the code of a cached entry ready.
func (e *Engine) load(ctx context.Context, from entry, module []byte) error {
	if err := e.newRuntime(ctx, filepath.Join(from.dir, entryCode)); err != nil {
		return err
	}
	e.module = module
	return e.compile(ctx)
}

// build rewrites, compiles and boots the guest. Compiled code goes to a
// directory below dir, if there is one.
func (e *Engine) build(ctx context.Context, dir string) error {
	start := time.Now()
	name := e.config.Guest.Name + " " + e.config.Guest.Version
	e.config.Progress("preparing " + name + " for this machine (once): compiling")
	rewritten, err := rewrite.Rewrite(e.config.Guest.Module, rewrite.Options{
		Meter: !e.config.Variant.Unmetered, Bounds: true, Devirtualise: true,
	})
	if err != nil {
		return fmt.Errorf("rewrite guest %s: %w", name, err)
	}
	e.module = rewritten.Wasm
	code := ""
	if dir != "" {
		code = filepath.Join(dir, entryCode)
	}
	if err := e.newRuntime(ctx, code); err != nil {
		return err
	}
	if err := e.compile(ctx); err != nil {
		return err
	}
	// Compiling leaves hundreds of MiB behind, and so does starting what was compiled.
	// One after the other they fit where both together do not.
	debug.FreeOSMemory()
	e.config.Progress(fmt.Sprintf("preparing %s: compiled after %.1f s, starting it", name, time.Since(start).Seconds()))
	if e.image, err = e.boot(ctx, rewritten, nil); err != nil {
		return fmt.Errorf("boot guest %s: %w", name, err)
	}
	if e.untried {
		return nil
	}
	if err := e.findHot(ctx); err != nil {
		return fmt.Errorf("try guest %s: %w", name, err)
	}
	e.config.Progress(fmt.Sprintf("preparing %s: ready after %.1f s", name, time.Since(start).Seconds()))
	return nil
}

// newRuntime makes a wazero runtime whose compiled code is kept below codeDir,
// if that is not empty.
func (e *Engine) newRuntime(ctx context.Context, codeDir string) error {
	if e.runtime != nil {
		_ = e.runtime.Close(ctx)
		e.runtime = nil
	}
	config := wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false).
		WithCloseOnContextDone(e.config.Variant.EngineDeadline)
	if codeDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(codeDir)
		if err != nil {
			return fmt.Errorf("use cache directory: %w", err)
		}
		e.codeCache = cache
		config = config.WithCompilationCache(cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := wasiguard.Instantiate(ctx, e.runtime); err != nil {
		return err
	}
	return instantiateHost(ctx, e.runtime)
}

func (e *Engine) compile(ctx context.Context) error {
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	code, err := e.runtime.CompileModule(ctx, e.module)
	if err != nil {
		return fmt.Errorf("compile the guest: %w", err)
	}
	e.code = code
	useHugeCode()
	return nil
}

// Bounds on a boot. It runs our own code, so they only keep a broken guest
// from hanging or eating the host.
const (
	bootTime   = 2 * time.Minute
	bootMemory = 1 << 30
	maxInfo    = 64 << 10
)

// boot starts the interpreter in a plain instance and takes its image. use,
// if set, gets the live instance instead of it being closed.
func (e *Engine) boot(ctx context.Context, m rewrite.Module, use func(*instance)) (*image, error) {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	inst, err := e.newInstance(nil, bootMemory)
	if err != nil {
		return nil, err
	}
	if use == nil {
		defer inst.close()
	}
	inst.world.beginBoot()
	ctx = context.WithValue(ctx, wasiguard.Key{}, wasiguard.World(inst.world))
	memory := inst.mod.Memory()
	for _, d := range m.Data {
		if !memory.Write(d.Offset, d.Bytes) {
			return nil, fmt.Errorf("a data segment at %d lies outside of the memory", d.Offset)
		}
	}
	if init := inst.mod.ExportedFunction(exportInitialize); init != nil {
		if _, err := init.Call(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", exportInitialize, err)
		}
	}
	h, err := inst.init(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range m.Globals {
		h.globals = append(h.globals, globalValue{g.Name, inst.mod.ExportedGlobal(g.Name).Get()})
	}
	h.size = uint64(memory.Size())
	h.mono = inst.world.clock.nanotime()
	view, _ := memory.Read(0, memory.Size())
	if use != nil {
		use(inst)
	}
	return newImage(h, view)
}

// init calls the guest's init export and reads what it says of itself.
func (i *instance) init(ctx context.Context) (h imageHeader, err error) {
	config := appendSection(nil, configABI, binary.LittleEndian.AppendUint32(nil, abiVersion)...)
	ptr, err := i.place(ctx, nil, uint32(len(config)))
	if err != nil {
		return h, err
	}
	if !i.mod.Memory().Write(ptr, config) {
		return h, errors.New("the guest's room lies outside of its memory")
	}
	init := i.mod.ExportedFunction(exportInit)
	if init == nil {
		return h, fmt.Errorf("the guest does not export %s", exportInit)
	}
	packed, err := init.Call(ctx, uint64(ptr), uint64(len(config)))
	if err != nil {
		return h, fmt.Errorf("%s: %w%s", exportInit, err, i.world.said())
	}
	msg, err := i.message(packed[0], maxInfo)
	if err != nil {
		return h, fmt.Errorf("%s: %w%s", exportInit, err, i.world.said())
	}
	s, err := parseSections(msg)
	if err != nil {
		return h, fmt.Errorf("%s: %w", exportInit, err)
	}
	if abi, err := s.u32(infoABI); err != nil || abi != abiVersion {
		return h, fmt.Errorf("%s: the guest speaks ABI %d, this engine %d", exportInit, abi, abiVersion)
	}
	if len(s[infoScratch]) != 8 {
		return h, fmt.Errorf("%s: the guest names no scratch buffer", exportInit)
	}
	h.language, h.version = string(s[infoLanguage]), string(s[infoVersion])
	h.scratch.start = binary.LittleEndian.Uint32(s[infoScratch])
	h.scratch.size = binary.LittleEndian.Uint32(s[infoScratch][4:])
	if h.scratch.start%8 != 0 {
		return h, fmt.Errorf("%s: the scratch buffer is not aligned", exportInit)
	}
	return h, nil
}

// bootRefuel is refuel for a guest that is not in a call.
func bootRefuel(ctx context.Context, m api.Module) {
	if err := ctx.Err(); err != nil {
		panic(&stop{sandbox.StatusTimeout, "the guest did not start in time: " + err.Error()})
	}
	m.ExportedGlobal(rewrite.FuelGlobal).(api.MutableGlobal).Set(refuelInterval)
}

// hotProbe is a call that does next to nothing: the pages it writes to are
// written by every call.
const hotProbe = "1+1"

// findHot records in the image which of its pages a small call touches.
func (e *Engine) findHot(ctx context.Context) error {
	inst, err := e.newInstance(e.image, minMaxMemory)
	if err != nil {
		return err
	}
	defer inst.close()
	c := e.newCall(ctx, sandbox.Spec{Name: e.config.Guest.DefaultName, Code: hotProbe, Limits: sandbox.Limits{}.WithDefaults()}, nil)
	defer c.cancel()
	if c.globals, err = e.config.Guest.EncodeGlobals(nil, c.spec.Limits.MaxDepth); err != nil {
		return err
	}
	r := c.runIn(inst, e.image)
	if r.Status != sandbox.StatusOK {
		return fmt.Errorf("the first call ended %s: %+v", r.Status, r.Error)
	}
	e.image.hot = inst.memory.pages(privatePages, e.image.size)
	e.image.read = inst.memory.pages(mappedPages, e.image.size)
	return e.image.check()
}
