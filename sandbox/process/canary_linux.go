//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// canaryName is the first argument of this program when it tries, in
// confinement, what must not be possible there.
const canaryName = "mayfly: canary of the probe"

// What a canary can be told to do.
const (
	canaryTries   = "try"     // everything in tries
	canaryControl = "control" // the same calls, not confined
	canaryForeign = "foreign" // enter the kernel in another way
	canaryDaemon  = "daemon"  // outlive the call
	canaryGrow    = "grow"    // take memory
)

// world is what a canary is told about the outside.
type canaryWorld struct {
	Granted, Outside string // directories
	Mark             string // part of names that nothing else has
	Host             int    // process that must not be reached
	Spaces           map[string]string
}

// seen is what came of a try.
type seen struct {
	Errno int    // 0: it worked
	Text  string // what was seen, if not only that
	Skip  string // why it was not tried
}

// canary does what it was told, and gives the exit code.
func canary(args []string) int {
	switch args[0] {
	case canaryTries, canaryControl:
		var w canaryWorld
		text, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = json.Unmarshal(text, &w)
		}
		if err != nil {
			return 2
		}
		answers := make(map[string]seen)
		for _, t := range tries {
			if args[0] == canaryTries || t.nr != nil {
				answers[t.name] = t.take(&w)
			}
		}
		if text, err = json.Marshal(answers); err != nil {
			return 2
		}
		out := os.NewFile(fdValue, "value")
		if args[0] == canaryControl {
			out = os.Stdout
		}
		if _, err := out.Write(text); err != nil {
			return 2
		}
	case canaryForeign:
		if _, err := os.Stdout.WriteString(fmt.Sprint(foreignEntries[args[1]]())); err != nil {
			return 2
		}
	case canaryDaemon:
		return daemon(args[1:])
	case canaryGrow:
		memory, err := unix.Mmap(-1, 0, growTo, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
		if err != nil {
			return 2
		}
		for i := 0; i < len(memory); i += os.Getpagesize() {
			memory[i] = 1
		}
	default:
		return 2
	}
	return 0
}

// How much memory a canary takes, and how much it may have.
const (
	growTo    = 160 << 20
	growLimit = 96 << 20
)

