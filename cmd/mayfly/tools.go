package main

import (
	"github.com/mayfly-run/mayfly/manifests"
)

// toolsCommand holds the verbs about tools and their manifests.
type toolsCommand struct {
	List     toolsListCommand     `cmd:"" help:"List the tools of a harness."`
	Show     toolsShowCommand     `cmd:"" help:"Show a tool's manifest as it is in force."`
	Describe toolsDescribeCommand `cmd:"" help:"Write what a model is told of the tools."`
	Pin      toolsPinCommand      `cmd:"" help:"Write the digest of each tool's definition into its manifest."`
	Add      toolsAddCommand      `cmd:"" help:"Write a manifest from a Python function."`
}

// manifestExitCodes is in the help of the verbs that read manifests.
const manifestExitCodes = "\n\nExit codes: 0 done, 2 the command or a manifest is wrong, 4 something of Mayfly's own failed."

// pinState says in a word how a tool's pin stands.
func pinState(t *manifests.Tool) string {
	switch {
	case !t.Pinned():
		return "none"
	case t.PinMatches():
		return "ok"
	}
	return "mismatch"
}

// findTool finds a tool that a command names.
func findTool(set *manifests.Set, file, name string) (*manifests.Tool, error) {
	if t, ok := set.Tool(name); ok {
		return t, nil
	}
	return nil, usagef("%s has no tool of the name %q; mayfly tools list shows all", file, name)
}
