package main

import (
	"fmt"
	"os"
	"strings"
)

//go:generate go run . --security ../../SECURITY.md

const (
	claimsBegin = "<!-- made by make generate from bench/verify/claims.tsv -->\n"
	claimsEnd   = "<!-- end -->\n"
)

// writeSecurity puts the claims S.* with their evidence into a page, between the
// two marks.
func writeSecurity(page string, claims []claim) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), claimsBegin)
	_, after, ends := strings.Cut(rest, claimsEnd)
	if !begins || !ends {
		return fmt.Errorf("%s: the marks %q and %q are not there", page, strings.TrimSpace(claimsBegin), strings.TrimSpace(claimsEnd))
	}
	var b strings.Builder
	b.WriteString(before + claimsBegin + "\n| | claim | shown by |\n|---|---|---|\n")
	for _, c := range claims {
		if !strings.HasPrefix(c.ID, "S.") {
			continue
		}
		var shown []string
		for _, e := range c.Evidence {
			shown = append(shown, "`"+e.From+" "+e.Pattern+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.ID, cell(c.Text), cell(strings.Join(shown, "; ")))
	}
	b.WriteString("\n" + claimsEnd + after)
	return os.WriteFile(page, []byte(b.String()), 0o644)
}
