package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// endings of the workloads' files.
var endings = map[string]string{python: ".py", javaScript: ".js"}

// cpu runs the CPU-bound workloads: each in a row of its own, and the geometric
// mean of what they take in times of the native process.
func cpu(b *bench) error {
	for _, unstoppable := range []bool{false, true} {
		set := row{Name: "CPU-bound code, in times of the native process", Unit: "ratio", Best: "least", Cells: map[string]cell{}}
		if unstoppable {
			set.Name = "the same, set up so that nothing can stop it"
		}
		for _, language := range []string{python, javaScript} {
			if err := b.cpuOf(language, unstoppable, &set); err != nil {
				return err
			}
		}
		if len(set.Cells) > 0 {
			b.report.Rows = append(b.report.Rows, set)
		}
	}
	return nil
}

// cpuOf runs the workloads of one language and adds to the set's row.
func (b *bench) cpuOf(language string, unstoppable bool, set *row) error {
	peers := b.of(language)
	if len(peers) == 0 {
		return nil
	}
	native := peers[0]
	if unstoppable {
		kept := peers[:1:1]
		for _, p := range peers[1:] {
			if p.unstoppable {
				kept = append(kept, p)
			}
		}
		if peers = kept; len(peers) == 1 {
			return nil
		}
	}
	all, err := measure.Workloads(endings[language])
	if err != nil {
		return err
	}
	all = all[:full(b, len(all), 1)]
	ratios := make(map[string][]float64)
	for _, w := range all {
		r := row{Name: w.Name, Unit: "ms", Best: "least", Detail: true, Language: language}
		if unstoppable {
			r.Name += ", nothing can stop it"
		}
		same := &equal{}
		r, err := b.alternate(r, peers, full(b, sampling{2, 3, 4 * time.Second}, sampling{1, 1, 0}), func(p *peer) (float64, error) {
			q := split(w.Code)
			q.Op, q.TimeoutMS, q.Memory, q.Warm, q.Unstoppable = "run", 120_000, 512<<20, true, unstoppable
			a, err := b.value(p, q, same)
			return a.RunMS, err
		})
		if err != nil {
			return err
		}
		for _, p := range peers {
			if c, n := r.Cells[p.name], r.Cells[native.name]; c.compared() && n.compared() {
				ratios[p.name] = append(ratios[p.name], c.Median/n.Median)
			}
		}
	}
	for _, p := range peers {
		if unstoppable && p == native {
			continue
		}
		c := cell{NA: fmt.Sprintf("ran none of the %d", len(all))}
		if n := len(ratios[p.name]); n > 0 {
			c = cell{Median: measure.Geomean(ratios[p.name]), Samples: ratios[p.name]}
			if n < len(all) {
				c.Part = fmt.Sprintf("%d of %d", n, len(all))
			}
		}
		set.Cells[p.name] = c
	}
	return nil
}

// split takes the last line of a workload, its check value, from the rest.
func split(code string) request {
	code = strings.TrimRight(code, "\n")
	i := strings.LastIndexByte(code, '\n')
	return request{Body: code[:i+1], Expr: code[i+1:]}
}

// value asks for a run that has to give a value, the same for all peers. One
// that cannot run the code says why.
func (b *bench) value(p *peer, q request, same *equal) (answer, error) {
	a, err := b.ask(p, q)
	switch {
	case err != nil:
		return a, err
	case a.NA != "":
		return a, notApplicable(a.NA)
	case a.Status == "ok":
		return a, same.check(p, a.Value)
	case a.Error != nil && a.Error.Type != "":
		first, _, _ := strings.Cut(a.Error.Message, "\n")
		return a, notApplicable(fmt.Sprintf("%s: %.120s", a.Error.Type, first))
	default:
		return a, notApplicable(a.Status + ": " + a.How)
	}
}

// equal holds that all values are the same as the first.
type equal struct {
	from  *peer
	value any
}

func (e *equal) check(p *peer, text string) error {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return fmt.Errorf("the value of %s is no JSON: %w", p.name, err)
	}
	if e.from == nil {
		e.from, e.value = p, value
	}
	if !reflect.DeepEqual(value, e.value) {
		return fmt.Errorf("%s and %s do not give the same value: %.200s", p.name, e.from.name, text)
	}
	return nil
}
