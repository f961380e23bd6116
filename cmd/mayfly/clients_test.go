package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestClients runs the example clients of /clients against this program: what a
// user's own client meets.
func TestClients(t *testing.T) {
	clients, err := filepath.Abs("../../clients")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err == nil {
		if _, err := os.Stat(filepath.Join(clients, "typescript", "node_modules")); err != nil {
			t.Fatal("the TypeScript SDK is not installed; make clients does it")
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/clients",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("MAYFLY_CACHE_DIR", filepath.Join(cache, "mayfly"))
			env.Setenv("CLIENTS", clients)
			// The store and the trace are made beside the harness.
			return copyFiles(env.WorkDir, os.DirFS(filepath.Join(clients, "harness")))
		},
	})
}

func copyFiles(dir string, from fs.FS) error {
	names, err := fs.Glob(from, "*.*")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { // a handler is another user
			return err
		}
	}
	return nil
}
