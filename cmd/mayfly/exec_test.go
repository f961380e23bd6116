package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Waiting for input ends with a signal, though nothing ends the reading.
func TestStoppedWhileReading(t *testing.T) {
	r, w, err := os.Pipe() // r is the reader's, who may outlive the test
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error)
	go func() {
		c := &execCommand{Script: "-"}
		_, err := c.specUnlessStopped(ctx, &process{stdin: r})
		result <- err
	}()
	cancel(signalError{syscall.SIGTERM})
	err = <-result
	if s, ok := errors.AsType[signalError](err); !ok || s.signal != syscall.SIGTERM {
		t.Errorf("error %v, want the signal", err)
	}
	w.Close() // lets the reader go
}

func TestStatusExit(t *testing.T) {
	for status, want := range map[sandbox.Status]exitCode{
		sandbox.StatusOK:          0,
		sandbox.StatusError:       1,
		sandbox.StatusInvalid:     2,
		sandbox.StatusTimeout:     3,
		sandbox.StatusMemoryLimit: 3,
		sandbox.StatusOutputLimit: 3,
		sandbox.StatusFuelLimit:   3,
		sandbox.StatusStackLimit:  3,
		sandbox.StatusCallLimit:   3,
		sandbox.StatusBusy:        4,
		sandbox.StatusCrashed:     4,
		sandbox.StatusCancelled:   4, // by nobody's signal
		"":                        4,
	} {
		if got := statusExit(status); got != want {
			t.Errorf("statusExit(%q) = %d, want %d", status, got, want)
		}
		if status.Limit() != (want == exitLimit) {
			t.Errorf("%q: Limit() is %v, but the exit code %d", status, status.Limit(), want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	said := &progress{}
	t.Setenv("XDG_CACHE_HOME", "/c")
	if got := (cacheFlag{}).dir(said); got != filepath.FromSlash("/c/mayfly") {
		t.Errorf("default %q", got)
	}
	if got := (cacheFlag{CacheDir: "d"}).dir(said); got != "d" {
		t.Errorf("flag: %q", got)
	}
	if len(said.waiting) != 0 {
		t.Errorf("said %q", said.waiting)
	}
	// No place for a cache at all, as in a bare container.
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got := (cacheFlag{}).dir(said); got != "" || len(said.waiting) != 1 || !strings.Contains(said.waiting[0], "--cache-dir names a place") {
		t.Errorf("no home: %q, said %q", got, said.waiting)
	}
}
