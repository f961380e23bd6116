package main

import (
	"context"
	"sync"
	"time"
)

// sample is what the server used at a moment.
type sample struct {
	at time.Time
	usageSample
	goroutines float64
}

// watcher looks at the server again and again.
type watcher struct {
	mu      sync.Mutex
	samples []sample
	err     error
	stop    context.CancelFunc
	done    chan struct{}
}

// watch samples until it is stopped.
func (w *world) watch(ctx context.Context, every time.Duration) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	v := &watcher{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			s, err := w.sample(ctx)
			if ctx.Err() != nil {
				return
			}
			v.mu.Lock()
			v.err = err
			if err == nil {
				v.samples = append(v.samples, s)
			}
			v.mu.Unlock()
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return v
}

func (w *world) sample(ctx context.Context) (sample, error) {
	u, err := usageOf(w.pid)
	if err != nil {
		return sample{}, err
	}
	m, err := w.metrics(ctx)
	return sample{at: time.Now(), usageSample: u, goroutines: m["go_goroutines"]}, err
}

// end gives the samples.
func (v *watcher) end() ([]sample, error) {
	v.stop()
	<-v.done
	return v.samples, v.err
}

// of gives one column of samples.
func of(samples []sample, get func(sample) float64) []float64 {
	column := make([]float64, len(samples))
	for i, s := range samples {
		column[i] = get(s)
	}
	return column
}

func private(s sample) float64 { return s.private }

// growth compares the middle of the second quarter with that of the last, so that
// what is made once at the start does not count.
func growth(samples []sample, get func(sample) float64) (before, after float64) {
	n := len(samples)
	column := of(samples, get)
	return quantile(column[n/4:n/2], 0.5), quantile(column[n-n/4:], 0.5)
}

// flat reports whether something did not grow: by no more than a tenth, or slack,
// whichever is more.
func flat(before, after, slack float64) bool { return after <= max(before*1.1, before+slack) }
