package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestClock: a program's wall clock is set, again and again, and the others stay.
func TestClock(t *testing.T) {
	if os.Getenv("MAYFLY_TELL_TIME") != "" {
		tellTime()
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClock$")
	cmd.Env = append(os.Environ(), "MAYFLY_TELL_TIME=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := startWithClock(cmd)
	if err != nil {
		t.Fatal(err)
	}
	told := make([]byte, len(time.RFC3339))
	begun := time.Now()
	for _, want := range []time.Duration{0, time.Hour, 59 * time.Minute, -25 * time.Hour} {
		if err := c.step(want - c.offset); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "?"); err != nil {
			t.Fatal(err)
		}
		told = told[:len("2006-01-02T15:04:05Z")]
		if _, err := io.ReadFull(out, told); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, string(told))
		if err != nil {
			t.Fatal(err)
		}
		// However long the machine takes, it is not before the question.
		if ahead := at.Sub(begun); ahead < want-time.Second || ahead > want+time.Since(begun)+time.Second {
			t.Errorf("the clock set by %v is %v ahead", want, ahead)
		}
	}
	in.Close()
	rest, _ := io.ReadAll(out) // what the test binary says at its end
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "waited") {
		t.Errorf("%v: %q; want the monotonic clock to go on as before", err, rest)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// tellTime tells the time whenever it is asked, and at the end whether the
// monotonic clock was steady.
func tellTime() {
	begin, question := time.Now(), make([]byte, 1)
	for {
		if _, err := os.Stdin.Read(question); err != nil {
			break
		}
		os.Stdout.WriteString(time.Now().UTC().Format(time.RFC3339))
	}
	if since := time.Since(begin); since >= 0 && since < time.Hour {
		os.Stdout.WriteString("waited")
	}
}
