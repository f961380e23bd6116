package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	confine "github.com/mayfly-run/mayfly/sandbox/process"
)

// probeCommand tries what confines native programs here.
type probeCommand struct {
	JSON    bool     `name:"json" help:"Print one JSON object."`
	All     bool     `help:"Print every check, not only those that do not hold."`
	Read    []string `sep:"none" placeholder:"PATH" type:"path" help:"With a program: a file or directory that it may read. Repeatable."`
	Write   []string `sep:"none" placeholder:"PATH" type:"path" help:"With a program: a file or directory that it may write. Repeatable."`
	Network bool     `help:"With a program: it may use the network."`
	Process bool     `help:"With a program: it may start others."`
	Program []string `arg:"" optional:"" passthrough:"" placeholder:"-- PROGRAM ARGS" help:"Run this program confined, instead of the probe."`
}
