//go:build amd64 || arm64

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

const (
	// grace is how long a keeper may take to end a call, once told to.
	grace = 5 * time.Second
	// drain is how long the host reads on after every process is gone: only
	// somebody outside of the call can still hold its streams then.
	drain = time.Second
)

// call is one run of one program, on the host's side.
type call struct {
	spec   *Spec
	policy *policy
	// extra are the program's descriptors from fdExtra on.
	extra []*os.File
	// group is the control group of all processes but the keeper; nil: none.
	group *group
	// carrier empties the call's boxes, which are below box; both may be nil.
	carrier *carrier
	box     *os.File

	proxies proxies

	mu    sync.Mutex
	cause sandbox.Status // what ended the call; "" while it runs, or if it ended by itself
	over  bool           // the program has ended; later causes do not count
	stop  chan struct{}  // closed with the first cause
}

// end says why the call must end. The first one counts.
func (c *call) end(cause sandbox.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == "" && !c.over {
		c.cause = cause
		close(c.stop)
	}
}

// ended notes that the program has ended by itself.
func (c *call) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// ends are the host's ends of what it shares with a call. Those of the program
// are in the order of its descriptors.
type ends struct {
	program [fdExtra]*os.File
	control *os.File
}

// open makes a pipe for each of the program's descriptors, and the socket to
// its keeper, and gives the other ends.
func (e *ends) open() (theirs [fdExtra]*os.File, control *os.File, err error) {
	for fd := range theirs {
		var pair [2]int
		if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
			return theirs, nil, os.NewSyscallError("pipe2", err)
		}
		ours, other := pair[0], pair[1]
		if fd == fdStdin {
			ours, other = other, ours
		}
		// The host waits in its poller; the program's end is as programs expect.
		err := unix.SetNonblock(ours, true)
		e.program[fd], theirs[fd] = os.NewFile(uintptr(ours), "pipe"), os.NewFile(uintptr(other), "pipe")
		if err != nil {
			return theirs, nil, os.NewSyscallError("fcntl", err)
		}
	}
	e.control, control, err = packets()
	return theirs, control, err
}

// packets makes a pair of sockets that keep packets whole. The first end is for
// this process, and does not block.
func packets() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	err = unix.SetNonblock(pair[0], true)
	ours, theirs = os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
	if err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("fcntl", err), ours.Close(), theirs.Close())
	}
	return ours, theirs, nil
}

// closeAll closes files, those that are not there and those that are closed
// already left out.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing is buffered
		}
	}
}

// errNotTaken: the spawner ended before it took the request. Nothing was done.
var errNotTaken = errors.New("the spawner ended before it took the request")

func (c *call) run(ctx context.Context) (Result, error) {
	for range 3 {
		if ctx.Err() != nil {
			return c.result(&report{}, &streams{}, causeOf(ctx)), nil
		}
		r, err := c.try(ctx)
		if !errors.Is(err, errNotTaken) {
			return r, err
		}
	}
	return Result{}, fmt.Errorf("start a confined call: %w%s", errNotTaken, resident.lastWords())
}

func (c *call) try(ctx context.Context) (Result, error) {
	var groups []*os.File
	if c.group != nil {
		groups = c.group.enter
		c.policy.Born = c.group.version == 2
	}
	c.policy.Extra, c.policy.Groups = len(c.extra), len(groups)
	policy, err := c.policy.file()
	if err != nil {
		return Result{}, fmt.Errorf("start a confined call: %w", err)
	}
	defer c.proxies.end()
	var e ends
	theirs, control, err := e.open()
	defer closeAll(append(e.program[:], e.control)...)
	if err == nil {
		err = c.handOver(theirs[:])
	}
	var s *spawner
	if err == nil {
		s, err = resident.request(slices.Concat([]*os.File{control, policy}, theirs[:], c.extra, groups))
	}
	closeAll(append(theirs[:], control, policy)...)
	if err != nil {
		return Result{}, fmt.Errorf("start a confined call: %w", err)
	}
	return c.watch(ctx, &e, s)
}

