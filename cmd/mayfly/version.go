package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what this program calls itself. The last released version is the
// newest one of CHANGELOG.md.
const version = "0.1.0-dev"

type versionCommand struct {
	JSON bool `name:"json" help:"Print a JSON object."`
}

func (versionCommand) Help() string {
	return `Example:

  mayfly version --json

Exit codes: 0 done, 2 the command is wrong.`
}

// versionInfo is what "version --json" prints.
type versionInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Wazero  string `json:"wazero"`
}

func (c *versionCommand) Run(p *process) error {
	info := versionInfo{
		Version: version,
		Go:      runtime.Version(),
		OS:      runtime.GOOS,
		Arch:    runtime.GOARCH,
		Wazero:  moduleVersion("github.com/tetratelabs/wazero"),
	}
	if c.JSON {
		return p.stdout.object(info)
	}
	return p.stdout.all(fmt.Appendf(nil, "mayfly %s (%s, %s/%s, wazero %s)\n", info.Version, info.Go, info.OS, info.Arch, info.Wazero))
}

// moduleVersion is the version of a module that was built into this program.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				if m.Replace != nil {
					m = m.Replace
				}
				return m.Version
			}
		}
	}
	return "unknown"
}
