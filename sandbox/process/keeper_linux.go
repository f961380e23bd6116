//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// keeperName is what a keeper's only argument is: no user gives a program that
// name by accident, and without its descriptors it does nothing.
const keeperName = "mayfly: keeper of one confined call"

// Descriptors of a keeper. The first four are the program's.
const (
	fdStdin = iota
	fdStdout
	fdStderr
	fdValue
	fdPolicy
	fdStatus
	fdLife // the host's end closes when the call must end, or the host has
)

// mainCalled: this executable can be started as a keeper.
var mainCalled atomic.Bool

// Main must be called first in the main function of a program that calls [Run].
// If ours is true, this process was started to keep a confined program, has
// done so, and must exit with code at once.
func Main() (code int, ours bool) {
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		mainCalled.Store(true)
		return 0, false
	}
	// What follows restricts single threads and forks from one of them.
	runtime.LockOSThread()
	k := keeper{}
	if err := k.run(); err != nil {
		k.report(failure(err)...)
		return 1, true
	}
	return 0, true
}

// layerError says which layer could not be put in place.
type layerError struct {
	layer Layer
	err   error
}

func (e *layerError) Error() string { return e.err.Error() }
func (e *layerError) Unwrap() error { return e.err }

// keeper is the parent of one confined program. Its own threads are not
// confined; it reads nothing that the program could have written.
type keeper struct {
	policy *policy
	grants []grant
	links  []link
	items  []item
	proc   bool
	scoped bool // this thread can signal the call's processes only
	cpu    int64
	peak   int64
}

func (k *keeper) run() error {
	for fd := fdPolicy; fd <= fdLife; fd++ {
		unix.CloseOnExec(fd)
	}
	var err error
	if k.policy, err = readPolicy(os.NewFile(fdPolicy, "policy")); err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	unix.Umask(0o022)
	if k.grants, k.links, err = settle(k.policy.Grants); err != nil {
		return &layerError{LayerFileSystem, err}
	}
	if k.policy.Spaces {
		k.items = fitting(furniture(k.policy.UID, k.policy.GID), k.grants, k.links)
		if k.proc, err = enterView(k.grants, k.links, k.items, k.policy.TempBytes); err != nil {
			return &layerError{LayerFileSystem, err}
		}
		if !k.proc {
			k.report("missing", string(LayerProc))
		}
		if err := unix.Sethostname([]byte("sandbox")); err != nil {
			return &layerError{LayerNamespaces, err}
		}
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	child, err := k.program()
	if err != nil {
		return err
	}
	if err := k.protect(); err != nil {
		return err
	}
	pid, err := child.start()
	if err != nil {
		return err
	}
	// The program's streams are the program's alone from here on: when the
	// last of its processes is gone, whoever reads them sees the end.
	for fd := fdStdin; fd <= fdValue; fd++ {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return fmt.Errorf("let go of the program's streams: %w", err)
		}
	}
	k.report("started")
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM)
	k.keep(pid)
	return nil
}

// program writes down what the child does between fork and execve. The order
// matters; each group says why it stands where it does.
func (k *keeper) program() (*program, error) {
	p := k.policy
	c := new(program)
	c.add(LayerSession, "start a session", unix.SYS_SETSID)
	c.defaultSignals()

	// Limits first: the bound on processes must be there before the user is
	// changed, for that is when it starts to count.
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_MEMLOCK, 64 << 10}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_RTPRIO, 0}, {unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_DATA, uint64(p.Memory)}, {unix.RLIMIT_FSIZE, uint64(p.FileBytes)}, {unix.RLIMIT_NOFILE, uint64(p.Descriptors)},
	} {
		if err := c.limit(l.resource, l.value); err != nil {
			return nil, &layerError{LayerLimits, err}
		}
	}
	if p.Processes > 0 {
		if err := c.limit(unix.RLIMIT_NPROC, uint64(p.Processes)); err != nil {
			return nil, &layerError{LayerLimits, err}
		}
	}

	// The user, and with it every capability, goes before the layers that
	// anybody may add. The bounding set and the locks can only be changed by who
	// still has capabilities.
	if p.Drop || p.Spaces {
		for capability := range capabilities() {
			c.add(LayerUser, "empty the bounding set", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		}
		const locks = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<6 | 1<<7 // no root, no fixup, no ambient: each with its lock
		c.add(LayerUser, "lock capabilities", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, locks, 0, 0, 0)
	}
	if p.Drop {
		c.add(LayerUser, "leave all groups", unix.SYS_SETGROUPS, 0, 0)
		c.add(LayerUser, "change the group", unix.SYS_SETRESGID, uintptr(p.GID), uintptr(p.GID), uintptr(p.GID))
		c.add(LayerUser, "change the user", unix.SYS_SETRESUID, uintptr(p.UID), uintptr(p.UID), uintptr(p.UID))
	}
	c.add(LayerUser, "clear ambient capabilities", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	c.noCapabilities()

	// As the program's own user, and while paths can still be looked at.
	dir, err := c.text(p.Dir)
	if err != nil {
		return nil, err
	}
	c.add(layerDir, "enter the directory", unix.SYS_CHDIR, dir)

	c.add(LayerNoNewPrivs, "set no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	ruleset, err := newRuleset(p, k.grants, k.items, k.proc)
	if err != nil {
		return nil, &layerError{LayerLandlock, err}
	}
	c.add(LayerLandlock, "enforce the ruleset", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0)
	c.add(LayerDescriptors, "mark descriptors to be closed", unix.SYS_CLOSE_RANGE, fdPolicy, uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC)

	// Last, so that nothing above needs to be allowed to the program.
	c.add(LayerSeccomp, "install the filter", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		c.filter(assemble(syscallRules(p))))

	command, err := c.text(p.Command)
	if err != nil {
		return nil, err
	}
	args, err := c.texts(p.Args)
	if err != nil {
		return nil, err
	}
	env, err := c.texts(p.Env)
	if err != nil {
		return nil, err
	}
	c.add(layerExec, "start the program", unix.SYS_EXECVE, command, args, env)
	return c, nil
}

// Steps that are no layer: the call itself is at fault.
const (
	layerDir  Layer = "dir"
	layerExec Layer = "exec"
)

// capabilities is how many this kernel knows.
func capabilities() uintptr {
	for capability := uintptr(0); ; capability++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0); err != nil {
			return capability
		}
	}
}

