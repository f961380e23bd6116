//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// ground is a tree of files in which grants overlap, and links that lead about it
// and out of it.
type ground struct {
	paths   []string // all that can be asked for, sense or not
	good    []string // files and directories, by way of links too
	sockets []string
}

func newGround(t testing.TB) *ground {
	t.Helper()
	g := &ground{paths: []string{
		"/", "/usr", "/usr/bin", "/etc", "/etc/passwd", "/tmp", "/proc", "/proc/self/cwd", "/dev/null", "/dev/shm", "/sys/kernel",
		"", "relative", "/usr/", "/usr/../etc", "/none", "/usr\x00", "/\xff",
	}}
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, parent := range []string{"/tmp", "/var/tmp"} {
		base, err := os.MkdirTemp(parent, "policy")
		do(err)
		t.Cleanup(func() { _ = os.RemoveAll(base) })
		at := func(name string) string {
			path := filepath.Join(base, name)
			g.paths = append(g.paths, path)
			return path
		}
		for _, name := range []string{"a", "a/b", "a/b/c", "a/b/c/d", "d", "d/e"} {
			do(os.Mkdir(at(name), 0o755))
		}
		for _, name := range []string{"a/file", "a/b/c/file", "d/prog", "file"} {
			do(os.WriteFile(at(name), nil, 0o755))
		}
		for _, l := range []link{
			{"a/to-d", "../d"}, {"d/up", ".."}, {"to-c", "a/b/c"}, {"twice", "to-c"}, {"loop", "loop"}, {"out", "/etc"},
			{"root", "/"}, {"proc", "/proc/self"}, {"cwd", "/proc/self/cwd"}, {"dev", "/dev"}, {"d/prog-link", "../d/../d/prog"}, {"abs", base + "/a"},
		} {
			do(os.Symlink(l.Target, at(l.Path)))
		}
		g.paths = append(g.paths, base, base+"/a/to-d/e", base+"/to-c/file", base+"/d/up/a/b", base+"/twice/d", base+"/abs/b/c")
		for _, name := range []string{"socket", "d/socket"} {
			g.sockets = append(g.sockets, at(name))
			listener, err := net.Listen("unix", filepath.Join(base, name))
			do(err)
			t.Cleanup(func() { _ = listener.Close() })
		}
	}
	for _, path := range g.paths {
		if checked, err := checkPath("", path); err == nil && reservedPath(path) == "" && !slices.Contains(g.sockets, path) && (checked.IsDir() || checked.Mode().IsRegular()) && path != "/tmp" {
			g.good = append(g.good, path)
		}
	}
	return g
}

// picks are bytes that choose. When they are used up, everything is 0.
type picks []byte

func (p *picks) of(n int) int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b) % n
}

func pickOne[T any](p *picks, list []T) T { return list[p.of(len(list))] }

var (
	fuzzWords  = []string{"a", "é", "two words", "SENTINEL", "HOME", "PATH", "", "--x=1", "z\x00", "\xff", strings.Repeat("x", 300<<10)}
	fuzzLimits = []int64{0, 0, 0, 1, 16, 64 << 10, 1 << 20, 1 << 30, math.MaxInt32, math.MaxInt64, -1, math.MinInt64}
	fuzzUsers  = []*User{nil, {1000, 1000}, {0, 1}, {1, 0}, {-1, -1}, {math.MaxInt32, math.MaxInt32}}
)

