package wasm

import (
	"errors"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

func TestOutputSharesOneBudget(t *testing.T) {
	var o output
	o.reset(10)
	o.stdout.Write([]byte("12345678"))
	o.stderr.Write([]byte("abcdef"))
	o.stdout.Write([]byte("9"))
	if got := string(o.stdout.kept) + "|" + string(o.stderr.kept); got != "12345678|ab" {
		t.Errorf("kept %q", got)
	}
	want := sandbox.Truncated{Stdout: 9, Stderr: 6}
	if got := o.truncated(0); got == nil || *got != want {
		t.Errorf("truncated %+v, want %+v", got, want)
	}
}

func TestOutputFlood(t *testing.T) {
	var o output
	o.reset(10)
	defer func() {
		err, _ := recover().(error)
		if s, ok := errors.AsType[*stop](err); !ok || s.status != sandbox.StatusOutputLimit {
			t.Errorf("recovered %v", err)
		}
		if o.total > minFlood+1<<10 || len(o.stdout.kept) != 10 {
			t.Errorf("stopped after %d bytes, kept %d", o.total, len(o.stdout.kept))
		}
	}()
	line := []byte(strings.Repeat("x", 1<<10))
	for range minFlood {
		o.stdout.Write(line)
	}
}
