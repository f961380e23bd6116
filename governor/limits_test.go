package governor_test

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

// TestLimitHolds: of a hundred calls at once, exactly as many as the limit says
// are allowed.
func TestLimitHolds(t *testing.T) {
	set := newSet(t, "apiVersion: harnessweaver/v1\nkind: Harness\nmetadata: { name: h }\n", `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: echo }
spec: { handler: "app:echo", rate_limit: { per_principal: 10/m, per_tenant: 15/m } }
`)
	stores := map[string]func(t *testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return store.NewMemory() },
		"sqlite": func(t *testing.T) store.Store {
			s, err := store.Open(filepath.Join(t.TempDir(), "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			g := newGovernor(t, set, s)
			for _, run := range []store.Run{
				{ID: "ada", Principal: "ada", Tenant: "north", Created: start}, {ID: "bob", Principal: "bob", Tenant: "north", Created: start},
			} {
				if err := s.CreateRun(t.Context(), run); err != nil {
					t.Fatal(err)
				}
				if err := s.Grant(t.Context(), store.Grant{RunID: run.ID, Tool: "echo", Granted: start}); err != nil {
					t.Fatal(err)
				}
			}
			burst := func(run string, calls int) (allowed int64) {
				var n atomic.Int64
				var wg sync.WaitGroup
				ready := make(chan struct{})
				for range calls {
					wg.Go(func() {
						<-ready
						d := g.Decide(t.Context(), governor.Call{Run: run, Tool: "echo", Args: governor.ParseArguments([]byte("{}"))})
						switch {
						case d.Outcome == governor.Allow:
							n.Add(1)
						case d.Code != governor.CodeRateLimited:
							t.Errorf("%s: %s", d.Code, d.Reason)
						}
					})
				}
				close(ready)
				wg.Wait()
				return n.Load()
			}
			if n := burst("ada", 100); n != 10 {
				t.Errorf("%d of 100 calls are allowed, want 10", n)
			}
			// What ada's calls were refused took nothing of the tenant's.
			if n := burst("bob", 100); n != 5 {
				t.Errorf("%d calls of another principal are allowed, want the 5 that the tenant has left", n)
			}
		})
	}
}
