package main

import "time"

// rowFresh is the row that matters most to who runs many calls.
const rowFresh = "first result, fresh sandbox in a warm process"

// start measures how long it takes until there is a first result.
func start(b *bench) error {
	quickly := sampling{1, 3, time.Second}
	_, err := b.alternate(row{Name: "first result, cold process", Unit: "ms", Best: "least"}, b.peers,
		full(b, sampling{3, 20, 3 * time.Second}, quickly), func(p *peer) (float64, error) {
			line, err := p.cold(b.at)
			if err != nil {
				return 0, err
			}
			return cold(line)
		})
	if err != nil {
		return err
	}
	ask := func(op string) func(p *peer) (float64, error) {
		warm := make(map[string]bool)
		return func(p *peer) (float64, error) {
			for {
				a, err := b.ask(p, request{Op: op})
				if err != nil {
					return 0, err
				}
				if a.NA != "" {
					return 0, notApplicable(a.NA)
				}
				if ms := a.StartMS + a.RunMS; warm[p.name] || ms > 500 {
					return ms, nil
				}
				warm[p.name] = true
			}
		}
	}
	_, err = b.alternate(row{Name: "next result, same sandbox", Unit: "ms", Best: "least"}, b.peers,
		full(b, sampling{3, 300, 1 * time.Second}, quickly), ask("again"))
	if err != nil {
		return err
	}
	_, err = b.alternate(row{Name: rowFresh, Unit: "ms", Best: "least"}, b.peers,
		full(b, sampling{3, 200, 3 * time.Second}, quickly), ask("start"))
	return err
}

// rate counts results from fresh sandboxes, on all cores.
func rates(b *bench) error {
	_, err := b.alternate(row{Name: "fresh sandboxes on all cores", Unit: "1/s", Best: "most"}, b.peers,
		full(b, sampling{2, 2, 10 * time.Second}, sampling{1, 1, time.Second}), func(p *peer) (float64, error) {
			return b.rateOf(p, full(b, 3.0, 0.3))
		})
	return err
}

// rateOf asks as many drivers at once as it takes.
func (b *bench) rateOf(p *peer, seconds float64) (float64, error) {
	first, err := b.driver(p)
	if err != nil {
		return 0, err
	}
	all := []*driver{first}
	for len(all) < p.apart() {
		line, err := p.command(b.at)
		if err != nil {
			return 0, err
		}
		d, err := startDriver(line)
		if err != nil {
			return 0, err
		}
		defer d.stop()
		all = append(all, d)
	}
	type result struct {
		a   answer
		err error
	}
	results := make(chan result)
	for _, d := range all {
		go func() {
			a, err := d.ask(request{Op: "rate", Seconds: seconds})
			results <- result{a, err}
		}()
	}
	rate := 0.0
	for range all {
		r := <-results
		if r.err != nil {
			err = r.err
		} else {
			rate += float64(r.a.Calls) / r.a.RunMS * 1000
		}
	}
	return rate, err
}
