package main

import (
	"fmt"
	"slices"
	"strings"
)

type verdict string

const (
	holds  verdict = "holds"
	fails  verdict = "FAILS"
	notRun verdict = "not run"
	open   verdict = "open" // known not to hold
)

// result is a claim and whether it holds.
type result struct {
	claim
	Verdict verdict  `json:"verdict"`
	Details []string `json:"details"`
}

func count(results []result, v verdict) int {
	n := 0
	for _, r := range results {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// judge looks up all that a claim rests on. The worst decides.
func (f *evidenceFound) judge(c claim) result {
	r := result{claim: c, Verdict: holds}
	for _, e := range c.Evidence {
		v, detail := f.look(e)
		r.Details = append(r.Details, detail)
		if v == fails || r.Verdict == holds {
			r.Verdict = v
		}
	}
	return r
}

func (f *evidenceFound) look(e evidence) (verdict, string) {
	switch e.Kind {
	case "test":
		return f.lookAtTests(e)
	case "figure":
		return f.lookAtFigures(e)
	case "skips":
		return f.lookAtSkips()
	case "step":
		if v, detail := f.stepEnded(e.From); v != holds {
			return v, detail
		}
		return holds, "step " + e.From + " ended well"
	}
	return open, e.Pattern
}

func (f *evidenceFound) lookAtTests(e evidence) (verdict, string) {
	// That other tests failed is no matter here.
	if _, ran := f.ended["test"]; !ran {
		return notRun, "step test was left out"
	}
	counts := map[string]int{}
	var failed, skipped []string
	for _, t := range f.tests {
		if t.pkg != e.From {
			continue
		}
		if t.name == "" {
			failed = append(failed, t.pkg+" itself")
			continue
		}
		if !e.match.MatchString(t.name) {
			continue
		}
		switch counts[t.action]++; t.action {
		case "fail":
			failed = append(failed, t.name)
		case "skip":
			skipped = append(skipped, t.name)
		}
	}
	detail := fmt.Sprintf("%s: %d passed", e.From, counts["pass"])
	if len(skipped) > 0 {
		// What was not looked at is named, so that nobody takes it for shown.
		detail += fmt.Sprintf(", %d skipped: %s", len(skipped), some(skipped))
	}
	switch {
	case len(failed) > 0:
		return fails, fmt.Sprintf("%s, %d failed: %s", detail, len(failed), some(failed))
	case counts["pass"] == 0:
		return fails, fmt.Sprintf("%s: no test passed that matches %s", e.From, e.Pattern)
	}
	return holds, detail
}

// some lists the first few names.
func some(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

func (f *evidenceFound) stepEnded(name string) (verdict, string) {
	err, ran := f.ended[name]
	switch {
	case !ran:
		return notRun, "step " + name + " was left out"
	case err != nil:
		return fails, err.Error()
	}
	return holds, ""
}

func (f *evidenceFound) lookAtFigures(e evidence) (verdict, string) {
	v, detail := f.stepEnded(e.From)
	if v != holds {
		return v, detail
	}
	var details []string
	for _, figure := range f.figures[e.From] {
		if figure.Target == 0 || !e.match.MatchString(figure.Name) {
			continue
		}
		detail := figure.String()
		if !figure.OK {
			v, detail = fails, detail+" MISSED"
		}
		details = append(details, detail)
	}
	if len(details) == 0 {
		return fails, "no figure with a target matches " + e.Pattern
	}
	return v, strings.Join(details, "; ")
}

// worstFirst orders results for reading.
func worstFirst(results []result) []result {
	order := []verdict{fails, notRun, open, holds}
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b result) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	return sorted
}
