package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
)

// item is one figure. Where there is no baseline or target, it is zero.
type item struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Ours     float64 `json:"ours"`
	Baseline float64 `json:"baseline"`
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low,omitzero"`  // quartiles of the ratio,
	High     float64 `json:"high,omitzero"` // where it was measured in rounds
	Target   float64 `json:"target"`
	OK       bool    `json:"ok"`
}

// compare adds ours against a baseline; target is the highest ratio wanted.
func (b *bench) compare(name, unit string, ours, baseline, target float64) {
	i := item{Name: name, Unit: unit, Ours: ours, Baseline: baseline, Target: target}
	if baseline != 0 {
		i.Ratio = ours / baseline
	}
	i.OK = target == 0 || i.Ratio <= target
	b.items = append(b.items, i)
}

// figure adds a figure of ours; target is the highest one wanted.
func (b *bench) figure(name, unit string, ours, target float64) {
	b.items = append(b.items, item{Name: name, Unit: unit, Ours: ours, Target: target, OK: target == 0 || ours <= target})
}

// ratio adds a mean of ratios.
func (b *bench) ratio(name string, ratio, target float64) {
	b.items = append(b.items, item{Name: name, Unit: "ratio", Ratio: ratio, Target: target, OK: target == 0 || ratio <= target})
}

func printTable(w io.Writer, items []item) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what\tunit\tours\tbaseline\tratio\tquartiles\ttarget\t\t")
	for _, i := range items {
		verdict := "ok"
		switch {
		case i.Target == 0:
			verdict = ""
		case !i.OK:
			verdict = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i.Name, i.Unit, number(i.Ours), number(i.Baseline), number(i.Ratio), i.quartiles(), number(i.Target), verdict)
	}
	t.Flush()
}

func (i item) quartiles() string {
	if i.High == 0 {
		return "-"
	}
	return number(i.Low) + "–" + number(i.High)
}

func number(f float64) string {
	if f == 0 {
		return "-"
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

func writeJSON(path string, items []item) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(items, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
