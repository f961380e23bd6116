package main

import (
	"context"
	"strings"

	"github.com/mayfly-run/mayfly/governor/policytest"
)

// policyCommand holds the verbs about the operator's rules.
type policyCommand struct {
	Test policyTestCommand `cmd:"" help:"Check a harness against a table of calls and the verdicts that are expected."`
}

type policyTestCommand struct {
	File []pathFlag `arg:"" help:"The tables: a call a line, as a JSON object."`
	JSON bool       `name:"json" help:"Print a JSON object."`
	harnessFlag
}

func (policyTestCommand) Help() string {
	return `Each line of a table is a call and the verdict that is wanted. Empty lines and lines that start with # are for readers:

  # Refunds over a hundred need somebody from finance.

  {"tool":"refund","args":{"amount":100},"want":"allow"}

  {"name":"large","tool":"refund","args":{"amount":101},"principal":"ada","tenant":"north","task":"support","want":"require_approval","step":"policy","code":"manifest_approval","role":"finance"}

  {"tool":"send_mail","labels":["untrusted_seen","private_seen"],"want":"block","code":"trifecta"}

The tool and what is wanted (allow, require_approval or block) must be there; of step, code and role, those that are there are compared. Each call is a dry run of its own: nothing runs, nobody is asked, and a judge counts as one that allows.

Example:

  mayfly policy test refunds.jsonl

Exit codes: 0 all verdicts are as wanted, 1 some are not, 2 the command, a table or a manifest is wrong, 4 something of Mayfly's own failed.`
}

// policyReport is what "policy test --json" prints.
type policyReport struct {
	Harness string       `json:"harness"`
	Cases   int          `json:"cases"`
	Failed  int          `json:"failed"`
	Results []policyCase `json:"results"`
}

type policyCase struct {
	File     string       `json:"file"`
	Line     int          `json:"line"`
	Name     string       `json:"name,omitzero"`
	Passed   bool         `json:"passed"`
	Want     policyWant   `json:"want"`
	Decision decisionJSON `json:"decision"`
}

type policyWant struct {
	Outcome string `json:"outcome"`
	Step    string `json:"step,omitzero"`
	Code    string `json:"code,omitzero"`
	Role    string `json:"approver_role,omitzero"`
}

func (c *policyTestCommand) Run(p *process) error {
	file, set, err := c.load(p)
	if err != nil {
		return err
	}
	// A table may come through a pipe, and waiting for one ends at any signal.
	tables, err := c.tables()
	if err != nil {
		return err
	}
	ctx, stop := withSignals(context.Background())
	defer stop()
	g, err := policytest.NewGovernor(set)
	if err != nil {
		return &usageError{err}
	}
	report := policyReport{Harness: file, Results: []policyCase{}}
	var text strings.Builder
	for _, t := range tables {
		r := policytest.Run(ctx, g, t)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text.WriteString(r.String())
		report.Cases += len(r.Results)
		report.Failed += r.Failed
		for _, one := range r.Results {
			report.Results = append(report.Results, policyCase{
				File: t.File, Line: one.Case.Line, Name: one.Case.Name, Passed: one.Passed,
				Want:     policyWant{one.Case.Want, one.Case.Step, one.Case.Code, one.Case.Role},
				Decision: newDecision(one.Decision),
			})
		}
	}
	if c.JSON {
		err = p.stdout.object(report)
	} else {
		err = p.stdout.guest([]byte(text.String()))
	}
	if err == nil && report.Failed > 0 {
		err = exitRaised
	}
	return err
}

// tables reads all tables before the first is tried, and says all that is
// wrong with them.
func (c *policyTestCommand) tables() ([]policytest.Table, error) {
	var tables []policytest.Table
	var wrong []string
	for _, name := range c.File {
		text, err := readManifest(string(name))
		if err != nil {
			return nil, err
		}
		t, err := policytest.Parse(string(name), text)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		tables = append(tables, t)
	}
	if len(wrong) > 0 {
		return nil, usagef("%s", strings.Join(wrong, "\n"))
	}
	return tables, nil
}