// spec makes a call out of choices.
func (g *ground) spec(p *picks) Spec {
	some := func(n int, usual, all []string) (list []string) {
		for range max(0, p.of(n+3)-2) {
			if p.of(32) == 1 {
				usual = all
			}
			list = append(list, pickOne(p, usual))
		}
		return list
	}
	paths := func() []string { return some(4, g.good, g.paths) }
	words := func() []string { return some(3, fuzzWords[:6], fuzzWords) }
	programs := slices.DeleteFunc(slices.Clone(g.paths), func(path string) bool { return !strings.Contains(path, "prog") })
	s := Spec{Command: pickOne(p, programs), Read: paths(), Write: paths(), Exec: paths(), Network: Network(p.of(8) % 5 % 4), Process: p.of(2) == 1, Args: words()}
	if p.of(3) == 1 {
		s.UnixSockets = some(2, g.sockets, g.paths)
	}
	if p.of(16) == 1 {
		s.Command = pickOne(p, g.paths)
	}
	if p.of(4) == 1 {
		s.Dir = pickOne(p, g.good)
	}
	for _, name := range words() {
		if s.Env == nil {
			s.Env = make(map[string]string)
		}
		s.Env[name] = pickOne(p, fuzzWords)
	}
	if p.of(8) == 1 {
		s.Secrets = map[string][]byte{pickOne(p, fuzzWords[1:]): []byte(pickOne(p, fuzzWords))}
	}
	if (s.Network == NetworkProxy) != (p.of(16) == 1) {
		s.Proxy = func(context.Context, net.Listener) {}
	}
	if p.of(8) == 1 {
		s.User = pickOne(p, fuzzUsers)
	}
	if p.of(3) > 0 {
		if p.of(3) == 1 {
			s.Limits.MaxWriteBytes = 1 << 20
		}
		return s
	}
	limit := func() int64 { return pickOne(p, fuzzLimits) }
	s.Limits = Limits{
		Timeout: time.Duration(limit()), MaxMemory: limit(), MaxTreeMemory: limit(), MaxCPU: time.Duration(limit()), MaxOutput: limit(), MaxValue: limit(),
		MaxProcesses: int(limit()), MaxFileBytes: limit(), MaxWriteBytes: limit(), MaxDescriptors: int(limit()), MaxTempBytes: limit(),
	}
	return s
}

// mustRefuse says why a call must never get as far as the launcher, by itself: it
// uses nothing of what it checks.
func mustRefuse(s *Spec, root, spaces bool) string {
	for _, path := range slices.Concat(s.Read, s.Write, s.Exec, s.UnixSockets, []string{s.Command}) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return "a path that is none"
		}
		if first, _, _ := strings.Cut(real[1:], "/"); first == "" || first == "proc" || first == "sys" || first == "dev" {
			return "the kernel's files, or all files"
		}
		if spaces && real == "/tmp" {
			return "the host's /tmp"
		}
	}
	if spaces {
		for _, path := range s.Write {
			if w, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(w, "/tmp/") && !slices.ContainsFunc(slices.Concat(s.Read, s.Exec, []string{s.Command}), func(path string) bool {
				r, err := filepath.EvalSymlinks(path)
				return err == nil && reaches(r, w)
			}) {
				return "writing without reading below /tmp, where all can be read"
			}
		}
	}
	for _, text := range append(slices.Clone(s.Args), s.Dir) {
		if strings.ContainsRune(text, 0) {
			return "a text that would be cut"
		}
	}
	for name, value := range s.Env {
		if strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return "a variable that would be another"
		}
	}
	l := s.Limits
	if min(int64(l.Timeout), l.MaxMemory, l.MaxTreeMemory, int64(l.MaxCPU), l.MaxOutput, l.MaxValue, int64(l.MaxProcesses), l.MaxFileBytes, l.MaxWriteBytes, int64(l.MaxDescriptors), l.MaxTempBytes) < 0 {
		return "a limit below zero"
	}
	switch {
	case s.User != nil && (!root || s.User.UID <= 0 || s.User.GID <= 0):
		return "a user that is not to be had"
	case s.Network > NetworkProxy, (s.Network == NetworkProxy) != (s.Proxy != nil):
		return "a network without sense"
	case !spaces && (s.Network == NetworkProxy || len(s.UnixSockets) > 0 || l.MaxTempBytes > 0 || l.MaxWriteBytes > 0 && len(s.Write) > 0):
		return "what needs namespaces"
	}
	return ""
}

// plannedCall is what comes of a call before anything starts: Run's first half.
func plannedCall(s *Spec, spaces bool) (*policy, func(), error) {
	root := os.Geteuid() == 0
	if err := s.check(root); err != nil {
		return nil, nil, err
	}
	asked := s.Limits
	s.Limits = asked.withDefaults()
	return plan(s, asked, root, spaces)
}

// FuzzPolicy follows a call from its grants to the last system call that the
// launcher makes before the program runs, on paper. What can be read, written and
// executed there, and what bounds the program, is what was granted, worked out
// from the grants alone; and what must be refused has been.
func FuzzPolicy(f *testing.F) {
	if landlockABI() < 1 {
		f.Skip("this kernel has no Landlock: every call is refused before it has a policy")
	}
	g := newGround(f)
	for seed := range uint64(60) {
		f.Add(policySeed(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tryPolicy(t, g, data)
	})
}

func policySeed(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 9))
	data := make([]byte, 8+r.IntN(60))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// tryPolicy gives the launcher's policy; nil if the call was refused.
