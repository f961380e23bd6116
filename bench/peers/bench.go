package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// bench is a run.
type bench struct {
	at       places
	peers    []*peer
	quick    bool
	scratch  string // a directory for inputs
	drivers  map[string]*driver
	progress io.Writer
	report   report
}

// driver gives the running driver of a peer, and starts it if need be.
func (b *bench) driver(p *peer) (*driver, error) {
	if d := b.drivers[p.name]; d != nil {
		return d, nil
	}
	line, err := p.command(b.at)
	if err != nil {
		return nil, err
	}
	d, err := startDriver(line)
	if err != nil {
		return nil, err
	}
	b.drivers[p.name] = d
	return d, nil
}

// stop ends a peer's driver; the next question starts another.
func (b *bench) stop(p *peer) {
	if d := b.drivers[p.name]; d != nil {
		d.stop()
		delete(b.drivers, p.name)
	}
}

// ask asks a peer's driver. If it dies, the next question starts another.
func (b *bench) ask(p *peer, q request) (answer, error) {
	d, err := b.driver(p)
	if err != nil {
		return answer{}, err
	}
	a, err := d.ask(q)
	if errors.Is(err, errDied) {
		delete(b.drivers, p.name)
	}
	return a, err
}

// full gives one of two values: the full run's, or the quick one's.
func full[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}

// sampling says how often something is repeated.
type sampling struct {
	least, most int
	// budget is the time of one peer after which the least is enough.
	budget time.Duration
}

// alternate measures peers in turn, each round beginning with another one, and
// adds a row of what f gives. A peer that cannot do it has the reason in its
// cell.
func (b *bench) alternate(r row, peers []*peer, s sampling, f func(p *peer) (float64, error)) (row, error) {
	b.say("  %s", r.Name)
	r.Cells = make(map[string]cell)
	samples := make(map[string][]float64)
	spent := make(map[string]time.Duration)
	for round := range s.most {
		for i := range peers {
			p := peers[(i+round)%len(peers)]
			if c := r.Cells[p.name]; c.NA != "" || c.Word != "" || (round >= s.least && spent[p.name] > s.budget) {
				continue
			}
			begin := time.Now()
			value, err := f(p)
			spent[p.name] += time.Since(begin)
			var na notApplicable
			var words inWords
			switch {
			case errors.As(err, &words):
				r.Cells[p.name] = cell{Word: string(words)}
				continue
			case errors.As(err, &na):
				r.Cells[p.name] = cell{NA: string(na)}
				continue
			case err != nil:
				return r, fmt.Errorf("%s of %s: %w", r.Name, p.name, err)
			}
			samples[p.name] = append(samples[p.name], value)
		}
	}
	for name, all := range samples {
		if _, ok := r.Cells[name]; !ok {
			r.Cells[name] = sampled(all)
		}
	}
	b.report.Rows = append(b.report.Rows, r)
	return r, nil
}

// of gives the peers of one language.
func (b *bench) of(language string) []*peer {
	var all []*peer
	for _, p := range b.peers {
		if p.language == language {
			all = append(all, p)
		}
	}
	return all
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }
