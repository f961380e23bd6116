//go:build amd64 || arm64

package process

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child of fork has one thread and the memory of a process that had many: it
// must not allocate, lock, or enter the scheduler. So what it has to do is
// written down before as a list of system calls, and all it does is to go
// through the list. Nothing it does can touch the parent, whose threads keep
// none of the confinement.

// step is one system call of the child.
type step struct {
	nr    uintptr
	args  [6]uintptr
	layer Layer
	what  string
}

// program is the list, with whatever memory its arguments point to.
type program struct {
	steps []step
	keep  []any
}

func (p *program) add(layer Layer, what string, nr uintptr, args ...uintptr) {
	s := step{nr: nr, layer: layer, what: what}
	copy(s.args[:], args)
	p.steps = append(p.steps, s)
}

// pointer keeps v alive and gives its address for a step's argument. The
// collector does not move what it has allocated.
func pointer[T any](p *program, v *T) uintptr {
	p.keep = append(p.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// text is a string as the kernel reads it.
func (p *program) text(s string) (uintptr, error) {
	b, err := syscall.BytePtrFromString(s)
	if err != nil {
		return 0, err
	}
	return pointer(p, b), nil
}

// texts is a list of strings that ends with a null pointer.
func (p *program) texts(list []string) (uintptr, error) {
	pointers := make([]uintptr, len(list)+1)
	for i, s := range list {
		at, err := p.text(s)
		if err != nil {
			return 0, err
		}
		pointers[i] = at
	}
	return pointer(p, &pointers[0]), nil
}

// filter is a seccomp filter as the kernel reads it.
func (p *program) filter(code []unix.SockFilter) uintptr {
	return pointer(p, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

// stepError is a step that failed, in the child.
type stepError struct {
	step  step
	errno syscall.Errno
}

func (e *stepError) Error() string { return fmt.Sprintf("%s: %v", e.step.what, e.errno) }
func (e *stepError) Unwrap() error { return e.errno }

// start forks a child that runs the program; the last step must be execve. It
// returns once the child has become another program, or with the *stepError of
// the step that failed, and then there is no child.
func (p *program) start() (pid int, err error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return 0, os.NewSyscallError("pipe2", err)
	}
	defer unix.Close(pipe[0])
	pid, errno := forkAndRun(p.steps, uintptr(pipe[1]))
	runtime.KeepAlive(p.keep)
	unix.Close(pipe[1])
	if errno != 0 {
		return 0, os.NewSyscallError("clone", errno)
	}
	var report [2]uint32
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&report)), unsafe.Sizeof(report))
	n, err := readFull(pipe[0], buf)
	if n == 0 && err == nil {
		return pid, nil // closed by execve
	}
	var status unix.WaitStatus
	for {
		if _, werr := unix.Wait4(pid, &status, 0, nil); werr != unix.EINTR {
			break
		}
	}
	if n != len(buf) || int(report[0]) >= len(p.steps) {
		return 0, fmt.Errorf("the child ended before it became the program (status %#x)", uint32(status))
	}
	return 0, &stepError{p.steps[report[0]], syscall.Errno(report[1])}
}

func readFull(fd int, buf []byte) (int, error) {
	total := 0
	for total < len(buf) {
		n, err := unix.Read(fd, buf[total:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
	return total, nil
}

// forkAndRun must be called on a locked thread. Signals are blocked around the
// fork, so that no handler of the runtime runs in the child; a step of the
// program unblocks them.
//
//go:norace
func forkAndRun(steps []step, report uintptr) (int, syscall.Errno) {
	all, before := ^uint64(0), uint64(0)
	const size = unsafe.Sizeof(all)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&before)), size, 0, 0)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		runSteps(steps, report)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, size, 0, 0)
	return int(pid), errno
}

// runSteps never returns.
//
//go:nosplit
//go:norace
//go:noinline
func runSteps(steps []step, report uintptr) {
	var failure [2]uint32
	for i := range steps {
		s := &steps[i]
		_, _, errno := syscall.RawSyscall6(s.nr, s.args[0], s.args[1], s.args[2], s.args[3], s.args[4], s.args[5])
		if errno != 0 {
			failure[0], failure[1] = uint32(i), uint32(errno)
			syscall.RawSyscall(unix.SYS_WRITE, report, uintptr(unsafe.Pointer(&failure)), unsafe.Sizeof(failure))
			break
		}
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 127, 0, 0)
	}
}

// kernelSignals is how many signals the kernel has.
const kernelSignals = 64

// defaultSignals gives the program back what a process starts with: whoever
// started Mayfly may have ignored signals, and ignoring is inherited.
func (p *program) defaultSignals() {
	action := pointer(p, new([8]uint64)) // larger than the kernel's structure, all zero: SIG_DFL
	for signal := uintptr(1); signal <= kernelSignals; signal++ {
		if signal != uintptr(unix.SIGKILL) && signal != uintptr(unix.SIGSTOP) {
			p.add(LayerSession, "reset a signal", unix.SYS_RT_SIGACTION, signal, action, 0, kernelSignals/8)
		}
	}
	p.add(LayerSession, "unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, pointer(p, new(uint64)), 0, kernelSignals/8)
}

// limit sets a resource limit, never above the hard one that is there.
func (p *program) limit(resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	value = min(value, now.Max)
	limit := pointer(p, &unix.Rlimit{Cur: value, Max: value})
	p.add(LayerLimits, fmt.Sprintf("set limit %d", resource), unix.SYS_PRLIMIT64, 0, uintptr(resource), limit, 0)
	return nil
}

// noCapabilities gives up all capabilities that are left.
func (p *program) noCapabilities() {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	p.add(LayerUser, "drop capabilities", unix.SYS_CAPSET, pointer(p, header), pointer(p, new([2]unix.CapUserData)))
}
