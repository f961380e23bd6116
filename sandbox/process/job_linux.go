//go:build amd64 || arm64

package process

import (
	"os"
	"slices"
	"strconv"
	"sync"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Steps that are no layer: the call itself is at fault, or we are.
const (
	layerDir    Layer = "dir"
	layerExec   Layer = "exec"
	layerKeeper Layer = "-"
)

// newJob writes down what a keeper does. control, program and groups are this
// process's descriptors of what the keeper gets.
func newJob(p *policy, control int, program, groups []int) (*job, error) {
	if err := p.checkBoxes(); err != nil {
		return nil, &layerError{LayerFileSystem, "find what is written within a limit", err}
	}
	j := &job{first: p.Spaces, control: uintptr(len(program)), unborn: []byte(string(layerKeeper) + "\x00start a process")}
	l := &j.own

	// Of everything that the spawner has open, other calls' descriptors among it,
	// nothing is kept but this call's.
	for i, fd := range slices.Concat(program, []int{control}, groups) {
		l.add(layerKeeper, "put descriptors in order", unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	group := j.control + 1
	l.add(layerKeeper, "close the spawner's descriptors", unix.SYS_CLOSE_RANGE, group+uintptr(len(groups)), uintptr(^uint32(0)), 0)
	l.add(LayerSession, "start a session", unix.SYS_SETSID)
	action := pointer(l, new(signalAction))
	l.add(LayerSession, "wait for children", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), action, 0, kernelSignals/8)
	l.add(layerKeeper, "set the mask of new files", unix.SYS_UMASK, 0o022)
	if p.Spaces && !p.Drop {
		l.mapUser(p.UID, p.GID)
	}
	if p.Network == NetworkProxy {
		l.openProxy(j.control)
	}

	ruleset := newRuleset(l, p)
	if p.Spaces {
		l.enterView(p, ruleset, j.control)
		name := l.text("sandbox")
		l.add(LayerNamespaces, "set the host's name", unix.SYS_SETHOSTNAME, name, uintptr(len("sandbox")))
	} else {
		l.landlockOnly(p, ruleset)
		l.scopeSignals()
	}
	// The program's process, not the keeper: whatever becomes of the group, the
	// keeper tells of it.
	if p.Born {
		j.bornIn(group)
	} else {
		for i := range groups {
			j.child.add(LayerCgroup, "enter the control group", unix.SYS_WRITE, group+uintptr(i), j.child.text("0"), 1)
		}
	}
	if err := writeProgram(&j.child, p, ruleset, j.control); err != nil {
		return nil, err
	}
	writeAfter(j, p)
	return j, nil
}

// mapUser makes the namespace's only user and group out of this process's own.
func (l *list) mapUser(uid, gid int) {
	one := func(id int) string { return strconv.Itoa(id) + " " + strconv.Itoa(id) + " 1" }
	// These files belong to root for as long as nobody may look into the process.
	l.add(LayerNamespaces, "open the maps of users", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	l.write(LayerNamespaces, "/proc/self/setgroups", "deny")
	l.write(LayerNamespaces, "/proc/self/uid_map", one(uid))
	l.write(LayerNamespaces, "/proc/self/gid_map", one(gid))
	l.add(LayerNamespaces, "close the maps of users", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// scopeSignals makes sure, without a process namespace, that a keeper can end
// the call's processes, all of them and no others. A domain of Landlock takes
// the namespace's place: the program's processes are born into it, cannot leave
// it, and a signal to all processes that is sent from inside reaches these and
// nobody else.
func (l *list) scopeSignals() {
	l.add(LayerSession, "adopt orphans", unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	scope := l.ruleset("make a scope for signals", &ll.RulesetAttr{Scoped: ll.ScopeSignal})
	l.add(LayerNoNewPrivs, "set no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	l.add(LayerLandlock, "enforce the scope for signals", unix.SYS_LANDLOCK_RESTRICT_SELF).takes(0, scope)
	// Believed only when seen: a signal to everybody depends on it.
	l.add(LayerLandlock, "see that signals do not leave their scope", unix.SYS_KILL, uintptr(os.Getpid()), 0).want = unix.EPERM
}

// writeProgram writes down what the keeper's child does before it becomes the
// program. The order matters; each group says why it stands where it does.
func writeProgram(c *list, p *policy, ruleset *int32, descriptors uintptr) error {
	c.add(LayerSession, "start a session", unix.SYS_SETSID)
	c.defaultSignals()

	// Limits first: the bound on processes must be there before the user is
	// changed, for that is when it starts to count.
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_MEMLOCK, 64 << 10}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_RTPRIO, 0}, {unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_DATA, uint64(p.Memory)}, {unix.RLIMIT_FSIZE, uint64(p.FileBytes)}, {unix.RLIMIT_NOFILE, uint64(p.Descriptors)},
	} {
		if err := c.limit(limit.resource, limit.value); err != nil {
			return &layerError{LayerLimits, "set limits", err}
		}
	}
	if p.CPUSeconds > 0 {
		if err := c.limit(unix.RLIMIT_CPU, uint64(p.CPUSeconds)); err != nil {
			return &layerError{LayerLimits, "set limits", err}
		}
	}
	if p.Processes > 0 {
		if err := c.limit(unix.RLIMIT_NPROC, uint64(p.Processes)); err != nil {
			return &layerError{LayerLimits, "set limits", err}
		}
	}

	// The user, and with it every capability, goes before the layers that
	// anybody may add. The bounding set and the locks can only be changed by who
	// still has capabilities.
	if p.Drop || p.Spaces {
		for capability := range knownCapabilities() {
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
	c.capabilities(0)

	// As the program's own user, and while paths can still be looked at.
	c.add(layerDir, "enter the directory", unix.SYS_CHDIR, c.text(p.Dir))

	c.add(LayerNoNewPrivs, "set no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	c.add(LayerLandlock, "enforce the ruleset", unix.SYS_LANDLOCK_RESTRICT_SELF).takes(0, ruleset)
	c.add(LayerDescriptors, "mark descriptors to be closed", unix.SYS_CLOSE_RANGE, descriptors, uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC)

	// Last, so that nothing above needs to be allowed to the program.
	c.add(LayerSeccomp, "install the filter", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, c.filter(callFilter(p)))
	c.add(layerExec, "start the program", unix.SYS_EXECVE, c.text(p.Command), c.texts(p.Args), c.texts(p.Env))
	return nil
}

// writeAfter writes down how the keeper gives up what it does not need once the
// program runs, the program's descriptors first: when the last of its processes
// is gone, whoever reads them sees the end.
func writeAfter(j *job, p *policy) {
	l := &j.after
	l.add(layerKeeper, "let go of the program's streams", unix.SYS_CLOSE_RANGE, 0, j.control-1, 0)
	l.add(layerKeeper, "let go of what is not needed", unix.SYS_CLOSE_RANGE, j.control+1, uintptr(^uint32(0)), 0)
	children := uint64(1) << (unix.SIGCHLD - 1)
	l.add(layerKeeper, "hear of children", unix.SYS_SIGNALFD4, ^uintptr(0), pointer(l, &children), kernelSignals/8, unix.SFD_CLOEXEC).into = &j.deaths

	var kill uint32
	if p.Drop {
		kill = 1 << unix.CAP_KILL // the program is another user
	}
	l.capabilities(kill)
	l.add(layerKeeper, "set no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	l.add(layerKeeper, "install the keeper's filter", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, l.filter(keeperFilter()))
}

// knownCapabilities is how many this kernel knows.
var knownCapabilities = sync.OnceValue(func() uintptr {
	for capability := uintptr(0); ; capability++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0); err != nil {
			return capability
		}
	}
})