func tryPolicy(t *testing.T, g *ground, data []byte) *policy {
	p := picks(data)
	spaces, abi := p.of(3) > 0, p.of(MaxLandlockABI+1)
	s := g.spec(&p)
	granted := s
	planned, done, err := plannedCall(&s, spaces)
	if err != nil {
		if text := err.Error(); strings.Contains(text, "SENTINEL") {
			t.Errorf("the refusal holds a value: %s", text)
		}
		e, invalid := errors.AsType[*specError](err)
		_, missing := errors.AsType[*UnavailableError](err)
		if !invalid && !missing || invalid && !strings.HasPrefix(e.path, "/") {
			t.Errorf("%+v is refused by %T: %v", granted, err, err)
		}
		return nil
	}
	defer done()
	if reason := mustRefuse(&granted, os.Geteuid() == 0, spaces); reason != "" {
		t.Fatalf("%s is not refused: %+v", reason, granted)
	}
	if spaces && abi > 0 {
		planned.ABI = min(planned.ABI, abi) // an older kernel
	}

	file, err := planned.file()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	told, err := readPolicy(int(file.Fd()))
	if err != nil {
		t.Fatalf("what the host writes the launcher cannot read: %v", err)
	}
	if err := told.check(); err != nil {
		t.Fatalf("the launcher refuses the host's own policy: %v", err)
	}
	if diff := cmp.Diff(planned, told, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the launcher reads something else (host -, launcher +):\n%s", diff)
	}
	j, err := newJob(told, 40, []int{41, 42, 43, 44}, nil)
	if err != nil {
		t.Fatalf("%+v: %v", granted, err)
	}
	k := newPaper(t, told)
	k.run(&j.own)
	k.run(&j.child)
	k.checkFiles(g, &granted)
	k.checkProgram(&granted, s.Limits)
	if t.Failed() {
		t.Logf("namespaces %v, ABI %d, %+v", spaces, told.ABI, granted)
	}
	return told
}

