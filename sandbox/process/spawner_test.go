//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// spawnerPID is the process that starts this process's calls.
func spawnerPID(t *testing.T) int {
	t.Helper()
	run(t, Spec{Limits: Limits{Timeout: time.Minute}}, "prints")
	s, err := resident.spawner()
	if err != nil {
		t.Fatal(err)
	}
	return s.process.Pid
}

// begin starts a call that does not end by itself, and returns when it runs.
func begin(t *testing.T, mode Namespaces) (pid int, end func()) {
	t.Helper()
	mark := newMark(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := Run(ctx, Spec{Command: victim, Args: []string{"tree", mark, "hang"}, Namespaces: mode, Limits: Limits{Timeout: time.Hour}})
		if err != nil || r.Status != sandbox.StatusCancelled {
			t.Errorf("status %s, error %v, %+v", r.Status, err, r.Error)
		}
	}()
	if !eventually(func() bool { return len(marked(t, mark)) == 1 }) {
		t.Error("the program does not run")
	}
	pids := append(marked(t, mark), 0)
	return pids[0], func() {
		cancel()
		<-done
		if left := marked(t, mark); len(left) != 0 {
			t.Errorf("processes %v survive", left)
		}
	}
}

// statusOf gives the lines of a process's status.
func statusOf(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		lines[name] = strings.TrimSpace(value)
	}
	return lines
}

// stop stops all threads of a process.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(tasks) == 0 {
			t.Fatalf("process %d has no threads (%v)", pid, err)
		}
		for _, task := range tasks {
			text, err := os.ReadFile(task)
			if _, state, _ := strings.Cut(string(text), ") "); err == nil && !strings.HasPrefix(state, "T") {
				return false
			}
		}
		return true
	}) {
		t.Error("it does not stop")
	}
}

// descriptors counts what a process has open, but for what the Go runtime opens
// some time; -1: it does not let us look.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		if os.Geteuid() == 0 || pid == os.Getpid() {
			t.Fatal(err)
		}
		return -1
	}
	n := 0
	for _, entry := range open {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, entry.Name()))
		if err == nil && to != "anon_inode:[eventpoll]" && to != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

// A spawner that was killed is replaced. What it had started goes on, under the
// same guarantees.
func TestSpawnerKilled(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		spawner := spawnerPID(t)
		pid, end := begin(t, mode)
		if err := unix.Kill(spawner, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if next := spawnerPID(t); next == spawner {
			t.Errorf("process %d still is the spawner", next)
		}
		if err := unix.Kill(pid, 0); err == unix.ESRCH {
			t.Error("the call did not go on")
		}
		end()
	})
}

// A call whose request the spawner has not taken is started by the next one,
// once.
func TestSpawnerKilledBeforeStart(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		spawner := spawnerPID(t)
		s, err := resident.spawner()
		if err != nil {
			t.Fatal(err)
		}
		stop(t, spawner)
		ended := make(chan string)
		go func() {
			r, err := Run(t.Context(), Spec{Command: victim, Args: []string{"prints"}, Namespaces: mode, Limits: Limits{Timeout: time.Minute}})
			ended <- fmt.Sprint(r.Status, err, string(r.Stdout))
		}()
		if !eventually(func() bool {
			fd, err := descriptor(s.socket)
			if err != nil {
				t.Fatal(err)
			}
			waiting, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
			return err == nil && waiting > 0
		}) {
			t.Error("the request was not sent")
		}
		if err := unix.Kill(spawner, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if got, want := <-ended, fmt.Sprint(sandbox.StatusOK, nil, "on standard output\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if next := spawnerPID(t); next == spawner {
			t.Errorf("process %d still is the spawner", next)
		}
	})
}

