package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/bench/plot"
)

// report writes soak.md and its plots into a directory, and prints the page.
func (s *soaked) report(dir string, w io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	page, err := os.OpenFile(filepath.Join(dir, "soak.md"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	s.page(io.MultiWriter(page, w))
	if err := page.Close(); err != nil {
		return err
	}
	for name, draw := range map[string]func() ([]byte, error){"soak-latency.svg": s.latency, "soak-memory.svg": s.memory} {
		text, err := draw()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *soaked) page(w io.Writer) {
	m := measure.ThisMachine()
	fmt.Fprintf(w, "# Soak, %s\n\n", s.start.UTC().Format("2006-01-02 15:04 MST"))
	fmt.Fprintf(w, "%v of mixed calls over %d connections, seed %d. %s, Linux %s, %d cores (%s), load %s at the end.\n\n",
		s.length, s.options.conns, s.options.seed, m.OS, m.Kernel, m.Cores, m.CPU, m.Load)
	fmt.Fprint(w, "![Latency](soak-latency.svg)\n\n![Memory](soak-memory.svg)\n\n| what | found | before | |\n|---|---|---|---|\n")
	for _, i := range s.items {
		verdict := ""
		if i.must {
			verdict = map[bool]string{true: "holds", false: "**does not hold**"}[i.OK]
		}
		fmt.Fprintf(w, "| %s | %s %s | %s | %s |\n", i.Name, number(i.Ours, true), i.Unit, number(i.Baseline, false), verdict)
	}
	fmt.Fprint(w, "\nWhat went wrong, on purpose:\n\n")
	times := make(map[string]int)
	for _, e := range s.chaos.events {
		times[e.name]++
	}
	for _, k := range s.chaos.kinds {
		fmt.Fprintf(w, "- %s: %d times\n", k.name, times[k.name])
	}
	fmt.Fprint(w, "- a caller gives up: one in twenty\n")
	if len(s.without) > 0 {
		fmt.Fprint(w, "\nWhat did not:\n\n")
		for _, reason := range s.without {
			fmt.Fprintf(w, "- %s\n", reason)
		}
	}
}

func (s *soaked) marks() []plot.Mark {
	var marks []plot.Mark
	for _, e := range s.chaos.events {
		marks = append(marks, plot.Mark{Label: e.name, Seconds: e.begin.Sub(s.start).Seconds()})
	}
	return marks
}

// latency draws the median and the 99th percentile of windows of time.
func (s *soaked) latency() ([]byte, error) {
	window := max(s.length/60, time.Second)
	buckets := make(map[int][]float64)
	for _, m := range s.counts.took {
		i := int(m.at.Sub(s.start) / window)
		buckets[i] = append(buckets[i], m.ms)
	}
	half, high := plot.Series{Label: "median"}, plot.Series{Label: "99th percentile"}
	var at []int
	for i := range buckets {
		at = append(at, i)
	}
	slices.SortFunc(at, cmp.Compare[int])
	for _, i := range at {
		x := (time.Duration(i) * window).Seconds()
		half.Seconds, half.Values = append(half.Seconds, x), append(half.Values, quantile(buckets[i], 0.5))
		high.Seconds, high.Values = append(high.Seconds, x), append(high.Values, quantile(buckets[i], 0.99))
	}
	return plot.Lines("How long calls took that ended well", "ms", []plot.Series{half, high}, s.marks())
}

// memory draws what the server and its processes had.
func (s *soaked) memory() ([]byte, error) {
	own, all := plot.Series{Label: "private"}, plot.Series{Label: "resident"}
	for _, v := range s.samples {
		x := v.at.Sub(s.start).Seconds()
		own.Seconds, own.Values = append(own.Seconds, x), append(own.Values, v.private)
		all.Seconds, all.Values = append(all.Seconds, x), append(all.Values, v.rss)
	}
	return plot.Lines("Memory of the server and its processes", "MiB", []plot.Series{own, all}, s.marks())
}
