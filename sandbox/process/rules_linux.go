//go:build amd64 || arm64

package process

import (
	"slices"

	"golang.org/x/sys/unix"
)

// This file is the whole policy on system calls. The first rule that fits
// decides; what no rule names is allowed, and what this file's authors had never
// heard of does not exist (ENOSYS). Rules look at the low 32 bits of an
// argument, as the kernel does with all those that are compared here.

// rule decides calls of one number whose arguments pass all tests.
type rule struct {
	nr     uint32
	tests  []test
	action action
}

// test compares one argument: arg&mask == value, or != if unequal.
type test struct {
	arg         int
	mask, value uint32
	unequal     bool
}

// action is what the kernel does with a call.
type action uint32

const (
	allow action = unix.SECCOMP_RET_ALLOW
	kill  action = unix.SECCOMP_RET_KILL_PROCESS
)

// fail answers with an error number.
func fail(errno uint32) action { return action(unix.SECCOMP_RET_ERRNO | errno&unix.SECCOMP_RET_DATA) }

const every = ^uint32(0)

func is(arg int, value uint32) test           { return test{arg, every, value, false} }
func isNot(arg int, value uint32) test        { return test{arg, every, value, true} }
func masked(arg int, mask, value uint32) test { return test{arg, mask, value, false} }
func anyOf(arg int, bits uint32) test         { return test{arg, bits, 0, true} }
func noneOf(arg int, bits uint32) test        { return test{arg, bits, 0, false} }

// lastKnown is the newest system call that was looked at for this list.
const lastKnown = unix.SYS_RSEQ_SLICE_YIELD

// absent are answered as by a kernel that does not have them, so that
// libraries fall back: a filter cannot look into the memory that these point to.
var absent = []uint32{
	unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_OPENAT2,
}

// denied are of no use to a program that only computes and reads files, and
// have been the way into kernels.
var denied = []uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PERF_EVENT_OPEN, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// The kernel's own machinery.
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_SYSLOG,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_LSM_SET_SELF_ATTR,
	unix.SYS_MEMFD_SECRET, unix.SYS_VMSPLICE,
	// The machine's clock and name.
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	// The file system as a whole, and ways around paths.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// Namespaces.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_LISTNS,
}

// sharedWithHost are denied where namespaces do not keep what they reach apart
// from the host's: metadata of files, which Landlock lets anybody change who
// owns them, and memory, queues and semaphores that have no path.
var sharedWithHost = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	unix.SYS_INOTIFY_ADD_WATCH,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// onOthers change another process of the same user. Without namespaces they
// are for the caller alone: the argument that says who must be zero.
var onOthers = []struct {
	nr  uint32
	who int
}{
	{unix.SYS_PRLIMIT64, 0}, {unix.SYS_SCHED_SETAFFINITY, 0}, {unix.SYS_SCHED_SETSCHEDULER, 0}, {unix.SYS_SCHED_SETPARAM, 0},
	{unix.SYS_SCHED_SETATTR, 0}, {unix.SYS_SETPRIORITY, 1}, {unix.SYS_IOPRIO_SET, 1},
}

// newSpaces are the namespaces that clone can make.
const newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// setID are the mode bits that make a program run as its owner.
const setID = unix.S_ISUID | unix.S_ISGID

// Types of sockets without their flags, and protocols that x/sys does not name.
const socketType = 0xf

