package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClaimsNameTests fails when a test that a claim rests on is renamed or gone,
// so that claims.tsv does not rot between two runs of verify.
func TestClaimsNameTests(t *testing.T) {
	claims, err := readClaims()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, c := range claims {
		for _, e := range c.Evidence {
			if e.Kind != "test" {
				continue
			}
			if names[e.From] == nil {
				names[e.From] = testsOf(t, e.From)
			}
			// Names of subtests are known only when they run.
			first, _, _ := strings.Cut(e.Pattern, "/")
			first = closed(first)
			match, err := regexp.Compile(first)
			if err != nil {
				t.Errorf("%s: %s: the part before a slash must stand alone: %v", c.ID, e, err)
				continue
			}
			found := false
			for _, n := range names[e.From] {
				found = found || match.MatchString(n)
			}
			if !found {
				t.Errorf("%s: no test of %s matches %s", c.ID, e.From, first)
			}
		}
	}
}

// closed ends groups that the slash of a subtest cut open.
func closed(pattern string) string {
	return pattern + strings.Repeat(")", max(0, strings.Count(pattern, "(")-strings.Count(pattern, ")")))
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func testsOf(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files in %s (%v)", pkg, err)
	}
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func TestParseClaimRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"1\tonly two":             "2 fields",
		"1\tx\ttest pkg":          "belongs to tests",
		"1\tx\tstep nothing":      "no such step",
		"1\tx\tstep race x":       "belongs to tests",
		"1\tx\tfigure race x":     "no such step",
		"1\tx\tfigure report":     "belongs to tests",
		"1\tx\tnone":              "wants a reason",
		"1\tx\thearsay":           "unknown kind",
		"1\tx\ttest pkg (":        "missing closing",
		"1\tx\tstep race ; other": "unknown kind",
	} {
		if _, err := parseClaim(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
