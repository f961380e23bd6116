package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

//go:embed harness
var harness embed.FS

// world is the server that is measured, and what is around it.
type world struct {
	dir     string
	service *service
	tokens  map[string]string // by principal
	url     string
	pid     int
	harness string // its directory
	disk    *disk  // what harness is on; nil: what everything is on

	// clock is the server's own wall clock; nil, for noClock, if it has the
	// machine's.
	clock   *clock
	noClock error

	process *exec.Cmd
	ended   chan error
	said    *lines // on standard error, after the URL
}

// principals are who calls, by tenant.
var principals = map[string][]string{
	"north": {"ada", "bo", "cy", "di"},
	"south": {"ed", "flo", "gus", "hal"},
}

const (
	greedy  = "greedy" // who brings most of an overload
	scraper = "prom"
)

// approverOf is who answers the approvals of a tenant.
func approverOf(tenant string) string { return "approver-" + tenant }

// newWorld starts a server in a directory of its own.
func newWorld(ctx context.Context, o options, say func(string, ...any)) (w *world, err error) {
	return newWorldIn(ctx, o, say, func(string) (*disk, error) { return nil, nil })
}

// newWorldIn does so with the harness, and the store, on what mount mounts.
func newWorldIn(ctx context.Context, o options, say func(string, ...any), mount func(dir string) (*disk, error)) (w *world, err error) {
	w = &world{tokens: make(map[string]string)}
	if w.dir, err = os.MkdirTemp("", "mayfly-load-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := os.Chmod(w.dir, 0o755); err != nil { // native handlers run as another user
		return nil, err
	}
	if w.service, err = newService(); err != nil {
		return nil, err
	}
	w.harness = filepath.Join(w.dir, "served")
	if err := os.Mkdir(w.harness, 0o755); err != nil {
		return nil, err
	}
	if w.disk, err = mount(w.harness); err != nil {
		return nil, err
	}
	if err := w.writeHarness(w.harness); err != nil {
		return nil, err
	}
	if err := w.writeTokens(); err != nil {
		return nil, err
	}
	say("starting %s serve", o.mayfly)
	return w, w.start(ctx, o, say)
}

// writeHarness writes the harness and its tools into a directory.
func (w *world) writeHarness(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(harness, "harness", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := harness.ReadFile(path)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("SERVICE"), []byte(w.service.addr))
		return os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o644)
	})
}

