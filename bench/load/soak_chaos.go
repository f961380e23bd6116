package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// chaos makes things go wrong, one at a time.
type chaos struct {
	w      *world
	cache  string
	say    func(string, ...any)
	random *rand.Rand
	start  time.Time
	python string
	kinds  []trouble

	mu     sync.Mutex
	events []event
	err    error
}

// event is something that was wrong for a time.
type event struct {
	name       string
	begin, end time.Time // end is zero while it lasts
}

// aftermath is how long after an event a call may still fail of it.
const aftermath = 5 * time.Second

// trouble is one kind of event. make begins it, and returns when it is over.
type trouble struct {
	name string
	make func(c *chaos, ctx context.Context, length time.Duration) error
}

// prepare finds out what can go wrong here; what cannot is returned, with reasons.
func (c *chaos) prepare() (without []string) {
	c.kinds = []trouble{{"a process is killed", (*chaos).kill}, {"the cache is wiped", (*chaos).wipe}}
	var err error
	if c.python, err = measure.FindPython(context.Background()); err == nil {
		err = exec.Command(c.python, "-c", "import sqlite3").Run()
	}
	if err == nil {
		c.kinds = append(c.kinds, trouble{"the store is locked", (*chaos).lock})
	} else {
		without = append(without, fmt.Sprintf("the store was not locked by another process: no python3 with sqlite3 (%v)", err))
	}
	if c.w.disk != nil {
		c.kinds = append(c.kinds, trouble{"the disk is full", (*chaos).fill})
	} else {
		without = append(without, "the disk was not full: no small file system could be mounted, which needs root")
	}
	if c.w.clock != nil {
		c.kinds = append(c.kinds, trouble{"the clock steps", (*chaos).step})
	} else {
		without = append(without, fmt.Sprintf("the clock did not step: the server could not have one of its own (%v)", c.w.noClock))
	}
	return without
}

// run makes something go wrong again and again; the last fifth of the time is
// left to recover.
func (c *chaos) run(ctx context.Context, length time.Duration) {
	order := c.random.Perm(len(c.kinds))
	pause := max(length/20, 5*time.Second)
	for i := 0; time.Since(c.start) < length*4/5; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		k := c.kinds[order[i%len(order)]]
		c.say("  %.0f s: %s", time.Since(c.start).Seconds(), k.name)
		at := c.begin(k.name)
		err := k.make(c, ctx, min(pause, 10*time.Second))
		c.end(at)
		if err != nil {
			c.mu.Lock()
			c.err = errors.Join(c.err, fmt.Errorf("%s: %w", k.name, err))
			c.mu.Unlock()
			return
		}
	}
}

func (c *chaos) begin(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{name: name, begin: time.Now()})
	return len(c.events) - 1
}

func (c *chaos) end(at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events[at].end = time.Now()
}

// excuses reports whether something was wrong at some time between two moments,
// or shortly before.
func (c *chaos) excuses(begin, end time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.begin.Before(end) && (e.end.IsZero() || e.end.Add(aftermath).After(begin)) {
			return true
		}
	}
	return false
}

// kill kills some process that the server started, by its number.
func (c *chaos) kill(context.Context, time.Duration) error {
	all := measure.Descendants(c.w.pid)
	if len(all) == 0 {
		return nil // there is none at this moment
	}
	victim := all[c.random.IntN(len(all))]
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// wipe empties the cache.
func (c *chaos) wipe(context.Context, time.Duration) error {
	entries, err := os.ReadDir(c.cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(c.cache, e.Name())))
	}
	return err
}

// lockStore holds the store's exclusive lock until its input ends.
const lockStore = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
db.execute("ROLLBACK")
`

// lock has another process hold the store.
func (c *chaos) lock(ctx context.Context, length time.Duration) error {
	cmd := exec.Command(c.python, "-I", "-c", lockStore, filepath.Join(c.w.harness, ".mayfly", "store.db"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && first == "locked\n" {
		wait(ctx, length)
	}
	in.Close()
	if waited := cmd.Wait(); err != nil || waited != nil {
		return fmt.Errorf("hold the store: %v %v: %s", err, waited, &said)
	}
	return nil
}

// fill leaves no room in the file system of the store and the trace.
func (c *chaos) fill(ctx context.Context, length time.Duration) error {
	return c.w.disk.fill(ctx, length)
}

func wait(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}
