//go:build linux && (amd64 || arm64)

package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// tiers are the ways in which every test of confinement runs.
var tiers = []struct {
	name string
	mode Namespaces
}{
	{"namespaces", NamespacesRequired},
	{"without", NamespacesOff},
}

// forTiers runs a test once for each way.
func forTiers(t *testing.T, f func(t *testing.T, mode Namespaces)) {
	t.Helper()
	for _, tier := range tiers {
		t.Run(tier.name, func(t *testing.T) { f(t, tier.mode) })
	}
}

// run runs the victim and fails the test if the host cannot.
func run(t *testing.T, spec Spec, args ...string) Result {
	t.Helper()
	spec.Command, spec.Args = victim, args
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %v: %v", args, err)
	}
	return r
}

// marked gives the processes of this machine that have the mark among their
// arguments.
func marked(t *testing.T, mark string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes are seen at all: %v", err)
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // gone
		}
		for arg := range bytes.SplitSeq(text, []byte{0}) {
			if string(arg) == mark {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// openDir is a new directory that every user can write to.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "granted")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}
