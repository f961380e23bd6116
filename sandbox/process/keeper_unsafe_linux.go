//go:build amd64 || arm64

package process

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A keeper is a fork of the spawner, without execve, and so is what becomes the
// program. Such a process has one thread, and the memory of one that had many:
// locks of the Go runtime may be held for ever, and nobody answers it. The rules
// for every function in this file that runs there:
//
//   - It makes system calls, and reads and writes numbers in memory that was
//     there before. It calls nothing but functions of this file, and RawSyscall.
//   - It allocates nothing, and stores no pointer: that would be the collector's
//     business.
//   - go:nosplit, for a stack cannot grow there, and go:norace, nocheckptr, for
//     what the compiler adds to look at memory is part of the runtime.
//   - All signals are blocked from before the fork, so that no handler of the
//     runtime ever runs. Only the program gets them back.
//
// What has to happen is written down before, in ordinary Go, as lists of steps.
// Being alone also means that what a keeper gives up it has given up: there is
// no other thread that still has it.

// job is all that a keeper knows, and the memory it writes to.
type job struct {
	own    list // before there is a program
	child  list // ends with execve
	after  list // once the program runs
	first  bool // the keeper must be process 1: it kills all others
	failed [2]uint32

	control uintptr   // descriptor of the socket to the host
	deaths  int32     // descriptor that tells of them
	born    cloneArgs // how the child starts, if it starts in a control group
	unborn  []byte    // what the host is told if it does not
	stack   childStack
	message message
	parts   [4]uintptr
	polled  [2]unix.PollFd
	info    [128]byte
	status  int32
	usage   unix.Rusage
}

// message is what a keeper sends to the host, with a text behind it.
type message struct {
	Kind         uint32
	Errno        uint32
	Code, Signal int32
	CPU, Peak    int64
}

// Kinds of messages.
const (
	sayTaken   = 1 + iota // the spawner has the request; without this nothing was done
	sayKeeper             // the spawner: here is the keeper's pidfd
	sayMissing            // a layer that can be done without
	sayFailed             // there is no program: what could not be done
	sayStarted            // the program runs
	sayExit               // it has ended
	sayGone               // no process of the call is left, but the keeper
	sayProxy              // here is the socket that the program's proxy listens on
	sayBoxes              // here is the directory of what it writes within a limit
)

const noStep = ^uint32(0)

// fork starts the keeper of a job. The pidfd is the caller's.
func fork(j *job, flags uintptr) (pidfd int, err error) {
	var fd int32
	runtime.LockOSThread()
	errno := forkKeeper(j, flags|unix.CLONE_PIDFD|uintptr(unix.SIGCHLD), &fd)
	runtime.UnlockOSThread()
	runtime.KeepAlive(j)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// forkKeeper uses clone, and not clone3, which some hosts deny.
//
//go:norace
//go:nocheckptr
//go:noinline
func forkKeeper(j *job, flags uintptr, fd *int32) syscall.Errno {
	all, before := ^uint64(0), uint64(0)
	const size = unsafe.Sizeof(all)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&before)), size, 0, 0)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, flags, 0, uintptr(unsafe.Pointer(fd)), 0, 0, 0)
	if errno == 0 && pid == 0 {
		keep(j)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, size, 0, 0)
	return errno
}

// keep is the life of a keeper. It never returns.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func keep(j *job) {
	// Whoever kills everybody must be sure where it is.
	if j.first {
		if pid, _, _ := syscall.RawSyscall(unix.SYS_GETPID, 0, 0, 0); pid != 1 {
			exit(1)
		}
	}
	if !do(j, j.own.steps) {
		tell(j, sayFailed, j.own.steps[j.failed[0]].says)
		exit(1)
	}
	// The child has this process's memory, and this process waits, until it is
	// another program or has ended. What it notes in j is seen here.
	j.failed[0] = noStep
	var pid, errno uintptr
	if j.born.Flags == 0 {
		pid, errno = vfork(unix.SYS_CLONE, shared|uintptr(unix.SIGCHLD), (uintptr(unsafe.Pointer(&j.stack))+unsafe.Sizeof(j.stack))&^15, j)
	} else {
		pid, errno = vfork(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&j.born)), unsafe.Sizeof(j.born), j)
	}
	if errno != 0 {
		j.message.Errno = uint32(errno)
		tell(j, sayFailed, j.unborn)
		exit(1)
	}
	if j.failed[0] != noStep { // nothing that is not ours has run
		syscall.RawSyscall6(unix.SYS_WAIT4, pid, 0, 0, 0, 0, 0)
		tell(j, sayFailed, j.child.steps[j.failed[0]].says)
		exit(1)
	}
	tell(j, sayStarted, nil)
	over := false
	if !do(j, j.after.steps) {
		tell(j, sayFailed, j.after.steps[j.failed[0]].says)
		over = true
	}
	for !over {
		over = reap(j, pid, unix.WNOHANG)
		if !over {
			over = wait(j)
		}
	}
	for {
		// The kernel holds off forks while it goes through them, so none is
		// missed; but a new orphan may have become this process's child.
		syscall.RawSyscall(unix.SYS_KILL, everybody, uintptr(unix.SIGKILL), 0)
		reap(j, pid, 0)
	}
}

// shared are the flags of a child that has its parent's memory, while that waits.
const shared = unix.CLONE_VM | unix.CLONE_VFORK

// childStack is the child's stack until it is another program. Its frames are
// small, and all known: none of them grows.
type childStack [16 << 10]byte

// cloneArgs is the argument of clone3.
type cloneArgs struct {
	Flags, PidFD, ChildTID, ParentTID, ExitSignal, Stack, StackSize, TLS, SetTID, SetTIDSize, Cgroup uint64
}

// bornIn makes the child start in the control group of version 2 whose directory
// is open in the keeper. To enter one later waits for a grace period of the
// kernel's, which is many milliseconds.
func (j *job) bornIn(group uintptr) {
	stack := uint64(uintptr(unsafe.Pointer(&j.stack)))
	j.born = cloneArgs{
		Flags: shared | unix.CLONE_INTO_CGROUP, ExitSignal: uint64(unix.SIGCHLD), Cgroup: uint64(group),
		Stack: stack, StackSize: (stack+uint64(unsafe.Sizeof(j.stack)))&^15 - stack,
	}
	j.unborn = []byte(string(LayerCgroup) + "\x00start in the control group")
}

// vfork starts a process, by clone or clone3, that shares this one's memory. On
// a stack of its own it runs become(j).
//
//go:noescape
func vfork(nr, a0, a1 uintptr, j *job) (pid, errno uintptr)

// become is the life of the child until it is the program. It never returns.
//
//go:nosplit
//go:norace
//go:nocheckptr
//lint:ignore U1000 vfork calls it
func become(j *job) {
	do(j, j.child.steps)
	exit(127)
}

// everybody is all that this process may send a signal to, but itself.
const everybody = ^uintptr(0)

// do goes through steps until one fails, and notes which.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func do(j *job, steps []step) bool {
	for i := 0; i < len(steps); i++ {
		s := &steps[i]
		a := s.args
		for k := range s.from {
			if s.from[k] != nil {
				a[k] = uintptr(*s.from[k])
			}
		}
		r, _, errno := syscall.RawSyscall6(s.nr, a[0], a[1], a[2], a[3], a[4], a[5])
		switch {
		case errno == s.want:
			if s.into != nil {
				*s.into = int32(r)
			}
		case errno != 0 && errno == s.unless:
			tell(j, sayMissing, s.misses)
			i += s.skip
		default:
			j.failed[0], j.failed[1] = uint32(i), uint32(errno)
			j.message.Errno = uint32(errno)
			return false
		}
	}
	return true
}

// tell sends a message and a text. It fails only if the host is gone, and then
// the poll in wait says so as well.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func tell(j *job, kind uint32, text []byte) {
	j.message.Kind = kind
	j.parts[0], j.parts[1] = uintptr(unsafe.Pointer(&j.message)), unsafe.Sizeof(j.message)
	j.parts[2], j.parts[3] = uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text))
	syscall.RawSyscall(unix.SYS_WRITEV, j.control, uintptr(unsafe.Pointer(&j.parts)), 2)
}

// wait returns when a child may have ended, or the call must: then it says true.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func wait(j *job) (over bool) {
	j.polled[0] = unix.PollFd{Fd: int32(j.control), Events: unix.POLLIN | unix.POLLRDHUP}
	j.polled[1] = unix.PollFd{Fd: j.deaths, Events: unix.POLLIN}
	_, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&j.polled)), 2, 0, 0, 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return true
	}
	if j.polled[1].Revents != 0 {
		syscall.RawSyscall(unix.SYS_READ, uintptr(j.deaths), uintptr(unsafe.Pointer(&j.info)), unsafe.Sizeof(j.info))
	}
	return j.polled[0].Revents != 0
}

// reap takes all children that have ended, orphans of others included, and says
// whether the program was among them. With options 0 it waits for one. When
// there is no child left, the keeper's work is done.
//
//go:nosplit
//go:norace
//go:nocheckptr
//go:noinline
func reap(j *job, program uintptr, options uintptr) (ended bool) {
	for {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, everybody, uintptr(unsafe.Pointer(&j.status)), options, uintptr(unsafe.Pointer(&j.usage)), 0, 0)
		switch {
		case errno == unix.EINTR:
			continue
		case errno != 0:
			tell(j, sayGone, nil)
			exit(0)
		case pid == 0:
			return ended
		}
		j.message.CPU += (j.usage.Utime.Sec+j.usage.Stime.Sec)*1e9 + (j.usage.Utime.Usec+j.usage.Stime.Usec)*1e3
		if peak := j.usage.Maxrss << 10; peak > j.message.Peak {
			j.message.Peak = peak
		}
		if pid == program {
			ended = true
			if signal := j.status & 0x7f; signal != 0 {
				j.message.Code, j.message.Signal = -1, signal
			} else {
				j.message.Code = j.status >> 8 & 0xff
			}
			tell(j, sayExit, nil)
		}
		if options == 0 {
			return ended
		}
	}
}

// exit ends this process. It never returns.
//
//go:nosplit
//go:norace
func exit(code uintptr) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}
