package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgress(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		work     func(say func(string))
		want     string
	}{
		{"a quick start says nothing", false, func(say func(string)) {
			say("preparing python: compiling")
			time.Sleep(progressDelay - time.Millisecond)
		}, ""},
		{"a quick start says nothing to a terminal", true, func(say func(string)) {
			say("preparing python: compiling")
			time.Sleep(progressDelay - time.Millisecond)
		}, ""},
		{"nothing to say", true, func(say func(string)) { time.Sleep(5 * time.Second) }, ""},
		{"lines for a file", false, func(say func(string)) {
			say("building the cache again: bad seal")
			say("preparing python: compiling")
			time.Sleep(2 * time.Second)
			say("preparing python: starting")
		}, "mayfly: building the cache again: bad seal\nmayfly: preparing python: compiling\nmayfly: preparing python: starting\n"},
		{"one line on a terminal, with seconds; a warning stays", true, func(say func(string)) {
			say("building the cache again: bad\x1bseal")
			say("preparing python: compiling")
			time.Sleep(1400 * time.Millisecond)
			say("preparing python: starting")
			say("nothing was cached: disk full")
		}, "\r\x1b[Kmayfly: building the cache again: bad\\x1bseal (0 s)" +
			"\n\r\x1b[Kmayfly: preparing python: compiling (0 s)" +
			"\r\x1b[Kmayfly: preparing python: compiling (1 s)" +
			"\r\x1b[Kmayfly: preparing python: starting (1 s)" +
			"\n\r\x1b[Kmayfly: nothing was cached: disk full (1 s)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				p := newProgress(output{w: &b, terminal: tt.terminal})
				tt.work(p.say)
				p.end()
				if diff := cmp.Diff(tt.want, b.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
