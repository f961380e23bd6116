package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// Following a file gives each line once: also of a file that is not there yet,
// of a line that is written in two parts, of a file that takes the place of
// another, and of one that is emptied.
func TestFollow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	write := func(flag int, text string) {
		t.Helper()
		f, err := os.OpenFile(name, flag|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan string)
		done := make(chan error)
		go func() {
			done <- tail{name: name, follow: true}.lines(ctx, func(line []byte, number int) error {
				got <- fmt.Sprintf("%d %s", number, line)
				return nil
			})
		}()
		want := func(lines ...string) {
			t.Helper()
			for _, line := range lines {
				if g := <-got; g != line {
					t.Errorf("got %q, want %q", g, line)
				}
			}
			synctest.Wait()
		}
		synctest.Wait()
		write(os.O_APPEND, "a\nb\nhal")
		want("1 a", "2 b")
		write(os.O_APPEND, "f\n")
		want("3 half")
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		write(os.O_APPEND, "new\n")
		want("1 new")
		write(os.O_TRUNC, "\n")
		want("1 ")
		stopped := errors.New("stopped")
		cancel(stopped)
		if err := <-done; !errors.Is(err, stopped) {
			t.Errorf("ended with %v", err)
		}
	})
}
