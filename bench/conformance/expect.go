package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// expectations lists what fails, with the reason; see the comment at its start.
//
//go:embed expectations.txt
var expectations string

// key names a test among all of them; with an empty name it is a module that
// could not be loaded.
type key struct{ module, name string }

func (k key) String() string { return k.module + "::" + k.name }

// parseExpectations reads lines of the form MODULE::NAME # REASON.
func parseExpectations(text string) (map[key]string, error) {
	expected := make(map[key]string)
	last := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " # ")
		module, name, ok := strings.Cut(id, "::")
		k := key{module, name}
		switch {
		case !ok || module == "" || strings.TrimSpace(reason) == "":
			return nil, fmt.Errorf("expectations.txt:%d: want MODULE::NAME # REASON", number)
		case id <= last:
			return nil, fmt.Errorf("expectations.txt:%d: %s is not in order, or is there twice", number, id)
		}
		last = id
		expected[k] = reason
	}
	return expected, nil
}

// difference is where a run and what was expected of it part.
type difference struct {
	Test string `json:"test"`
	What string `json:"what"` // "failed": it is not listed; "passed", "skipped", "gone": it is
	// Reason is why it failed, or why it was expected to.
	Reason string `json:"reason"`
}

// compare gives every difference in the units that were run.
func compare(units []*unit, expected map[key]string) (differences []difference) {
	rest := maps.Clone(expected)
	ran := make(map[string]bool)
	for _, u := range units {
		ran[u.Module] = true
		outcomes := append([]test{{Outcome: u.Outcome, Reason: u.Reason}}, u.Tests...)
		for _, t := range outcomes {
			k := key{u.Module, t.Name}
			reason, listed := rest[k]
			delete(rest, k)
			switch {
			case listed && t.Outcome != failed:
				differences = append(differences, difference{k.String(), t.Outcome, reason})
			case !listed && t.Outcome == failed:
				differences = append(differences, difference{k.String(), failed, t.Reason})
			}
		}
	}
	for k, reason := range rest {
		if ran[k.module] {
			differences = append(differences, difference{k.String(), "gone", reason})
		}
	}
	slices.SortFunc(differences, func(a, b difference) int { return strings.Compare(a.Test, b.Test) })
	return differences
}
