package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// item is one figure, as bench/report writes them. Where there is no baseline or
// target, it is zero.
type item struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Ours     float64 `json:"ours"`
	Baseline float64 `json:"baseline"`
	Ratio    float64 `json:"ratio"`
	Target   float64 `json:"target"`
	OK       bool    `json:"ok"`

	must bool // it fails the run when it is not OK
}

// compare adds ours against a baseline; target is the highest ratio wanted, 0 for
// none. It is a time, so that it fails nothing.
func (m *measurement) compare(name, unit string, ours, baseline, target float64) {
	i := item{Name: name, Unit: unit, Ours: ours, Baseline: baseline, Target: target}
	if baseline != 0 {
		i.Ratio = ours / baseline
	}
	i.OK = target == 0 || i.Ratio <= target
	m.items = append(m.items, i)
}

// figure adds a figure of ours.
func (m *measurement) figure(name, unit string, ours float64) {
	m.items = append(m.items, item{Name: name, Unit: unit, Ours: ours, OK: true})
}

// must adds what must hold, with the figure that shows it.
func (m *measurement) must(name, unit string, ours, baseline float64, holds bool) {
	i := item{Name: name, Unit: unit, Ours: ours, Baseline: baseline, OK: holds, must: true}
	if baseline != 0 {
		i.Ratio = ours / baseline
	}
	m.items = append(m.items, i)
}

// held reports whether everything that must hold did.
func held(items []item) bool {
	return !slices.ContainsFunc(items, func(i item) bool { return i.must && !i.OK })
}

// report prints the figures and writes them down.
func report(o options, w io.Writer, items []item) error {
	text, err := json.MarshalIndent(items, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if o.out != "" {
		if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(o.out, text, 0o644); err != nil {
			return err
		}
	}
	if o.json {
		_, err := w.Write(text)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what\tunit\tours\tbaseline\tratio\ttarget\t\t")
	for _, i := range items {
		verdict := ""
		switch {
		case i.must && i.OK:
			verdict = "holds"
		case i.must:
			verdict = "DOES NOT HOLD"
		case i.Target != 0 && i.OK:
			verdict = "ok"
		case i.Target != 0:
			verdict = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i.Name, i.Unit, number(i.Ours, i.must), number(i.Baseline, false), number(i.Ratio, false), number(i.Target, false), verdict)
	}
	return t.Flush()
}

func number(f float64, zero bool) string {
	if f == 0 && !zero {
		return "-"
	}
	if f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// quantile gives the value below which a part q of the samples lies; 0 of none.
func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	return measure.Quantile(samples, q)
}