// protect makes sure that this process can end the call's processes, all of
// them and no others, and that they cannot look into it.
func (k *keeper) protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return &layerError{LayerSession, err}
	}
	if k.policy.Spaces {
		if pid := os.Getpid(); pid != 1 {
			return &layerError{LayerNamespaces, fmt.Errorf("the keeper is process %d of its namespace", pid)}
		}
		return nil
	}
	// Without a process namespace, a domain of Landlock takes its place: the
	// program's processes are born into it, cannot leave it, and a signal to all
	// processes that is sent from inside reaches these and nobody else.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return &layerError{LayerSession, err}
	}
	scope, err := newSignalScope()
	if err != nil {
		return &layerError{LayerLandlock, err}
	}
	defer unix.Close(scope)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return &layerError{LayerNoNewPrivs, err}
	}
	if err := ll.LandlockRestrictSelf(scope, 0); err != nil {
		return &layerError{LayerLandlock, err}
	}
	// Believed only when seen: a signal to everybody depends on it.
	if err := unix.Kill(os.Getppid(), 0); !errors.Is(err, unix.EPERM) {
		return &layerError{LayerLandlock, fmt.Errorf("signals leave their scope (%v)", err)}
	}
	k.scoped = true
	return nil
}

// killAll kills every process of the call at once: the kernel holds off forks
// while it goes through them, so none is missed.
func (k *keeper) killAll() {
	if k.scoped || k.policy.Spaces && os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL) // ESRCH: there is none left
	}
}

// death is a process that is gone; none: there are no more.
type death struct {
	pid    int
	status unix.WaitStatus
	usage  unix.Rusage
	none   bool
}

// keep waits for the program, or for the host to end the call, and returns when
// no process of the call is left.
func (k *keeper) keep(program int) {
	deaths := make(chan death)
	go wait(deaths)
	over := make(chan struct{})
	go func() {
		_, _ = readFull(fdLife, make([]byte, 1)) // nothing is ever written: this is the end of it
		close(over)
	}()
	ending := false
	for {
		select {
		case <-over:
			over, ending = nil, true
			k.killAll()
		case d := <-deaths:
			if d.none {
				k.report("gone", fmt.Sprint(k.cpu), fmt.Sprint(k.peak))
				return
			}
			k.cpu += d.usage.Utime.Nano() + d.usage.Stime.Nano()
			k.peak = max(k.peak, d.usage.Maxrss<<10)
			if d.pid == program {
				k.report("exit", fmt.Sprint(d.status.ExitStatus()), signalName(d.status))
				ending = true
			}
			if ending {
				k.killAll()
			}
		}
	}
}

func signalName(status unix.WaitStatus) string {
	if !status.Signaled() {
		return "-"
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(status.Signal()))
}

// wait reaps every child, the orphans of others included.
func wait(deaths chan<- death) {
	for {
		var d death
		pid, err := unix.Wait4(-1, &d.status, 0, &d.usage)
		if err == unix.EINTR {
			continue
		}
		d.pid, d.none = pid, err != nil
		deaths <- d
		if d.none {
			return
		}
	}
}

// report sends a line of words to the host.
func (k *keeper) report(words ...string) {
	_, _ = unix.Write(fdStatus, []byte(strings.Join(words, " ")+"\n")) // the host is gone if this fails
}

// failure is the report of what went wrong before the program started.
func failure(err error) []string {
	layer := Layer("-")
	var ofLayer *layerError
	var ofStep *stepError
	switch {
	case errors.As(err, &ofStep):
		layer = ofStep.step.layer
	case errors.As(err, &ofLayer):
		layer = ofLayer.layer
	}
	var errno unix.Errno
	errors.As(err, &errno)
	return []string{"fail", string(layer), fmt.Sprint(int(errno)), strings.ReplaceAll(err.Error(), "\n", " ")}
}
