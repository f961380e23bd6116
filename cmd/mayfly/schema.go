package main

import "github.com/mayfly-run/mayfly/manifests"

type schemaCommand struct {
	Kind string `arg:"" optional:"" default:"tool" help:"tool or harness. Default tool."`
}

func (schemaCommand) Help() string {
	return `The schema lets an editor complete and check manifests while they are written. It accepts every manifest that Mayfly accepts; mayfly doctor checks more than a schema can say.

Examples:

  mayfly schema tool > tool.schema.json

  mayfly schema harness > harness.schema.json

Editors that use yaml-language-server read the schema of a file from its first line:

  # yaml-language-server: $schema=tool.schema.json

Exit codes: 0 done, 2 the command is wrong.`
}

func (c *schemaCommand) Run(p *process) error {
	kind, ok := map[string]string{"tool": manifests.KindTool, "harness": manifests.KindHarness}[c.Kind]
	if !ok {
		return usagef("there is no schema of %q: KIND is tool or harness", c.Kind)
	}
	return p.stdout.all([]byte(manifests.PublishedSchema(kind)))
}
