//go:build linux && (amd64 || arm64)

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// attack is something that must not work in confinement and does without.
type attack struct {
	name string
	args []string
	// needs says what the attack needs without confinement; then, where it is
	// not there, there is no positive control.
	needs needs
	// only is the tier that stops it: what a layer that the other one lacks
	// would do, and SECURITY.md names.
	only string
	// answer is the error that a program must see; empty: any.
	answer string
	// signal ends the program instead.
	signal string
}

type needs uint8

const (
	nothing   needs = iota
	root            // to be root
	elsewhere       // another kernel or architecture than every one that the tests run on
)

// sys is an attack by one system call.
func sys(name, answer string, n needs, nr uintptr, args ...any) attack {
	words := []string{"syscall", fmt.Sprint(nr)}
	for _, arg := range args {
		words = append(words, fmt.Sprint(arg))
	}
	return attack{name: name, args: words, needs: n, answer: answer}
}

const namespacesOnly = "namespaces"

var attacks = []attack{
	// Files. The directory {granted} may be read and written, nothing else.
	{name: "read a file outside", args: []string{"read", "{outside}/secret"}},
	{name: "read through a link", args: []string{"read by link", "{granted}", "{outside}/secret"}},
	{name: "read through dots", args: []string{"read", "{granted}/../../{outside}/secret"}},
	{name: "list a directory outside", args: []string{"list", "{outside}"}},
	{name: "list a directory of the system", args: []string{"list", "/usr"}},
	{name: "stat a file outside", args: []string{"stat", "{outside}/secret"}, only: namespacesOnly},
	{name: "create a file outside", args: []string{"write", "{outside}/new"}},
	{name: "change a file outside", args: []string{"write", "{outside}/secret"}},
	{name: "truncate a file outside", args: []string{"truncate", "{outside}/truncate"}},
	{name: "remove a file outside", args: []string{"remove", "{outside}/remove"}},
	{name: "chmod a file outside", args: []string{"chmod", "{outside}/chmod"}},
	{name: "set the times of a file outside", args: []string{"touch", "{outside}/chmod"}},
	{name: "set an attribute of a file outside", args: []string{"attribute", "{outside}/chmod"}},
	{name: "enter a directory outside", args: []string{"enter", "{outside}"}, only: namespacesOnly},
	{name: "read through a link that moves", args: []string{"race links", "{granted}", "{outside}/secret"}},
	{name: "read the host's shared memory", args: []string{"read", "{memory file}"}},
	{name: "map what it wrote to execute it", args: []string{"map to execute", "{granted}"}, only: namespacesOnly},
	{name: "make a device", args: []string{"make device", "{granted}"}, needs: root},
	{name: "open the kernel's log", args: []string{"open device", "/dev/kmsg"}, needs: root},
	{name: "open a terminal", args: []string{"open device", "/dev/ptmx"}, needs: root},
	{name: "change the kernel's settings", args: []string{"open to write", "/proc/sys/vm/swappiness"}, needs: root},
	{name: "look through a bystander", args: []string{"list", "/proc/{pid}/cwd"}},
	{name: "link a file out of the way", args: []string{"hard link", "{outside}/secret", "{granted}"}},
	{name: "rename a file to outside", args: []string{"rename out", "{granted}", "{outside}/renamed"}},
	{name: "execute what it wrote", args: []string{"execute own", "{granted}"}},
	{name: "execute a program of the host", args: []string{"execute", "/bin/true"}},
	{name: "read another's environment", args: []string{"read environment", "{pid}"}},
	sys("open by handle", "EPERM", root, unix.SYS_OPEN_BY_HANDLE_AT, -1, "@", 0),
	sys("name to handle", "EPERM", nothing, unix.SYS_NAME_TO_HANDLE_AT, -1, "@", "@", "@", 0),
	sys("fchmod to run as its owner", "EPERM", nothing, unix.SYS_FCHMOD, -1, 0o4755),
	sys("create to run as its owner", "EPERM", nothing, unix.SYS_OPENAT, -1, "@", unix.O_CREAT, 0o4755),
	sys("openat2", "ENOSYS", nothing, unix.SYS_OPENAT2, -1, 0, 0, 0),

	// Network.
	{name: "connect to loopback", args: []string{"dial", "tcp", "{tcp}"}},
	{name: "connect to loopback 6", args: []string{"dial", "tcp", "{tcp6}"}},
	{name: "listen", args: []string{"listen", "tcp", "{free}"}},
	{name: "send a datagram", args: []string{"datagram", "udp", "{udp}"}},
	{name: "connect to an abstract socket", args: []string{"dial", "unix", "{abstract}"}},
	{name: "connect to a socket outside", args: []string{"dial", "unix", "{socket}"}},
	{name: "connect to a socket in a granted directory", args: []string{"dial", "unix", "{socket inside}"}},
	{name: "send to a socket outside", args: []string{"datagram", "unixgram", "{datagrams}"}},
	{name: "send from half of a pair", args: []string{"pair datagram", "{datagrams}"}},
	sys("multipath TCP", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP),
	sys("a family in the low half", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, 1<<32|unix.AF_INET, unix.SOCK_STREAM, 0),
	sys("netlink", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, 0),
	sys("packets", "EAFNOSUPPORT", root, unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0),
	sys("raw", "EAFNOSUPPORT", root, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
	sys("vsock", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0),
	sys("kernel crypto", "EAFNOSUPPORT", elsewhere, unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0),

	// Other processes.
	{name: "signal a bystander", args: []string{"signal", "{pid}"}},
	{name: "signal a bystander's thread", args: []string{"signal thread", "{pid}"}},
	{name: "see a bystander", args: []string{"see process", "{pid}"}},
	{name: "become root", args: []string{"become root"}, needs: root},
	{name: "take capabilities", args: []string{"take capabilities"}, needs: root},
	{name: "take priority", args: []string{"priority"}, needs: root},
	{name: "take a processor", args: []string{"real time"}, needs: root},
	{name: "pin memory", args: []string{"pin memory"}, needs: root},
	{name: "signal the keeper", args: []string{"signal parent"}},
	{name: "start a process", args: []string{"fork"}},
	sys("ptrace", "EPERM", nothing, unix.SYS_PTRACE, unix.PTRACE_SEIZE, "{pid}", 0, 0),
	sys("read memory", "EPERM", nothing, unix.SYS_PROCESS_VM_READV, "{pid}", "@", 1, "@", 1, 0),
	sys("write memory", "EPERM", nothing, unix.SYS_PROCESS_VM_WRITEV, "{pid}", "@", 1, "@", 1, 0),
	sys("take a descriptor", "EPERM", nothing, unix.SYS_PIDFD_GETFD, -1, 0, 0),
	sys("kcmp", "EPERM", nothing, unix.SYS_KCMP, "{pid}", "{pid}", 0, 0, 0),
	sys("process_madvise", "EPERM", nothing, unix.SYS_PROCESS_MADVISE, -1, 0, 0, 0, 0),
	sys("limit a bystander", "", nothing, unix.SYS_PRLIMIT64, "{pid}", unix.RLIMIT_CORE, 0, "@"),
	sys("move a bystander", "", nothing, unix.SYS_SCHED_SETAFFINITY, "{pid}", 8, "@"),
	{name: "slow a bystander", args: []string{"nice", "{pid}"}},
	{name: "memory of the host's", args: []string{"shared memory", "{shared}"}},
	{name: "watch a directory outside", args: []string{"watch", "{outside}"}},
	sys("reap orphans", "EPERM", nothing, unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
	sys("outlive the keeper", "EPERM", nothing, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0, 0, 0),
	sys("change the memory map", "EPERM", nothing, unix.SYS_PRCTL, unix.PR_SET_PTRACER, 0, 0, 0, 0),

	// The kernel.
	sys("io_uring", "ENOSYS", nothing, unix.SYS_IO_URING_SETUP, 1, "@"),
	sys("clone3", "ENOSYS", nothing, unix.SYS_CLONE3, "@", 0),
	sys("clone into a user namespace", "EPERM", nothing, unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_FS, 0, 0, 0, 0),
	sys("clone with high bits", "EPERM", nothing, unix.SYS_CLONE, 1<<40|unix.CLONE_NEWUSER|unix.CLONE_FS, 0, 0, 0, 0),
	sys("unshare", "EPERM", nothing, unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
	sys("setns", "EPERM", nothing, unix.SYS_SETNS, -1, 0),
	sys("bpf", "EPERM", root, unix.SYS_BPF, 0x7fff, "@", 0),
	sys("userfaultfd", "EPERM", root, unix.SYS_USERFAULTFD, 0),
	sys("keyctl", "EPERM", nothing, unix.SYS_KEYCTL, 0, -3, 0),
	sys("add_key", "EPERM", nothing, unix.SYS_ADD_KEY, 0, 0, 0, 0, 0),
	sys("request_key", "EPERM", nothing, unix.SYS_REQUEST_KEY, 0, 0, 0, 0),
	sys("perf_event_open", "EPERM", root, unix.SYS_PERF_EVENT_OPEN, 0, 0, -1, -1, 0),
	sys("personality", "EPERM", nothing, unix.SYS_PERSONALITY, 0x40000),
	sys("memfd_secret", "EPERM", nothing, unix.SYS_MEMFD_SECRET, 0xffff),
	sys("vmsplice", "EPERM", nothing, unix.SYS_VMSPLICE, -1, 0, 0, 0),
	sys("fanotify", "EPERM", root, unix.SYS_FANOTIFY_INIT, 0xffffffff, 0),
	sys("mount", "EPERM", root, unix.SYS_MOUNT, 0, 0, 0, 0, 0),
	sys("umount", "EPERM", root, unix.SYS_UMOUNT2, 0, 0),
	sys("pivot_root", "EPERM", root, unix.SYS_PIVOT_ROOT, 0, 0),
	sys("chroot", "EPERM", root, unix.SYS_CHROOT, 0),
	sys("fsopen", "EPERM", root, unix.SYS_FSOPEN, 0, 0),
	sys("open_tree", "EPERM", nothing, unix.SYS_OPEN_TREE, -1, 0, 0),
	sys("move_mount", "EPERM", root, unix.SYS_MOVE_MOUNT, -1, 0, -1, 0, 0),
	sys("statmount", "EPERM", nothing, unix.SYS_STATMOUNT, 0, 0, 0, 0),
	sys("syslog", "EPERM", root, unix.SYS_SYSLOG, 10, 0, 0),
	sys("reboot", "EPERM", root, unix.SYS_REBOOT, 0, 0, 0, 0),
	sys("sethostname", "EPERM", root, unix.SYS_SETHOSTNAME, 0, 1),
	sys("clock_settime", "EPERM", nothing, unix.SYS_CLOCK_SETTIME, 12345, 0),
	sys("adjtimex", "EPERM", nothing, unix.SYS_ADJTIMEX, 0),
	sys("push into a terminal", "EPERM", nothing, unix.SYS_IOCTL, 0, unix.TIOCSTI, "@"),
	sys("push with high bits", "EPERM", nothing, unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, "@"),
	sys("a call from the future", "ENOSYS", elsewhere, lastKnown+1),
	{name: "the 32-bit entry", args: []string{"int80"}, signal: "SIGSYS"},
}