// handOver gives the program's streams to its user, who may open them once
// more by their names in /dev.
func (c *call) handOver(streams []*os.File) error {
	if !c.policy.Drop {
		return nil
	}
	for _, f := range streams {
		if err := f.Chown(c.policy.UID, c.policy.GID); err != nil {
			return err
		}
	}
	return nil
}

// watch feeds the program, reads what it writes, and sees to its end.
func (c *call) watch(ctx context.Context, e *ends, by *spawner) (Result, error) {
	s := &streams{call: c}
	s.start(&e.program)
	keepers := make(chan *keeper, 1)
	reports := make(chan *report, 1)
	go func() { reports <- c.readReport(e.control, keepers) }()
	done := make(chan struct{})
	defer close(done)
	go c.watchGroup(done)

	var r *report
	select {
	case r = <-reports:
	case <-ctx.Done():
		c.end(causeOf(ctx))
	case <-c.stop:
	}
	var k *keeper
	if r == nil {
		hangUp(e.control) // tells the keeper
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case r = <-reports:
		case <-timer.C:
			select {
			case k = <-keepers:
				if err := k.kill(); err != nil {
					return Result{}, &SurvivorsError{"the keeper did not answer and could not be killed: " + err.Error()}
				}
			default:
				resident.drop(by) // it has not even started the keeper
			}
			r = <-reports
		}
	}
	if k == nil {
		select {
		case k = <-keepers:
		default:
		}
	}
	// A keeper that says that all are gone is the last one; what it leaves to the
	// kernel need not be waited for. Else the end of the first process of a
	// namespace comes after that of all others.
	if k != nil {
		var err error
		if !r.gone {
			err = k.wait()
		}
		closeAll(k.pidfd)
		if err != nil {
			return Result{}, &SurvivorsError{"the keeper's end was not seen: " + err.Error()}
		}
	}
	if !r.taken && ctx.Err() == nil {
		s.finish(&e.program)
		resident.drop(by)
		return Result{}, errNotTaken
	}
	if err := c.endGroup(r); err != nil {
		return Result{}, err
	}
	s.finish(&e.program)
	if err := c.failed(r, s); err != nil {
		return Result{}, err
	}
	c.mu.Lock()
	cause := c.cause
	c.mu.Unlock()
	if cause == "" {
		cause = c.overLimit(r)
	}
	return c.deliver(c.result(r, s, cause))
}

func causeOf(ctx context.Context) sandbox.Status {
	if errors.Is(context.Cause(ctx), errTimeout) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return sandbox.StatusTimeout
	}
	return sandbox.StatusCancelled
}

// failed says what the host or the keeper could not do.
func (c *call) failed(r *report, s *streams) error {
	switch {
	case r.started && r.unserved != nil:
		return r.unserved
	case r.started && r.failed:
		return fmt.Errorf("the keeper of a confined call ended it: %s", r.reason)
	case r.started && !r.gone && (!c.policy.Spaces || !r.keeper):
		return &SurvivorsError{"the keeper ended before it had seen to the call's processes"}
	case r.layer == layerDir || r.layer == layerExec || r.started || r.kills > 0:
		return nil
	}
	if r.failed && r.layer != layerKeeper {
		e := &UnavailableError{Layer: r.layer, Reason: r.what, Err: r.err}
		switch r.layer {
		case LayerUser:
			e.Remedy = "set the user to one that exists in this container, or give this process the capabilities of root"
		case LayerNamespaces:
			e.Reason = "the kernel does not give this process namespaces of its own (" + r.what + ")"
			e.Remedy = "allow unprivileged user namespaces for this program, run it as root, or let calls run without namespaces"
		case LayerFileSystem:
			e.Remedy = "check that granted paths are still there and can be read by this process, or let calls run without namespaces"
		}
		return e
	}
	if c.cause != "" && !r.failed {
		return nil // ended before the program was started
	}
	if !r.failed {
		return fmt.Errorf("start a confined call: the keeper ended before the program started%s", resident.lastWords())
	}
	return fmt.Errorf("start a confined call: %s", r.reason)
}

