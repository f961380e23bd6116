package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testOutput = `{"Action":"start","Package":"github.com/mayfly-run/mayfly/a"}
{"Action":"run","Package":"github.com/mayfly-run/mayfly/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/mayfly-run/mayfly/a","Test":"TestGood","Output":"x"}
{"Action":"pass","Package":"github.com/mayfly-run/mayfly/a","Test":"TestGood"}
{"Action":"skip","Package":"github.com/mayfly-run/mayfly/a","Test":"TestSkipped"}
{"Action":"fail","Package":"github.com/mayfly-run/mayfly/a","Test":"TestBad/sub"}
{"Action":"fail","Package":"github.com/mayfly-run/mayfly/a"}
{"ImportPath":"github.com/mayfly-run/mayfly/b","Action":"build-fail"}
{"Action":"fail","Package":"github.com/mayfly-run/mayfly/b"}
`

func TestJudge(t *testing.T) {
	tests, err := readTests(strings.NewReader(testOutput))
	if err != nil {
		t.Fatal(err)
	}
	found := &evidenceFound{
		ended: map[string]error{"test": errors.New("exit status 1"), "report": nil, "corpus": errors.New("below")},
		figures: map[string][]figure{"report": {
			{Name: "met", Ratio: 0.5, Target: 1, OK: true}, {Name: "missed", Ours: 2, Target: 1}, {Name: "no target", Ours: 2, OK: true},
		}},
		tests: tests,
	}
	for evidence, want := range map[string]verdict{
		"test a ^TestGood":                     holds,
		"test a ^Test(Good|Skipped)":           holds,
		"test a ^TestSkipped":                  fails,
		"test a ^TestBad":                      fails,
		"test a ^TestGone":                     fails,
		"test b .":                             fails,
		"figure report ^met":                   holds,
		"figure report missed":                 fails,
		"figure report ^no target":             fails,
		"figure decide .":                      notRun,
		"step corpus":                          fails,
		"step report":                          holds,
		"step race":                            notRun,
		"none for now":                         open,
		"test a ^TestGood ; step race":         notRun,
		"step race ; test a ^TestGood":         notRun,
		"step race ; step corpus":              fails,
		"step corpus ; step race":              fails,
		"figure test ^all of step":             fails,
		"test a ^TestGood ; figure report met": holds,
	} {
		c, err := parseClaim("x\ty\t" + evidence)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := found.judge(c); got.Verdict != want {
			t.Errorf("%s: %s %q, want %s", evidence, got.Verdict, got.Details, want)
		}
	}
}

// TestStepsAreTimed: how long a step took is a figure, also when its output is
// used again.
func TestStepsAreTimed(t *testing.T) {
	s := step{name: "quick", args: []string{"echo", "hello"}}
	o := options{out: t.TempDir(), reuse: true}
	output, took, err := s.run(t.Context(), o)
	if err != nil || string(output) != "hello\n" || took <= 0 {
		t.Fatalf("%q, %v, %v", output, took, err)
	}
	s.args = []string{"false"}
	again, tookThen, err := s.run(t.Context(), o)
	if err != nil || string(again) != "hello\n" || tookThen != took {
		t.Errorf("used again: %q, %v, %v; want %v", again, tookThen, err, took)
	}
	o.reuse = false
	if _, _, err := s.run(t.Context(), o); err == nil {
		t.Error("a step that fails has ended well")
	}
	s.args = []string{"echo"}
	if output, _, err := s.run(t.Context(), o); err != nil || string(output) != "\n" {
		t.Errorf("after a failure: %q, %v", output, err)
	}
}

func TestSkippedAreNamed(t *testing.T) {
	f := &evidenceFound{ended: map[string]error{"test": nil}, tests: []testEnd{{"a", "TestX", "pass"}, {"a", "TestX/1", "skip"}}}
	c, err := parseClaim("x\ty\ttest a ^TestX")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a: 1 passed, 1 skipped: TestX/1"}
	if diff := cmp.Diff(want, f.judge(c).Details); diff != "" {
		t.Error(diff)
	}
}

func TestBenchFigures(t *testing.T) {
	got, err := benchFigures("", []byte("goos: linux\nBenchmarkDecide/steps-2 \t 100\t 9000 ns/op\t 26000 median-ns\t 26 allocs/op\nPASS\n"))
	want := []figure{
		{Name: "BenchmarkDecide/steps ns/op", Unit: "ns/op", Ours: 9000, OK: true},
		{Name: "BenchmarkDecide/steps median-ns", Unit: "median-ns", Ours: 26000, Target: 25000},
		{Name: "BenchmarkDecide/steps allocs/op", Unit: "allocs/op", Ours: 26, Target: 60, OK: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := benchFigures("", []byte("ok\n")); err == nil {
		t.Error("output without a benchmark is taken")
	}
}
