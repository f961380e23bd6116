package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// runsCommand holds the verbs about runs.
type runsCommand struct {
	Start  runsStartCommand  `cmd:"" help:"Start a run and print its ID."`
	List   runsListCommand   `cmd:"" help:"List runs, the newest first."`
	Show   runsShowCommand   `cmd:"" help:"Show a run: its labels, grants, approvals and effects."`
	Labels runsLabelsCommand `cmd:"" help:"Show a run's labels, or add to them."`
	Grant  runsGrantCommand  `cmd:"" help:"Let a run call tools."`
	Revoke runsRevokeCommand `cmd:"" help:"Take tools from a run."`
}

// runError says which run an error is about.
func runError(id string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return usagef("there is no run %q; mayfly runs list shows all", id)
	}
	return err
}

// startError says whose fault it is that a run cannot be started: the store's,
// where it could not be written, else the command's.
func startError(err error) error {
	for _, ours := range []error{store.ErrBusy, store.ErrFull, store.ErrIO, store.ErrCorrupt, store.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ours) {
			return err
		}
	}
	return &usageError{err}
}

type runsStartCommand struct {
	ID string `placeholder:"ID" help:"The run's ID. Default: a new random one."`
	subjectFlags
	Tool []string `sep:"none" placeholder:"NAME" help:"Grant this tool. Repeatable. Default: the task's tools, without a task all."`
	TTL  ttlFlag  `name:"ttl" placeholder:"DURATION" help:"How long the run lasts. Default: for ever."`
	JSON bool     `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (runsStartCommand) Help() string {
	return `Example:

  run=$(mayfly runs start --task support --principal ada --ttl 1h)

  mayfly call find_order --run "$run" --args '{"order":"A-1001"}'` + manifestExitCodes
}

func (c *runsStartCommand) Run(p *process) error {
	config := c.config()
	config.ID, config.Tools, config.TTL = c.ID, c.Tool, time.Duration(c.TTL)
	return c.with(p, useToDecide, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		if path := storePath(rt.Manifests().Harness); path == "" {
			return usagef("%s keeps its store in memory, so that the run would end with this command", file)
		}
		r, err := rt.StartRun(ctx, config)
		if err != nil {
			return startError(err)
		}
		if c.JSON {
			return p.stdout.object(wire.NewRun(r))
		}
		return p.stdout.guest([]byte(r.ID + "\n"))
	})
}

type runsListCommand struct {
	Principal string    `placeholder:"NAME" help:"Only runs on behalf of this principal."`
	Tenant    string    `placeholder:"NAME" help:"Only runs for this tenant."`
	Task      string    `placeholder:"NAME" help:"Only runs for this task."`
	Limit     limitFlag `placeholder:"N" help:"How many at most, 1 to 1000. Default 100."`
	JSON      bool      `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (runsListCommand) Help() string {
	return `Example:

  mayfly runs list --task support` + manifestExitCodes
}

// runList is what "runs list --json" prints.
type runList struct {
	Harness string     `json:"harness"`
	Runs    []wire.Run `json:"runs"`
}

func (c *runsListCommand) Run(p *process) error {
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		runs, err := rt.Runs(ctx, runtime.RunFilter{Principal: c.Principal, Tenant: c.Tenant, Task: c.Task, Limit: int(c.Limit)})
		if err != nil {
			return err
		}
		list := runList{Harness: file, Runs: []wire.Run{}}
		var rows [][]string
		for _, r := range runs {
			j := wire.NewRun(r)
			list.Runs = append(list.Runs, j)
			rows = append(rows, []string{j.ID, dash(j.Principal), dash(j.Tenant), dash(j.Task), fmt.Sprint(j.Calls), dash(strings.Join(j.Labels, ",")), j.Created, dash(j.Expires)})
		}
		if c.JSON {
			return p.stdout.object(list)
		}
		if len(rows) == 0 {
			p.stderr.note("there are none")
			return nil
		}
		return p.stdout.table([]string{"ID", "PRINCIPAL", "TENANT", "TASK", "CALLS", "LABELS", "CREATED", "EXPIRES"}, rows)
	})
}

type runsShowCommand struct {
	ID   string `arg:"" help:"The run's ID."`
	JSON bool   `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (runsShowCommand) Help() string {
	return `Example:

  mayfly runs show BEP5LRAYKSWDGOFZ3QZSWTDUAU --json` + manifestExitCodes
}

// runDetails is what "runs show --json" prints.
type runDetails struct {
	wire.RunDetails `json:",inline"`
}

func (c *runsShowCommand) Run(p *process) error {
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		d, err := c.details(ctx, rt)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.stdout.object(d)
		}
		return p.stdout.all(d.text())
	})
}

func (c *runsShowCommand) details(ctx context.Context, rt *runtime.Runtime) (d runDetails, err error) {
	r, err := rt.Run(ctx, c.ID)
	if err != nil {
		return d, runError(c.ID, err)
	}
	d.RunDetails, err = wire.NewRunDetails(ctx, rt, r)
	return d, err
}

func (d runDetails) text() []byte {
	var b bytes.Buffer
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", label, oneLine(fmt.Sprintf(format, args...)))
	}
	line("run", "%s", d.ID)
	line("principal", "%s", dash(d.Principal))
	line("tenant", "%s", dash(d.Tenant))
	line("task", "%s", dash(d.Task))
	line("labels", "%s", dash(strings.Join(d.Labels, ", ")))
	line("calls", "%d", d.Calls)
	line("created", "%s", d.Created)
	if d.Expires != "" {
		line("expires", "%s", d.Expires)
	}
	for _, g := range d.Grants {
		state := "holds"
		switch {
		case g.Revoked != "":
			state = "revoked " + g.Revoked
		case !g.Active:
			state = "expired " + g.Expires
		case g.Expires != "":
			state = "until " + g.Expires
		}
		line("grant", "%s, %s", g.Tool, state)
	}
	for _, a := range d.Approvals {
		line("approval", "%s, %s, %s", a.ID, a.Tool, a.State)
	}
	for _, e := range d.Effects {
		line("effect", "%s, %s, begun %s, call %s", e.Tool, e.State, e.Begun, e.Call)
	}
	return b.Bytes()
}

type runsLabelsCommand struct {
	ID   string      `arg:"" help:"The run's ID."`
	Add  []labelFlag `sep:"none" placeholder:"LABEL" help:"Mark the run: untrusted or private. Repeatable. A mark cannot be taken off."`
	JSON bool        `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (runsLabelsCommand) Help() string {
	return `Example:

  mayfly runs labels BEP5LRAYKSWDGOFZ3QZSWTDUAU --add untrusted` + manifestExitCodes
}

// runLabels is what "runs labels --json" prints.
type runLabels struct {
	ID     string   `json:"id"`
	Labels []string `json:"labels"`
}

func (c *runsLabelsCommand) Run(p *process) error {
	use := useToLook
	if len(c.Add) > 0 {
		use = useToDecide
	}
	return c.with(p, use, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		if len(c.Add) > 0 {
			if err := rt.AddLabels(ctx, c.ID, labels(c.Add)); err != nil {
				return runError(c.ID, err)
			}
		}
		r, err := rt.Run(ctx, c.ID)
		if err != nil {
			return runError(c.ID, err)
		}
		l := runLabels{ID: r.ID, Labels: wire.LabelNames(r.Labels)}
		if c.JSON {
			return p.stdout.object(l)
		}
		for _, name := range l.Labels {
			if err := p.stdout.all([]byte(name + "\n")); err != nil {
				return err
			}
		}
		return nil
	})
}
