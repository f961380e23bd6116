//go:build amd64 || arm64

package process

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// probeTimeout bounds each call of a canary.
const probeTimeout = time.Minute

// Probe tries out what confines programs on this host. For each way there is to
// confine one, it runs a program of its own that tries what must not be possible
// and what must be, looks at the host for what it has left, and leaves nothing
// itself. Nothing is concluded from versions or settings.
//
// The error means that nothing could be tried, for reasons that have nothing to
// do with confinement.
func Probe(ctx context.Context) (*Report, error) {
	if !mainCalled.Load() {
		return nil, errMain
	}
	p := &prober{root: os.Geteuid() == 0}
	defer func() { _ = os.RemoveAll(p.dir) }()
	if err := p.prepare(); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	r := &Report{Root: p.root}
	for _, t := range []struct {
		name     string
		mode     Namespaces
		required bool
	}{{"namespaces", NamespacesRequired, true}, {"without_namespaces", NamespacesOff, false}} {
		tier, err := p.tier(ctx, t.mode)
		if err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
		tier.Name, tier.Required = t.name, t.required
		r.Tiers = append(r.Tiers, *tier)
	}
	return r, nil
}

// probeDir makes a directory for all that the probe makes: where every user can
// get to, if there is such a place.
func probeDir() (string, error) {
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !isOpen(dir, 0o001) {
			continue
		}
		if made, err := os.MkdirTemp(dir, "mayfly-probe-"); err == nil {
			return made, nil
		}
	}
	return os.MkdirTemp("", "mayfly-probe-")
}

// isOpen reports whether everybody has these permissions on a file and may pass
// through the directories above it.
func isOpen(path string, mode fs.FileMode) bool {
	for ; ; path, mode = filepath.Dir(path), 0o001 {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&mode != mode {
			return false
		}
		if path == filepath.Dir(path) {
			return true
		}
	}
}

// prober is what the canaries' calls share.
type prober struct {
	root    bool
	dir     string // all that is made
	self    string // this program, where every user can start it
	exec    []string
	read    []string
	control map[string]seen // the same system calls, not confined
}

func (p *prober) prepare() (err error) {
	if p.dir, err = probeDir(); err != nil {
		return err
	}
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return err
	}
	if p.self, err = p.program(); err != nil {
		return err
	}
	p.exec, p.read = SystemLibraries() // for a program that was built with the C library
	p.control, err = p.unconfined()
	return err
}

// program gives the path of this program. Where the user that calls have could
// not get at it, it is copied.
func (p *prober) program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if p.root && isOpen(self, 0o005) || !p.root && unix.Access(self, unix.R_OK|unix.X_OK) == nil {
		return self, nil
	}
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", err
	}
	defer from.Close()
	copied := filepath.Join(p.dir, "canary")
	to, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return copied, errors.Join(err, to.Chmod(0o755), to.Close())
}

// unconfined makes the system calls of tries in a process of this program's own
// kind. All are made such that they do no harm.
func (p *prober) unconfined() (map[string]seen, error) {
	in, toCanary, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromCanary, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer closeAll(in, toCanary, fromCanary, out)
	canary, err := os.StartProcess("/proc/self/exe", []string{p.self, canaryName, canaryControl}, &os.ProcAttr{
		Dir: "/", Env: []string{"GORACE=atexit_sleep_ms=0"}, Files: []*os.File{in, out, os.Stderr},
	})
	if err != nil {
		return nil, err
	}
	closeAll(in, out)
	_, err = toCanary.WriteString("{}")
	closeAll(toCanary)
	text, rerr := io.ReadAll(io.LimitReader(fromCanary, 1<<20))
	_, werr := canary.Wait()
	if err := errors.Join(err, rerr, werr); err != nil {
		return nil, err
	}
	var answers map[string]seen
	if err := json.Unmarshal(text, &answers); err != nil {
		return nil, errors.New("the control of the canary gave no answer")
	}
	return answers, nil
}

// probeWorld is what a canary is let loose on.
type probeWorld struct {
	canaryWorld
	pipe string
}