// A spawner that dies with a request in its hands fails the call: that nothing
// of it ran is not known.
func TestSpawnerDiesWithRequest(t *testing.T) {
	c := planned(t, Spec{Command: victim, Args: []string{"prints"}})
	var e ends
	theirs, control, err := e.open()
	defer closeAll(append(e.program[:], e.control)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := sendPacket(int(control.Fd()), message{Kind: sayTaken}.bytes("")); err != nil {
		t.Fatal(err)
	}
	closeAll(append(theirs[:], control)...)
	if r, err := c.watch(t.Context(), &e, nil); err == nil || errors.Is(err, errNotTaken) || !strings.Contains(err.Error(), "before the program started") {
		t.Errorf("status %q, error %v", r.Status, err)
	}
}

// A spawner that hangs is replaced, once the call's time and the grace are over.
func TestSpawnerHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the grace to pass")
	}
	spawner := spawnerPID(t)
	stop(t, spawner)
	r, err := Run(t.Context(), Spec{Command: victim, Args: []string{"prints"}, Limits: Limits{Timeout: 10 * time.Millisecond}})
	if err != nil || r.Status != sandbox.StatusTimeout || len(r.Enforced.Layers) != 0 {
		t.Errorf("status %s, error %v, %+v", r.Status, err, r.Enforced)
	}
	if next := spawnerPID(t); next == spawner {
		t.Errorf("process %d still is the spawner", next)
	}
}

// What is no request changes nothing.
func TestSpawnerGarbage(t *testing.T) {
	spawner := spawnerPID(t)
	s, err := resident.spawner()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ours, theirs, err := packets()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ours)
	before := descriptors(t, spawner)
	fd := int(null.Fd())
	send := func(data []byte, fds ...int) {
		t.Helper()
		raw, err := s.socket.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var inner error
		if err := raw.Write(func(to uintptr) bool {
			inner = sendPacket(int(to), data, fds...)
			return inner != unix.EAGAIN
		}); err != nil || inner != nil {
			t.Fatal(err, inner)
		}
	}
	for range 50 {
		send([]byte("x"))
		send([]byte("x"), fd)
		send([]byte("x"), fd, fd)
		send([]byte("too long"), fd, fd, fd, fd, fd, fd)
		send([]byte("x"), fd, fd, fd, fd, fd, fd)
		many := make([]int, 200)
		for i := range many {
			many[i] = fd
		}
		send([]byte("x"), many...)
	}
	// With a socket to answer on, it says what is wrong.
	send([]byte("x"), int(theirs.Fd()), fd, fd, fd, fd, fd)
	closeAll(theirs)
	r := new(call).readReport(ours, nil)
	if !r.taken || !r.failed || r.layer != layerKeeper || !strings.Contains(r.what, "policy") {
		t.Errorf("%+v", r)
	}
	if after := spawnerPID(t); after != spawner {
		t.Errorf("process %d is the spawner, and was %d", after, spawner)
	}
	if !eventually(func() bool { return descriptors(t, spawner) == before }) {
		t.Errorf("%d descriptors, and there were %d", descriptors(t, spawner), before)
	}
}

// Neither host nor spawner keeps a descriptor of a call that is over, however
// it ended.
func TestDescriptorsFlat(t *testing.T) {
	spawner := spawnerPID(t)
	round := func() {
		forTiers(t, func(t *testing.T, mode Namespaces) {
			dir := t.TempDir()
			for _, spec := range []Spec{
				{Args: []string{"prints"}},
				{Args: []string{"exit"}},
				{Args: []string{"killed"}},
				{Args: []string{"flood", "stdout"}},
				{Args: []string{"hang"}, Limits: Limits{Timeout: 50 * time.Millisecond}},
				{Args: []string{"prints"}, Dir: dir},        // not granted: the last steps fail
				{Args: []string{"prints"}, User: new(User)}, // refused
			} {
				spec.Command, spec.Namespaces = victim, mode
				if _, err := Run(t.Context(), spec); err != nil {
					t.Errorf("%v: %v", spec.Args, err)
				}
			}
		})
	}
	round()
	host, other := descriptors(t, os.Getpid()), descriptors(t, spawner)
	for range 5 {
		round()
	}
	if after := descriptors(t, os.Getpid()); after != host {
		t.Errorf("the host has %d descriptors, and had %d", after, host)
	}
	if !eventually(func() bool { return descriptors(t, spawner) == other }) {
		t.Errorf("the spawner has %d descriptors, and had %d", descriptors(t, spawner), other)
	}
	if after := spawnerPID(t); after != spawner {
		t.Errorf("process %d is the spawner, and was %d", after, spawner)
	}
}

