package runtime

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime/otel"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Config says what a runtime works with. The zero value has no tools.
type Config struct {
	// Harness is the path of a harness.yaml. Empty: a harness with every default
	// and the tools given here, which keeps nothing on disk.
	Harness string
	// Tools are tools that the host brings itself, beside those of the harness.
	Tools []*manifests.Tool
	// Funcs are the tools that are Go functions, by name. A name needs a manifest
	// with transport native, unless the harness has require_manifest: false: then
	// one without a manifest is governed by the defaults of one.
	Funcs map[string]Func
	// Store overrides the harness's store: "memory", or the path of a file.
	Store string
	// Trace overrides the harness's trace file; "none" writes no trace, and sends
	// no spans.
	Trace string
	// Notes is told each note of the trace once it is written, also where there is
	// no trace file. It must return at once, and is called from several goroutines.
	// Default: nobody is told.
	Notes func(Note)
	// Sandbox has the settings of the sandboxes for code; its Guest is ignored.
	Sandbox SandboxConfig
	// OpenSandbox replaces the way sandboxes are opened; nil is [OpenSandbox].
	OpenSandbox func(ctx context.Context, guest string) (sandbox.Sandbox, error)
	// CallMCP speaks with MCP servers for the tools that they serve: package
	// runtime/mcp has one. nil: this host cannot call mcp tools.
	CallMCP func(ctx context.Context, call MCPCall) MCPReply
	// Judge replaces the harness's judge; nil keeps it.
	Judge governor.Judge
	// LookupEnv gives the environment variables that manifests name, for headers
	// and secrets. Default: none is set.
	LookupEnv func(name string) (string, bool)
	// TestMode is for tests of the host program: nothing is sent to other
	// machines. http and mcp tools, and whatever has a network (native tools,
	// commands that fetch secrets, a judge behind a URL), are unavailable, and no
	// spans are sent. Funcs
	// may then have the names of http and mcp tools, and stand in for their services.
	TestMode bool
	// Resolver resolves the names of hosts that tools may reach. Default: Go's
	// own, by the system's settings.
	Resolver *net.Resolver
	// RootCAs are who may sign the certificates of http tools and of a judge
	// behind a URL. Default: the system's.
	RootCAs *x509.CertPool
	// Now is the clock of runs, limits and approvals. Default time.Now.
	Now func() time.Time
	// Version is what spans say about this program. Default: nothing.
	Version string
	// Logger is told when a collector does not take spans. Default: nobody.
	Logger *slog.Logger
}

// Runtime calls tools under the governor. Its methods may be used by several
// goroutines.
type Runtime struct {
	set        *manifests.Set
	governor   *governor.Governor
	store      store.Store
	trace      *tracer
	spans      *otel.Exporter // nil: nobody wants any
	transports map[manifests.Transport]transport
	code       *code
	funcs      funcs
	outputs    map[string]*output.Output // by tool
	now        func() time.Time
	vault      *vault
	verify     func(context.Context, *manifests.Tool) error
}

// storeMemory is the name of a store that is gone with the process.
const storeMemory = "memory"

// traceNone is the name of no trace.
const traceNone = "none"

// Open loads a harness and makes everything ready that its tools need before
// their first call. Effects that a process left unfinished when it died are
// ambiguous from here on.
//
// An error of type [manifests.Errors] says all that is wrong in the manifests.
func Open(ctx context.Context, config Config) (*Runtime, error) {
	set, err := loadSet(config)
	if err != nil {
		return nil, err
	}
	r := &Runtime{set: set, funcs: config.Funcs, now: config.Now, verify: verifySource()}
	r.vault = &vault{harness: set.Harness, lookupEnv: config.LookupEnv, testMode: config.TestMode}
	if r.now == nil {
		r.now = time.Now
	}
	if r.vault.lookupEnv == nil {
		r.vault.lookupEnv = func(string) (string, bool) { return "", false }
	}
	if r.outputs, err = outputsOf(set); err != nil {
		return nil, fmt.Errorf("open runtime: %w", err)
	}
	for name := range config.Funcs {
		t, ok := set.Tool(name)
		if !ok || t.Spec.Transport != manifests.TransportNative && !(config.TestMode && (t.Spec.Transport == manifests.TransportHTTP || t.Spec.Transport == manifests.TransportMCP)) {
			return nil, fmt.Errorf("open runtime: the function %s has no manifest with transport native", name)
		}
	}
	if err := r.open(ctx, config); err != nil {
		return nil, errors.Join(fmt.Errorf("open runtime: %w", err), r.Close())
	}
	return r, nil
}