// daemon starts a process in a session of its own that holds on to the pipe of
// that name, and ends; the process itself waits.
func daemon(args []string) int {
	if len(args) == 1 {
		self, err := os.Executable()
		if err != nil {
			return 2
		}
		_, err = os.StartProcess(self, []string{self, canaryName, canaryDaemon, args[0], "stay"}, &os.ProcAttr{
			Dir: "/", Files: []*os.File{nil, nil, nil}, Sys: &unix.SysProcAttr{Setsid: true},
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		// It must be there before its parent ends.
		there, err := os.OpenFile(args[0]+".there", os.O_RDONLY, 0)
		if err != nil {
			return 2
		}
		_, _ = there.Read(make([]byte, 1))
		return 0
	}
	held, err := os.OpenFile(args[0], os.O_WRONLY, 0)
	if err != nil {
		return 2
	}
	if _, err := held.WriteString("here"); err != nil {
		return 2
	}
	there, err := os.OpenFile(args[0]+".there", os.O_WRONLY, 0)
	if err != nil {
		return 2
	}
	there.Close()
	for {
		_, _ = unix.Poll(nil, -1) // for ever, but for signals
	}
}

// try is one thing that is tried, and what must come of it.
type try struct {
	name  string
	tried string
	// layer is whose work it is, bare whose without namespaces: "" the same, none
	// that it says nothing there.
	layer, bare Layer
	do          func(w *canaryWorld) seen
	// nr is a system call with arguments that do no harm, in the place of do.
	nr []uintptr
	// want are the ways in which it must fail; none: it must work.
	want []unix.Errno
}

const none Layer = "-"

func (t *try) take(w *canaryWorld) (s seen) {
	if t.nr == nil {
		return t.do(w)
	}
	args := make([]uintptr, 7)
	copy(args, t.nr)
	_, _, errno := unix.RawSyscall6(args[0], args[1], args[2], args[3], args[4], args[5], args[6])
	return seen{Errno: int(errno)}
}

// failed is what an error says.
func failed(err error) seen {
	if err == nil {
		return seen{}
	}
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return seen{Errno: int(unix.EIO), Text: err.Error()}
	}
	return seen{Errno: int(errno)}
}

// found is what was read back; good says that it is as it must be.
func found(good bool, format string, args ...any) seen {
	s := seen{Text: fmt.Sprintf(format, args...)}
	if !good {
		s.Errno = int(unix.EIO)
	}
	return s
}

func openAt(flags int, path ...string) seen {
	f, err := os.OpenFile(filepath.Join(path...), flags, 0o600)
	if err == nil {
		_ = f.Close()
	}
	return failed(err)
}

var (
	hidden  = []unix.Errno{unix.ENOENT, unix.EACCES, unix.EPERM, unix.EROFS}
	refused = []unix.Errno{unix.EPERM}
	unknown = []unix.Errno{unix.ENOSYS}
)

const bad = ^uintptr(0)

// tries are all of them. The canary goes through them in this order.
var tries = []try{
	// Descriptors come first: what follows opens some.
	{name: "inherited_descriptors", tried: "looked for open descriptors beyond the four that a program gets", layer: LayerDescriptors, do: func(*canaryWorld) seen {
		var open []string
		for fd := fdValue + 1; fd < 1024; fd++ {
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			if err == nil && flags&unix.FD_CLOEXEC == 0 { // those of this program's own runtime are closed on exec
				open = append(open, fmt.Sprint(fd))
			}
		}
		return found(len(open) == 0, "open: %s", strings.Join(append(open, "none")[:max(1, len(open))], " "))
	}},

	{name: "read_outside", tried: "opened a file that was not granted", layer: LayerFileSystem, bare: LayerLandlock, want: hidden,
		do: func(w *canaryWorld) seen { return openAt(os.O_RDONLY, w.Outside, "secret") }},
	{name: "list_outside", tried: "listed a directory that was not granted", layer: LayerFileSystem, bare: LayerLandlock, want: hidden,
		do: func(w *canaryWorld) seen { return openAt(os.O_RDONLY, w.Outside) }},
	{name: "write_outside", tried: "made a file where nothing was granted, and looked for it on the host", layer: LayerFileSystem, bare: LayerLandlock, want: hidden,
		do: func(w *canaryWorld) seen { return openAt(os.O_CREATE|os.O_WRONLY, w.Outside, "new") }},
	{name: "truncate_outside", tried: "emptied a file that was not granted, and looked at it on the host", layer: LayerFileSystem, bare: LayerLandlock, want: hidden,
		do: func(w *canaryWorld) seen { return failed(os.Truncate(filepath.Join(w.Outside, "secret"), 0)) }},
	{name: "chmod_outside", tried: "changed the mode of a file that was not granted", layer: LayerFileSystem, bare: LayerSeccomp, want: hidden,
		do: func(w *canaryWorld) seen { return failed(os.Chmod(filepath.Join(w.Outside, "secret"), 0o777)) }},
	{name: "write_system", tried: "made a file in /usr", layer: LayerFileSystem, bare: LayerLandlock, want: hidden,
		do: func(w *canaryWorld) seen { return openAt(os.O_CREATE|os.O_WRONLY, "/usr", w.Mark) }},
	{name: "read_granted", tried: "read a file that was granted, which must work", layer: LayerFileSystem, bare: LayerLandlock, do: func(w *canaryWorld) seen {
		text, err := os.ReadFile(filepath.Join(w.Granted, "given"))
		if err != nil {
			return failed(err)
		}
		return found(string(text) == w.Mark, "%d bytes", len(text))
	}},
	{name: "write_granted", tried: "made a file in a directory that was granted, which must work, and looked for it on the host", layer: LayerFileSystem, bare: LayerLandlock,
		do: func(w *canaryWorld) seen {
			return failed(os.WriteFile(filepath.Join(w.Granted, "made"), []byte(w.Mark), 0o666))
		}},
	{name: "private_tmp", tried: "made a file in /tmp, which must work, and looked for it on the host", layer: LayerFileSystem, bare: none,
		do: func(w *canaryWorld) seen { return failed(os.WriteFile("/tmp/"+w.Mark, nil, 0o666)) }},
	{name: "environment_of_others", tried: "opened /proc/1/environ", layer: LayerProc, bare: LayerLandlock, want: hidden,
		do: func(*canaryWorld) seen { return openAt(os.O_RDONLY, "/proc/1/environ") }},
	{name: "others_in_proc", tried: "looked for processes in /proc that are not the call's", layer: LayerProc, bare: none, do: func(*canaryWorld) seen {
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil || len(dirs) == 0 {
			return seen{Skip: "there is no /proc"}
		}
		return found(len(dirs) == 1, "%d processes", len(dirs))
	}},
	{name: "device_control", tried: "made a call for devices on /dev/urandom", layer: LayerLandlock, want: []unix.Errno{unix.EACCES}, do: func(*canaryWorld) seen {
		if landlockABI() < 5 {
			return seen{Skip: "this kernel's Landlock has no right for it"}
		}
		f, err := os.Open("/dev/urandom")
		if err != nil {
			return seen{Errno: int(unix.EIO), Text: "/dev/urandom cannot be opened"}
		}
		defer f.Close()
		_, err = unix.IoctlGetInt(int(f.Fd()), unix.RNDGETENTCNT)
		return failed(err)
	}},

	{name: "own_namespaces", tried: "compared the namespaces with the host's", layer: LayerNamespaces, bare: none, do: func(w *canaryWorld) seen {
		var shared []string
		for _, kind := range []string{"pid", "mnt", "net", "ipc", "uts"} {
			own, err := os.Readlink("/proc/self/ns/" + kind)
			if err != nil {
				return seen{Skip: "there is no /proc"}
			}
			if own == w.Spaces[kind] {
				shared = append(shared, kind)
			}
		}
		return found(len(shared) == 0, "shared with the host: %s", strings.Join(append(shared, "none")[:max(1, len(shared))], " "))
	}},
	{name: "signal_host", tried: "looked for the host's process by a signal", layer: LayerNamespaces, bare: LayerLandlock, want: []unix.Errno{unix.ESRCH, unix.EPERM},
		do: func(w *canaryWorld) seen {
			if w.Host < 32 {
				return seen{Skip: "the host's process has a number that the call's own may have"}
			}
			return failed(unix.Kill(w.Host, 0))
		}},

	{name: "own_session", tried: "asked who leads the session", layer: LayerSession, do: func(*canaryWorld) seen {
		sid, err := unix.Getsid(0)
		return found(err == nil && sid == os.Getpid(), "leader %d, this process %d", sid, os.Getpid())
	}},
	{name: "terminal", tried: "opened the terminal", layer: LayerSession, want: append([]unix.Errno{unix.ENXIO}, hidden...),
		do: func(*canaryWorld) seen { return openAt(os.O_RDWR, "/dev/tty") }},

	{name: "many_descriptors", tried: "opened descriptors until there were no more", layer: LayerLimits, want: []unix.Errno{unix.EMFILE}, do: func(*canaryWorld) seen {
		var open []int
		defer func() {
			for _, fd := range open {
				_ = unix.Close(fd)
			}
		}()
		for range 4 * DefaultMaxDescriptors {
			fd, err := unix.Dup(fdStdin)
			if err != nil {
				return failed(err)
			}
			open = append(open, fd)
		}
		return seen{}
	}},
	{name: "core_dumps", tried: "read the limit of core dumps back", layer: LayerLimits, do: func(*canaryWorld) seen {
		var l unix.Rlimit
		err := unix.Getrlimit(unix.RLIMIT_CORE, &l)
		return found(err == nil && l.Max == 0, "%d bytes", l.Max)
	}},
	{name: "many_processes", tried: "read the limit of processes back", layer: LayerProcesses, do: func(*canaryWorld) seen {
		var l unix.Rlimit
		err := unix.Getrlimit(unix.RLIMIT_NPROC, &l)
		return found(err == nil && l.Max <= DefaultMaxProcesses, "%d", l.Max)
	}},

	{name: "not_root", tried: "asked who it runs as", layer: LayerUser, do: func(*canaryWorld) seen {
		r, e, s := unix.Getresuid()
		return found(r != 0 && e != 0 && s != 0, "user %d", e)
	}},
	{name: "become_root", tried: "changed the user to root", layer: LayerUser, want: []unix.Errno{unix.EPERM, unix.EINVAL},
		do: func(*canaryWorld) seen {
			_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0)
			return seen{Errno: int(errno)}
		}},
	{name: "capabilities", tried: "read the capabilities back", layer: LayerUser, do: func(*canaryWorld) seen {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		err := unix.Capget(&header, &data[0])
		return found(err == nil && data == [2]unix.CapUserData{}, "effective %08x%08x, permitted %08x%08x", data[1].Effective, data[0].Effective, data[1].Permitted, data[0].Permitted)
	}},
	{name: "no_new_privs", tried: "read the flag back", layer: LayerNoNewPrivs, do: func(*canaryWorld) seen {
		v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		return found(err == nil && v == 1, "%d", v)
	}},

	{name: "filter", tried: "read the mode back", layer: LayerSeccomp, do: func(*canaryWorld) seen {
		v, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
		return found(err == nil && v == unix.SECCOMP_MODE_FILTER, "mode %d", v)
	}},
	{name: "sockets", tried: "opened a socket of every family and type, also with bits that the kernel drops", layer: LayerSeccomp, do: sockets},
	{name: "socket_pair", tried: "made a connected pair of sockets, which must work", layer: LayerSeccomp, do: func(*canaryWorld) seen {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = errors.Join(unix.Close(pair[0]), unix.Close(pair[1]))
		}
		return failed(err)
	}},
	{name: "clone3", tried: "called clone3", layer: LayerSeccomp, nr: []uintptr{unix.SYS_CLONE3, 0, 0}, want: unknown},
	{name: "io_uring", tried: "called io_uring_setup", layer: LayerSeccomp, nr: []uintptr{unix.SYS_IO_URING_SETUP, 0, 0}, want: unknown},
	{name: "unheard_of", tried: "called a system call that does not exist yet", layer: LayerSeccomp, nr: []uintptr{lastKnown + 1}, want: unknown},
	{name: "new_namespaces", tried: "called unshare", layer: LayerSeccomp, nr: []uintptr{unix.SYS_UNSHARE, 0}, want: refused},
	{name: "clone_namespaces", tried: "called clone with CLONE_NEWUSER", layer: LayerSeccomp, nr: []uintptr{unix.SYS_CLONE, unix.CLONE_NEWUSER | unix.CLONE_FS}, want: refused},
	{name: "enter_namespaces", tried: "called setns", layer: LayerSeccomp, nr: []uintptr{unix.SYS_SETNS, bad, 0}, want: refused},
	{name: "ptrace", tried: "called ptrace", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, bad >> 33}, want: refused},
	{name: "memory_of_others", tried: "called process_vm_readv", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PROCESS_VM_READV, bad >> 33}, want: refused},
	{name: "descriptors_of_others", tried: "called pidfd_getfd", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PIDFD_GETFD, bad, 0, 0}, want: refused},
	{name: "keys", tried: "called keyctl", layer: LayerSeccomp, nr: []uintptr{unix.SYS_KEYCTL, bad >> 33}, want: refused},
	{name: "add_key", tried: "called add_key", layer: LayerSeccomp, nr: []uintptr{unix.SYS_ADD_KEY}, want: refused},
	{name: "bpf", tried: "called bpf", layer: LayerSeccomp, nr: []uintptr{unix.SYS_BPF, bad >> 33, 0, 0}, want: refused},
	{name: "userfaultfd", tried: "called userfaultfd", layer: LayerSeccomp, nr: []uintptr{unix.SYS_USERFAULTFD, bad >> 33}, want: refused},
	{name: "perf_events", tried: "called perf_event_open", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PERF_EVENT_OPEN, 0, 0, bad, bad, 0}, want: refused},
	{name: "mount", tried: "called mount", layer: LayerSeccomp, nr: []uintptr{unix.SYS_MOUNT, 0, 0, 0, 0, 0}, want: refused},
	{name: "fsopen", tried: "called fsopen", layer: LayerSeccomp, nr: []uintptr{unix.SYS_FSOPEN, 0, 0}, want: refused},
	{name: "chroot", tried: "called chroot", layer: LayerSeccomp, nr: []uintptr{unix.SYS_CHROOT, 0}, want: refused},
	{name: "pivot_root", tried: "called pivot_root", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PIVOT_ROOT, 0, 0}, want: refused},
	{name: "file_handles", tried: "called open_by_handle_at", layer: LayerSeccomp, nr: []uintptr{unix.SYS_OPEN_BY_HANDLE_AT, bad, 0, 0}, want: refused},
	{name: "kernel_modules", tried: "called finit_module", layer: LayerSeccomp, nr: []uintptr{unix.SYS_FINIT_MODULE, bad, 0, 0}, want: refused},
	{name: "reboot", tried: "called reboot, with numbers that mean nothing", layer: LayerSeccomp, nr: []uintptr{unix.SYS_REBOOT, 0, 0, 0}, want: refused},
	{name: "clock", tried: "called clock_settime", layer: LayerSeccomp, nr: []uintptr{unix.SYS_CLOCK_SETTIME, bad >> 33, 0}, want: refused},
	{name: "terminal_input", tried: "put a character into a terminal's input", layer: LayerSeccomp, nr: []uintptr{unix.SYS_IOCTL, bad, unix.TIOCSTI, 0}, want: refused},
	{name: "terminal_input_high", tried: "the same, with bits that the kernel drops", layer: LayerSeccomp, nr: []uintptr{unix.SYS_IOCTL, bad, unix.TIOCSTI | 1<<32, 0}, want: refused},
	{name: "other_personality", tried: "called personality", layer: LayerSeccomp, nr: []uintptr{unix.SYS_PERSONALITY, bad >> 33}, want: refused},
}

// sockets tries every family that kernels have numbers for.
func sockets(*canaryWorld) seen {
	var opened []string
	tried := 0
	for family := range uintptr(64) {
		for _, kind := range []uintptr{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			for _, high := range []uintptr{0, 1 << 32} {
				fd, _, errno := unix.RawSyscall(unix.SYS_SOCKET, family|high, kind|high, 0)
				tried++
				if errno == 0 {
					_ = unix.Close(int(fd))
					opened = append(opened, fmt.Sprintf("family %d type %d", family, kind))
				} else if errno != unix.EAFNOSUPPORT && !slices.Contains(opened, errno.Error()) {
					opened = append(opened, errno.Error())
				}
			}
		}
	}
	if len(opened) > 0 {
		return found(false, "of %d: %s", tried, strings.Join(opened[:min(len(opened), 8)], ", "))
	}
	return found(true, "none of %d was opened", tried)
}

// namespaces are those of this process, by kind.
func namespaces() map[string]string {
	links := make(map[string]string)
	for _, kind := range []string{"pid", "mnt", "net", "ipc", "uts"} {
		if to, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			links[kind] = to
		}
	}
	return links
}

// exists reports whether there is something of that name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
