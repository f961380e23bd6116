package main

import (
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
)

type toolsListCommand struct {
	harnessFlag
	JSON bool `name:"json" help:"Print a JSON object."`
}

func (toolsListCommand) Help() string {
	return `Example:

  mayfly tools list --json` + manifestExitCodes
}

// toolList is what "tools list --json" prints.
type toolList struct {
	Harness string     `json:"harness"`
	Tools   []toolLine `json:"tools"`
}

type toolLine struct {
	Name        string               `json:"name"`
	Version     string               `json:"version,omitzero"`
	Owner       string               `json:"owner,omitzero"`
	Transport   manifests.Transport  `json:"transport"`
	SideEffect  manifests.SideEffect `json:"side_effect"`
	Risk        manifests.Risk       `json:"risk"`
	Egress      []manifests.Host     `json:"egress"`
	Tenants     []string             `json:"tenants"`
	Enabled     bool                 `json:"enabled"`
	Pin         string               `json:"pin"` // ok, none or mismatch
	Digest      string               `json:"definition_digest"`
	Description string               `json:"description"`
	File        string               `json:"file"`
	Line        int                  `json:"line"`
}

func newToolLine(t *manifests.Tool) toolLine {
	return toolLine{
		Name: t.Metadata.Name, Version: t.Metadata.Version, Owner: t.Metadata.Owner,
		Transport: t.Spec.Transport, SideEffect: t.Spec.SideEffect, Risk: t.Spec.Risk,
		Egress:  slices.Concat([]manifests.Host{}, t.Spec.EgressAllowed),
		Tenants: slices.Concat([]string{}, t.Spec.Tenants),
		Enabled: t.Spec.Enabled, Pin: pinState(t), Digest: t.Digest(),
		Description: t.Spec.Description, File: t.Origin.File, Line: t.Origin.Line,
	}
}

func (c *toolsListCommand) Run(p *process) error {
	file, set, err := c.load(p)
	if err != nil {
		return err
	}
	list := toolList{Harness: file, Tools: []toolLine{}}
	for _, t := range set.Tools() {
		if isBuiltIn(t.Metadata.Name) {
			continue // tools show has it; it is of no harness
		}
		list.Tools = append(list.Tools, newToolLine(t))
	}
	if c.JSON {
		return p.stdout.object(list)
	}
	if len(list.Tools) == 0 {
		p.stderr.note("%s has no tools; mayfly tools add writes a manifest, tools.manifests names the files", file)
		return nil
	}
	var rows [][]string
	for _, t := range list.Tools {
		rows = append(rows, []string{
			t.Name, dash(t.Version), string(t.Transport), string(t.SideEffect), string(t.Risk), t.Pin, t.state(),
			shorten(t.Description, 60),
		})
	}
	return p.stdout.table([]string{"NAME", "VERSION", "TRANSPORT", "SIDE EFFECT", "RISK", "PIN", "CALLS", "DESCRIPTION"}, rows)
}

// state says who can call the tool.
func (t toolLine) state() string {
	switch {
	case !t.Enabled:
		return "disabled"
	case t.Pin == "mismatch":
		return "blocked"
	case len(t.Tenants) > 0:
		return strings.Join(t.Tenants, ",")
	}
	return "all"
}
