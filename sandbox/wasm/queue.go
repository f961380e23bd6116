package wasm

import (
	"context"
	"sync/atomic"
)

// queue lets a bounded number of calls run and a bounded number wait.
type queue struct {
	places  chan struct{}
	waiting atomic.Int64
	most    int64 // calls that may wait
}

func newQueue(places, waiting int) *queue {
	return &queue{places: make(chan struct{}, places), most: int64(max(waiting, 0))}
}

// enter waits for a place. It gives false if too many wait already, and an
// error if ctx ended first.
func (q *queue) enter(ctx context.Context) (bool, error) {
	select {
	case q.places <- struct{}{}:
		return true, nil
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return false, nil
	}
	defer q.waiting.Add(-1)
	select {
	case q.places <- struct{}{}:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (q *queue) leave() { <-q.places }
