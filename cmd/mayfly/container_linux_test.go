package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
	confined "github.com/mayfly-run/mayfly/sandbox/process"
)

// TestEmptyContainer runs the binary that people get where there is nothing but
// that binary: no libraries, no home, nowhere to write, no network, an ordinary
// user. Nothing is cached there, so the interpreter is compiled in the call.
func TestEmptyContainer(t *testing.T) {
	mayfly := filepath.Join(t.TempDir(), "mayfly")
	build := exec.Command("go", "build", "-trimpath", "-o", mayfly, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		lang   string
		memory int64 // of the whole container, where the host can bound that
		long   bool
	}{
		{lang: "js", memory: 256 << 20},
		// Compiling Python takes more than it takes to run it.
		{lang: "python", memory: 512 << 20, long: true},
	} {
		t.Run(test.lang, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("compiling Python takes long with the race detector; make test does it")
			}
			spec := confined.Spec{
				Command: mayfly, Args: []string{"exec", "--lang", test.lang, "-c", "6*7"},
				Env:    map[string]string{"HOME": ""},
				Output: confined.OutputStdout,
				Limits: confined.Limits{
					Timeout: 10 * time.Minute, MaxMemory: 64 << 30, MaxProcesses: 64, MaxTempBytes: 4096,
					MaxFileBytes: 256 << 20, // the image is a file too, in memory
				},
			}
			bounded := spec
			bounded.Limits.MaxTreeMemory = test.memory
			r, err := confined.Run(t.Context(), bounded)
			if missing := new(confined.UnavailableError); errors.As(err, &missing) && missing.Layer == confined.LayerCgroup {
				t.Log("memory is not bounded: ", err)
				r, err = confined.Run(t.Context(), spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != sandbox.StatusOK || string(r.Value) != "42\n" {
				t.Errorf("%s: value %q, %+v\n%s", r.Status, r.Value, r.Error, r.Stderr)
			}
			t.Logf("first result after %.1f s", r.Usage.Wall.Seconds())
		})
	}
}