// report is what spawner and keeper say of a call.
type report struct {
	taken   bool // the spawner has the request
	keeper  bool // the host has the keeper's pidfd
	missing []Layer
	started bool
	failed  bool
	layer   Layer
	what    string // was tried
	reason  string // what, and how it failed
	err     error
	exited  bool
	code    int
	signal  string
	gone    bool
	cpu     time.Duration
	peak    uint64
	kills   uint64 // processes that were killed for lack of memory

	proxied  bool  // the listener of the proxy has come
	unserved error // and could not be taken
}

// readReport reads until no process of the call is left, or the keeper is gone.
// Only the keeper has the other end: the program's was closed when it started.
func (c *call) readReport(control *os.File, keepers chan<- *keeper) *report {
	r := new(report)
	for !r.gone {
		packet, err := receivePolled(control, maxReport)
		if err != nil {
			return r
		}
		m, layer, what, ok := parseMessage(packet.data)
		switch {
		case !ok:
		case m.Kind == sayTaken:
			r.taken = true
		case m.Kind == sayKeeper && len(packet.fds) == 1 && !r.keeper:
			r.keeper = true
			keepers <- newKeeper(packet.fds[0])
			packet.fds = nil
		case m.Kind == sayProxy && len(packet.fds) == 1 && c.spec.Proxy != nil && !r.proxied:
			r.proxied, r.unserved = true, c.proxies.serve(packet.fds[0], c.spec.Proxy)
			packet.fds = nil
		case m.Kind == sayMissing:
			r.missing = append(r.missing, layer)
		case m.Kind == sayBoxes && len(packet.fds) == 1 && c.box == nil:
			c.box = os.NewFile(uintptr(packet.fds[0]), "boxes")
			packet.fds = nil
		case m.Kind == sayStarted:
			r.started = true
		case m.Kind == sayFailed:
			r.failed, r.layer, r.what, r.reason = true, layer, what, m.reason(what)
			if m.Errno != 0 {
				r.err = syscall.Errno(m.Errno)
			}
		case m.Kind == sayExit:
			c.ended()
			r.exited, r.code, r.signal = true, int(m.Code), signalName(m.Signal)
		case m.Kind == sayGone:
			r.gone, r.cpu, r.peak = true, time.Duration(m.CPU), uint64(m.Peak)
		}
		packet.close()
	}
	return r
}

// signalName is empty for 0, no signal.
func signalName(signal int32) string {
	if signal == 0 {
		return ""
	}
	if name := unix.SignalName(syscall.Signal(signal)); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", signal)
}

// hangUp tells the other end of a socket that nothing more will come.
func hangUp(socket *os.File) {
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) }) // else it is gone
	}
}

// keeper is a keeper's process.
type keeper struct{ pidfd *os.File }

func newKeeper(pidfd int) *keeper {
	_ = unix.SetNonblock(pidfd, true) // if it fails, wait does without the poller
	return &keeper{os.NewFile(uintptr(pidfd), "keeper")}
}

// kill kills the keeper. Where it is the first process of a namespace, all
// others die with it.
func (k *keeper) kill() error {
	return k.use(func(fd int) error {
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != unix.ESRCH {
			return err
		}
		return nil
	})
}

func (k *keeper) use(f func(fd int) error) error {
	raw, err := k.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	return errors.Join(raw.Control(func(fd uintptr) { inner = f(int(fd)) }), inner)
}

// wait returns when the keeper has ended.
func (k *keeper) wait() error {
	raw, err := k.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Read(func(fd uintptr) bool {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		var n int
		n, inner = unix.Poll(polled, 0)
		return n > 0 || inner != nil && inner != unix.EINTR
	})
	return errors.Join(err, inner)
}