func (p *prober) world() (*probeWorld, error) {
	dir, err := os.MkdirTemp(p.dir, "tier-")
	if err != nil {
		return nil, err
	}
	w := &probeWorld{canaryWorld: canaryWorld{
		Granted: filepath.Join(dir, "granted"), Outside: filepath.Join(dir, "outside"), Mark: "mayfly-" + rand.Text(),
		Host: os.Getpid(), Spaces: namespaces(),
	}}
	w.pipe = filepath.Join(w.Granted, "pipe")
	// Open to everybody: only confinement keeps a program out.
	for _, make := range []func() error{
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return errors.Join(os.Mkdir(w.Granted, 0o777), os.Chmod(w.Granted, 0o777)) },
		func() error { return errors.Join(os.Mkdir(w.Outside, 0o777), os.Chmod(w.Outside, 0o777)) },
		func() error { return openFile(filepath.Join(w.Granted, "given"), w.Mark) },
		func() error { return openFile(filepath.Join(w.Outside, "secret"), w.Mark) },
		func() error { return errors.Join(unix.Mkfifo(w.pipe, 0o666), os.Chmod(w.pipe, 0o666)) },
		func() error {
			return errors.Join(unix.Mkfifo(w.pipe+".there", 0o666), os.Chmod(w.pipe+".there", 0o666))
		},
	} {
		if err := make(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func openFile(path, text string) error {
	return errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chmod(path, 0o666))
}

// spec is a call of a canary.
func (p *prober) spec(mode Namespaces, args ...string) Spec {
	return Spec{
		Command: p.self, Args: append([]string{canaryName}, args...), Env: map[string]string{"GORACE": "atexit_sleep_ms=0"},
		Exec: p.exec, Read: p.read, Namespaces: mode, Limits: Limits{Timeout: probeTimeout},
	}
}

// tier tries one way.
func (p *prober) tier(ctx context.Context, mode Namespaces) (*Tier, error) {
	w, err := p.world()
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(w.canaryWorld)
	if err != nil {
		return nil, err
	}
	// One more descriptor that a careless host has left open.
	leaked, err := unix.Open(filepath.Join(w.Outside, "secret"), unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(leaked)
	spec := p.spec(mode, canaryTries)
	spec.Input = input
	spec.Read = append(slices.Clone(spec.Read), w.Granted)
	spec.Write = []string{w.Granted}
	r, err := Run(ctx, spec)
	tier := new(Tier)
	if tier.problem(r, err) {
		return tier, ctx.Err()
	}
	tier.Enforced = r.Enforced
	var answers map[string]seen
	if err := json.Unmarshal(r.Value, &answers); err != nil {
		return nil, errors.New("the canary gave no answer")
	}
	for i := range tries {
		if c, ok := p.judge(&tries[i], answers[tries[i].name], mode != NamespacesOff); ok {
			tier.Checks = append(tier.Checks, c)
		}
	}
	tier.lookAtHost(w, mode != NamespacesOff)
	for _, more := range []func(context.Context, Namespaces, *Tier, *probeWorld) error{p.foreign, p.daemon, p.memory} {
		if err := more(ctx, mode, tier, w); err != nil {
			return nil, err
		}
	}
	for i, c := range tier.Checks {
		// What this host is known not to have is not held against it twice.
		if c.Verdict == Fails && slices.Contains(tier.Enforced.Missing, c.Layer) {
			tier.Checks[i].Verdict = Absent
		}
	}
	sortChecks(tier.Checks)
	return tier, ctx.Err()
}

// problem notes why a call could not be made, and reports whether there is a
// problem.
func (t *Tier) problem(r Result, err error) bool {
	if missing, ok := errors.AsType[*UnavailableError](err); ok {
		t.Layer, t.Remedy = missing.Layer, missing.Remedy
		t.Problem = missing.Reason
		if missing.Err != nil {
			t.Problem += ": " + missing.Err.Error()
		}
		return true
	}
	switch {
	case err != nil:
		t.Problem = err.Error()
	case r.Status != sandbox.StatusOK:
		t.Problem = "the canary ended " + string(r.Status)
		if r.Error != nil {
			t.Problem += ": " + r.Error.Message
		}
	}
	return t.Problem != ""
}

// judge says what a try means.
func (p *prober) judge(t *try, s seen, spaces bool) (Check, bool) {
	c := Check{Layer: t.layer, Name: t.name, Tried: t.tried}
	if !spaces && t.bare != "" {
		c.Layer = t.bare
	}
	if c.Layer == none {
		return c, false
	}
	errno := unix.Errno(s.Errno)
	c.Seen = s.Text
	if c.Seen == "" {
		c.Seen = "it worked"
		if errno != 0 {
			c.Seen = errno.Error()
		}
	}
	if before, ok := p.control[t.name]; ok {
		c.Seen += "; unconfined: " + map[bool]string{true: "it worked", false: unix.Errno(before.Errno).Error()}[before.Errno == 0]
	}
	switch {
	case s.Skip != "":
		c.Verdict, c.Seen = Untried, s.Skip
	case len(t.want) == 0 && errno == 0, slices.Contains(t.want, errno):
		c.Verdict = Holds
	default:
		c.Verdict = Fails
	}
	return c, true
}

// add notes what was seen from outside of a call.
func (t *Tier) add(l Layer, name, tried string, good bool, saw string) {
	c := Check{Layer: l, Name: name, Tried: tried, Seen: saw, Verdict: Fails}
	if good {
		c.Verdict = Holds
	}
	t.Checks = append(t.Checks, c)
}

// lookAtHost checks what the canary said where it counts.
func (t *Tier) lookAtHost(w *probeWorld, spaces bool) {
	layer := LayerLandlock
	if spaces {
		layer = LayerFileSystem
	}
	var traces []string
	note := func(bad bool, what string) {
		if bad {
			traces = append(traces, what)
		}
	}
	note(exists(filepath.Join(w.Outside, "new")), "a new file")
	text, err := os.ReadFile(filepath.Join(w.Outside, "secret"))
	note(err != nil || string(text) != w.Mark, "a changed file")
	info, err := os.Stat(filepath.Join(w.Outside, "secret"))
	note(err != nil || info.Mode().Perm() != 0o666, "a changed mode")
	note(exists(filepath.Join("/usr", w.Mark)), "a file in /usr")
	note(exists(filepath.Join("/tmp", w.Mark)), "a file in /tmp")
	saw := "nothing"
	if len(traces) > 0 {
		saw = fmt.Sprint(traces)
	}
	t.add(layer, "traces_on_host", "looked for what the canary should not have been able to leave", len(traces) == 0, saw)
	text, err = os.ReadFile(filepath.Join(w.Granted, "made"))
	t.add(layer, "made_on_host", "looked for what it was granted to make", err == nil && bytes.Equal(text, []byte(w.Mark)), fmt.Sprintf("%d bytes", len(text)))
}

// foreign has canaries enter the kernel as programs of other architectures do,
// which must kill them.
func (p *prober) foreign(ctx context.Context, mode Namespaces, t *Tier, _ *probeWorld) error {
	for _, entry := range slices.Sorted(maps.Keys(foreignEntries)) {
		r, err := Run(ctx, p.spec(mode, canaryForeign, entry))
		if err != nil {
			return err
		}
		saw := "ended by " + r.Signal
		if r.Signal == "" {
			saw = fmt.Sprintf("answer %.40q", r.Stdout)
		}
		t.add(LayerSeccomp, "entry_of_"+map[bool]string{true: "x32", false: "i386"}[entry == "x32 programs"],
			"entered the kernel as "+entry+" do", r.Signal == "SIGSYS", saw)
	}
	return nil
}

// daemon has a canary leave a process behind, in a session of its own, which
// must be gone when the call is over. While it lives it holds a pipe open.
func (p *prober) daemon(ctx context.Context, mode Namespaces, t *Tier, w *probeWorld) error {
	pipe, err := os.OpenFile(w.pipe, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer pipe.Close()
	spec := p.spec(mode, canaryDaemon, w.pipe)
	spec.Process = true
	spec.Read = append(slices.Clone(spec.Read), w.Granted)
	spec.Write = []string{w.Granted}
	r, err := Run(ctx, spec)
	if err != nil {
		return err
	}
	// The descriptor itself: os.File would wait for more.
	fd, text := int(pipe.Fd()), make([]byte, 16)
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	n, err := unix.Read(fd, text)
	layer := LayerNamespaces
	if mode == NamespacesOff {
		layer = LayerLandlock
	}
	const name, tried = "daemon", "left a process in a session of its own, and looked for it after the call"
	if r.Status != sandbox.StatusOK || err != nil || string(text[:n]) != "here" {
		t.Checks = append(t.Checks, Check{layer, name, tried, "it could not be started: " + string(r.Status) + " " + string(r.Stderr), Untried})
		return nil
	}
	n, err = unix.Read(fd, text)
	gone := n == 0 && err == nil
	t.add(layer, name, tried, gone, map[bool]string{true: "it was there, and is gone", false: "it is still there"}[gone])
	return nil
}

// memory has a canary take more memory than the call may have, of the kind that
// only a control group counts.
func (p *prober) memory(ctx context.Context, mode Namespaces, t *Tier, _ *probeWorld) error {
	const name, tried = "shared_memory", "took more memory than the call may have, shared"
	spec := p.spec(mode, canaryGrow)
	spec.Limits.MaxTreeMemory = growLimit
	r, err := Run(ctx, spec)
	if missing, ok := errors.AsType[*UnavailableError](err); ok {
		saw := "calls have no control group of their own here"
		if missing.Err != nil {
			saw = missing.Err.Error()
		}
		t.Checks = append(t.Checks, Check{LayerCgroup, name, tried, saw, Absent})
		return nil
	}
	if err != nil {
		return err
	}
	t.add(LayerCgroup, name, tried, r.Status == sandbox.StatusMemoryLimit, "the call ended "+string(r.Status))
	return nil
}
