//go:build amd64 || arm64

package process

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call of a process that was forked. See keeper_unsafe_linux.go.
type step struct {
	nr   uintptr
	args [6]uintptr
	// from has the arguments that are not known before: where it is not nil, a
	// former step put the argument there.
	from [6]*int32
	// into takes the result, for a later step. It may lie in the middle of what
	// a later step's argument points to.
	into *int32
	// want is the error that must come; 0: none.
	want syscall.Errno
	// unless is an error that can be done without: the host is told which layer
	// is missing (misses), and the next skip steps are left out. 0: none is.
	unless syscall.Errno
	misses []byte
	skip   int
	// says is what the host is told if it fails: the layer, a zero byte, and
	// what was tried.
	says []byte
}

// list is what a forked process does, in order, with whatever memory the
// arguments point to: the collector does not move it, and keep keeps it.
type list struct {
	steps []step
	keep  []any
}

func (l *list) add(layer Layer, what string, nr uintptr, args ...uintptr) *step {
	if l.steps == nil {
		l.steps = make([]step, 0, 256)
	}
	l.steps = append(l.steps, step{nr: nr, says: []byte(string(layer) + "\x00" + what)})
	s := &l.steps[len(l.steps)-1]
	copy(s.args[:], args)
	return s
}

// gives stores the result in a new place, and returns that.
func (s *step) gives() *int32 {
	s.into = new(int32)
	return s.into
}

// takes says that argument i is what is stored at from.
func (s *step) takes(i int, from *int32) *step {
	s.from[i] = from
	return s
}

// pointer keeps v alive and gives its address for a step's argument.
func pointer[T any](l *list, v *T) uintptr {
	l.keep = append(l.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// structure is pointer, with the size of what is there.
func structure[T any](l *list, v *T) (at, size uintptr) { return pointer(l, v), unsafe.Sizeof(*v) }

// text is a string as the kernel reads it. It must not hold a zero byte.
func (l *list) text(s string) uintptr {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return pointer(l, &b[0])
}

// texts is a list of strings that ends with a null pointer.
func (l *list) texts(list []string) uintptr {
	pointers := make([]uintptr, len(list)+1)
	for i, s := range list {
		pointers[i] = l.text(s)
	}
	return pointer(l, &pointers[0])
}

// filter is a seccomp filter as the kernel reads it.
func (l *list) filter(code []unix.SockFilter) uintptr {
	return pointer(l, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

// here stands for the current directory, as the calls that end in "at" do. It is
// not used: all their paths are absolute.
const here = ^uintptr(99) // AT_FDCWD, -100

// open opens the path itself, whatever it is, and nothing that is reached by a
// link: the path was resolved before, and one that has become a link since was
// exchanged by somebody.
func (l *list) open(o *opened, layer Layer, path string) {
	how, size := structure(l, &openPath)
	l.add(layer, "open "+path, unix.SYS_OPENAT2, here, l.text(path), how, size).into = &o.fd
}

// How paths are opened: without links, and below a directory.
var (
	openPath    = unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	openBeneath = unix.OpenHow{Flags: openPath.Flags, Resolve: openPath.Resolve | unix.RESOLVE_BENEATH}
)

// close closes what a former step opened.
func (l *list) close(fd *int32) {
	l.add(layerKeeper, "close a descriptor", unix.SYS_CLOSE).takes(0, fd)
}

// write writes a few bytes to a file, all at once.
func (l *list) write(layer Layer, path, text string) {
	what := "write " + path
	fd := l.add(layer, what, unix.SYS_OPENAT, here, l.text(path), unix.O_WRONLY|unix.O_CLOEXEC, 0).gives()
	l.add(layer, what, unix.SYS_WRITE, 0, l.text(text), uintptr(len(text))).takes(0, fd)
	l.close(fd)
}

// kernelSignals is how many signals the kernel has.
const kernelSignals = 64

// defaultSignals gives the program back what a process starts with. execve does
// so for signals that are handled; those that are ignored stay that way, and
// whoever started the host may have ignored some.
func (l *list) defaultSignals() {
	action := pointer(l, new(signalAction))
	for _, signal := range ignoredSignals() {
		l.add(LayerSession, "reset a signal", unix.SYS_RT_SIGACTION, signal, action, 0, kernelSignals/8)
	}
	l.add(LayerSession, "unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, pointer(l, new(uint64)), 0, kernelSignals/8)
}

// signalAction is what is done with a signal: as the kernel has it, and more.
// All zero is what a process starts with.
type signalAction struct {
	handler uintptr
	_       [7]uint64
}

// ignoredSignals are those that this process ignores.
var ignoredSignals = sync.OnceValue(func() (ignored []uintptr) {
	for signal := uintptr(1); signal <= kernelSignals; signal++ {
		var now signalAction
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, 0, uintptr(unsafe.Pointer(&now)), kernelSignals/8, 0, 0)
		const ignore = 1
		if errno != 0 || now.handler == ignore {
			ignored = append(ignored, signal)
		}
	}
	return slices.DeleteFunc(ignored, func(s uintptr) bool { return s == uintptr(unix.SIGKILL) || s == uintptr(unix.SIGSTOP) })
})

// limit sets a resource limit, never above the hard one that is there.
func (l *list) limit(resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	value = min(value, now.Max)
	limit := pointer(l, &unix.Rlimit{Cur: value, Max: value})
	l.add(LayerLimits, fmt.Sprintf("set limit %d", resource), unix.SYS_PRLIMIT64, 0, uintptr(resource), limit, 0)
	return nil
}

// capabilities leaves the process with these and no others.
func (l *list) capabilities(keep uint32) {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{{Effective: keep, Permitted: keep}}
	l.add(LayerUser, "drop capabilities", unix.SYS_CAPSET, pointer(l, header), pointer(l, data))
}
