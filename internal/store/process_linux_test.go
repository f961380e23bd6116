package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// childMark is the first argument of a test binary that is to be one of the
// children below.
const childMark = "store-test-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == childMark {
		if err := children[os.Args[2]](os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// children are what other processes do in these tests. They say what they have
// done on their standard output, and start when their input ends.
var children = map[string]func(args []string) error{
	"reserve":  childReserve,
	"approve":  childApprove,
	"effects":  childEffects,
	"hold":     childHold,
	"full":     childFull,
	"open":     childOpen,
	"everyone": childEveryone,
}

func child(t *testing.T, what string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	ok(t, err)
	c := exec.Command(self, append([]string{childMark, what}, args...)...)
	c.Stderr = os.Stderr
	return c
}

// together runs n children that start at once, and gives what each said.
func together(t *testing.T, n int, what string, args ...string) []string {
	t.Helper()
	outs := make([]bytes.Buffer, n)
	var cs []*exec.Cmd
	var starts []io.Closer
	for i := range n {
		c := child(t, what, append(args, strconv.Itoa(i))...)
		c.Stdout = &outs[i]
		in, err := c.StdinPipe()
		ok(t, err)
		ok(t, c.Start())
		cs, starts = append(cs, c), append(starts, in)
	}
	for _, s := range starts {
		ok(t, s.Close())
	}
	var said []string
	for i, c := range cs {
		ok(t, c.Wait())
		said = append(said, outs[i].String())
	}
	return said
}

// ready opens the store, and waits for the start.
func ready(path string) (Store, error) {
	s, err := Open(path)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return s, err
}

func childReserve(args []string) error {
	s, err := ready(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	admitted, errs := race(n, func(i int) error {
		r, err := s.Reserve(context.Background(), Reservation{
			ID:      fmt.Sprint(args[2], ".", i),
			Windows: []Window{{"principal", 10, time.Hour}, {"tenant", 50, time.Hour}},
		}, time.Now())
		if err == nil && !r.Admitted() {
			return errRefused
		}
		return err
	})
	for _, err := range errs {
		if err != errRefused {
			return err
		}
	}
	fmt.Print(admitted)
	return s.Close()
}

var errRefused = errors.New("refused")

// TestReserveAcrossProcesses: of 100 calls at once, a limit of 10 lets exactly
// 10 in, wherever they come from.
func TestReserveAcrossProcesses(t *testing.T) {
	for _, n := range []int{1, 4} {
		t.Run(fmt.Sprint("processes=", n), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			sum := 0
			for _, said := range together(t, n, "reserve", path, strconv.Itoa(100/n)) {
				admitted, err := strconv.Atoi(said)
				ok(t, err)
				sum += admitted
			}
			equal(t, "admitted of 100", sum, 10)
			// And the places stay taken though their owners have ended.
			r, err := openTest(t, path).Reserve(t.Context(),
				Reservation{ID: "next", Windows: []Window{{"principal", 10, time.Hour}}}, time.Now())
			ok(t, err)
			if r.Admitted() {
				t.Error("an 11th place was given when the processes had ended")
			}
		})
	}
}

const raced = 25

func childApprove(args []string) error {
	s, err := ready(args[0])
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := range raced {
		id := strconv.Itoa(i)
		a, err := s.CreateApproval(ctx, Approval{ID: id + "." + args[1], RunID: "r", CallHash: id, Tool: "t", Created: start})
		if err != nil {
			return err
		}
		if _, err = s.Decide(ctx, a.ID, Decision{Approve: true, Approver: args[1], At: start}); err == nil {
			fmt.Println("decided", id)
		} else if !errors.Is(err, ErrDecided) {
			return err
		}
		if _, err = s.Consume(ctx, id, "r", start); err == nil {
			fmt.Println("used", id)
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		prior, err := s.BeginEffect(ctx, Effect{Key: id, Tool: "t", Begun: start})
		if err != nil {
			return err
		}
		if prior == nil {
			fmt.Println("begun", id)
		}
	}
	return s.Close()
}

// TestRacesAcrossProcesses: each effect is begun by exactly one of four
// processes; no approval is decided or used by two. One that asks when another
// has already used the answer asks again, so that there may be more than one
// approval of a call.
func TestRacesAcrossProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	count := make(map[string]int)
	for _, said := range together(t, 4, "approve", path) {
		for line := range strings.Lines(said) {
			verb, _, _ := strings.Cut(line, " ")
			count[verb]++
		}
	}
	equal(t, "effects begun", count["begun"], raced)
	as, err := openTest(t, path).Approvals(t.Context(), ApprovalFilter{Now: start, Limit: MaxLimit})
	ok(t, err)
	equal(t, "decisions", count["decided"], len(as))
	equal(t, "uses", count["used"], len(as))
	for _, a := range as {
		equal(t, "state", a.State, Used)
	}
	if len(as) < raced {
		t.Errorf("%d approvals, want at least %d", len(as), raced)
	}
}

const effectsInAll = 500

// childEffects goes through all effects, doing those that it is the one to
// begin. Doing one is a line in the side file.
func childEffects(args []string) error {
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	side, err := os.OpenFile(args[1], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := s.Recover(ctx, start); err != nil {
		return err
	}
	for i := range effectsInAll {
		key := strconv.Itoa(i)
		prior, err := s.BeginEffect(ctx, Effect{Key: key, RunID: "r", Tool: "t", Begun: start})
		if err != nil {
			return err
		}
		if prior != nil {
			continue
		}
		fmt.Println("begun")
		if _, err := side.WriteString(key + "\n"); err != nil {
			return err
		}
		fmt.Println("did")
		if err := s.FinishEffect(ctx, key, EffectConfirmed, "", start); err != nil {
			return err
		}
		fmt.Println("confirmed")
	}
	return s.Close()
}

// TestKilledEffects kills processes again and again while they work through the
// same 500 effects. Afterwards each was done at most once, and the journal knows
// of every one that was done.
func TestKilledEffects(t *testing.T) {
	dir := t.TempDir()
	path, side := filepath.Join(dir, "store.db"), filepath.Join(dir, "side")
	ok(t, openTest(t, path).Close())
	seed := rand.Uint64()
	t.Logf("seed %d", seed)

	// Two at once, so that the one that is not killed must not lose anything to
	// the other's recovery.
	var wg sync.WaitGroup
	kills := make([]int, 2)
	for w := range kills {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				// As many steps and a moment more, to hit the inside of one. The first
				// few are killed early, the last one lives.
				killed, err := killAfter(child(t, "effects", path, side), 1+rnd.IntN(30), time.Duration(rnd.IntN(8000))*time.Microsecond)
				if err != nil {
					t.Error(err)
					return
				}
				if !killed {
					return
				}
				kills[w]++
			}
		})
	}
	wg.Wait()
	if n := kills[0] + kills[1]; n < 20 {
		t.Errorf("only %d processes were killed: the test does not test much", n)
	} else {
		t.Logf("%d processes were killed", n)
	}

	s := openTest(t, path)
	_, err := s.Recover(t.Context(), start)
	ok(t, err)
	journal, err := s.Effects(t.Context(), EffectFilter{Limit: MaxLimit})
	ok(t, err)
	done, err := os.ReadFile(side)
	ok(t, err)
	states := make(map[EffectState]int)
	for _, e := range journal {
		states[e.State]++
	}
	t.Logf("states: %v", states)
	equal(t, "entries of the journal", len(journal), effectsInAll)
	if states[EffectAmbiguous] == 0 {
		t.Error("no effect was under way when its process was killed: the test does not test much")
	}
	for _, wrong := range audit(journal, strings.Fields(string(done))) {
		t.Error(wrong)
	}
}

