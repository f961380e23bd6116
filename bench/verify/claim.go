package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
)

//go:embed claims.tsv
var claimsText string

// A claim is one line of claims.tsv: its ID, what it says, and what it rests on,
// separated by tabs. IDs are ISSUE.PART, S.PART for what SECURITY.md claims, or
// case-NUMBER for the faults of others that must not be ours, or find-NUMBER for
// those of ours that fuzzing found.
type claim struct {
	ID       string     `json:"id"`
	Text     string     `json:"claim"`
	Evidence []evidence `json:"evidence"`
}

// evidence is one thing that a claim rests on, all of which must hold:
//
//	test PACKAGE REGEXP     tests, subtests included; one at least must pass and none fail
//	figure STEP REGEXP      rows of a measurement that have a target, or how long a step took
//	step NAME               a command that ends well
//	skips                   every test that was skipped is in skips.tsv
//	none REASON             nothing: the claim is known not to hold, and is shown as open
//
// They are separated by " ; ".
type evidence struct {
	Kind string `json:"kind"`
	// From is the package of tests, or the step.
	From    string `json:"from,omitempty"`
	Pattern string `json:"pattern,omitempty"`

	match *regexp.Regexp
}

func readClaims() ([]claim, error) {
	var claims []claim
	seen := map[string]bool{}
	for n, line := range strings.Split(claimsText, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseClaim(line)
		if err != nil {
			return nil, fmt.Errorf("claims.tsv:%d: %w", n+1, err)
		}
		if seen[c.ID] {
			return nil, fmt.Errorf("claims.tsv:%d: a second %s", n+1, c.ID)
		}
		seen[c.ID] = true
		claims = append(claims, c)
	}
	return claims, nil
}

func parseClaim(line string) (claim, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return claim{}, fmt.Errorf("%d fields, want ID, claim and evidence", len(fields))
	}
	c := claim{ID: fields[0], Text: fields[1]}
	for text := range strings.SplitSeq(fields[2], " ; ") {
		e, err := parseEvidence(text)
		if err != nil {
			return claim{}, fmt.Errorf("%s: %w", c.ID, err)
		}
		c.Evidence = append(c.Evidence, e)
	}
	return c, nil
}

func parseEvidence(text string) (evidence, error) {
	kind, rest, _ := strings.Cut(text, " ")
	e := evidence{Kind: kind}
	if kind == "skips" {
		if rest != "" {
			return e, fmt.Errorf("%q: skips has nothing behind it", text)
		}
		return e, nil
	}
	if kind == "none" {
		if e.Pattern = rest; rest == "" {
			return e, fmt.Errorf("%q wants a reason", text)
		}
		return e, nil
	}
	e.From, e.Pattern, _ = strings.Cut(rest, " ")
	switch kind {
	case "step", "figure":
		if s, ok := stepByName(e.From); !ok || kind == "figure" && s.figures == nil && s.within == 0 {
			return e, fmt.Errorf("%q: no such step", text)
		}
	case "test":
	default:
		return e, fmt.Errorf("evidence of an unknown kind: %q", text)
	}
	if (kind == "step") != (e.Pattern == "") {
		return e, fmt.Errorf("%q: a regular expression belongs to tests and figures, and only there", text)
	}
	var err error
	e.match, err = regexp.Compile(e.Pattern)
	return e, err
}

func (e evidence) String() string {
	return strings.Join(strings.Fields(e.Kind+" "+e.From+" "+e.Pattern), " ")
}

// needs names the step that gives the evidence; "" if there is none.
func (e evidence) needs() string {
	if e.Kind == "test" || e.Kind == "skips" {
		return "test"
	}
	return e.From
}

func listClaims(w io.Writer, claims []claim, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(claims)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range claims {
		for i, e := range c.Evidence {
			id, text := c.ID, c.Text
			if i > 0 {
				id, text = "", ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", id, text, e)
		}
	}
	return t.Flush()
}
