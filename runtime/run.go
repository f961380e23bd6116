package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// Run is one admitted piece of work, on whose behalf tools are called.
type Run = store.Run

// Labels are a run's sticky marks.
type Labels = store.Labels

// RunFilter chooses runs.
type RunFilter = store.RunFilter

// Grant lets a run call a tool.
type Grant = store.Grant

// RunConfig is a run to be started.
type RunConfig struct {
	// ID names it. Default: a new random one.
	ID string
	// Principal, Tenant and Task say on whose behalf it runs, and for what. A
	// Task must be one of the harness's.
	Principal, Tenant, Task string
	// Labels say what has entered already.
	Labels Labels
	// Tools are what the run is granted. nil: the task's tools, and without a
	// task all of them but [ExecTool]; empty: none.
	Tools []string
	// TTL is how long run and grants hold. Default: for ever.
	TTL time.Duration
}

// StartRun admits a run and grants it its tools: a tool that is known but not
// granted cannot be called in it.
func (r *Runtime) StartRun(ctx context.Context, c RunConfig) (Run, error) {
	run := Run{ID: c.ID, Principal: c.Principal, Tenant: c.Tenant, Task: c.Task, Labels: c.Labels, Created: r.now()}
	if run.ID == "" {
		run.ID = newID()
	}
	if c.TTL < 0 {
		return Run{}, fmt.Errorf("start run: a negative TTL")
	}
	if c.TTL > 0 {
		run.Expires = run.Created.Add(c.TTL)
	}
	tools, err := r.granted(c)
	if err != nil {
		return Run{}, fmt.Errorf("start run: %w", err)
	}
	if err := r.store.CreateRun(ctx, run); err != nil {
		return Run{}, fmt.Errorf("start run: %w", err)
	}
	for _, name := range tools {
		g := Grant{RunID: run.ID, Tool: name, Granted: run.Created, Expires: run.Expires}
		if err := r.store.Grant(ctx, g); err != nil {
			return Run{}, fmt.Errorf("start run: grant %s: %w", name, err)
		}
	}
	return run, nil
}

// granted lists the tools that a new run is given.
func (r *Runtime) granted(c RunConfig) ([]string, error) {
	tools := c.Tools
	task, known := r.set.Harness.Tasks[c.Task]
	if c.Task != "" && !known {
		return nil, fmt.Errorf("the harness has no task %q", c.Task)
	}
	if tools == nil && known {
		tools = task.Tools
	}
	if tools == nil {
		for _, t := range r.set.Tools() {
			// The code of a run's tools can call what the run is granted, and the
			// limits of exec are wider than those of any of them.
			if t.Metadata.Name != ExecTool {
				tools = append(tools, t.Metadata.Name)
			}
		}
	}
	for _, name := range tools {
		if _, ok := r.set.Tool(name); !ok {
			return nil, fmt.Errorf("there is no tool %q", name)
		}
		if known && task.Tools != nil && !slices.Contains(task.Tools, name) {
			return nil, fmt.Errorf("the task %s does not give the tool %s", c.Task, name)
		}
	}
	return tools, nil
}

// Run gives a run as it stands.
func (r *Runtime) Run(ctx context.Context, id string) (Run, error) { return r.store.Run(ctx, id) }

// Runs gives runs, the newest first.
func (r *Runtime) Runs(ctx context.Context, f RunFilter) ([]Run, error) { return r.store.Runs(ctx, f) }

// AddLabels marks a run. Marks are never taken off.
func (r *Runtime) AddLabels(ctx context.Context, id string, l Labels) error {
	return r.store.AddLabels(ctx, id, l)
}

// Grant lets a run call one more tool, until expires (zero: as long as the run
// lasts).
func (r *Runtime) Grant(ctx context.Context, runID, tool, by string, expires time.Time) error {
	if _, ok := r.set.Tool(tool); !ok {
		return fmt.Errorf("grant: there is no tool %q", tool)
	}
	return r.store.Grant(ctx, Grant{RunID: runID, Tool: tool, By: by, Granted: r.now(), Expires: expires})
}

// Revoke takes a tool from a run, every tool if tool is empty. It holds for
// the next decision on, also for calls that wait for approval or were approved.
func (r *Runtime) Revoke(ctx context.Context, runID, tool string) error {
	return r.store.Revoke(ctx, runID, tool, r.now())
}

// Grants gives what a run was granted, also what has expired or was revoked.
func (r *Runtime) Grants(ctx context.Context, runID string) ([]Grant, error) {
	return r.store.Grants(ctx, runID)
}

// Bound gives the tools that a run is granted now, by name: known, and not
// expired or revoked. The governor may stop a call of one all the same.
func (r *Runtime) Bound(ctx context.Context, runID string) ([]*manifests.Tool, error) {
	grants, err := r.store.Grants(ctx, runID)
	if err != nil {
		return nil, err
	}
	now := r.now()
	active := make(map[string]bool)
	for _, g := range grants {
		if g.Active(now) {
			active[g.Tool] = true
		}
	}
	return slices.DeleteFunc(r.set.Tools(), func(t *manifests.Tool) bool { return !active[t.Metadata.Name] }), nil
}

// Reaches reports whether this host has a way to call a tool at all.
func (r *Runtime) Reaches(t *manifests.Tool) bool {
	switch via := r.transports[t.Spec.Transport].(type) {
	case missing:
		return false
	case upstream:
		_, known := via.harness.MCPServer(t)
		return known
	}
	return true
}