// killAfter kills a process after it has said so many lines, and then some. It
// says whether it was killed, or ended by itself.
func killAfter(c *exec.Cmd, lines int, then time.Duration) (killed bool, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := c.Start(); err != nil {
		return false, err
	}
	in := bufio.NewScanner(out)
	for n := 0; n < lines && in.Scan(); n++ {
	}
	<-time.After(then)
	// It may have ended; then there is nobody to kill.
	_ = c.Process.Kill()
	if _, err := io.Copy(io.Discard, out); err != nil {
		return false, err
	}
	err = c.Wait()
	if s, is := c.ProcessState.Sys().(syscall.WaitStatus); is && s.Signaled() && s.Signal() == syscall.SIGKILL {
		return true, nil
	}
	return false, err
}

// audit holds the journal against what was done.
func audit(journal []Effect, done []string) (wrong []string) {
	did := make(map[string]int)
	for _, key := range done {
		did[key]++
	}
	known := make(map[string]bool)
	for _, e := range journal {
		known[e.Key] = true
		switch {
		case e.State == EffectConfirmed && did[e.Key] == 0:
			wrong = append(wrong, e.Key+" is confirmed and was not done")
		case e.State != EffectConfirmed && e.State != EffectAmbiguous:
			wrong = append(wrong, e.Key+" is "+string(e.State))
		}
	}
	for key, n := range did {
		if n > 1 {
			wrong = append(wrong, key+" was done twice")
		}
		if !known[key] {
			wrong = append(wrong, key+" was done and is not known")
		}
	}
	return wrong
}