// syscallRules is the table for one call.
func syscallRules(p filterKey) []rule {
	var rules []rule
	add := func(nr uint32, action action, tests ...test) { rules = append(rules, rule{nr, tests, action}) }
	for _, nr := range absent {
		add(nr, fail(uint32(unix.ENOSYS)))
	}
	for _, nr := range denied {
		add(nr, fail(uint32(unix.EPERM)))
	}
	for _, nr := range deniedHere {
		add(nr, fail(uint32(unix.EPERM)))
	}

	if !p.Spaces {
		for _, nr := range slices.Concat(sharedWithHost, sharedHere) {
			add(nr, fail(uint32(unix.EPERM)))
		}
		for _, o := range onOthers {
			add(o.nr, fail(uint32(unix.EPERM)), isNot(o.who, 0))
		}
		add(unix.SYS_SETPRIORITY, fail(uint32(unix.EPERM)), isNot(0, unix.PRIO_PROCESS))
		add(unix.SYS_IOPRIO_SET, fail(uint32(unix.EPERM)), isNot(0, 1)) // 1: a process
	}

	// Processes: no namespaces, no child that is somebody else's.
	add(unix.SYS_CLONE, fail(uint32(unix.EPERM)), anyOf(0, newSpaces|unix.CLONE_PARENT|unix.CLONE_PTRACE))
	if !p.Process {
		add(unix.SYS_CLONE, fail(uint32(unix.EPERM)), noneOf(0, unix.CLONE_THREAD))
		for _, nr := range forksHere {
			add(nr, fail(uint32(unix.EPERM)))
		}
	}
	for _, option := range []uint32{unix.PR_SET_MM, unix.PR_SET_PTRACER, unix.PR_SET_PDEATHSIG, unix.PR_SET_CHILD_SUBREAPER, unix.PR_SET_SECUREBITS} {
		add(unix.SYS_PRCTL, fail(uint32(unix.EPERM)), is(0, option))
	}
	add(unix.SYS_PERSONALITY, fail(uint32(unix.EPERM)), isNot(0, 0), isNot(0, every))

	// Terminals: no input of somebody else's, no terminal of one's own.
	for _, request := range []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSCTTY, unix.TIOCSETD} {
		add(unix.SYS_IOCTL, fail(uint32(unix.EPERM)), is(1, request))
	}

	// Files that run as their owner, whoever starts them.
	for _, m := range append([]modeArg{{unix.SYS_FCHMOD, 1, -1}, {unix.SYS_FCHMODAT, 2, -1}, {unix.SYS_FCHMODAT2, 2, -1}, {unix.SYS_MKNODAT, 2, -1}, {unix.SYS_OPENAT, 3, 2}}, modesHere...) {
		tests := []test{anyOf(m.mode, setID)}
		if m.flags >= 0 { // the mode means something only if a file is made
			tests = append(tests, anyOf(m.flags, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY))
		}
		add(m.nr, fail(uint32(unix.EPERM)), tests...)
	}

	return append(rules, socketRules(p.Network, p.UnixConns)...)
}

// modeArg says where a call has the mode of a file, and which argument has its
// flags (-1: none).
type modeArg struct {
	nr          uint32
	mode, flags int
}

// socketRules allow sockets by family, type and protocol, and nothing else.
func socketRules(network Network, unixConns bool) []rule {
	const noFamily = uint32(unix.EAFNOSUPPORT)
	var rules []rule
	open := func(family, kind uint32, protocols ...uint32) {
		for _, protocol := range protocols {
			rules = append(rules, rule{unix.SYS_SOCKET, []test{is(0, family), masked(1, socketType, kind), is(2, protocol)}, allow})
		}
	}
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		if network != NetworkNone {
			open(family, unix.SOCK_STREAM, 0, unix.IPPROTO_TCP)
		}
		if network == NetworkAll {
			open(family, unix.SOCK_DGRAM, 0, unix.IPPROTO_UDP)
		}
	}
	if network == NetworkAll {
		// The C library asks which addresses there are.
		open(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
		open(unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_ROUTE)
	}
	pairs := []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}
	if unixConns {
		open(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		open(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		open(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
		pairs = append(pairs, unix.SOCK_DGRAM)
	}
	rules = append(rules, rule{unix.SYS_SOCKET, nil, fail(noFamily)})
	// Half of a datagram pair can be sent to any socket that has a path; the
	// others stay connected for good.
	for _, kind := range pairs {
		rules = append(rules, rule{unix.SYS_SOCKETPAIR, []test{is(0, unix.AF_UNIX), masked(1, socketType, kind)}, allow})
	}
	return append(rules, rule{unix.SYS_SOCKETPAIR, nil, fail(noFamily)})
}
