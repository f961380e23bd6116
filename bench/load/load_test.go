package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
)

func TestMain(m *testing.M) {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestSmoke runs all of it for a moment: the real program, and no wrong result.
func TestSmoke(t *testing.T) {
	program := filepath.Join(t.TempDir(), "mayfly")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/mayfly").CombinedOutput(); err != nil {
		t.Fatalf("build mayfly: %v\n%s", err, out)
	}
	o := options{mayfly: program, conns: 8, times: 60, duration: 2 * time.Second, overload: 2 * time.Second, latency: time.Second, seed: 1}
	items, err := run(t.Context(), o, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, i := range items {
		seen[i.Name] = true
		if i.must && !i.OK && !strings.Contains(i.Name, "memory") { // two seconds say nothing about that
			t.Errorf("does not hold: %+v", i)
		}
	}
	for _, name := range []string{
		"each kind of call once: wrong results", "load, 8 connections, 2s: lost calls", "1+1, 8 at once: HTTP / in this process, p99",
		"differences between the records and what was sent",
	} {
		if !seen[name] {
			t.Errorf("nothing was said of %q", name)
		}
	}
}

// TestWrongAnswers: what is not the expected answer, is found.
func TestWrongAnswers(t *testing.T) {
	k := call{tool: "python", outcome: runtime.OK, output: value("12345678901234567890")}
	right := reply{Call: "a", Outcome: runtime.OK, Output: []byte(`{"stdout": "", "value": 12345678901234567890}`)}
	if wrong := k.wrong("a", right); wrong != "" {
		t.Error("the right answer:", wrong)
	}
	for name, change := range map[string]func(*reply){
		"another value":   func(r *reply) { r.Output = []byte(value("12345678901234567891")) },
		"no value":        func(r *reply) { r.Output = nil },
		"another call's":  func(r *reply) { r.Call = "b" },
		"another outcome": func(r *reply) { r.Outcome = runtime.Timeout },
		"a repetition":    func(r *reply) { r.Repeated = true },
	} {
		r := right
		if change(&r); k.wrong("a", r) == "" {
			t.Error("not found: " + name)
		}
	}
}

// TestWrongRecords: a server whose records are not what was sent, is found.
func TestWrongRecords(t *testing.T) {
	note := func(name, call, outcome string) string {
		return `{"time":"2026-01-01T00:00:00Z","name":"` + name + `","run":"r","call":"` + call + `","tool":"python","outcome":"` + outcome + `","took_us":1}` + "\n"
	}
	decided, ended := note(runtime.NoteGovernor, "a", "allow"), note(runtime.NoteTool, "a", "ok")
	count := map[string]float64{`mayfly_calls_total{outcome="ok",tool="python"}`: 1}
	tests := []struct {
		name, trace string
		state       state
		counted     map[string]float64
		want        int
	}{
		{"as it should be", decided + ended, stateAnswered, count, 0},
		{"it is not there", "", stateAnswered, nil, 2},
		{"it was decided twice", decided + decided + ended, stateAnswered, count, 1},
		{"it ended twice", decided + ended + ended, stateAnswered, map[string]float64{`mayfly_calls_total{outcome="ok",tool="python"}`: 2}, 1},
		{"it ended otherwise", decided + note(runtime.NoteTool, "a", "timeout"), stateAnswered, nil, 1},
		{"the metrics differ", decided + ended, stateAnswered, map[string]float64{`mayfly_calls_total{outcome="ok",tool="python"}`: 2}, 1},
		{"it was refused, and made", decided + ended, stateRefused, count, 2},
		{"nobody sent it", decided + ended + note(runtime.NoteGovernor, "b", "allow"), stateAnswered, count, 1},
	}
	for _, tt := range tests {
		m := &measurement{world: &world{harness: t.TempDir()}, ledger: newLedger()}
		if err := os.Mkdir(filepath.Join(m.harness, ".mayfly"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.harness, ".mayfly", "trace.jsonl"), []byte(tt.trace), 0o600); err != nil {
			t.Fatal(err)
		}
		m.ledger.calls["a"] = entry{tool: "python", outcome: runtime.OK, state: tt.state}
		var d differences
		if err := m.checkTrace(&d, tt.counted); err != nil || d.n != tt.want {
			t.Errorf("%s: %d differences, want %d: %v %v", tt.name, d.n, tt.want, d.examples, err)
		}
	}
}

func TestFlat(t *testing.T) {
	tests := []struct {
		before, after float64
		want          bool
	}{{100, 100, true}, {100, 131, true}, {100, 133, false}, {1000, 1099, true}, {1000, 1101, false}, {100, 50, true}}
	for _, tt := range tests {
		if got := flat(tt.before, tt.after, 32); got != tt.want {
			t.Errorf("from %v to %v: %v", tt.before, tt.after, got)
		}
	}
	grows := make([]sample, 40)
	for i := range grows {
		grows[i].private = float64(10 * i)
	}
	before, after := growth(grows, private)
	if diff := cmp.Diff([]float64{150, 350}, []float64{before, after}); diff != "" {
		t.Error(diff)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		args []string
		want string // in what is said
	}{
		{[]string{"-help"}, "Exit codes: 0"},
		{[]string{"-help"}, "Example"},
		{[]string{"-conns", "0"}, "-conns"},
		{[]string{"-duration", "-1s"}, "negative"},
		{[]string{"now"}, `"now"`},
	}
	for _, tt := range tests {
		var said bytes.Buffer
		if _, err := parse(tt.args, &said); err == nil || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%v: %v, %s", tt.args, err, &said)
		}
	}
	if o, err := parse([]string{"-duration", "3s"}, &bytes.Buffer{}); err != nil || o.duration != 3*time.Second || o.conns != 64 {
		t.Errorf("%+v %v", o, err)
	}
}

// TestNoProgram: what cannot be started is said to be so.
func TestNoProgram(t *testing.T) {
	_, err := run(context.Background(), options{mayfly: filepath.Join(t.TempDir(), "none")}, t.Logf)
	if err == nil || !strings.Contains(err.Error(), "go build -o") {
		t.Error(err)
	}
}
