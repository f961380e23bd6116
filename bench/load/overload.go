package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// overloads brings many times as many connections: clients that wait as they are
// told, and clients that do not, most of them of one principal.
func (m *measurement) overloads(ctx context.Context) error {
	o := m.options
	if o.overload == 0 {
		return nil
	}
	for _, p := range []phase{
		{name: "overload by clients that wait", patient: true, pick: next},
		{name: "overload by clients that do not wait", pick: next},
		{name: "overload by one principal", pick: next, crowd: true},
	} {
		p.conns, p.duration = o.conns*o.times, o.overload
		if err := m.overloaded(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) overloaded(ctx context.Context, p phase) error {
	before, err := m.probe(ctx, "before")
	if err != nil {
		return err
	}
	v := m.watch(ctx, 200*time.Millisecond)
	s, quiet, err := m.run(ctx, p)
	if err != nil {
		return err
	}
	after, err := m.probe(ctx, "at once after")
	if err != nil {
		return err
	}
	samples, err := v.end()
	if err != nil && len(samples) == 0 {
		return err
	}
	name := fmt.Sprintf("%s, %d connections, %v", p.name, p.conns, p.duration)
	m.right(name, s, quiet, before, after)
	rate := s.perSecond() + quiet.perSecond()
	if m.normal != nil {
		m.compare(name+": calls answered / those of the load", "1/s", rate, m.normal.perSecond(), 0)
	}
	m.figure(name+": requests", "1/s", float64(s.requests+quiet.requests)/s.elapsed.Seconds())
	refusals := float64(s.refusals + quiet.refusals)
	m.must(name+": requests told that the host is busy, with Retry-After", "", refusals, 0, refusals > 0)
	peak := quantile(of(samples, private), 1)
	m.must(name+": private memory, peak / that of the load", "MiB", peak, m.normalPeak, m.normalPeak == 0 || peak <= 2*m.normalPeak+256)
	if p.crowd {
		m.must(name+": requests of the other principal told that the host is busy", "", float64(quiet.refusals), 0, quiet.refusals == 0)
		m.compare(name+": 1+1 of the other principal, p99 / of the crowd", "ms", quantile(quiet.took["1+1"], 0.99), quantile(s.took["1+1"], 0.99), 0)
		m.figure(name+": calls of the other principal", "1/s", quiet.perSecond())
	}
	m.must(name+": requests told that the host is busy in the second after", "", float64(after.refusals), 0, after.refusals == 0)
	for _, q := range []float64{0.5, 0.99} {
		m.compare(fmt.Sprintf("%s: 1+1 in the second after / in the second before, p%.0f", name, 100*q), "ms", quantile(after.took["1+1"], q), quantile(before.took["1+1"], q), 0)
	}
	return nil
}

// probe is a second of trivial calls over the ordinary number of connections.
func (m *measurement) probe(ctx context.Context, when string) (*stats, error) {
	s, _, err := m.run(ctx, phase{
		name: when, conns: m.options.conns, duration: time.Second, patient: true,
		pick: func(*rand.Rand) call { return trivial() },
	})
	return s, err
}
