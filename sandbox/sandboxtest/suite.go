// Package sandboxtest is the contract of package sandbox as tests. Every back
// end and every guest runs the same cases; only the programs are in the guest's
// own language.
//
// A case says what a call does wrong and how it must end. Besides, after each
// case the sandbox must still answer an ordinary call: a bad call costs only
// itself.
package sandboxtest

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Case is one call and how it must end.
type Case struct {
	// Name says what is wrong with the call.
	Name string
	// Code holds the program in each language. A guest that is missing skips
	// the case, visibly.
	Code Programs
	// Globals, Limits and Deterministic go into the Spec.
	Globals       map[string]any
	Limits        sandbox.Limits
	Deterministic *sandbox.Deterministic
	// Status lists the ends that are right.
	Status []sandbox.Status
	// Value, if set, is the value's exact JSON text.
	Value string
	// ErrorType, if set, is the error's type in each language.
	ErrorType Programs
	// Stdout and Stderr, if set, are what the streams hold.
	Stdout, Stderr string
	// Check, if set, looks at the rest of the result.
	Check func(t *testing.T, r sandbox.Result)

	native bool // see RunNative
}

// group is cases that are about the same.
type group struct {
	name  string
	cases []Case
}

func groups() []group {
	return []group{
		{"time", timeCases},
		{"memory", memoryCases},
		{"output", outputCases},
		{"value", valueCases},
		{"source", sourceCases},
		{"isolation", isolationCases},
		{"files", fileCases},
		{"artifacts", artifactCases},
		{"doors", doorCases},
	}
}

// Run runs every case against box, which hosts the named guest.
func Run(t *testing.T, guest string, box sandbox.Sandbox) {
	for _, group := range groups() {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.Name, func(t *testing.T) { c.run(t, guest, box) })
			}
		})
	}
}

func (c Case) run(t *testing.T, guest string, box sandbox.Sandbox) {
	code, ok := c.Code[guest]
	if !ok {
		t.Skipf("no program for guest %s", guest)
	}
	r, err := box.Run(t.Context(), sandbox.Spec{
		Code: code, Globals: c.Globals, Limits: c.Limits, Deterministic: c.Deterministic,
	})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if !slices.Contains(c.Status, r.Status) {
		t.Fatalf("status %q, want %q\nerror: %+v\nstdout: %.300s\nstderr: %.300s", r.Status, c.Status, r.Error, r.Stdout, r.Stderr)
	}
	if c.Value != "" {
		if diff := cmp.Diff(c.Value, string(r.Value)); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	}
	// A process that was ended has no exception of its own.
	ended := c.native && r.Status != sandbox.StatusError
	if want := c.ErrorType[guest]; want != "" && !ended && (r.Error == nil || r.Error.Type != want) {
		t.Errorf("error %+v, want type %q", r.Error, want)
	}
	if c.Stdout != "" && string(r.Stdout) != c.Stdout {
		t.Errorf("stdout %.300q, want %.300q", r.Stdout, c.Stdout)
	}
	if c.Stderr != "" && string(r.Stderr) != c.Stderr {
		t.Errorf("stderr %.300q, want %.300q", r.Stderr, c.Stderr)
	}
	limits := c.Limits.WithDefaults()
	if c.native {
		limits.MaxMemory = math.MaxInt64 // its peak has the program's own code and files in it
	}
	checkBounds(t, limits, r)
	if c.Check != nil {
		c.Check(t, r)
	}
	CheckAlive(t, box)
}

// checkBounds holds for every result, however the call ended.
func checkBounds(t *testing.T, l sandbox.Limits, r sandbox.Result) {
	t.Helper()
	if kept := int64(len(r.Stdout) + len(r.Stderr)); kept > l.MaxOutput {
		t.Errorf("%d bytes of output were kept, the limit is %d", kept, l.MaxOutput)
	}
	if r.Usage.PeakMemory > roundUp(l.MaxMemory, 64<<10) {
		t.Errorf("the guest had %d bytes, the limit is %d", r.Usage.PeakMemory, l.MaxMemory)
	}
	if (r.Error == nil) != (r.Status == sandbox.StatusOK) {
		t.Errorf("status %q with error %+v", r.Status, r.Error)
	}
	if (r.Value != nil) != (r.Status == sandbox.StatusOK) {
		t.Errorf("status %q with value %.100q", r.Status, r.Value)
	}
}

// CheckAlive fails the test unless box answers an ordinary call.
func CheckAlive(t *testing.T, box sandbox.Sandbox) {
	t.Helper()
	r, err := box.Run(context.WithoutCancel(t.Context()), sandbox.Spec{Code: "1+1"})
	if err != nil || r.Status != sandbox.StatusOK || string(r.Value) != "2" {
		t.Fatalf("the next call: status %q, value %q, error %+v, %v", r.Status, r.Value, r.Error, err)
	}
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

// The ends that more than one case uses.
var (
	ok      = []sandbox.Status{sandbox.StatusOK}
	raised  = []sandbox.Status{sandbox.StatusError}
	timeout = []sandbox.Status{sandbox.StatusTimeout}
	memory  = []sandbox.Status{sandbox.StatusMemoryLimit}
)
