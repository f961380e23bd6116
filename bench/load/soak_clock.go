package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// steps are how far the wall clock jumps, forwards and back.
var steps = []time.Duration{time.Hour, -90 * time.Second, -2 * time.Hour, 90 * time.Second, 26 * time.Hour}

// step sets the server's wall clock to another time, at once.
func (c *chaos) step(ctx context.Context, length time.Duration) error {
	by := steps[c.random.IntN(len(steps))]
	before, err := c.w.ahead(ctx)
	if err != nil {
		return err
	}
	if err := c.w.clock.step(by); err != nil {
		return err
	}
	after, err := c.w.ahead(ctx)
	if err != nil {
		return err
	}
	// It tells seconds only.
	if moved := after - before; (moved - by).Abs() > 2*time.Second {
		return fmt.Errorf("the clock was set by %v, and the server's moved by %v", by, moved)
	}
	wait(ctx, length)
	return nil
}

// ahead is how far the server's wall clock is ahead of this program's.
func (w *world) ahead(ctx context.Context) (time.Duration, error) {
	// It is asked until its process can answer: it may have no place at this moment.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/healthz", nil)
	if err != nil {
		return 0, err
	}
	res, err := plain.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	told, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return 0, errors.New("the server's answer has no date")
	}
	return time.Until(told), nil
}
