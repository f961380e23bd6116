//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// spawnerName is what a spawner's only argument is: no user gives a program that
// name by accident, and without its socket it does nothing.
const spawnerName = "mayfly: spawner of confined calls"

// Descriptors of a spawner. Those that come with a request are all above
// reserved, so that a keeper can put them where they belong in any order.
const (
	fdRequests = 3
	reserved   = 32
)

// Descriptors of a keeper: first the program's, of which these are always there;
// the socket to the host follows.
const (
	fdStdin = iota
	fdStdout
	fdStderr
	fdValue
	fdExtra
)

// maxExtra bounds what a program gets from fdExtra on.
const maxExtra = 8

// mainCalled: this executable can be started as a spawner.
var mainCalled atomic.Bool

// Main must be called first in the main function of a program that calls [Run].
// If ours is true, this process was started to start confined programs, its host
// is gone, and it must exit with code at once.
func Main() (code int, ours bool) {
	if len(os.Args) > 2 && os.Args[1] == canaryName {
		return canary(os.Args[2:]), true
	}
	if len(os.Args) != 1 || os.Args[0] != spawnerName {
		mainCalled.Store(true)
		return 0, false
	}
	if err := serveHost(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// serveHost starts a keeper for each request, until the host is gone. It waits for
// none of them: the kernel takes those that have ended.
func serveHost() error {
	// What it forks must not be looked into: requests of other calls may be there.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the spawner's memory: %w", err)
	}
	signal.Ignore(unix.SIGCHLD)
	if err := ownDescriptors(); err != nil {
		return err
	}
	debug.FreeOSMemory() // each fork copies the tables of what is there
	// Each receiver does what it receives: to hand it to somebody else would cost
	// as much as half of a fork. Nothing that they do waits for a file of the host.
	ended := make(chan error)
	for range receivers {
		go func() { ended <- receiveAll() }()
	}
	return <-ended
}

// receivers is how many requests are dealt with at a time.
const receivers = 4

// receiveAll starts a keeper for each request, until the host is gone.
func receiveAll() error {
	for {
		r, err := receivePacket(fdRequests, maxRequest)
		switch {
		case errors.Is(err, errClosed):
			return nil
		case err != nil:
			return fmt.Errorf("receive a request: %w", err)
		}
		handle(r)
	}
}

// ownDescriptors closes what a careless host has left open, and fills all
// numbers that a keeper gives to something else.
func ownDescriptors() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		// What this process has opened itself is closed on exec.
		fd, err := strconv.Atoi(entry.Name())
		flags, ferr := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && ferr == nil && fd > fdRequests && flags&unix.FD_CLOEXEC == 0 {
			if err := unix.Close(fd); err != nil {
				return fmt.Errorf("close a descriptor of the host's: %w", err)
			}
		}
	}
	unix.CloseOnExec(fdRequests)
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("reserve descriptors: %w", err)
		}
		if fd >= reserved {
			return unix.Close(fd)
		}
	}
}

// handle starts the keeper of one request. If it cannot, it says so; if it cannot
// even do that, the host sees that nobody is there.
func handle(r *received) {
	defer r.close()
	control := -1
	defer func() {
		if p := recover(); p != nil && control >= 0 {
			_ = sendPacket(control, failure(fmt.Errorf("the spawner: %v", p)))
		}
	}()
	if len(r.fds) <= requestControl {
		return // no request of ours
	}
	control = r.fds[requestControl]
	if err := sendPacket(control, message{Kind: sayTaken}.bytes("")); err != nil {
		return // the host is gone
	}
	if err := start(r, control); err != nil {
		_ = sendPacket(control, failure(err)) // the host is gone if this fails
	}
}

func start(r *received, control int) error {
	p, err := readPolicy(r.fds[requestPolicy])
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	own := r.fds[requestProgram:]
	if want := fdExtra + p.Extra + p.Groups; p.Extra < 0 || p.Extra > maxExtra || p.Groups < 0 || p.Born && p.Groups != 1 || len(own) != want {
		return fmt.Errorf("%d descriptors came with the request, want %d", len(own), want)
	}
	if root := os.Geteuid() == 0; root != p.Drop || !root && (p.UID != os.Geteuid() || p.GID != os.Getegid()) {
		return errors.New("the host is another user than its spawner")
	}
	j, err := newJob(p, control, own[:fdExtra+p.Extra], own[fdExtra+p.Extra:])
	if err != nil {
		return err
	}
	pidfd, err := fork(j, p.spaces())
	if err != nil {
		return &layerError{LayerNamespaces, "start the keeper", err}
	}
	defer unix.Close(pidfd)
	return sendPacket(control, message{Kind: sayKeeper}.bytes(""), pidfd)
}

// spaces are the namespaces that the call starts in, as flags of clone.
func (p *policy) spaces() (flags uintptr) {
	if !p.Spaces {
		return 0
	}
	flags = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if p.Network != NetworkAll {
		flags |= unix.CLONE_NEWNET
	}
	if !p.Drop {
		flags |= unix.CLONE_NEWUSER
	}
	return flags
}

// layerError says which layer could not be put in place.
type layerError struct {
	layer Layer
	what  string
	err   error
}

func (e *layerError) Error() string { return e.what + ": " + e.err.Error() }
func (e *layerError) Unwrap() error { return e.err }

// failure is the message about what went wrong before there was a keeper.
func failure(err error) []byte {
	layer, what := layerKeeper, err.Error()
	if e, ok := errors.AsType[*layerError](err); ok {
		layer, what = e.layer, e.what
	}
	m := message{Kind: sayFailed}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		m.Errno = uint32(errno)
	}
	return m.bytes(string(layer) + "\x00" + what)
}
