package main

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// totals are the figures of a run.
type totals struct {
	Modules        int     `json:"modules"`
	ModulesSkipped int     `json:"modules_skipped"` // what they test is not there
	ModulesFailed  int     `json:"modules_failed"`  // they could not be loaded
	Run            int     `json:"run"`
	Passed         int     `json:"passed"`
	Failed         int     `json:"failed"`
	Skipped        int     `json:"skipped"`
	Instances      int     `json:"instances"`
	Seconds        float64 `json:"seconds"` // of all units together
}

func sum(units []*unit) (t totals) {
	for _, u := range units {
		t.Modules++
		t.Instances += u.Instances
		t.Seconds += u.Seconds
		switch u.Outcome {
		case skipped:
			t.ModulesSkipped++
		case failed: // nobody knows how many tests it has
			t.ModulesFailed++
			t.Run++
			t.Failed++
		}
		t.Passed += u.count(passed)
		t.Failed += u.count(failed)
		t.Skipped += u.count(skipped)
		t.Run += u.count(passed) + u.count(failed)
	}
	return t
}

// share is which part of the tests that ran has passed, in percent.
func (t totals) share() float64 {
	if t.Run == 0 {
		return 0
	}
	return 100 * float64(t.Passed) / float64(t.Run)
}

func (u *unit) line() string {
	switch u.Outcome {
	case skipped:
		return fmt.Sprintf("%-44s skipped: %s", u.Module, u.Reason)
	case failed:
		return fmt.Sprintf("%-44s FAILED: %s", u.Module, u.Reason)
	}
	return fmt.Sprintf("%-44s %5d run %5d passed %4d failed %4d skipped %7.1f s", u.Module,
		u.count(passed)+u.count(failed), u.count(passed), u.count(failed), u.count(skipped), u.Seconds)
}

func printTable(w io.Writer, units []*unit, differences []difference) {
	for _, u := range units {
		fmt.Fprintln(w, u.line())
	}
	t := sum(units)
	fmt.Fprintf(w, "\n%d modules: %d ran, %d have nothing to test here, %d could not be loaded\n",
		t.Modules, t.Modules-t.ModulesSkipped-t.ModulesFailed, t.ModulesSkipped, t.ModulesFailed)
	fmt.Fprintf(w, "%d tests run: %d passed, %d failed (%.2f %% passed); %d skipped\n", t.Run, t.Passed, t.Failed, t.share(), t.Skipped)
	for _, d := range differences {
		fmt.Fprintln(w, d)
	}
	if len(differences) == 0 {
		fmt.Fprintln(w, "as expected: what failed is listed, and what is listed failed")
	}
}

// String says what to do about a difference.
func (d difference) String() string {
	switch d.What {
	case failed:
		return fmt.Sprintf("NOT EXPECTED: %s failed: %s", d.Test, d.Reason)
	case "gone":
		return fmt.Sprintf("NOT EXPECTED: %s is listed in expectations.txt and is no test; take it out (%s)", d.Test, d.Reason)
	}
	return fmt.Sprintf("NOT EXPECTED: %s %s; take it out of expectations.txt (%s)", d.Test, d.What, d.Reason)
}

func printJSON(w io.Writer, units []*unit, differences []difference) error {
	if differences == nil {
		differences = []difference{}
	}
	return json.MarshalWrite(w, struct {
		Totals      totals       `json:"totals"`
		Differences []difference `json:"differences"`
		Units       []*unit      `json:"units"`
	}{sum(units), differences, units}, jsontext.WithIndent("\t"))
}
