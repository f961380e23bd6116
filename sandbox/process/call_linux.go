//go:build amd64 || arm64

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
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

// pipes are the host's ends and the keeper's, in the order of its descriptors.
type pipes struct {
	host, keeper []*os.File
}

// newPipes makes one pipe for each descriptor of a keeper but the policy.
func newPipes(policy *os.File) (*pipes, error) {
	p := new(pipes)
	for fd := fdStdin; fd <= fdLife; fd++ {
		if fd == fdPolicy {
			p.host, p.keeper = append(p.host, nil), append(p.keeper, policy)
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		if fd == fdStdin || fd == fdLife {
			r, w = w, r
		}
		p.host, p.keeper = append(p.host, r), append(p.keeper, w)
	}
	return p, nil
}

func (p *pipes) close() {
	for _, f := range append(p.host, p.keeper...) {
		if f != nil {
			_ = f.Close() // closed twice at most, and nothing is buffered
		}
	}
}

func (c *call) run(ctx context.Context) (Result, error) {
	if ctx.Err() != nil {
		return c.result(&report{}, &streams{}, causeOf(ctx)), nil
	}
	file, err := c.policy.file()
	if err != nil {
		return Result{}, fmt.Errorf("start a confined call: %w", err)
	}
	p, err := newPipes(file)
	if err != nil {
		return Result{}, errors.Join(fmt.Errorf("start a confined call: %w", err), file.Close())
	}
	defer p.close()
	if err := c.handOver(p); err != nil {
		return Result{}, err
	}
	keeper, err := os.StartProcess("/proc/self/exe", []string{keeperName}, &os.ProcAttr{
		Dir: "/", Env: keeperEnv, Files: p.keeper, Sys: c.attributes(),
	})
	if err != nil {
		return Result{}, c.notStarted(err)
	}
	for _, f := range p.keeper {
		_ = f.Close() // the keeper has its own
	}
	return c.watch(ctx, keeper, p)
}

// handOver gives the program's streams to its user, who may open them once
// more by their names in /dev.
func (c *call) handOver(p *pipes) error {
	if !c.policy.Drop {
		return nil
	}
	for _, f := range p.keeper[:fdPolicy] {
		if err := f.Chown(c.policy.UID, c.policy.GID); err != nil {
			return fmt.Errorf("start a confined call: %w", err)
		}
	}
	return nil
}

// attributes say how the keeper starts.
func (c *call) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !c.policy.Spaces {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if c.policy.Network == NetworkNone {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if !c.policy.Drop {
		// The keeper stays who it is, and has what it needs to set up the
		// namespaces, inside of them.
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: c.policy.UID, HostID: c.policy.UID, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: c.policy.GID, HostID: c.policy.GID, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return attr
}

func (c *call) notStarted(err error) error {
	if c.policy.Spaces && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EACCES)) {
		return &UnavailableError{
			Layer: LayerNamespaces, Reason: "the kernel does not give this process namespaces of its own", Err: err,
			Remedy: "allow unprivileged user namespaces for this program, run it as root, or let calls run without namespaces",
		}
	}
	return fmt.Errorf("start a confined call: %w", err)
}

// watch feeds the program, reads what it writes, and sees to its end.
func (c *call) watch(ctx context.Context, keeper *os.Process, p *pipes) (Result, error) {
	s := &streams{call: c}
	s.start(p)
	reports := make(chan *report, 1)
	go func() { reports <- c.readReport(p.host[fdStatus]) }()

	var r *report
	select {
	case r = <-reports:
	case <-ctx.Done():
		c.end(causeOf(ctx))
	case <-c.stop:
	}
	if r == nil {
		_ = p.host[fdLife].Close() // tells the keeper
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case r = <-reports:
		case <-timer.C:
			if err := keeper.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return Result{}, &SurvivorsError{"the keeper did not answer and could not be killed: " + err.Error()}
			}
			r = <-reports
		}
	}
	// The first process of a namespace is gone only after all others are.
	if _, err := keeper.Wait(); err != nil {
		return Result{}, &SurvivorsError{"the keeper's end was not seen: " + err.Error()}
	}
	s.finish(p)
	if err := c.failed(r, s); err != nil {
		return Result{}, err
	}
	c.mu.Lock()
	cause := c.cause
	c.mu.Unlock()
	return c.result(r, s, cause), nil
}

func causeOf(ctx context.Context) sandbox.Status {
	if errors.Is(context.Cause(ctx), errTimeout) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return sandbox.StatusTimeout
	}
	return sandbox.StatusCancelled
}

// failed says what the host or the keeper could not do.
func (c *call) failed(r *report, s *streams) error {
	if r.started && !r.gone && !c.policy.Spaces {
		return &SurvivorsError{"the keeper ended before it had seen to the call's processes"}
	}
	if r.layer == layerDir || r.layer == layerExec || r.started {
		return nil
	}
	if r.failed && r.layer != "-" {
		e := &UnavailableError{Layer: r.layer, Reason: r.reason}
		switch r.layer {
		case LayerUser:
			e.Remedy = "set the user to one that exists in this container, or give this process the capabilities of root"
		case LayerFileSystem, LayerNamespaces:
			e.Remedy = "check that granted paths are still there and can be read by this process, or let calls run without namespaces"
		}
		return e
	}
	if c.cause != "" && !r.failed {
		return nil // ended before the program was started
	}
	return fmt.Errorf("the keeper of a confined call failed before the program started: %s %s", r.reason, s.excerpt())
}

// report is what a keeper says, line by line.
type report struct {
	missing []Layer
	started bool
	failed  bool
	layer   Layer
	reason  string
	exited  bool
	code    int
	signal  string
	gone    bool
	cpu     time.Duration
	peak    uint64
}

// readReport reads until the keeper is gone. Only the keeper has the other end:
// the program's was closed when it started.
func (c *call) readReport(f io.Reader) *report {
	r := new(report)
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		switch {
		case words[0] == "missing" && len(words) == 2:
			r.missing = append(r.missing, Layer(words[1]))
		case words[0] == "started":
			r.started = true
		case words[0] == "fail" && len(words) == 4:
			r.failed, r.layer, r.reason = true, Layer(words[1]), words[3]
		case words[0] == "exit" && len(words) == 3:
			c.ended()
			r.exited = true
			r.code, _ = strconv.Atoi(words[1])
			if words[2] != "-" {
				r.signal = words[2]
			}
		case words[0] == "gone" && len(words) == 3:
			r.gone = true
			cpu, _ := strconv.ParseInt(words[1], 10, 64)
			r.cpu = time.Duration(cpu)
			r.peak, _ = strconv.ParseUint(words[2], 10, 64)
		}
	}
	return r
}

// keeperEnv is the keeper's own environment. A program built with the race
// detector sleeps for a second when it ends, unless told not to.
var keeperEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GORACE=atexit_sleep_ms=0"}
