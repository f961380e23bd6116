package runtime_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// crashEnv makes the test binary the process that is killed.
const crashEnv = "MAYFLY_TEST_CRASH_DIR"

// crashCalls is how many writes there are to do, crashWorkers by how many.
const crashCalls, crashWorkers = 500, 4

// openCrash opens a runtime whose tool appends its key to a file: the world
// outside, which a kill does not take back.
func openCrash(ctx context.Context, dir string) (*runtime.Runtime, error) {
	world, err := os.OpenFile(filepath.Join(dir, "world"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return runtime.Open(ctx, runtime.Config{
		Harness: filepath.Join(dir, "harness.yaml"),
		Funcs: map[string]runtime.Func{"pay": func(_ context.Context, c runtime.FuncCall) (sandbox.RawJSON, error) {
			_, err := fmt.Fprintln(world, c.IdempotencyKey)
			return sandbox.RawJSON("true"), err
		}},
	})
}

// TestCrashChild is not a test: it makes all calls that are not done, until it
// is killed or has nothing left to do.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashEnv)
	if dir == "" {
		t.Skip("only for TestKilledAtAnyPoint")
	}
	r, err := openCrash(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range crashWorkers {
		wg.Go(func() {
			for i := w; i < crashCalls; i += crashWorkers {
				args := fmt.Appendf(nil, `{"order":"A-%d","usd":1}`, i)
				if _, err := r.Call(t.Context(), runtime.Call{RunID: "run", Tool: "pay", Args: args}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestKilledAtAnyPoint kills a process again and again while it makes calls
// that change something. Whatever happened to each of them is known afterwards,
// or known not to be known; nothing happened twice.
func TestKilledAtAnyPoint(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec: { tools: { manifests: [tools.yaml] }, store: state.db }\n",
		"tools.yaml":   strings.Split(tools, "---\n")[1],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := openCrash(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartRun(t.Context(), runtime.RunConfig{ID: "run", Principal: "ann"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for round := range 100 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-test.count=1")
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round < 25 {
			// The point is a number of lines in the world, not a time.
			waitForLines(t, filepath.Join(dir, "world"), lines(t, dir)+random.IntN(20))
			if cmd.Process.Kill() == nil {
				killed++
			}
			_ = cmd.Wait()
			continue
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("the last process failed: %v\n%s", err, out.String())
		}
		break
	}
	if killed < 10 {
		t.Fatalf("only %d processes were killed", killed)
	}

	happened := make(map[string]int)
	f, err := os.Open(filepath.Join(dir, "world"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		happened[s.Text()]++
	}
	if r, err = openCrash(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	states := make(map[string]string)
	for _, state := range []string{"begun", "confirmed", "failed", "ambiguous"} {
		effects, err := r.Effects(t.Context(), runtime.EffectFilter{State: runtime.EffectState(state), Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effects {
			states[e.Key] = string(e.State)
		}
	}
	counts := make(map[string]int)
	for key, state := range states {
		counts[state]++
		switch {
		case state == "begun":
			t.Errorf("an effect of a dead process counts as under way")
		case state == "confirmed" && happened[key] != 1:
			t.Errorf("a confirmed effect happened %d times", happened[key])
		case state == "failed" && happened[key] != 0:
			t.Errorf("a failed effect happened %d times", happened[key])
		}
	}
	for key, n := range happened {
		if n > 1 {
			t.Errorf("an effect happened %d times", n)
		}
		if states[key] == "" {
			t.Errorf("an effect happened and is not in the journal")
		}
	}
	if len(states) != crashCalls || counts["confirmed"] == 0 {
		t.Errorf("%d effects in the journal, want %d: %v", len(states), crashCalls, counts)
	}
	t.Logf("%d processes killed: %v", killed, counts)
}

func lines(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "world"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// waitForLines returns when the file has so many lines, or the process ended.
func waitForLines(t *testing.T, path string, n int) {
	t.Helper()
	ended := time.Now().Add(20 * time.Second)
	for time.Now().Before(ended) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\n") >= n {
			return
		}
	}
}
