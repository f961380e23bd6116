package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/sandbox"
)

// The ways a test can end.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// test is how one test ended.
type test struct {
	// Name is the test's, without the name of its unit.
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitzero"`
}

// unit is a module, or a package, whose tests run in instances of their own:
// one, and a further one after each test that took its instance down.
type unit struct {
	Module    string  `json:"module"`
	Outcome   string  `json:"outcome"` // "passed": it ran, whatever its tests did
	Reason    string  `json:"reason,omitzero"`
	Tests     []test  `json:"tests,omitempty"`
	StandIns  []any   `json:"stand_ins,omitempty"` // names of modules
	Instances int     `json:"instances"`
	Seconds   float64 `json:"seconds"`
}

// count gives how many tests ended in a way.
func (u *unit) count(outcome string) (n int) {
	for _, t := range u.Tests {
		if t.Outcome == outcome {
			n++
		}
	}
	return n
}

//go:embed run.py
var runner string

// limits are those of one instance. They are larger than the defaults because
// tests ask for more than calls: hundreds of files, big numbers, long loops.
var limits = sandbox.Limits{
	Timeout:      2 * time.Hour,
	MaxMemory:    1 << 30,
	MaxOutput:    16 << 20,
	MaxFiles:     20_000,
	MaxFileBytes: 256 << 20,
	MaxHostCalls: 1 << 24,
}

// still is what clocks and randomness of every instance start from, so that a
// test does the same each time.
var still = sandbox.Deterministic{Seed: 1, Clock: time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)}

// errSlow ends an instance in which one test takes too long.
var errSlow = errors.New("the test took too long")

// testOnly finds the name of a C module that exists for tests only.
var testOnly = regexp.MustCompile(`\b_test(capi|internalcapi|limitedcapi|singlephase|multiphase|buffer)\b`)

// whole is a module of which nothing is left without the C module that it
// imports: it takes the code that it tests from there.
const whole = "test_getpath"

// runUnit runs a module to its end. One that does not load because it imports
// a C module for tests first of all gets a stand-in of that and runs again.
func runUnit(ctx context.Context, box sandbox.Sandbox, module string, slow time.Duration) (*unit, error) {
	start := time.Now()
	var first *unit
	var standIns []any
	for {
		u, err := runWith(ctx, box, module, standIns, slow)
		if err != nil {
			return nil, err
		}
		u.Seconds = time.Since(start).Seconds()
		if first == nil {
			first = u
		}
		if u.Outcome == passed {
			return u, nil
		}
		missing := testOnly.FindString(u.Reason)
		if missing == "" || module == whole || slices.Contains(standIns, any(missing)) {
			if u != first {
				first.Reason += "; with a stand-in: " + u.Reason
			}
			first.Seconds = u.Seconds
			return first, nil
		}
		standIns = append(standIns, missing)
	}
}

// runWith runs a module to its end, with stand-ins for some modules.
func runWith(ctx context.Context, box sandbox.Sandbox, module string, standIns []any, slow time.Duration) (*unit, error) {
	u := &unit{Module: module, Outcome: passed, StandIns: standIns}
	for {
		a := &attempt{unit: u, known: make(map[string]bool)}
		for _, t := range u.Tests {
			a.known[t.Name] = true
		}
		u.Instances++
		how, err := a.run(ctx, box, slow)
		if err != nil {
			return nil, err
		}
		switch {
		case u.Outcome != passed: // the module was not even loaded
			return u, nil
		case a.finished:
			a.settle("")
			return u, nil
		case a.current != "":
			a.record(a.current, failed, how)
		case a.planned == nil:
			u.Outcome, u.Reason = failed, how
			return u, nil
		case a.news == 0:
			a.settle(how)
			return u, nil
		}
	}
}

// attempt is one instance at work on a unit.
type attempt struct {
	unit     *unit
	known    map[string]bool // tests that have ended
	planned  []string        // all tests of the unit
	fixtures []test
	current  string // the test that runs
	news     int    // tests that ended in this instance
	finished bool
}

// run gives how the instance ended, if it was before its work was done.
func (a *attempt) run(ctx context.Context, box sandbox.Sandbox, slow time.Duration) (how string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(slow, func() { cancel(errSlow) })
	defer timer.Stop()
	done := make([]any, 0, len(a.known))
	for _, t := range a.unit.Tests {
		done = append(done, t.Name)
	}
	result, err := box.Run(ctx, sandbox.Spec{
		Name:          "run.py",
		Code:          runner,
		Globals:       map[string]any{"module": a.unit.Module, "done": done, "replaced": a.unit.StandIns},
		Limits:        limits,
		Deterministic: &still,
		HostCall: func(_ context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
			timer.Reset(slow)
			return sandbox.RawJSON("null"), a.told(tool, args)
		},
	})
	switch {
	case err != nil:
		return "", err
	case errors.Is(context.Cause(ctx), errSlow):
		return fmt.Sprintf("no end within %v", slow), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case result.Error != nil:
		return fmt.Sprintf("the instance ended: %s: %s", result.Error.Type, result.Error.Message), nil
	}
	return "", nil
}

// told takes what the guest says.
func (a *attempt) told(tool string, args sandbox.RawJSON) error {
	var m struct {
		Name    string   `json:"name"`
		Names   []string `json:"names"`
		Outcome string   `json:"outcome"`
		Reason  string   `json:"reason"`
	}
	if err := json.Unmarshal(args, &m); err != nil {
		return err
	}
	switch tool {
	case "module":
		a.unit.Outcome, a.unit.Reason = m.Outcome, m.Reason
	case "plan":
		a.planned = m.Names
	case "start":
		a.current = m.Name
	case "end":
		a.current = ""
		a.record(m.Name, m.Outcome, m.Reason)
	case "fixture":
		a.fixtures = append(a.fixtures, test{m.Name, m.Outcome, m.Reason})
	case "finished":
		a.finished = true
	default:
		return fmt.Errorf("there is no message %q", tool)
	}
	return nil
}

func (a *attempt) record(name, outcome, reason string) {
	if outcome == passed {
		reason = ""
	}
	a.known[name] = true
	a.news++
	a.unit.Tests = append(a.unit.Tests, test{name, outcome, reason})
}

// settle says what became of tests that did not run: they share the fate of
// the class or module that could not be set up, or have failed with it.
func (a *attempt) settle(why string) {
	used := make(map[string]bool)
	for _, name := range a.planned {
		if a.known[name] {
			continue
		}
		outcome, reason := failed, why
		for _, f := range a.fixtures {
			if strings.HasPrefix(f.Name, "setUp") && strings.HasPrefix(name, a.below(f.Name)) {
				outcome, reason = f.Outcome, f.Name+": "+f.Reason
				used[f.Name] = true
			}
		}
		if reason == "" {
			reason = "it was not run"
		}
		a.record(name, outcome, reason)
	}
	for _, f := range a.fixtures {
		if f.Outcome == failed && !used[f.Name] {
			a.record(f.Name, failed, f.Reason)
		}
	}
}

// below gives what the names of tests begin with that a fixture, such as
// "setUpClass (test.test_dict.DictTest)", was for.
func (a *attempt) below(fixture string) string {
	_, inner, _ := strings.Cut(strings.TrimSuffix(fixture, ")"), "(")
	return strings.TrimPrefix(inner+".", "test."+a.unit.Module+".")
}
