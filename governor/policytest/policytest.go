// Package policytest checks a harness against a table of calls and the verdicts
// that its author expects: what `mayfly policy test` runs.
//
// A table is text with one call a line, as a JSON object. Empty lines and lines
// that start with # are for readers:
//
//	# Refunds over a hundred need somebody from finance.
//	{"tool":"refund","args":{"amount":100},"want":"allow"}
//	{"tool":"refund","args":{"amount":101},"want":"require_approval","role":"finance"}
//	{"tool":"send_mail","labels":["untrusted_seen","private_seen"],"want":"block","code":"trifecta"}
//
// Each call is a dry run of its own. Nothing runs, nobody is asked, and no judge
// is called: it counts as one that allows.
package policytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// Case is one line of a table.
type Case struct {
	// Line is where it stands, from 1.
	Line int `json:"-"`
	// Name is what it is about. May be empty.
	Name string `json:"name"`
	// Tool and Args are the call. Without args it is {}.
	Tool string         `json:"tool"`
	Args jsontext.Value `json:"args"`
	// Principal, Tenant and Task are who calls, and for what.
	Principal string `json:"principal"`
	Tenant    string `json:"tenant"`
	Task      string `json:"task"`
	// Labels are what the run has seen: untrusted_seen, private_seen.
	Labels []string `json:"labels"`
	// Want is the outcome: allow, require_approval or block. Required.
	Want string `json:"want"`
	// Step, Code and Role are which step decides, why, and who may approve; those
	// that are empty are not looked at.
	Step string `json:"step"`
	Code string `json:"code"`
	Role string `json:"role"`
}

// Table is what a file holds.
type Table struct {
	// File is its name.
	File  string
	Cases []Case
}

// Parse reads a table. The error has everything that is wrong, with file and
// line.
func Parse(file string, text []byte) (Table, error) {
	t := Table{File: file}
	var errs []error
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		c := Case{Line: n}
		err := c.read(line)
		if err == nil {
			err = c.check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, n, err))
			continue
		}
		t.Cases = append(t.Cases, c)
	}
	if len(errs) == 0 && len(t.Cases) == 0 {
		errs = append(errs, fmt.Errorf("%s: no calls in it", file))
	}
	return t, errors.Join(errs...)
}

// fields are what a line may have.
const fields = "name, tool, args, principal, tenant, task, labels, want, step, code and role"

// read takes a line apart. What the decoder says is about Go; a line is written
// by somebody who knows JSON.
func (c *Case) read(line []byte) error {
	err := json.Unmarshal(line, c, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var meaning *json.SemanticError
	if !errors.As(err, &meaning) {
		return errors.New("is not one JSON object: " + strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	field := strings.TrimPrefix(string(meaning.JSONPointer), "/")
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("%s is not a field here; there are %s", field, fields)
	case field == "":
		return errors.New("is not a JSON object")
	case strings.HasPrefix(field, "labels"):
		return errors.New("labels is a list of strings")
	}
	return fmt.Errorf("%s is a string", field)
}

func (c *Case) check() error {
	if c.Tool == "" {
		return errors.New("no tool; name the tool that is called")
	}
	switch c.Want {
	case "allow", "require_approval", "block":
	default:
		return errors.New("want is allow, require_approval or block")
	}
	for _, l := range c.Labels {
		if l != "untrusted_seen" && l != "private_seen" {
			return errors.New("labels are untrusted_seen and private_seen")
		}
	}
	return nil
}

// Result is what became of one case.
type Result struct {
	Case Case
	// Decision is what the governor says.
	Decision governor.Decision
	// Passed says that it is what the case wants.
	Passed bool

	call governor.Call
}

// Report is what became of a table.
type Report struct {
	File    string
	Results []Result
	// Failed is how many cases did not pass.
	Failed int
}

// NewGovernor makes a governor for tables: with an empty store in memory, and a
// judge that allows, if the harness names one.
func NewGovernor(set *manifests.Set) (*governor.Governor, error) {
	// The time only matters to limits and approvals, of which there are none.
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	c := governor.Config{Set: set, Store: store.NewMemory(), Clock: func() time.Time { return at }}
	if set.Harness.Tools.Judge != nil {
		c.Judge = allowing{}
	}
	return governor.New(c)
}

type allowing struct{}

func (allowing) Judge(context.Context, governor.JudgeRequest) (governor.Verdict, error) {
	return governor.VerdictAllow, nil
}

// Run decides every call of a table.
func Run(ctx context.Context, g *governor.Governor, t Table) Report {
	r := Report{File: t.File}
	for _, c := range t.Cases {
		result := Result{Case: c, call: c.call()}
		result.Decision = g.Authorize(ctx, result.call)
		result.Passed = c.meets(result.Decision)
		if !result.Passed {
			r.Failed++
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func (c *Case) call() governor.Call {
	args := []byte(c.Args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	call := governor.Call{
		Tool: c.Tool, Args: governor.ParseArguments(args),
		Subject: governor.Subject{Principal: c.Principal, Tenant: c.Tenant, Task: c.Task},
	}
	for _, l := range c.Labels {
		call.Labels = call.Labels.Or(store.Labels{UntrustedSeen: l == "untrusted_seen", PrivateSeen: l == "private_seen"})
	}
	return call
}

func (c *Case) meets(d governor.Decision) bool {
	return c.Want == d.Outcome.String() && meets(c.Step, string(d.Step)) && meets(c.Code, string(d.Code)) && meets(c.Role, d.ApproverRole)
}

func meets(want, got string) bool { return want == "" || want == got }

// String gives every case that failed, what it wanted beside what it got, and
// the count.
func (r Report) String() string {
	var b strings.Builder
	for _, result := range r.Results {
		if !result.Passed {
			result.write(&b, r.File)
		}
	}
	if r.Failed == 0 {
		fmt.Fprintf(&b, "%s: %d passed\n", r.File, len(r.Results))
	} else {
		fmt.Fprintf(&b, "%s: %d of %d failed\n", r.File, r.Failed, len(r.Results))
	}
	return b.String()
}

func (r Result) write(b *strings.Builder, file string) {
	c, d := r.Case, r.Decision
	fmt.Fprintf(b, "%s:%d: ", file, c.Line)
	if c.Name != "" {
		fmt.Fprintf(b, "%q: ", c.Name)
	}
	fmt.Fprintf(b, "%q", c.Tool)
	if text := r.call.Args.Text(); text != "" {
		b.WriteString(" " + text)
	}
	for _, who := range []struct{ what, name string }{{"principal", c.Principal}, {"tenant", c.Tenant}, {"task", c.Task}} {
		if who.name != "" {
			fmt.Fprintf(b, " %s=%q", who.what, who.name)
		}
	}
	if len(c.Labels) > 0 {
		b.WriteString(" labels=" + strings.Join(c.Labels, ","))
	}
	b.WriteByte('\n')
	field := func(what, want, got string) {
		if meets(want, got) {
			fmt.Fprintf(b, "    %-8s %s\n", what, got)
			return
		}
		fmt.Fprintf(b, "  - %-8s %s\n  + %-8s %s\n", what, want, what, got)
	}
	field("outcome", c.Want, d.Outcome.String())
	field("step", c.Step, string(d.Step))
	field("code", c.Code, string(d.Code))
	if c.Role != "" || d.ApproverRole != "" {
		field("role", c.Role, d.ApproverRole)
	}
	fmt.Fprintf(b, "    %-8s %s\n", "reason", d.Reason)
}
