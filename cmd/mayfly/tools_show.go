package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/manifests"
)

type toolsShowCommand struct {
	Name string `arg:"" help:"The tool's name."`
	harnessFlag
	JSON bool `name:"json" help:"Print a JSON object."`
}

func (toolsShowCommand) Help() string {
	return `What is shown is the manifest as it is in force: where the harness limits what the manifest asks for, the tighter value. Fields at their defaults are left out.

Example:

  mayfly tools show refund_payment` + manifestExitCodes
}

// toolDetails is what "tools show --json" prints.
type toolDetails struct {
	Harness       string           `json:"harness"`
	File          string           `json:"file"`
	Line          int              `json:"line"`
	Digest        string           `json:"definition_digest"`
	Pin           string           `json:"pin"`
	EgressAllowed []manifests.Host `json:"egress_allowed"`
	Warnings      []problem        `json:"warnings"`
	Manifest      jsontext.Value   `json:"manifest"`
}

func (c *toolsShowCommand) Run(p *process) error {
	file, set, err := c.load(p)
	if err != nil {
		return err
	}
	t, err := findTool(set, file, c.Name)
	if err != nil {
		return err
	}
	d := toolDetails{
		Harness: file, File: t.Origin.File, Line: t.Origin.Line, Digest: t.Digest(), Pin: pinState(t),
		EgressAllowed: slices.Concat([]manifests.Host{}, t.Spec.EgressAllowed),
		Warnings:      []problem{},
	}
	for _, w := range set.Warnings {
		if w.Tool == c.Name {
			d.Warnings = append(d.Warnings, newWarning(w))
		}
	}
	if c.JSON {
		text, err := t.JSON()
		if err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
		d.Manifest = jsontext.Value(text)
		return p.stdout.object(d)
	}
	text, err := t.YAML()
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return p.stdout.guest(append(d.comment(t), text...))
}

// comment is what people want to know beside the manifest, as YAML comments so
// that the whole stays YAML.
func (d toolDetails) comment(t *manifests.Tool) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) {
		b.WriteString("# " + oneLine(fmt.Sprintf(format, args...)) + "\n")
	}
	if isBuiltIn(t.Metadata.Name) {
		line("part of this program, under %s", d.Harness)
	} else {
		line("%s:%d, under %s", d.File, d.Line, d.Harness)
	}
	switch d.Pin {
	case "ok":
		line("pinned")
	case "none":
		line("not pinned; its digest is %s", d.Digest)
	default:
		line("every call is blocked: the definition is not the pinned one, its digest is %s", d.Digest)
	}
	if !slices.Equal(t.Spec.Egress, d.EgressAllowed) {
		line("of its egress, the harness allows %v", d.EgressAllowed)
	}
	for _, w := range d.Warnings {
		line("warning: %s", w.text())
	}
	return b.Bytes()
}
