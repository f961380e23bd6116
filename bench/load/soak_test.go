package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
)

// TestSoak runs a short soak: whatever goes wrong, everything must hold.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute; make soak runs it for longer")
	}
	program := filepath.Join(t.TempDir(), "mayfly")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/mayfly").CombinedOutput(); err != nil {
		t.Fatalf("build mayfly: %v\n%s", err, out)
	}
	o := soakOptions{options: options{mayfly: program, conns: 4, seed: 3}, length: 30 * time.Second}
	s, err := soak(t.Context(), o, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range s.items {
		if i.must && !i.OK {
			t.Errorf("does not hold: %+v", i)
		}
	}
	if len(s.chaos.events) < 3 {
		t.Errorf("%d things went wrong, want at least 3", len(s.chaos.events))
	}
	var page bytes.Buffer
	if err := s.report(t.TempDir(), &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "the cache is wiped") {
		t.Errorf("the page does not say what went wrong:\n%s", &page)
	}
}

// TestSettle: accounts that do not agree are found.
func TestSettle(t *testing.T) {
	const key = "run:hash"
	tests := []struct {
		name  string
		paid  int
		state store.EffectState
		want  int
	}{
		{"paid and confirmed", 1, store.EffectConfirmed, 0},
		{"paid, and nobody knew", 1, store.EffectAmbiguous, 0},
		{"not paid, and nobody knew", 0, store.EffectAmbiguous, 0},
		{"known not to have been paid", 0, store.EffectFailed, 0},
		{"paid twice", 2, store.EffectConfirmed, 1},
		{"paid, not in the journal", 1, "", 1},
		{"paid, and said not to be", 1, store.EffectFailed, 1},
		{"confirmed, and not paid", 0, store.EffectConfirmed, 1},
		{"left open", 0, store.EffectBegun, 1},
	}
	for _, tt := range tests {
		paid, journal := map[string]int{}, map[string]store.EffectState{}
		if tt.paid > 0 {
			paid[key] = tt.paid
		}
		if tt.state != "" {
			journal[key] = tt.state
		}
		if d := settle(paid, journal); d.n != tt.want {
			t.Errorf("%s: %d differences, want %d: %v", tt.name, d.n, tt.want, d.examples)
		}
	}
}

// TestExcuses: a call may fail during an event and shortly after, and at no other
// time.
func TestExcuses(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	c := &chaos{events: []event{{"over", at(100), at(110)}, {"lasts", at(200), time.Time{}}}}
	tests := []struct {
		begin, end int
		want       bool
	}{
		{90, 99, false}, {90, 101, true}, {105, 106, true}, {112, 113, true}, {116, 120, false}, {90, 150, true}, {190, 199, false}, {300, 301, true},
	}
	for _, tt := range tests {
		if got := c.excuses(at(tt.begin), at(tt.end)); got != tt.want {
			t.Errorf("a call from %d to %d: %v, want %v", tt.begin, tt.end, got, tt.want)
		}
	}
	tally := newTally()
	tally.chaos = c
	tally.failed("x", at(300), "")
	if tally.excused != 1 || tally.failedN != 0 {
		t.Errorf("a failure while something was wrong: %s", tally)
	}
	tally.chaos = &chaos{}
	tally.failed("x", at(300), "")
	tally.lost("x", errors.New("x"))
	tally.wrong("x", "")
	if tally.excused != 1 || tally.failedN != 1 || tally.lostN != 1 || tally.wrongN != 1 {
		t.Errorf("failures while nothing was wrong: %s", tally)
	}
}

func TestSoakFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-help"}, "Example"},
		{[]string{"-length", "1s"}, "at least 30s"},
		{[]string{"-conns", "0"}, "-conns"},
		{[]string{"now"}, `"now"`},
	} {
		var said bytes.Buffer
		if _, err := parseSoak(tt.args, &said); err == nil || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%v: %v, %s", tt.args, err, &said)
		}
	}
}