// A keeper has one thread, no rights but the one to kill, and nothing open but
// its socket and what tells it of deaths. Nobody looks into it.
func TestKeeperIsConfined(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		pid, end := begin(t, mode)
		defer end()
		keeper, err := strconv.Atoi(statusOf(t, pid)["PPid"])
		if err != nil {
			t.Fatal(err)
		}
		capabilities := fmt.Sprintf("%016x", 0)
		if os.Geteuid() == 0 {
			capabilities = fmt.Sprintf("%016x", 1<<unix.CAP_KILL)
		}
		// It confines itself while the program already runs.
		var status map[string]string
		if !eventually(func() bool { status = statusOf(t, keeper); return status["Seccomp"] == "2" }) {
			t.Errorf("the keeper has no filter: %v", status)
		}
		for name, want := range map[string]string{"Threads": "1", "NoNewPrivs": "1", "CapEff": capabilities, "CapPrm": capabilities, "CapInh": fmt.Sprintf("%016x", 0)} {
			if status[name] != want {
				t.Errorf("%s is %s, want %s", name, status[name], want)
			}
		}
		if n := descriptors(t, keeper); n != 2 && n != -1 {
			t.Errorf("it has %d descriptors, want 2", n)
		}
		// Being stopped for a while is no call that its filter does not know.
		stop(t, keeper)
		if err := unix.Kill(keeper, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 {
			for _, file := range []string{"mem", "environ", "fd"} {
				if f, err := os.Open(fmt.Sprintf("/proc/%d/%s", keeper, file)); err == nil {
					f.Close()
					t.Errorf("its %s can be opened", file)
				}
			}
		}
	})
}

// planned is a call before it is run, to which more can be added.
func planned(t *testing.T, spec Spec) *call {
	t.Helper()
	spec.Limits.Timeout = time.Minute
	asked := spec.Limits
	spec.Limits = asked.withDefaults()
	p, done, err := plan(&spec, asked, os.Geteuid() == 0, spec.Namespaces != NamespacesOff)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return &call{spec: &spec, policy: p, stop: make(chan struct{})}
}

// A call may bring descriptors beyond the usual ones.
func TestExtraDescriptors(t *testing.T) {
	fd, err := unix.MemfdCreate("extra", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "extra")
	defer f.Close()
	if _, err := f.WriteString(secret); err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	forTiers(t, func(t *testing.T, mode Namespaces) {
		c := planned(t, Spec{Command: victim, Args: []string{"read descriptor"}, Namespaces: mode})
		c.extra = []*os.File{null, f}
		r, err := c.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o := readOutcome(t, r.Value); !o.Worked || o.Detail != "descriptor 5" {
			t.Errorf("%+v", o)
		}
		c = planned(t, Spec{Command: victim, Args: []string{"state"}, Namespaces: mode})
		c.extra = []*os.File{null, f}
		if r, err = c.run(t.Context()); err != nil || !strings.Contains(string(r.Value), `"open":[0,1,2,3,4,5]`) {
			t.Errorf("error %v: %s", err, r.Value)
		}
	})
}

// In version 2 the program is born in its control group.
func TestBornInControlGroup(t *testing.T) {
	var dir string
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var info unix.Statfs_t
		if err := unix.Statfs(root, &info); err == nil && info.Type == unix.CGROUP2_SUPER_MAGIC {
			dir = filepath.Join(root, fmt.Sprintf("mayfly-test-%d", os.Getpid()))
			break
		}
	}
	if dir == "" || os.Mkdir(dir, 0o755) != nil {
		t.Skip("no control group of version 2 can be made")
	}
	defer func() {
		if !eventually(func() bool { return os.Remove(dir) == nil }) {
			t.Error("the control group is not left")
		}
	}()
	forTiers(t, func(t *testing.T, mode Namespaces) {
		entry, err := (&groups{version: 2}).openEntry(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer entry.Close()
		// A program that waits for the end of its input.
		c := planned(t, Spec{Command: victim, Args: []string{"echo"}, Namespaces: mode})
		c.policy.Groups, c.policy.Born = 1, true
		var e ends
		theirs, control, err := e.open()
		defer closeAll(append(e.program[:], e.control)...)
		if err != nil {
			t.Fatal(err)
		}
		policy, err := c.policy.file()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resident.request(append(append([]*os.File{control, policy}, theirs[:]...), entry)); err != nil {
			t.Fatal(err)
		}
		closeAll(append(theirs[:], control, policy)...)
		if !eventually(func() bool { pids, err := readMembers(dir); return err == nil && len(pids) == 1 }) {
			t.Error("the program is not in its control group")
		}
		closeAll(e.program[fdStdin])
		if r := new(call).readReport(e.control, make(chan *keeper, 1)); !r.started || !r.exited || r.code != 0 || !r.gone {
			t.Errorf("%+v", r)
		}
	})
}
