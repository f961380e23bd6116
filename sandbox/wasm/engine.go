package wasm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/memfs"
)

// Engine runs calls of one guest. It is safe for concurrent use.
type Engine struct {
	config      Config
	guestDigest string

	runtime   wazero.Runtime
	codeCache wazero.CompilationCache
	code      wazero.CompiledModule
	module    []byte // the rewritten guest
	image     *image
	untried   bool // leave out the first call, for tests
	tree      *memfs.Tree

	queue *queue
	pool  *pool

	mu     sync.RWMutex // held for reading by every call
	closed bool
}

var _ sandbox.Sandbox = (*Engine)(nil)

// New makes an engine ready for calls. The first time on a machine this
// compiles and boots the guest, which takes seconds; with a cache directory
// later starts take a fraction of one. ctx bounds the start only.
func New(ctx context.Context, config Config) (*Engine, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	e := &Engine{config: config}
	if files := config.Variant.Files; files != nil {
		tree, err := memfs.NewTree(files)
		if err != nil {
			return nil, err
		}
		e.tree = tree
	}
	if err := e.prepare(ctx); err != nil {
		e.free()
		return nil, err
	}
	e.start()
	return e, nil
}

// start lets calls in. The engine is prepared.
func (e *Engine) start() {
	e.queue = newQueue(e.config.MaxConcurrent, e.config.MaxQueue)
	e.pool = newPool(e.config.Ready, func() (*instance, error) {
		return e.newInstance(e.image, e.config.MaxMemory)
	}, func(i *instance) { i.rest(e.image) })
}

// Run implements [sandbox.Sandbox].
func (e *Engine) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	start := time.Now()
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return sandbox.Result{}, sandbox.ErrClosed
	}
	r, err := e.call(ctx, spec, start)
	r.Usage.Wall = time.Since(start)
	return r, err
}

// call is the life of one call: check, wait for a place, take a fresh
// instance, run, drop it.
func (e *Engine) call(ctx context.Context, spec sandbox.Spec, start time.Time) (sandbox.Result, error) {
	spec.Limits = spec.Limits.WithDefaults()
	if spec.Name == "" {
		spec.Name = e.config.Guest.DefaultName
	}
	if err := e.check(spec); err != nil {
		return invalid(err), nil
	}
	c := e.newCall(ctx, spec, &start)
	defer c.cancel()
	if s := c.timeStop(); s != nil {
		return c.stopped(s), nil
	}
	var err error
	if c.globals, err = e.config.Guest.EncodeGlobals(spec.Globals, spec.Limits.MaxDepth); err != nil {
		return invalid(err), nil
	}
	leave, refused := e.admit(ctx, c)
	if refused != nil {
		return *refused, nil
	}
	defer leave()
	queued := time.Since(start)
	inst, err := e.pool.take()
	if err != nil {
		return sandbox.Result{}, err
	}
	defer e.pool.drop(inst)
	r := c.runIn(inst, e.image)
	r.Usage.Queued = queued
	return r, nil
}

// MaxNesting is how deep calls may be nested in each other's host tools. Each
// level holds an instance.
const MaxNesting = 8

// admit waits for a place to run, and gives what ends its use. A call from
// within a host tool goes on in the place of the call that waits for it: with a
// place of its own, outer calls could hold all of them and wait for each other.
func (e *Engine) admit(ctx context.Context, c *call) (leave func(), refused *sandbox.Result) {
	refuse := func(r sandbox.Result) (func(), *sandbox.Result) { return nil, &r }
	if outer := callOf(ctx); outer != nil {
		if c.depth = outer.depth + 1; c.depth > MaxNesting {
			return refuse(failed(sandbox.StatusCallLimit, fmt.Sprintf("calls from within host tools are nested more than %d deep", MaxNesting)))
		}
		return func() {}, nil
	}
	entered, err := e.queue.enter(c.Context)
	switch {
	case err != nil:
		return refuse(c.stopped(c.timeStop()))
	case !entered:
		return refuse(failed(sandbox.StatusBusy, "too many calls are waiting already; try again later"))
	}
	return e.queue.leave, nil
}

// Close implements [sandbox.Sandbox].
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	e.pool.close()
	e.free()
	return nil
}

func (e *Engine) free() {
	ctx := context.Background()
	if e.runtime != nil {
		_ = e.runtime.Close(ctx)
	}
	if e.codeCache != nil {
		_ = e.codeCache.Close(ctx)
	}
	if e.image != nil {
		e.image.close()
	}
}

// Info describes what an engine runs.
type Info struct {
	// Guest, Version: which interpreter, in its own words.
	Guest, Version string
	// GuestDigest and ImageDigest are the sha256 of the guest's module and of
	// the booted image.
	GuestDigest, ImageDigest string
	// EngineVersion changes whenever fuel or results may.
	EngineVersion string
	// ImageSize is the size of the image in bytes; HotSize how much of it is
	// made private ahead of each call.
	ImageSize, HotSize uint64
}

// Info describes what the engine runs.
func (e *Engine) Info() Info {
	i := Info{
		Guest:         e.config.Guest.Name,
		Version:       e.image.version,
		GuestDigest:   e.guestDigest,
		ImageDigest:   e.image.digest,
		EngineVersion: engineFormat + " wazero " + wazeroVersion(),
		ImageSize:     e.image.size,
	}
	for _, s := range e.image.hot {
		i.HotSize += uint64(s.size)
	}
	return i
}