// TestAudit is the proof that the audit finds what it is there to find.
func TestAudit(t *testing.T) {
	e := func(s EffectState) []Effect { return []Effect{{Key: "k", State: s}} }
	for _, tt := range []struct {
		journal []Effect
		done    []string
		want    []string
	}{
		{e(EffectConfirmed), []string{"k"}, nil},
		{e(EffectAmbiguous), []string{"k"}, nil},
		{e(EffectAmbiguous), nil, nil},
		{e(EffectConfirmed), nil, []string{"k is confirmed and was not done"}},
		{e(EffectFailed), []string{"k"}, []string{"k is failed"}},
		{e(EffectBegun), nil, []string{"k is begun"}},
		{nil, []string{"k"}, []string{"k was done and is not known"}},
		{e(EffectConfirmed), []string{"k", "k"}, []string{"k was done twice"}},
	} {
		equal(t, "audit", audit(tt.journal, tt.done), tt.want)
	}
}

// childHold leaves something of everything behind, and waits to be killed.
func childHold(args []string) error {
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	ctx := context.Background()
	_, effectErr := s.BeginEffect(ctx, Effect{Key: "k", Tool: "t", Begun: start})
	_, reserveErr := s.Reserve(ctx, Reservation{ID: "kept", Windows: []Window{{"kept", 1, time.Minute}}}, start)
	_, releasedErr := s.Reserve(ctx, Reservation{ID: "back", Windows: []Window{{"back", 1, time.Minute}}}, start)
	err = errors.Join(effectErr, reserveErr, releasedErr, s.Release(ctx, "back"),
		s.CreateRun(ctx, Run{ID: "r", Created: start}),
		s.AddLabels(ctx, "r", Labels{PrivateSeen: true}),
		s.Grant(ctx, Grant{RunID: "r", Tool: "t", Granted: start}))
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestOwner: what a living process has begun is its own; when it was killed, it
// is ambiguous, and all else that it did is still there.
func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openTest(t, path)
	ctx := t.Context()
	c := child(t, "hold", path)
	in, err := c.StdinPipe()
	ok(t, err)
	defer in.Close()
	out, err := c.StdoutPipe()
	ok(t, err)
	ok(t, c.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}

	gone, err := s.Recover(ctx, start)
	ok(t, err)
	equal(t, "abandoned while the owner lives", gone, nil)
	fails(t, s.FinishEffect(ctx, "k", EffectFailed, "", start), ErrNotOwner)
	ok(t, c.Process.Kill())
	_ = c.Wait() // it was killed

	fails(t, s.FinishEffect(ctx, "k", EffectFailed, "", start), ErrNotOwner)
	gone, err = s.Recover(ctx, start)
	ok(t, err)
	if len(gone) != 1 || gone[0].Key != "k" || gone[0].State != EffectAmbiguous {
		t.Errorf("Recover = %+v, want k as ambiguous", gone)
	}
	gone, err = s.Recover(ctx, start)
	ok(t, err)
	equal(t, "abandoned, asked again", gone, nil)
	ok(t, s.FinishEffect(ctx, "k", EffectFailed, "", start))

	for key, want := range map[string]bool{"kept": false, "back": true} {
		r, err := s.Reserve(ctx, Reservation{ID: "new " + key, Windows: []Window{{key, 1, time.Minute}}}, start)
		ok(t, err)
		equal(t, "room where a place was "+key, r.Admitted(), want)
	}
	r, err := s.Run(ctx, "r")
	ok(t, err)
	equal(t, "labels", r.Labels, Labels{PrivateSeen: true})
	gs, err := s.Grants(ctx, "r")
	ok(t, err)
	equal(t, "grants", len(gs), 1)
}

