package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

const soakUsage = `usage: load soak [flags]

Runs mayfly serve for a long time under a mixed load while things around it go
wrong: its processes are killed, its disk is full, another process holds its
store, its cache is wiped, its clock steps, and callers give up. It writes soak.md with plots.

Example, two minutes:

  go build -o bin/mayfly ./cmd/mayfly
  go run ./bench/load soak -mayfly bin/mayfly -length 2m

Exit codes: 0 everything that must hold did; 1 something was lost, done twice,
answered wrongly or leaked; 2 the command is wrong; 4 it could not be run.

Flags:
`

// soakVerb is the first argument that asks for a soak.
const soakVerb = "soak"

type soakOptions struct {
	options
	length time.Duration
	dir    string // for the report
}

func soakMain(ctx context.Context, args []string) int {
	o, err := parseSoak(args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	s, err := soak(ctx, o, say)
	if err == nil {
		err = s.report(o.dir, os.Stdout)
	}
	if err != nil {
		say("load: %v", err)
		return exitTrouble
	}
	if !held(s.items) {
		return exitFailed
	}
	return 0
}

func parseSoak(args []string, w io.Writer) (soakOptions, error) {
	o := soakOptions{}
	f := flag.NewFlagSet("load soak", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() {
		fmt.Fprint(w, soakUsage)
		f.PrintDefaults()
	}
	f.StringVar(&o.mayfly, "mayfly", "bin/mayfly", "the program")
	f.StringVar(&o.dir, "out", "bench/out", "`directory` for soak.md and its plots")
	f.DurationVar(&o.length, "length", 30*time.Minute, "how long it lasts, at least 30s")
	f.IntVar(&o.conns, "conns", 16, "connections, 1 to 512")
	f.Uint64Var(&o.seed, "seed", 0, "for the choice of calls and of what goes wrong (default: another one each time)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("load soak: %q is not a flag", f.Arg(0))
	case o.length < 30*time.Second:
		err = errors.New("load soak: -length is at least 30s")
	case o.conns < 1 || o.conns > 512:
		err = errors.New("load soak: -conns is from 1 to 512")
	}
	if err != nil {
		fmt.Fprintln(w, err)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	return o, err
}

// soaked is a soak and what it found.
type soaked struct {
	*measurement
	start   time.Time
	length  time.Duration
	chaos   *chaos
	counts  *tally
	samples []sample
	without []string // what could not go wrong here, and why
}

// soak runs all of it.
func soak(ctx context.Context, o soakOptions, say func(string, ...any)) (s *soaked, err error) {
	dir, err := os.MkdirTemp("", "mayfly-soak-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // native handlers run as another user
		return nil, err
	}
	// A cache of its own, which can be wiped; what is in the user's is copied, so
	// that nothing has to be compiled at the start.
	o.cache = filepath.Join(dir, "cache")
	if err := copyCache(o.cache); err != nil {
		return nil, err
	}
	o.ownClock = true
	w, err := newWorldIn(ctx, o.options, say, func(dir string) (*disk, error) { return mountDisk(dir, o.length) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	say("the choice of calls and of what goes wrong is that of -seed %d", o.seed)
	m := &measurement{world: w, options: o.options, say: say, ledger: newLedger()}
	s = &soaked{measurement: m, length: o.length, counts: newTally()}
	if err := m.warmUp(ctx); err != nil {
		return nil, err
	}
	s.chaos = &chaos{w: w, cache: o.cache, say: say, random: rand.New(rand.NewPCG(o.seed, 99))}
	s.without = s.chaos.prepare()
	before, err := s.settled(ctx)
	if err != nil {
		return nil, err
	}
	s.service.mu.Lock()
	s.service.rude = true
	s.service.mu.Unlock()
	s.start = time.Now()
	s.chaos.start = s.start
	s.counts.chaos = s.chaos
	if err := s.storm(ctx, o); err != nil {
		return nil, err
	}
	after, err := s.settled(ctx)
	if err != nil {
		return nil, err
	}
	if w.disk != nil {
		// Else what failed since failed of that.
		room, err := w.disk.room()
		if err != nil {
			return nil, err
		}
		s.must("room left on the disk of the store, at least 1 MiB", "MiB", float64(room)/(1<<20), 0, room >= 1<<20)
	}
	s.leaks(before, after)
	s.outcomes()
	if err := s.accounts(ctx); err != nil {
		return nil, err
	}
	s.startAgain(ctx, o)
	return s, ctx.Err()
}

// startAgain shows that the next start makes up for what was wiped.
func (s *soaked) startAgain(ctx context.Context, o soakOptions) {
	s.say("starting with the cache as it was left")
	out, err := exec.CommandContext(ctx, o.mayfly, "exec", "--cache-dir", o.cache, "-c", "1+1").Output()
	if err != nil {
		s.say("mayfly exec: %v: %s", err, out)
	}
	works := 0.0
	if string(out) == "2\n" {
		works = 1
	}
	s.must("starts that work with the cache as it was left, of 1", "", works, 1, works == 1)
}

// storm is the load, with everything that goes wrong.
func (s *soaked) storm(ctx context.Context, o soakOptions) error {
	s.say("%d connections, %v", o.conns, o.length)
	until, cancel := context.WithTimeout(ctx, o.length)
	defer cancel()
	v := s.watch(ctx, max(o.length/240, 250*time.Millisecond))
	var wg sync.WaitGroup
	for i := range o.conns {
		c := &caller{w: s.world, name: fmt.Sprintf("soak-%d", i), counts: s.counts, random: rand.New(rand.NewPCG(o.seed, uint64(i)))}
		tenant := []string{"north", "south"}[i%2]
		c.tenant, c.who = tenant, principals[tenant][i/2%len(principals[tenant])]
		wg.Go(func() { c.work(until) })
	}
	wg.Go(func() { s.chaos.run(until, o.length) })
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				s.say("  %.0f s: %s", time.Since(s.start).Seconds(), s.counts)
			}
		}
	}()
	wg.Wait()
	close(done)
	samples, err := v.end()
	if err != nil {
		s.say("the last look at the server: %v", err)
	}
	s.samples = samples
	return errors.Join(ctx.Err(), s.chaos.err)
}

// copyCache copies the user's compiled code.
func copyCache(to string) error {
	dir, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	from := filepath.Join(dir, "mayfly", "engine")
	if _, err := os.Stat(from); err != nil {
		return nil // the server compiles
	}
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