// TestPolicyModel is the control: most choices make calls that mean something,
// and the model notices rights that are one too many or one too few.
func TestPolicyModel(t *testing.T) {
	if landlockABI() < 1 {
		t.Skip("this kernel has no Landlock")
	}
	g := newGround(t)
	kinds := make(map[string]int)
	for seed := range uint64(800) {
		p := tryPolicy(t, g, policySeed(seed))
		if p == nil {
			continue
		}
		kinds["accepted"]++
		for kind, is := range map[string]bool{
			"three places": len(p.Places) >= 3, "a link": len(p.Links) > 0, "boxes": len(p.Boxes) > 0, "sockets": p.UnixConns, "a proxy": p.Network == NetworkProxy,
			"no namespaces": !p.Spaces, "processes": p.Process, "write": slices.ContainsFunc(p.Places, func(p place) bool { return p.Rights&mayWrite != 0 }),
		} {
			if is {
				kinds[kind]++
			}
		}
	}
	t.Log(kinds)
	for _, kind := range []string{"accepted", "three places", "a link", "boxes", "sockets", "a proxy", "processes", "write"} {
		if kinds[kind] < 3 {
			t.Errorf("of 800 calls, those with %s: %d", kind, kinds[kind])
		}
	}
	dir := filepath.Dir(programOf(g)) + "/e"
	for _, wrong := range []rights{0, mayRead, mayWrite, mayExec, mayWrite | mayExec, mayRead | mayWrite | mayExec} {
		for _, spaces := range []bool{false, true} {
			s := Spec{Command: programOf(g), Read: []string{dir}, Write: []string{dir}}
			p, done, err := plannedCall(&s, spaces)
			if e, missing := errors.AsType[*UnavailableError](err); missing && e.Layer == LayerLandlock {
				continue // without namespaces, on an old kernel
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Places {
				if p.Places[i].Rights == mayRead|mayWrite {
					p.Places[i].Rights = wrong
				}
			}
			j, err := newJob(p, 40, []int{41, 42, 43, 44}, nil)
			done()
			if err != nil {
				t.Fatal(err)
			}
			sink := &paperSink{TB: t}
			k := newPaper(sink, p)
			k.run(&j.own)
			k.checkFiles(g, &s)
			if sink.errors == 0 {
				t.Errorf("namespaces %v: rights %b instead of reading and writing are not noticed", spaces, wrong)
			}
		}
	}
}

// programOf is the program that does not lie below /tmp, where everything may be
// read and written in any case.
func programOf(g *ground) string {
	return g.good[slices.IndexFunc(g.good, func(path string) bool {
		return strings.HasPrefix(path, "/var") && strings.HasSuffix(path, "/d/prog")
	})]
}

// paperSink counts what the model finds, where that is what is wanted.
type paperSink struct {
	testing.TB
	errors int
}

func (s *paperSink) Errorf(string, ...any) { s.errors++ }

// checkFiles compares what the steps let be done with paths with the grants.
func (k *paper) checkFiles(g *ground, s *Spec) {
	k.Helper()
	type granted struct {
		real   string
		rights rights
	}
	var grants []granted
	for _, list := range []struct {
		paths  []string
		rights rights
	}{{s.Read, mayRead}, {s.Write, mayWrite}, {append([]string{s.Command}, s.Exec...), mayRead | mayExec}, {s.UnixSockets, mayConnect}} {
		for _, path := range list.paths {
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				k.Fatal(err)
			}
			grants = append(grants, granted{real, list.rights})
		}
	}
	seen := make(map[string]bool)
	for _, path := range g.paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !filepath.IsAbs(path) || seen[real] || strings.HasPrefix(real+"/", "/proc/") || strings.HasPrefix(real+"/", "/dev/") || strings.HasPrefix(real+"/", "/sys/") || real == "/" || real == "/tmp" {
			continue // some of these have rights of their own; see checkOwn
		}
		seen[real] = true
		info, err := os.Lstat(real)
		if err != nil {
			k.Fatal(err)
		}
		var want rights
		inGrant := false
		for _, a := range grants {
			if real == a.real || strings.HasPrefix(real, a.real+"/") {
				want |= a.rights
				inGrant = true
			}
		}
		byRule, byMount, visible := k.may(real, info.IsDir())
		if k.own[real] && !inGrant {
			continue
		}
		if k.policy.Spaces && visible != inGrant {
			k.Errorf("%s: visible %v, granted %v", real, visible, inGrant)
		}
		if info.Mode().Type() == os.ModeSocket || !visible {
			continue // to connect takes no right but to see it
		}
		// Each layer by itself.
		want &^= mayConnect
		wantByRule, wantByMount := want, mayRead|want&(mayWrite|mayExec)
		if k.policy.Spaces && reaches("/tmp", real) {
			wantByRule |= mayRead | mayWrite // a rule is for all that is below: here /tmp, which is the program's own
		}
		if byRule != wantByRule {
			k.Errorf("%s: rules give %03b, want %03b", real, byRule, wantByRule)
		}
		if k.policy.Spaces && byMount != wantByMount {
			k.Errorf("%s: mounts give %03b, want %03b", real, byMount, wantByMount)
		}
	}
	k.checkOwn(s)
}