// TestOwnerCloses: a store that is closed in the middle of an effect counts as
// gone, and another one in the same process does not.
func TestOwnerCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	a, b := openTest(t, path), openTest(t, path)
	_, err := a.BeginEffect(t.Context(), Effect{Key: "k", Tool: "t", Begun: start})
	ok(t, err)
	gone, err := b.Recover(t.Context(), start)
	ok(t, err)
	equal(t, "abandoned", gone, nil)
	ok(t, a.Close())
	gone, err = b.Recover(t.Context(), start)
	ok(t, err)
	equal(t, "number abandoned", len(gone), 1)
}

func childOpen(args []string) error {
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	fmt.Println("open")
	return s.Close()
}

// TestKilledWhileOpening: whenever that is, the next one can open the store.
func TestKilledWhileOpening(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 15
	}
	killedEarly := 0
	for i := range n {
		path := filepath.Join(t.TempDir(), "store.db")
		// A process takes some 10 ms to come this far.
		killed, err := killAfter(child(t, "open", path), 0, time.Duration(i)*time.Millisecond)
		ok(t, err)
		if killed {
			killedEarly++
		}
		s := openTest(t, path)
		ok(t, s.CreateRun(t.Context(), Run{ID: "r", Created: start}))
		ok(t, s.Close())
	}
	if killedEarly == 0 {
		t.Error("no process was killed: the test does not test much")
	}
	t.Logf("%d of %d were killed", killedEarly, n)
}

// childEveryone opens a store that is not there yet, together with others.
func childEveryone(args []string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	if err := s.CreateRun(context.Background(), Run{ID: args[1], Created: start}); err != nil {
		return err
	}
	return s.Close()
}

func TestEveryoneMakesTheFile(t *testing.T) {
	for range 3 {
		path := filepath.Join(t.TempDir(), "folder", "store.db")
		together(t, 6, "everyone", path)
		rs, err := openTest(t, path).Runs(t.Context(), RunFilter{})
		ok(t, err)
		equal(t, "number of runs", len(rs), 6)
	}
}

// childFull begins effects until there is no more room, and says how many it
// has begun.
func childFull(args []string) error {
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	// No file may grow over this size. The signal that comes with it is ignored
	// by Go programs, and the error left.
	limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	ctx := context.Background()
	for i := range 100_000 {
		_, err := s.BeginEffect(ctx, Effect{Key: strconv.Itoa(i), RunID: strings.Repeat("x", 1000), Tool: "t", Begun: start})
		if errors.Is(err, ErrFull) {
			fmt.Print(i)
			// Reading goes on.
			if _, err := s.Effects(ctx, EffectFilter{Limit: 1}); err != nil {
				return err
			}
			// And what does not fit is refused again, in the same way.
			if _, err := s.BeginEffect(ctx, Effect{Key: "more", RunID: strings.Repeat("x", 1000), Tool: "t", Begun: start}); !errors.Is(err, ErrFull) {
				return fmt.Errorf("begin once more: %w", err)
			}
			return s.Close()
		}
		if err != nil {
			return err
		}
	}
	return errors.New("there was always room")
}

// TestFullDisk: every effect that was begun before the disk was full is there.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	out, err := child(t, "full", path).Output()
	ok(t, err)
	begun, err := strconv.Atoi(string(out))
	ok(t, err)
	if begun < 10 {
		t.Errorf("only %d effects fit", begun)
	}
	gone, err := openTest(t, path).Recover(t.Context(), start)
	ok(t, err)
	equal(t, "effects in the journal", len(gone), begun)
}
