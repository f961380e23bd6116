package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// measurement is one run of this program.
type measurement struct {
	*world
	options options
	say     func(string, ...any)
	ledger  *ledger
	items   []item
	phases  int

	normal     *stats // of the load itself
	normalPeak float64
}

// phase is clients that call for some time.
type phase struct {
	name     string
	conns    int
	duration time.Duration
	patient  bool
	pick     func(*rand.Rand) call
	// crowd: all but a few of the connections are of one principal.
	crowd bool
}

// run runs a phase. quiet are the clients that are not of the crowd.
func (m *measurement) run(ctx context.Context, p phase) (all, quiet *stats, err error) {
	m.phases++
	m.say("%s: %d connections, %v", p.name, p.conns, p.duration)
	all, quiet = newStats(), newStats()
	until, cancel := context.WithTimeout(ctx, p.duration)
	defer cancel()
	done := make(chan struct{})
	go m.progress(until, done, all, quiet)
	var clients []*client
	var wg sync.WaitGroup
	start := time.Now()
	for i := range p.conns {
		c := m.client(i)
		c.patient, c.stats = p.patient, all
		if p.crowd {
			c.who, c.tenant = greedy, "north"
			if i%16 == 0 {
				c.who, c.tenant, c.stats = "ed", "south", quiet
			}
		}
		clients = append(clients, c)
		wg.Go(func() { c.work(until, p.pick) })
	}
	wg.Wait()
	close(done)
	for _, c := range clients {
		c.stats.requests += c.sent
		c.stats.refusals += c.refused
		c.http.CloseIdleConnections()
	}
	all.elapsed = time.Since(start)
	quiet.elapsed = all.elapsed
	return all, quiet, ctx.Err()
}

// client makes the i-th client of a phase.
func (m *measurement) client(i int) *client {
	tenant := []string{"north", "south"}[i%2]
	names := principals[tenant]
	return &client{
		w: m.world, ledger: m.ledger, name: fmt.Sprintf("p%d-c%d", m.phases, i), who: names[i/2%len(names)], tenant: tenant,
		http: newHTTPClient(1), random: rand.New(rand.NewPCG(m.options.seed, uint64(m.phases)<<32|uint64(i))),
	}
}

// progress says every ten seconds how far it has come.
func (m *measurement) progress(ctx context.Context, done <-chan struct{}, parts ...*stats) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		calls, wrong := 0, 0
		for _, s := range parts {
			s.mu.Lock()
			calls += s.answered()
			wrong += s.faults["wrong"] + s.faults["lost"]
			s.mu.Unlock()
		}
		late := ""
		if ctx.Err() != nil {
			late = ", waiting for the last"
		}
		m.say("  %.0f s: %d calls, %d of them wrong or lost%s", time.Since(start).Seconds(), calls, wrong, late)
	}
}

// right adds what must hold of every phase.
func (m *measurement) right(name string, parts ...*stats) {
	wrong, lost := 0, 0
	for _, s := range parts {
		wrong += s.faults["wrong"]
		lost += s.faults["lost"]
		for _, e := range s.examples {
			m.say("%s: %s", name, e)
		}
	}
	m.must(name+": wrong results", "", float64(wrong), 0, wrong == 0)
	m.must(name+": lost calls", "", float64(lost), 0, lost == 0)
}

// warmUp has each kind of call made, so that nothing that is made once is measured.
func (m *measurement) warmUp(ctx context.Context) error {
	m.say("calling each tool once")
	s := newStats()
	m.phases++
	c := m.client(0)
	c.stats = s
	for _, k := range kinds {
		made := k.make(c.random)
		made.kind = k.name
		c.whole(ctx, made, "")
	}
	m.right("each kind of call once", s)
	return ctx.Err()
}

// steady is the load itself.
func (m *measurement) steady(ctx context.Context) error {
	o := m.options
	if o.duration == 0 {
		return nil
	}
	v := m.watch(ctx, max(o.duration/120, 50*time.Millisecond))
	s, _, err := m.run(ctx, phase{name: "load", conns: o.conns, duration: o.duration, patient: true, pick: next})
	samples, watchErr := v.end()
	if err != nil {
		return err
	}
	m.normal = s
	name := fmt.Sprintf("load, %d connections, %v", o.conns, o.duration)
	m.figure(name+": calls answered", "", float64(s.answered()))
	m.figure(name+": calls", "1/s", s.perSecond())
	m.right(name, s)
	m.figure(name+": requests told that the host is busy", "", float64(s.refusals))
	for _, k := range kinds {
		if took := s.took[k.name]; len(took) > 0 {
			m.figure("load: "+k.name+", p50", "ms", quantile(took, 0.5))
			m.figure("load: "+k.name+", p99", "ms", quantile(took, 0.99))
		}
	}
	m.steadyUse(name, samples, watchErr)
	return nil
}

// steadyUse says what the server used during the load.
func (m *measurement) steadyUse(name string, samples []sample, err error) {
	if len(samples) < 8 {
		if err != nil {
			m.say("the server's use: %v", err)
		}
		m.must(name+": times that memory was seen, of at least 8", "", float64(len(samples)), 0, false)
		return
	}
	m.normalPeak = quantile(of(samples, private), 1)
	m.figure(name+": private memory of all its processes, peak", "MiB", m.normalPeak)
	m.figure(name+": resident memory of all its processes, peak", "MiB", quantile(of(samples, func(s sample) float64 { return s.rss }), 1))
	for _, g := range []struct {
		what, unit string
		get        func(sample) float64
		slack      float64
	}{
		{"private memory", "MiB", private, 32},
		{"descriptors", "", func(s sample) float64 { return float64(s.descriptors) }, 64},
		{"goroutines", "", func(s sample) float64 { return s.goroutines }, 256},
		{"threads", "", func(s sample) float64 { return float64(s.threads) }, 16},
	} {
		before, after := growth(samples, g.get)
		m.must(name+": "+g.what+" at the end against the second quarter", g.unit, after, before, flat(before, after, g.slack))
	}
}
