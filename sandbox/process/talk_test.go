//go:build linux && (amd64 || arm64)

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// program is a program of this machine's, with the libraries it needs.
func program(t *testing.T, name string, args ...string) Spec {
	t.Helper()
	path, err := filepath.EvalSymlinks("/usr/bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	exec, read := SystemLibraries()
	return Spec{Command: path, Args: args, Exec: exec, Read: read, Limits: Limits{Timeout: time.Minute}}
}

// TestTalk: a program is spoken with, line by line, for as long as it lives.
func TestTalk(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		spec := program(t, "cat")
		spec.Namespaces = mode
		var said []string
		spec.Talk = func(in io.WriteCloser, out io.Reader) {
			lines := bufio.NewScanner(out)
			for _, line := range []string{"one", "two", "three"} {
				if _, err := io.WriteString(in, line+"\n"); err != nil || !lines.Scan() {
					t.Errorf("say %s: %v", line, errors.Join(err, lines.Err()))
					return
				}
				said = append(said, lines.Text())
			}
		}
		r, err := Run(t.Context(), spec)
		if err != nil || r.Status != sandbox.StatusOK || len(r.Stdout) > 0 || len(said) != 3 || said[2] != "three" {
			t.Errorf("said %q; %+v, %v", said, r, err)
		}
	})
}

// TestTalkEnds: speaking ends with the program, and the program with its limits.
func TestTalkEnds(t *testing.T) {
	drain := func(_ io.WriteCloser, out io.Reader) { _, _ = io.Copy(io.Discard, out) }
	say := func(in io.WriteCloser, out io.Reader) {
		for {
			if _, err := in.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
	for name, tt := range map[string]struct {
		spec   Spec
		talk   func(io.WriteCloser, io.Reader)
		cancel bool
		want   sandbox.Status
	}{
		"it ends by itself":     {program(t, "true"), drain, false, sandbox.StatusOK},
		"it hears nothing":      {program(t, "true"), say, false, sandbox.StatusOK},
		"it says too much":      {program(t, "yes"), drain, false, sandbox.StatusOutputLimit},
		"nobody hears it":       {program(t, "yes"), func(io.WriteCloser, io.Reader) {}, false, sandbox.StatusOutputLimit},
		"it does not end":       {program(t, "sleep", "1000"), func(io.WriteCloser, io.Reader) {}, true, sandbox.StatusCancelled},
		"it says nothing":       {program(t, "sleep", "1000"), drain, true, sandbox.StatusCancelled},
		"input as well as talk": {Spec{Command: program(t, "cat").Command, Input: sandbox.RawJSON("1")}, drain, false, sandbox.StatusInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			forTiers(t, func(t *testing.T, mode Namespaces) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				spec := tt.spec
				spec.Namespaces = mode
				spec.Talk = func(in io.WriteCloser, out io.Reader) {
					if tt.cancel {
						cancel()
					}
					tt.talk(in, out)
				}
				before, err := os.ReadDir("/proc/self/fd")
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(ctx, spec)
				if err != nil || r.Status != tt.want {
					t.Errorf("%+v, %v, want %s", r, err, tt.want)
				}
				if after, err := os.ReadDir("/proc/self/fd"); err != nil || len(after) > len(before)+2 {
					t.Errorf("%d descriptors, %d before; %v", len(after), len(before), err)
				}
			})
		})
	}
}