// loadSet loads the harness. Where it does not require manifests, functions
// without one get the defaults of one, and are governed by those.
func loadSet(config Config) (*manifests.Set, error) {
	load := func(tools []*manifests.Tool) (*manifests.Set, error) {
		if config.Harness != "" {
			return manifests.Load(config.Harness, tools)
		}
		return manifests.NewSet(manifests.NewHarness(), tools)
	}
	set, err := load(config.Tools)
	if err != nil || set.Harness.Tools.RequireManifest {
		return set, err
	}
	tools := slices.Clone(config.Tools)
	for _, name := range slices.Sorted(maps.Keys(config.Funcs)) {
		if _, ok := set.Tool(name); ok {
			continue
		}
		t, err := defaultManifest(name)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	if len(tools) == len(config.Tools) {
		return set, nil
	}
	return load(tools)
}

// defaultManifest has every default. The handler stands for the Go function.
func defaultManifest(name string) (*manifests.Tool, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, fmt.Errorf("the name of a function: %w", err)
	}
	docs, err := manifests.Parse("function.json", fmt.Appendf(nil,
		`{"apiVersion":%q,"kind":"Tool","metadata":{"name":%s},"spec":{"handler":"host:call"}}`, manifests.APIVersion, quoted))
	if err != nil {
		return nil, fmt.Errorf("the function %q cannot be a tool: %w", name, err)
	}
	return docs.Tools[0], nil
}

func (r *Runtime) open(ctx context.Context, config Config) error {
	var err error
	if r.store, err = openStore(config, r.set.Harness); err != nil {
		return err
	}
	if r.trace, err = newTracer(tracePath(config, r.set.Harness), config.Notes); err != nil {
		return err
	}
	if r.spans, err = r.openSpans(config); err != nil {
		return err
	}
	open := config.OpenSandbox
	if open == nil {
		open = func(ctx context.Context, guest string) (sandbox.Sandbox, error) {
			c := config.Sandbox
			c.Guest = guest
			return OpenSandbox(ctx, c)
		}
	}
	r.code = &code{open: open, boxes: make(map[string]sandbox.Sandbox)}
	far := &web{
		funcs: r.funcs, testMode: config.TestMode, resolver: config.Resolver, roots: config.RootCAs, vault: r.vault, now: r.now,
	}
	r.transports = map[manifests.Transport]transport{
		manifests.TransportCode:   r.code,
		manifests.TransportNative: native{r.funcs, r.vault, config.TestMode, config.Resolver},
		manifests.TransportHTTP:   far,
		manifests.TransportMCP:    missing{"this host cannot call mcp tools"},
	}
	if config.CallMCP != nil {
		r.transports[manifests.TransportMCP] = upstream{far, config.CallMCP, r.set.Harness}
	}
	judge := config.Judge
	if judge == nil {
		if judge, err = r.judge(config); err != nil {
			return err
		}
	}
	r.governor, err = governor.New(governor.Config{
		Set: r.set, Store: r.store, Clock: r.now, NewID: newID, Judge: judge, Verify: r.verify,
	})
	if err != nil {
		return err
	}
	_, err = r.store.Recover(ctx, r.now())
	return err
}

// openStore opens what the harness names, beside it unless the path says else.
func openStore(config Config, h *manifests.Harness) (store.Store, error) {
	name := h.Store
	if config.Store != "" {
		name = config.Store
	} else if name != storeMemory && h.Origin.Root == "" {
		name = storeMemory // nothing says where
	} else if !filepath.IsAbs(name) && name != storeMemory {
		name = filepath.Join(h.Origin.Root, name)
	}
	if name == storeMemory {
		return store.NewMemory(), nil
	}
	return store.Open(name)
}

func tracePath(config Config, h *manifests.Harness) string {
	switch {
	case config.Trace == traceNone:
		return ""
	case config.Trace != "":
		return config.Trace
	case h.Origin.Root == "" || h.Trace.File == "":
		return ""
	case filepath.IsAbs(h.Trace.File):
		return h.Trace.File
	}
	return filepath.Join(h.Origin.Root, h.Trace.File)
}

// outputsOf makes what the governor's last step does for each tool.
func outputsOf(set *manifests.Set) (map[string]*output.Output, error) {
	outputs := make(map[string]*output.Output)
	for _, t := range set.Tools() {
		policy := output.Policy{MaxBytes: t.Spec.Output.MaxBytes}
		for _, s := range t.Spec.Output.Sanitize {
			policy.Sanitizers = append(policy.Sanitizers, string(s))
		}
		o, err := output.New(policy)
		if err != nil {
			return nil, fmt.Errorf("output of tool %s: %w", t.Metadata.Name, err)
		}
		outputs[t.Metadata.Name] = o
	}
	return outputs, nil
}

// Close ends the runtime. Calls must have ended before. Spans that wait are sent,
// for a few seconds at most.
func (r *Runtime) Close() error {
	var errs []error
	if r.code != nil {
		errs = append(errs, r.code.close())
	}
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	errs = append(errs, r.trace.close())
	r.spans.Close()
	return errors.Join(errs...)
}

// Manifests gives what the runtime was opened with.
func (r *Runtime) Manifests() *manifests.Set { return r.set }

// newID gives an ID that nobody can guess or has used.
func newID() string { return rand.Text() }