func (w *world) writeTokens() error {
	callers := []httpapi.Caller{{Principal: scraper, Roles: []string{httpapi.RoleMetrics}}, {Principal: greedy, Tenant: "north"}}
	for tenant, names := range principals {
		callers = append(callers, httpapi.Caller{Principal: approverOf(tenant), Tenant: tenant, Roles: []string{"finance"}})
		for _, name := range names {
			callers = append(callers, httpapi.Caller{Principal: name, Tenant: tenant})
		}
	}
	var file bytes.Buffer
	for _, c := range callers {
		token, line, err := httpapi.NewToken(c, time.Time{})
		if err != nil {
			return err
		}
		w.tokens[c.Principal] = token
		file.Write(append(line, '\n'))
	}
	return os.WriteFile(w.path("tokens.jsonl"), file.Bytes(), 0o600)
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

var servedAt = regexp.MustCompile(`http://[0-9.:]+`)

// start starts mayfly serve and waits until it is ready.
func (w *world) start(ctx context.Context, o options, say func(string, ...any)) error {
	args := []string{"serve", "--exec", "--listen", "127.0.0.1:0", "--tokens", w.path("tokens.jsonl"), "--harness", filepath.Join(w.harness, "harness.yaml")}
	if o.cache != "" {
		args = append(args, "--cache-dir", o.cache)
	}
	program, err := filepath.Abs(o.mayfly)
	if err != nil {
		return err
	}
	if err := os.Mkdir(w.path("tmp"), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(w.path("tmp"), 0o1777); err != nil {
		return err
	}
	stderr, err := w.launch(ctx, o, program, args)
	if err != nil {
		return fmt.Errorf("start %s (go build -o %s ./cmd/mayfly makes it): %w", o.mayfly, o.mayfly, err)
	}
	w.pid = w.process.Process.Pid
	w.said = &lines{say: say, seen: make(map[string]bool)}
	w.ended = make(chan error, 1)
	url := make(chan string, 1)
	go func() {
		text := bufio.NewScanner(stderr)
		for text.Scan() {
			if found := servedAt.FindString(text.Text()); found != "" && len(url) == 0 {
				url <- found
				continue
			}
			w.said.add(text.Text())
		}
		_, _ = io.Copy(io.Discard, stderr)
		w.ended <- w.process.Wait()
	}()
	select {
	case w.url = <-url:
		return nil
	case err := <-w.ended:
		w.ended <- err
		return fmt.Errorf("mayfly serve ended before it served: %v: %s", err, w.said)
	case <-time.After(5 * time.Minute):
		return fmt.Errorf("mayfly serve does not start: %s", w.said)
	}
}

// launch starts the server, with a clock of its own if there is to be one and it
// can have it.
func (w *world) launch(ctx context.Context, o options, program string, args []string) (io.Reader, error) {
	prepare := func() (io.Reader, error) {
		w.process = exec.CommandContext(ctx, program, args...)
		w.process.Env = append(os.Environ(), "TMPDIR="+w.path("tmp"))
		w.process.Cancel = func() error { return w.process.Process.Signal(syscall.SIGTERM) }
		w.process.WaitDelay = time.Minute
		return w.process.StderrPipe()
	}
	stderr, err := prepare()
	if err != nil {
		return nil, err
	}
	if !o.ownClock {
		return stderr, w.process.Start()
	}
	if w.clock, w.noClock = startWithClock(w.process); w.noClock == nil {
		return stderr, nil
	}
	if stderr, err = prepare(); err != nil {
		return nil, err
	}
	return stderr, w.process.Start()
}

// stop ends the server in an orderly way.
func (w *world) stop() error {
	if w.process == nil || w.process.Process == nil {
		return nil
	}
	_ = w.process.Process.Signal(syscall.SIGTERM) // it may have ended
	err := <-w.ended
	w.process = nil
	if err != nil {
		return fmt.Errorf("mayfly serve: %w: %s", err, w.said)
	}
	return nil
}

func (w *world) close() error {
	err := errors.Join(w.stop(), w.clock.close())
	if w.service != nil {
		err = errors.Join(err, w.service.server.Close())
	}
	if w.disk != nil {
		err = errors.Join(err, w.disk.unmount())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// metrics reads what the server says of itself.
func (w *world) metrics(ctx context.Context) (map[string]float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+w.tokens[scraper])
	res, err := plain.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	all := make(map[string]float64)
	text := bufio.NewScanner(res.Body)
	for text.Scan() {
		name, value, _ := strings.Cut(text.Text(), "} ")
		if !strings.Contains(text.Text(), "} ") {
			name, value, _ = strings.Cut(text.Text(), " ")
		} else {
			name += "}"
		}
		var f float64
		if _, err := fmt.Sscan(value, &f); err == nil && !strings.HasPrefix(name, "#") {
			all[name] = f
		}
	}
	return all, text.Err()
}

// lines are what a program said; the last of them are kept, and the first of
// each kind is passed on, since what went wrong first explains the rest.
type lines struct {
	say  func(string, ...any)
	seen map[string]bool // without their times
	mu   sync.Mutex
	last []string
	n    int
}

// passedOn is how many kinds of lines are passed on.
const passedOn = 100

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	kind := line
	if strings.HasPrefix(line, "time=") {
		_, kind, _ = strings.Cut(line, " ")
	}
	if !l.seen[kind] && len(l.seen) < passedOn {
		l.seen[kind] = true
		l.say("mayfly serve: %s", line)
	}
	if l.last = append(l.last, line); len(l.last) > 20 {
		l.last = l.last[1:]
	}
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.last, "\n")
}
