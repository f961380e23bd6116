package governor_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

// storeVariable tells a child of TestLimitHoldsAcrossProcesses which file to
// use.
const storeVariable = "MAYFLY_TEST_STORE"

const limitedTool = `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: echo }
spec: { handler: "app:echo", rate_limit: { per_principal: 10/h } }
`

// TestLimitHoldsAcrossProcesses: of a hundred calls at once from four processes
// with one store, exactly as many as the limit says are allowed.
func TestLimitHoldsAcrossProcesses(t *testing.T) {
	if file := os.Getenv(storeVariable); file != "" {
		callFromChild(t, file)
		return
	}
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.CreateRun(t.Context(), store.Run{ID: "r", Principal: "ada", Created: start}); err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(t.Context(), store.Grant{RunID: "r", Tool: "echo", Granted: start}); err != nil {
		t.Fatal(err)
	}
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLimitHoldsAcrossProcesses$", "-test.v")
			cmd.Env = append(os.Environ(), storeVariable+"="+file)
			out, err := cmd.CombinedOutput()
			_, rest, ok := strings.Cut(string(out), "allowed=")
			if err != nil || !ok {
				t.Errorf("%v\n%s", err, out)
				return
			}
			number, _, _ := strings.Cut(rest, ";")
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				t.Error(err)
			}
			allowed.Add(n)
		})
	}
	wg.Wait()
	if n := allowed.Load(); n != 10 {
		t.Errorf("%d of 100 calls are allowed, want 10", n)
	}
	run, err := s.Run(t.Context(), "r")
	if err != nil || run.Calls != 100 {
		t.Errorf("%d calls were counted, want 100 (%v)", run.Calls, err)
	}
}

func callFromChild(t *testing.T, file string) {
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	g := newGovernor(t, newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\n", limitedTool), s)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 25 {
		wg.Go(func() {
			d := g.Decide(t.Context(), governor.Call{Run: "r", Tool: "echo", Args: governor.ParseArguments([]byte("{}"))})
			switch {
			case d.Outcome == governor.Allow:
				allowed.Add(1)
			case d.Code != governor.CodeRateLimited:
				t.Errorf("%s: %s", d.Code, d.Reason)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	fmt.Printf("allowed=%d;\n", allowed.Load())
}