// checkProgram compares the rest: limits, user, words, filter.
func (k *paper) checkProgram(s *Spec, limits Limits) {
	k.Helper()
	p := k.policy
	for resource, want := range map[int]int64{
		unix.RLIMIT_DATA: limits.MaxMemory, unix.RLIMIT_FSIZE: limits.MaxFileBytes, unix.RLIMIT_NOFILE: int64(limits.MaxDescriptors), unix.RLIMIT_CORE: 0,
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			k.Fatal(err)
		}
		if got, ok := k.limits[resource]; !ok || got != (unix.Rlimit{Cur: min(uint64(want), now.Max), Max: min(uint64(want), now.Max)}) {
			k.Errorf("limit %d is %+v, want %d", resource, got, want)
		}
	}
	if _, ok := k.limits[unix.RLIMIT_NPROC]; ok != (p.Drop || p.Spaces) {
		k.Errorf("the number of processes is bounded: %v", ok)
	}
	if root := os.Geteuid() == 0; root && (k.user[0] <= 0 || k.user[1] <= 0) || root && s.User != nil && k.user != [2]int{s.User.UID, s.User.GID} {
		k.Errorf("the program runs as %v, wanted is %+v", k.user, s.User)
	}
	if want := append([]string{s.Command}, s.Args...); k.command != s.Command || !slices.Equal(k.args, want) {
		k.Errorf("%.80q %.80q is started, want %.80q", k.command, k.args, want)
	}
	env := make(map[string]string)
	for _, line := range k.env {
		name, value, _ := strings.Cut(line, "=")
		if _, twice := env[name]; twice {
			k.Errorf("the variable %q is there twice", name)
		}
		env[name] = value
	}
	for name, value := range s.Env {
		if s.Network != NetworkProxy && env[name] != value {
			k.Errorf("the variable %q is not the one that was given", name)
		}
	}
	for name, value := range s.Secrets {
		if _, given := s.Env[name]; !given && len(value) > 0 && env[name] == string(value) {
			k.Errorf("the secret %q is a variable", name)
		}
	}
	want := s.Dir
	if want == "" {
		want = "/"
	}
	if k.dir != want {
		k.Errorf("it starts in %q, want %q", k.dir, want)
	}
	if !slices.Equal(k.order, []string{"no new privileges", "landlock", "filter", "program"}) {
		k.Errorf("the last layers come in the order %v", k.order)
	}
	ask := func(nr uint32, args ...uint64) action {
		d := data{nr: nr, arch: nativeArch}
		copy(d.args[:], args)
		return execute(k.TB, k.filter, d)
	}
	for _, q := range []struct {
		what string
		got  action
		may  bool
	}{
		{"TCP", ask(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM), s.Network != NetworkNone},
		{"UDP", ask(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM), s.Network == NetworkAll},
		{"raw sockets", ask(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), false},
		{"packets", ask(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW), false},
		{"Unix sockets", ask(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM), len(s.UnixSockets) > 0},
		{"a child", ask(unix.SYS_CLONE, uint64(unix.SIGCHLD)), s.Process},
		{"a thread", ask(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_VM|unix.CLONE_SIGHAND), true},
		{"a namespace", ask(unix.SYS_CLONE, unix.CLONE_NEWUSER), false},
		{"mount", ask(unix.SYS_MOUNT), false},
		{"ptrace", ask(unix.SYS_PTRACE), false},
	} {
		if (q.got == allow) != q.may {
			k.Errorf("%s: the filter says %#x, granted is %v", q.what, q.got, q.may)
		}
	}
	flags := p.spaces()
	for flag, want := range map[uintptr]bool{
		unix.CLONE_NEWNET: s.Network != NetworkAll, unix.CLONE_NEWPID: true, unix.CLONE_NEWNS: true, unix.CLONE_NEWIPC: true, unix.CLONE_NEWUTS: true,
	} {
		if (flags&flag != 0) != (want && p.Spaces) {
			k.Errorf("namespaces %#x: %#x is %v", flags, flag, !want)
		}
	}
}

// FuzzReadPolicy: whatever text a launcher is given for a policy, it reads it
// strictly, and works out steps or refuses.
func FuzzReadPolicy(f *testing.F) {
	g := newGround(f)
	for seed := range uint64(200) {
		p := picks(policySeed(seed))
		s := g.spec(&p)
		planned, done, err := plannedCall(&s, seed%2 == 0)
		if err != nil {
			continue
		}
		done()
		file, err := planned.file()
		if err != nil {
			f.Fatal(err)
		}
		text := make([]byte, 1<<20)
		n, _ := unix.Pread(int(file.Fd()), text, 0)
		closeAll(file)
		f.Add(text[:n])
	}
	for _, text := range []string{"", "{}", "null", "[]", `{"Memory":-1}`, `{"Processes":-1,"Spaces":true}`, `{"Extra":9223372036854775807}`, `{"Command":"\u0000"}`, `{"Network":255}`, `{"ABI":-1}`, `{"Places":[{}]}`, `{"Boxes":["/a"]}`, `{"A":1}`, `{"Spaces":true}{}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := sealed("policy", text)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p, err := readPolicy(int(file.Fd()))
		if err == nil {
			err = p.check()
		}
		if err != nil {
			return
		}
		again, err := p.file()
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		q, err := readPolicy(int(again.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, q, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("read once more it is another one:\n%s", diff)
		}
		j, err := newJob(p, 40, []int{41, 42, 43, 44}, nil)
		if err != nil {
			return
		}
		k := newPaper(t, p)
		k.lenient = true
		k.run(&j.own)
		k.run(&j.child)
		for resource, limit := range k.limits {
			if limit.Cur > math.MaxInt64 && resource != unix.RLIMIT_CORE {
				t.Errorf("limit %d is %d, which is none", resource, limit.Cur)
			}
		}
		if len(k.order) == 0 || k.order[len(k.order)-1] != "program" || !slices.Contains(k.order, "landlock") || !slices.Contains(k.order, "filter") {
			t.Errorf("a program without its layers: %v", k.order)
		}
		if handled := landlock.AccessFSSet(k.handledFS); handled&accessFirst != accessFirst {
			t.Errorf("rights that are not handled: %v", accessFirst&^handled)
		}
	})
}
