package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed skips.tsv
var skipsText string

// A skip is a line of skips.tsv: which tests of a package may be skipped, and why
// that leaves nothing unshown, or where it is shown. What is skipped and not
// listed has gone unnoticed.
type skip struct {
	pkg, reason string
	match       *regexp.Regexp
}

func readSkips(text string) ([]skip, error) {
	var skips []skip
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || fields[0] == "" || fields[2] == "" {
			return nil, fmt.Errorf("skips.tsv:%d: want package, regular expression and reason, with tabs between", n+1)
		}
		match, err := regexp.Compile(fields[1])
		if err != nil {
			return nil, fmt.Errorf("skips.tsv:%d: %w", n+1, err)
		}
		skips = append(skips, skip{pkg: fields[0], reason: fields[2], match: match})
	}
	return skips, nil
}

// lookAtSkips fails for a test that was skipped and is not listed.
func (f *evidenceFound) lookAtSkips() (verdict, string) {
	if _, ran := f.ended["test"]; !ran {
		return notRun, "step test was left out"
	}
	listed, err := readSkips(skipsText)
	if err != nil {
		return fails, err.Error()
	}
	n := 0
	var strangers []string
	for _, t := range f.tests {
		if t.action != "skip" || t.name == "" {
			continue
		}
		n++
		known := false
		for _, s := range listed {
			known = known || s.pkg == t.pkg && s.match.MatchString(t.name)
		}
		if !known {
			strangers = append(strangers, t.pkg+" "+t.name)
		}
	}
	if len(strangers) > 0 {
		return fails, fmt.Sprintf("%d of %d skips are not in skips.tsv: %s", len(strangers), n, some(strangers))
	}
	return holds, fmt.Sprintf("%d skipped, all in skips.tsv", n)
}
