package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// respond does what one request asks.
func respond(h host, parallel int, q request, drop *func()) (answer, error) {
	begin := time.Now()
	since := func() float64 { return measure.Millis(time.Since(begin)) }
	switch q.Op {
	case "start":
		err := h.start()
		return answer{StartMS: since()}, err
	case "again":
		err := h.again()
		return answer{RunMS: since()}, err
	case "rate":
		calls, err := rate(h, parallel, time.Duration(q.Seconds*float64(time.Second)))
		return answer{Calls: calls, RunMS: since()}, err
	case "run":
		return h.run(q)
	case "hold":
		(*drop)()
		*drop = func() {}
		let, err := h.hold(q.Count)
		if err == nil {
			*drop = let
		}
		return answer{}, err
	case "drop":
		(*drop)()
		*drop = func() {}
		return answer{}, nil
	}
	return answer{}, fmt.Errorf("no such operation: %q", q.Op)
}

// rate counts how many fresh sandboxes give a result within a time.
func rate(h host, parallel int, length time.Duration) (int, error) {
	var calls atomic.Int64
	errs := make([]error, parallel)
	end := time.Now().Add(length)
	var wg sync.WaitGroup
	for i := range parallel {
		wg.Go(func() {
			for {
				if errs[i] = h.start(); errs[i] != nil {
					return
				}
				calls.Add(1)
				if !time.Now().Before(end) {
					return
				}
			}
		})
	}
	wg.Wait()
	return int(calls.Load()), errors.Join(errs...)
}
