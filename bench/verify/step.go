package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A step is a command, run at most once, whose output claims rest on.
type step struct {
	name    string
	args    []string
	figures func(dir string, output []byte) ([]figure, error)
	// within is how long it should take at most; 0: as long as it likes.
	within time.Duration
}

// steps are in the order in which they run: measurements before the tests warm
// the machine up.
var steps = []step{
	{name: "report", args: []string{"go", "run", "./bench/report", "-out", "{out}/bench.json"}, figures: reportFigures},
	{name: "decide", args: []string{"go", "test", "-run", "^$", "-bench", "^BenchmarkDecide$", "./governor"}, figures: benchFigures},
	{name: "load", args: []string{"make", "load", "LOADFLAGS=-out {out}/load.json"}, figures: loadFigures},
	{name: "corpus", args: []string{"go", "run", "./bench/corpus"}},
	{name: "conformance", args: []string{"make", "conformance"}},
	{name: "test", args: []string{"go", "test", "-count=1", "-timeout", "30m", "-json", "./..."}, within: 10 * time.Minute},
	{name: "race", args: []string{"make", "race"}},
	{name: "soak", args: []string{"make", "soak"}},
	{name: "guests-verify", args: []string{"make", "guests-verify"}},
}

func stepNames() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

func stepByName(name string) (step, bool) {
	i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
	if i < 0 {
		return step{}, false
	}
	return steps[i], true
}

// A figure is a row of a measurement.
type figure struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Ours   float64 `json:"ours"`
	Ratio  float64 `json:"ratio"`
	Target float64 `json:"target"`
	OK     bool    `json:"ok"`
}

func (f figure) String() string {
	value, unit := f.Ratio, "ratio"
	if value == 0 {
		value, unit = f.Ours, f.Unit
	}
	return fmt.Sprintf("%s: %s %s (at most %s)", f.Name, short(value), unit, short(f.Target))
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }

// evidenceFound is what the steps gave.
type evidenceFound struct {
	ended   map[string]error    // by step, if it ran
	figures map[string][]figure // by step
	tests   []testEnd
}

func runSteps(ctx context.Context, o options, claims []claim) (*evidenceFound, error) {
	wanted := map[string]bool{}
	for _, c := range claims {
		for _, e := range c.Evidence {
			wanted[e.needs()] = true
		}
	}
	found := &evidenceFound{ended: map[string]error{}, figures: map[string][]figure{}}
	for _, s := range steps {
		if !wanted[s.name] || slices.Contains(o.skip, s.name) {
			continue
		}
		output, took, err := s.run(ctx, o)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found.ended[s.name] = err
		if s.name == "test" {
			if found.tests, err = readTests(bytes.NewReader(output)); err != nil {
				return nil, err
			}
		}
		if s.figures != nil && err == nil {
			if found.figures[s.name], err = s.figures(o.out, output); err != nil {
				return nil, fmt.Errorf("step %s: %w", s.name, err)
			}
		}
		if s.within > 0 {
			found.figures[s.name] = append(found.figures[s.name], figure{
				Name: "all of step " + s.name, Unit: "s", Ours: took.Seconds(), Target: s.within.Seconds(), OK: took <= s.within,
			})
		}
	}
	return found, nil
}

// run runs the step and keeps what it prints in a file, and how long it took, if
// it ended well, in another.
func (s step) run(ctx context.Context, o options) (output []byte, took time.Duration, err error) {
	text, end := filepath.Join(o.out, s.name+".txt"), filepath.Join(o.out, s.name+".ended")
	if o.reuse {
		if ended, err := os.ReadFile(end); err == nil {
			if took, err := time.ParseDuration(string(ended)); err == nil {
				fmt.Fprintf(os.Stderr, "%-14s taken from %s\n", s.name, text)
				output, err := os.ReadFile(text)
				return output, took, err
			}
		}
	}
	if err := os.Remove(end); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	args := slices.Clone(s.args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{out}", o.out)
	}
	if err := os.Remove(text); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	file, err := os.OpenFile(text, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, 0, err
	}
	var kept bytes.Buffer
	begin := time.Now()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Stdout = io.MultiWriter(file, &kept, &progress{name: s.name, begin: begin})
	cmd.Stderr = file
	err = cmd.Run()
	took = time.Since(begin).Round(time.Millisecond)
	fmt.Fprintf(os.Stderr, "\r\033[K%-14s %s after %.0f s\n", s.name, outcome(err), took.Seconds())
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return kept.Bytes(), took, fmt.Errorf("%s: %w; see %s", strings.Join(args, " "), err, text)
	}
	return kept.Bytes(), took, os.WriteFile(end, []byte(took.String()), 0o644)
}

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "ended well"
}

// progress shows that a step is alive, on a terminal or not.
type progress struct {
	name  string
	begin time.Time
	shown time.Time
	lines int
}

func (p *progress) Write(b []byte) (int, error) {
	p.lines += bytes.Count(b, []byte("\n"))
	if now := time.Now(); now.Sub(p.shown) > 10*time.Second {
		p.shown = now
		fmt.Fprintf(os.Stderr, "%-14s %.0f s, %d lines\n", p.name, now.Sub(p.begin).Seconds(), p.lines)
	}
	return len(b), nil
}

func reportFigures(dir string, _ []byte) ([]figure, error) { return figuresIn(dir, "bench.json") }

func loadFigures(dir string, _ []byte) ([]figure, error) { return figuresIn(dir, "load.json") }

func figuresIn(dir, name string) ([]figure, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	var figures []figure
	return figures, json.Unmarshal(text, &figures)
}

// benchTargets are the highest values wanted of Go benchmarks, by name and unit.
var benchTargets = map[string]float64{
	"BenchmarkDecide/steps median-ns": 25_000,
	"BenchmarkDecide/steps allocs/op": 60,
}

var benchLine = regexp.MustCompile(`^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// benchFigures reads the lines of go test -bench.
func benchFigures(_ string, output []byte) ([]figure, error) {
	var figures []figure
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		m := benchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		values := strings.Fields(m[2])
		for i := 0; i+1 < len(values); i += 2 {
			value, err := strconv.ParseFloat(values[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m[1], err)
			}
			name := m[1] + " " + values[i+1]
			target := benchTargets[name]
			figures = append(figures, figure{Name: name, Unit: values[i+1], Ours: value, Target: target, OK: target == 0 || value <= target})
		}
	}
	if len(figures) == 0 {
		return nil, errors.New("no benchmark in the output")
	}
	return figures, nil
}
