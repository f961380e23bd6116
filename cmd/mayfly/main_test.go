package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-run/mayfly/runtime"
)

// The scripts run this test binary as mayfly: the real one, and one whose
// sandbox is a fake that does what its "code" says (see fake_test.go).
func TestMain(m *testing.M) {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"mayfly":      main,
		"mayfly-poor": poor,
		"mayfly-fake": func() {
			p := newProcess(openFake)
			p.native = remembered
			os.Exit(run(os.Args[1:], p))
		},
	})
}

// remembered is what the first command of a script found out about this machine. The
// probe starts dozens of processes, some of which it waits for.
func remembered(ctx context.Context) (nativeHealth, []layerHealth) {
	var found struct {
		Native nativeHealth
		Layers []layerHealth
	}
	file := filepath.Join(os.Getenv("WORK"), ".native.json")
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &found) == nil {
		return found.Native, found.Layers
	}
	found.Native, found.Layers = examineNative(ctx)
	if text, err := json.Marshal(found); err == nil {
		_ = os.WriteFile(file, text, 0o600) // the next command finds out anew
	}
	return found.Native, found.Layers
}

// TestFake is the command line against every way a call can end, also those
// that a real guest is not easily brought to.
func TestFake(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/fake",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
	})
}

// TestScripts is the real thing: the command, the engine and the guest.
func TestScripts(t *testing.T) {
	// One cache for all scripts, kept from run to run: it is checked whenever
	// it is used, and compiling takes seconds.
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("MAYFLY_CACHE_DIR", filepath.Join(cache, "mayfly"))
			return nil
		},
	})
}
