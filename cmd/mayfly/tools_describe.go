package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
)

type toolsDescribeCommand struct {
	Names []string `arg:"" optional:"" name:"name" help:"The tools. Default: all that may be called."`
	harnessFlag
	Format describeFormat `default:"table" enum:"table,json,openai,anthropic,mcp" help:"table, json, openai (the tools of a chat completion), anthropic (the tools of a message) or mcp (the result of tools/list)."`
	Task   *string        `placeholder:"NAME" help:"Only the tools that runs of this task are given."`
	Tenant *string        `placeholder:"NAME" help:"Only the tools that are enabled for this tenant."`
}

func (toolsDescribeCommand) Help() string {
	return `The descriptions are made from the records that calls are checked against, so that a model is never told of an argument that a call would be refused for. Tools that no one may call, because they are disabled or differ from their pin, are left out; naming one is an error.

Example:

  mayfly tools describe --task support --format anthropic > tools.json` + manifestExitCodes
}

func (c *toolsDescribeCommand) Run(p *process) error {
	file, set, err := c.load(p)
	if err != nil {
		return err
	}
	tools, err := c.choose(p, file, set)
	if err != nil {
		return err
	}
	return c.Format.write(p.stdout, tools)
}

// choose gives the tools that are to be described, by name.
func (c *toolsDescribeCommand) choose(p *process, file string, set *manifests.Set) ([]*manifests.Tool, error) {
	var task *manifests.Task
	if c.Task != nil {
		t, ok := set.Harness.Tasks[*c.Task]
		if !ok {
			return nil, usagef("%s has no task of the name %q", file, *c.Task)
		}
		task = &t
	}
	var chosen []*manifests.Tool
	if len(c.Names) > 0 {
		var errs []error
		for _, name := range slices.Compact(slices.Sorted(slices.Values(c.Names))) {
			t, err := findTool(set, file, name)
			if err == nil {
				if why := c.hidden(t, task); why != "" {
					err = usagef("%s is not described: %s", name, why)
				}
			}
			errs = append(errs, err)
			chosen = append(chosen, t)
		}
		return chosen, errors.Join(errs...)
	}
	for _, t := range set.Tools() {
		if isBuiltIn(t.Metadata.Name) {
			continue
		}
		why := c.hidden(t, task)
		if why == "" {
			chosen = append(chosen, t)
		} else if t.Spec.Enabled && why != notInTask && why != notForTenant {
			p.stderr.note("%s is left out: %s", t.Metadata.Name, why)
		}
	}
	return chosen, nil
}

const (
	notInTask    = "the task does not have it"
	notForTenant = "it is not enabled for the tenant"
)

// hidden says why a model is not told of a tool; empty: it is.
func (c *toolsDescribeCommand) hidden(t *manifests.Tool, task *manifests.Task) string {
	switch {
	case task != nil && task.Tools != nil && !slices.Contains(task.Tools, t.Metadata.Name):
		return notInTask
	case c.Tenant != nil && !t.EnabledFor(*c.Tenant):
		return notForTenant
	case !t.Spec.Enabled:
		return "it is disabled, so that every call would be blocked"
	case !t.PinMatches():
		return "its definition is not the pinned one, so that every call would be blocked"
	}
	return ""
}

// describeFormat is the shape of an API's list of tools.
type describeFormat string

func (f describeFormat) write(o output, tools []*manifests.Tool) error {
	if f == "table" {
		return describeTable(o, tools)
	}
	v, err := f.shape(tools)
	if err != nil {
		return err
	}
	return o.document(v)
}

// shape gives the value that is written as JSON.
func (f describeFormat) shape(tools []*manifests.Tool) (any, error) {
	switch f {
	case "openai":
		return describeAll(tools, openAIRules, newOpenAITool)
	case "anthropic":
		return describeAll(tools, anthropicRules, newAnthropicTool)
	case "mcp":
		list, err := describeAll(tools, mcpRules, newMCPTool)
		return mcpList{list}, err
	}
	list, err := describeAll(tools, apiRules{}, newPlainTool)
	return plainList{list}, err
}

// describeAll describes each tool for an API, and gives every reason why the
// API would refuse the list.
func describeAll[T any](tools []*manifests.Tool, rules apiRules, describe func(*manifests.Tool) (T, error)) ([]T, error) {
	list := []T{}
	var errs []error
	for _, t := range tools {
		if err := rules.check(t); err != nil {
			errs = append(errs, err)
			continue
		}
		one, err := describe(t)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", t.Metadata.Name, err)
		}
		list = append(list, one)
	}
	return list, errors.Join(errs...)
}

// describeTable shows for each tool its arguments.
func describeTable(o output, tools []*manifests.Tool) error {
	var rows [][]string
	for _, t := range tools {
		rows = append(rows, []string{t.Metadata.Name, arguments(t), t.Spec.Description})
	}
	return o.table([]string{"NAME", "ARGUMENTS", "DESCRIPTION"}, rows)
}

// arguments lists the names of a tool's arguments; those that may be left out
// have a question mark.
func arguments(t *manifests.Tool) string {
	properties, _ := t.Spec.InputSchema["properties"].(map[string]any)
	required, _ := t.Spec.InputSchema["required"].([]any)
	var must, may []string
	for name := range properties {
		if slices.Contains(required, any(name)) {
			must = append(must, name)
		} else {
			may = append(may, name+"?")
		}
	}
	slices.Sort(must)
	slices.Sort(may)
	return dash(strings.Join(append(must, may...), ", "))
}
