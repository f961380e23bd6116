package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/rows"
)

// argsFlag are a call's arguments: JSON, or @FILE.
type argsFlag string

// read gives the JSON. flag names it in messages, which hold no value.
func (a argsFlag) read(p *process, flag string) (sandbox.RawJSON, error) {
	file, isFile := strings.CutPrefix(string(a), "@")
	if !isFile {
		value, err := rows.ReadValue(strings.NewReader(string(a)), rows.Options{Name: flag})
		if err != nil {
			return nil, usagef("%w; arguments are a JSON object, or @ and the name of a file that holds it", err)
		}
		return value, nil
	}
	if file == "" {
		return nil, usagef("%s: the name of a file must follow the @; - is standard input", flag)
	}
	if file == "-" && term.IsTerminal(int(p.stdin.Fd())) {
		return nil, usagef("%s is @-, but standard input is a terminal; pipe the arguments in", flag)
	}
	return (&inputs{stdin: p.stdin}).jsonFile(file, flag)
}

// labelFlag is a mark of what a run has seen.
type labelFlag string

func (f *labelFlag) UnmarshalText(text []byte) error {
	switch s := strings.TrimSuffix(string(text), "_seen"); s {
	case "untrusted", "private":
		*f = labelFlag(s)
		return nil
	}
	return fmt.Errorf("%q is neither untrusted nor private", text)
}

func labels(flags []labelFlag) (l runtime.Labels) {
	for _, f := range flags {
		l.UntrustedSeen = l.UntrustedSeen || f == "untrusted"
		l.PrivateSeen = l.PrivateSeen || f == "private"
	}
	return l
}

// subjectFlags say on whose behalf a new run is.
type subjectFlags struct {
	Principal *string     `placeholder:"NAME" env:"MAYFLY_PRINCIPAL" help:"On whose behalf. Default: the user of this process."`
	Tenant    *string     `placeholder:"NAME" help:"For which tenant. Default: none."`
	Task      *string     `placeholder:"NAME" help:"For which of the harness's tasks. Default: none, with every tool granted."`
	Label     []labelFlag `sep:"none" placeholder:"LABEL" help:"What the run has seen: untrusted or private. Repeatable."`
}

func (f subjectFlags) config() runtime.RunConfig {
	c := runtime.RunConfig{Principal: thisUser(), Labels: labels(f.Label)}
	for flag, to := range map[**string]*string{&f.Principal: &c.Principal, &f.Tenant: &c.Tenant, &f.Task: &c.Task} {
		if *flag != nil {
			*to = **flag
		}
	}
	return c
}

// principalGiven says whether the command names the principal. One that stands
// in the environment is meant for new runs alone.
func (f subjectFlags) principalGiven() bool {
	return f.Principal != nil && *f.Principal != os.Getenv("MAYFLY_PRINCIPAL")
}

// checkRun checks that --run and the flags of a new run are not both given.
func (f subjectFlags) checkRun(id string) error {
	if id == "" {
		return usagef("--run: the ID of a run must follow; mayfly runs list shows all")
	}
	if f.principalGiven() || f.Tenant != nil || f.Task != nil {
		return usagef("--principal, --tenant and --task are for a new run; run %s has its own", id)
	}
	return nil
}

// runOf gives the run that an approval is of: the only one that can use it.
func (f subjectFlags) runOf(ctx context.Context, rt *runtime.Runtime, approval string) (string, error) {
	a, err := rt.Approval(ctx, approval)
	if err != nil {
		return "", approvalError(approval, err)
	}
	return a.RunID, f.checkRun(a.RunID)
}

// thisUser is the name of the user of this process, or nothing.
func thisUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// callFlags are what call and authorize share.
type callFlags struct {
	Tool  string    `arg:"" help:"The tool's name."`
	Args  *argsFlag `placeholder:"JSON|@FILE" help:"The arguments, a JSON object, or @ and the file that holds it; @- is standard input. Default {}."`
	RunID *string   `name:"run" placeholder:"ID" help:"The run that the call belongs to. Default: that of --approval, else a new one."`
	subjectFlags
	Approval string `placeholder:"ID" help:"The approval that the call resumes."`
	JSON     bool   `name:"json" help:"Print one JSON object."`
	testModeFlag
	runtimeFlags
}

// testModeFlag is for the verbs that can call out.
type testModeFlag struct {
	TestMode bool `env:"MAYFLY_TEST_MODE" help:"Send nothing to other machines: http tools and tools with a network are unavailable, and a judge behind a URL is not asked."`
}

// call gives what is to be called.
func (f *callFlags) call(p *process) (c runtime.Call, err error) {
	f.testMode = f.TestMode
	c = runtime.Call{Tool: f.Tool, Approval: f.Approval}
	if f.RunID != nil {
		if err := f.checkRun(*f.RunID); err != nil {
			return c, err
		}
		c.RunID = *f.RunID
	}
	if f.Args != nil {
		c.Args, err = f.Args.read(p, "--args")
	}
	return c, err
}

// stamp is a time as it is printed.
func stamp(t time.Time) string { return wire.Stamp(t) }
