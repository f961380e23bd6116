package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// onePlusOne makes one call and checks its result.
func onePlusOne(ctx context.Context, e *wasm.Engine) (sandbox.Result, error) {
	r, err := e.Run(ctx, sandbox.Spec{Code: "1+1"})
	if err == nil && string(r.Value) != "2" {
		err = fmt.Errorf("1+1 ended %s: %q %+v", r.Status, r.Value, r.Error)
	}
	return r, err
}

// fresh compares 1+1 in a fresh instance, the process being warm, with a
// python3 process: alternating, and back to back.
func fresh(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	var ours, theirs, burst []float64
	call := func(into *[]float64) error {
		start := time.Now()
		_, err := onePlusOne(b.ctx, e)
		*into = append(*into, measure.Millis(time.Since(start)))
		return err
	}
	for range 20 { // warm up
		if _, err := onePlusOne(b.ctx, e); err != nil {
			return err
		}
	}
	for range 300 * b.rounds {
		if err := call(&ours); err != nil {
			return err
		}
		ms, out, err := measure.Process(b.ctx, nil, b.python, "-I", "-c", "print(1+1)")
		if err != nil {
			return err
		}
		if out != "2\n" {
			return fmt.Errorf("python3 printed %q", out)
		}
		theirs = append(theirs, ms)
	}
	for range 2000 * b.rounds {
		if err := call(&burst); err != nil {
			return err
		}
	}
	b.compare("fresh call, median / python3 process, median", "ms", measure.Median(ours), measure.Median(theirs), 1.0/25)
	b.compare("fresh call, p99 / python3 process, p99", "ms", measure.Quantile(ours, 0.99), measure.Quantile(theirs, 0.99), 1.0/8)
	b.compare("fresh calls back to back, median / python3 process", "ms", measure.Median(burst), measure.Median(theirs), 0)
	b.compare("fresh calls back to back, p99 / python3 process", "ms", measure.Quantile(burst, 0.99), measure.Median(theirs), 0)
	return nil
}

// privateMemory measures what a call of 1+1 makes its own.
func privateMemory(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	var kib []float64
	for range 200 * b.rounds {
		r, err := onePlusOne(b.ctx, e)
		if err != nil {
			return err
		}
		kib = append(kib, float64(r.Usage.Dirtied)/1024)
	}
	b.figure("private memory of a 1+1 call, median", "KiB", measure.Median(kib), 1024)
	b.figure("image", "MiB", float64(e.Info().ImageSize)/(1<<20), 0)
	return nil
}

// throughput counts calls per second on one core and on two.
func throughput(b *bench) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for cores := 1; cores <= 2; cores++ {
		runtime.GOMAXPROCS(cores)
		e, err := b.engine(variant.Variant{})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(b.ctx, time.Duration(b.rounds)*3*time.Second)
		var calls atomic.Int64
		var wg sync.WaitGroup
		start := time.Now()
		for range cores {
			wg.Go(func() {
				for ctx.Err() == nil {
					if _, err := onePlusOne(b.ctx, e); err == nil {
						calls.Add(1)
					}
				}
			})
		}
		wg.Wait()
		cancel()
		b.figure(fmt.Sprintf("fresh calls per second, GOMAXPROCS=%d", cores), "1/s", float64(calls.Load())/time.Since(start).Seconds(), 0)
		if err := e.Close(); err != nil {
			return err
		}
	}
	return nil
}

// collector measures how long a garbage collection of the host takes while
// guests spin on every core, and while nothing runs.
func collector(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	pauses := func() []float64 {
		var ms []float64
		for range 50 * b.rounds {
			start := time.Now()
			runtime.GC()
			ms = append(ms, measure.Millis(time.Since(start)))
		}
		return ms
	}
	b.figure("runtime.GC() while nothing runs, worst", "ms", measure.Quantile(pauses(), 1), 0)
	for _, guests := range []int{1, runtime.GOMAXPROCS(0)} {
		ctx, cancel := context.WithCancel(b.ctx)
		var wg sync.WaitGroup
		for range guests {
			wg.Go(func() {
				_, _ = e.Run(ctx, sandbox.Spec{Code: "while True: pass", Limits: sandbox.Limits{Timeout: time.Minute}})
			})
		}
		time.Sleep(50 * time.Millisecond)
		busy := pauses()
		cancel()
		wg.Wait()
		target := 0.0
		if guests == 1 {
			target = 10
		}
		b.figure(fmt.Sprintf("runtime.GC() while %d guests spin on %d cores, worst", guests, runtime.GOMAXPROCS(0)), "ms", measure.Quantile(busy, 1), target)
		b.figure(fmt.Sprintf("runtime.GC() while %d guests spin, median", guests), "ms", measure.Median(busy), 0)
	}
	return nil
}

// deadline measures how late a spinning guest is stopped.
func deadline(b *bench) error {
	e, err := b.engine(variant.Variant{})
	if err != nil {
		return err
	}
	defer e.Close()
	const timeout = 100 * time.Millisecond
	var late []float64
	for range 20 * b.rounds {
		r, err := e.Run(b.ctx, sandbox.Spec{Code: "while True: pass", Limits: sandbox.Limits{Timeout: timeout}})
		if err != nil {
			return err
		}
		if r.Status != sandbox.StatusTimeout {
			return fmt.Errorf("a spinning guest ended %s", r.Status)
		}
		late = append(late, measure.Millis(r.Usage.Wall-timeout))
	}
	b.figure("from the deadline to the end of a spinning call, median", "ms", measure.Median(late), 0)
	b.figure("from the deadline to the end of a spinning call, worst", "ms", measure.Quantile(late, 1), 0)
	return nil
}
