package wasm

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 1)
		if ok, err := q.enter(t.Context()); !ok || err != nil {
			t.Fatal("the first was not let in", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error)
		go func() { _, err := q.enter(ctx); waiting <- err }()
		synctest.Wait()
		if ok, err := q.enter(t.Context()); ok || err != nil {
			t.Fatalf("a third got %v, %v; want busy", ok, err)
		}
		cancel()
		if err := <-waiting; err == nil {
			t.Fatal("a cancelled wait did not end")
		}
		go func() { _, err := q.enter(t.Context()); waiting <- err }()
		synctest.Wait()
		q.leave()
		if err := <-waiting; err != nil {
			t.Fatal(err)
		}
	})
}
