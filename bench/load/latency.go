package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// latencyTarget is how many times as long as in-process the slowest hundredth of
// trivial calls may take over HTTP.
const latencyTarget = 4

// atOnce is how many sandboxes mayfly serve lets run at once, nested ones included.
const atOnce = 128

// latencies compares a trivial call over HTTP with the same call in this process,
// taking turns, so that both meet the same machine.
func (m *measurement) latencies(ctx context.Context) error {
	if m.options.latency == 0 {
		return nil
	}
	m.say("opening the same harness in this process")
	dir := m.path("inprocess")
	if err := m.writeHarness(dir); err != nil {
		return err
	}
	cache := m.options.cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(user, "mayfly")
	}
	rt, err := runtime.Open(ctx, runtime.Config{
		Harness: filepath.Join(dir, "harness.yaml"),
		OpenSandbox: func(ctx context.Context, guest string) (sandbox.Sandbox, error) {
			return runtime.OpenSandbox(ctx, runtime.SandboxConfig{Guest: guest, CacheDir: cache, MaxConcurrent: atOnce})
		},
	})
	if err != nil {
		return err
	}
	defer rt.Close()
	for _, conns := range []int{1, m.options.conns} {
		if err := m.latency(ctx, rt, conns); err != nil {
			return err
		}
	}
	return nil
}

// turns is how often each side is measured.
const turns = 10

func (m *measurement) latency(ctx context.Context, rt *runtime.Runtime, conns int) error {
	length := m.options.latency / (2 * turns)
	m.say("1+1 over HTTP and in this process in turn, %d at once, %v", conns, m.options.latency)
	overHTTP, here := newStats(), newStats()
	var clients []*client
	m.phases++
	for i := range conns {
		c := m.client(i)
		c.patient, c.stats = true, overHTTP
		clients = append(clients, c)
	}
	inRuns, err := m.ownRuns(ctx, rt, conns)
	if err != nil {
		return err
	}
	turn := func(work func(until context.Context, i int)) {
		until, cancel := context.WithTimeout(ctx, length)
		defer cancel()
		var wg sync.WaitGroup
		for i := range conns {
			wg.Go(func() { work(until, i) })
		}
		wg.Wait()
	}
	for range turns {
		turn(func(until context.Context, i int) {
			clients[i].work(until, func(*rand.Rand) call { return trivial() })
		})
		turn(func(until context.Context, i int) {
			for until.Err() == nil {
				inRuns[i].one(ctx, here)
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("1+1, %d at once", conns)
	m.right(name, overHTTP, here)
	a, b := overHTTP.took["1+1"], here.took["1+1"]
	m.figure(name+": calls over HTTP", "", float64(len(a)))
	m.figure(name+": calls in this process", "", float64(len(b)))
	m.compare(name+": HTTP / in this process, p50", "ms", quantile(a, 0.5), quantile(b, 0.5), 0)
	m.compare(name+": HTTP / in this process, p99", "ms", quantile(a, 0.99), quantile(b, 0.99), latencyTarget)
	return nil
}

// ownRun makes calls in this process, as a client makes them over HTTP.
type ownRun struct {
	rt    *runtime.Runtime
	id    string
	calls int
}

func (m *measurement) ownRuns(ctx context.Context, rt *runtime.Runtime, n int) ([]*ownRun, error) {
	runs := make([]*ownRun, n)
	for i := range runs {
		runs[i] = &ownRun{rt: rt}
		if err := runs[i].start(ctx); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func (r *ownRun) start(ctx context.Context) error {
	run, err := r.rt.StartRun(ctx, runtime.RunConfig{Principal: "ada", Tenant: "north"})
	r.id = run.ID
	return err
}

func (r *ownRun) one(ctx context.Context, s *stats) {
	if r.calls++; r.calls%callsPerRun == 0 {
		if err := r.start(ctx); err != nil {
			s.fault("1+1", "lost", err.Error())
			return
		}
	}
	start := time.Now()
	if r.calls%8 == 7 {
		// Over HTTP such a call has a run of its own; starting it is a part of it.
		id := r.id
		defer func() { r.id = id }()
		if err := r.start(ctx); err != nil {
			s.fault("1+1", "lost", err.Error())
			return
		}
	}
	got, err := r.rt.Call(ctx, runtime.Call{RunID: r.id, Tool: "python", Args: sandbox.RawJSON(`{"code":"1+1"}`)})
	took := time.Since(start)
	if err == nil && (got.Output == nil || !same(got.Output.Text, value("2"))) {
		err = errors.New("it ended " + string(got.Outcome))
	}
	if err != nil {
		if ctx.Err() == nil {
			s.fault("1+1", "wrong", err.Error())
		}
		return
	}
	s.add("1+1", took)
}
