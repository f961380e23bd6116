package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

type doctorCommand struct {
	harnessFlag
	JSON bool `name:"json" help:"Print a JSON object."`
	cacheFlag
}

func (doctorCommand) Help() string {
	return `The manifests are loaded as they are for a call, and everything that is wrong with them, or deserves a look, is printed with its place. Then comes what this machine can do, found out by trying: what confines native tools is what mayfly probe finds. Without a harness only the machine is looked at.

Example:

  mayfly doctor --json

Exit codes: 0 nothing is in the way, 1 something is: an error, a tool that differs from its pin, or an interpreter that is missing; 2 the command is wrong, 4 something of Mayfly's own failed.`
}

// diagnosis is what "doctor --json" prints.
type diagnosis struct {
	OK      bool           `json:"ok"`
	Harness *harnessHealth `json:"harness"` // null when there is none
	Machine machineHealth  `json:"machine"`
}

type harnessHealth struct {
	File     string    `json:"file"`
	Tools    int       `json:"tools"`
	Problems []problem `json:"problems"`
	Unpinned []missing `json:"unpinned"`
	// Uncallable are tools that can be decided on, but not called here.
	Uncallable []string `json:"uncallable"`
	// Store is null when the manifests have errors.
	Store *storeHealth `json:"store"`
}

// missing is a pin that is to be added.
type missing struct {
	Tool string `json:"tool"`
	File string `json:"file"`
	Line string `json:"line_to_add"`
}

func (c *doctorCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	dir := c.dir(&progress{}) // where there is none, the report says so
	d := diagnosis{OK: true, Machine: examineMachine(ctx, dir, p.native)}
	file, err := c.find(p)
	switch {
	case err == nil:
		d.Harness = examine(ctx, file, d.Machine.Native)
	case !errors.Is(err, errNoHarness):
		return err
	}
	d.OK = !d.Machine.fails() && (d.Harness == nil || !d.Harness.fails())
	if c.JSON {
		err = p.stdout.object(d)
	} else {
		err = p.stdout.guest([]byte(d.text()))
	}
	if err == nil && !d.OK {
		err = exitRaised
	}
	return err
}

// examine loads a harness and tells what is wrong.
func examine(ctx context.Context, file string, native nativeHealth) *harnessHealth {
	h := &harnessHealth{File: file, Problems: []problem{}, Unpinned: []missing{}, Uncallable: []string{}}
	set, err := loadHarness(file)
	if errs, ok := errors.AsType[manifests.Errors](err); ok {
		for _, e := range errs {
			h.Problems = append(h.Problems, newError(e))
		}
		return h
	}
	for _, t := range set.Tools() {
		if !isBuiltIn(t.Metadata.Name) {
			h.Tools++
		}
		if !callable(set.Harness, t, native.allows(set.Harness)) {
			h.Uncallable = append(h.Uncallable, t.Metadata.Name)
		}
		if t.Spec.Transport == manifests.TransportNative && !native.allows(set.Harness) {
			h.Problems = append(h.Problems, newConfinementError(t, native))
		}
		if err := errors.Join(runtime.FindHandler(t), runtime.FindSettings(set.Harness, t, os.LookupEnv)); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				h.Problems = append(h.Problems, newMissingWarning(t, line))
			}
		}
	}
	h.Problems = append(h.Problems, spanProblems(file, set.Harness)...)
	if err := checkExpressions(set); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			h.Problems = append(h.Problems, newExpressionError(line))
		}
	}
	if j := set.Harness.Tools.Judge; j != nil {
		if err := runtime.FindHeaders(j.HeadersEnv, os.LookupEnv); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				message := "nothing can be called as long as it is so: the judge: " + line
				h.Problems = append(h.Problems, problem{Level: "error", Fails: true, File: file, Pointer: "/spec/tools/judge", Code: "not_here", Message: message, full: file + ": " + message + " (not_here)"})
			}
		}
	}
	for _, w := range set.Warnings {
		if isBuiltIn(w.Tool) {
			continue
		}
		if w.Code != manifests.WarnUnpinned {
			h.Problems = append(h.Problems, newWarning(w))
			continue
		}
		if t, ok := set.Tool(w.Tool); ok {
			h.Unpinned = append(h.Unpinned, missing{w.Tool, w.File, fmt.Sprintf(`definition_digest: "%s"`, t.Digest())})
		}
	}
	h.Store = examineStore(ctx, set.Harness)
	return h
}

// callable reports whether this program can reach a tool here; native: whether
// native tools can be confined.
func callable(h *manifests.Harness, t *manifests.Tool, native bool) bool {
	switch t.Spec.Transport {
	case manifests.TransportMCP:
		_, known := h.MCPServer(t)
		return known
	case manifests.TransportNative:
		return native
	case manifests.TransportHTTP:
		return true
	case manifests.TransportCode:
		return slices.Contains(guests.Names(), t.Spec.Sandbox.Guest())
	}
	return false
}

func (h *harnessHealth) fails() bool {
	for _, p := range h.Problems {
		if p.Fails {
			return true
		}
	}
	return h.Store != nil && h.Store.Problem != ""
}

// text is the report for people.
func (d diagnosis) text() string {
	var b strings.Builder
	if h := d.Harness; h == nil {
		fmt.Fprintf(&b, "harness: none; %v\n", errNoHarness)
	} else {
		h.text(&b)
	}
	d.Machine.text(&b)
	return b.String()
}

func (h *harnessHealth) text(b *strings.Builder) {
	errs, warnings := 0, 0
	for _, p := range h.Problems {
		if p.Level == "error" {
			errs++
		} else {
			warnings++
		}
	}
	if errs > 0 {
		fmt.Fprintf(b, "harness: %s cannot be used: %s\n", h.File, count(errs, "error"))
	} else {
		fmt.Fprintf(b, "harness: %s, %s, %s\n", h.File, count(h.Tools, "tool"), count(warnings, "warning"))
	}
	for _, p := range h.Problems {
		level := p.Level
		if level == "warning" && p.Fails {
			level = "failure"
		}
		fmt.Fprintf(b, "  %s: %s\n", level, oneLine(p.text()))
	}
	if len(h.Unpinned) > 0 {
		fmt.Fprintf(b, "  %s not pinned; add the line below spec, or run mayfly tools pin:\n", count(len(h.Unpinned), "tool"))
	}
	for _, m := range h.Unpinned {
		fmt.Fprintf(b, "    %s: %s\n      %s\n", oneLine(m.File), m.Tool, m.Line)
	}
	if len(h.Uncallable) > 0 {
		fmt.Fprintf(b, "  %s that can be decided on, but not called here: %s\n", count(len(h.Uncallable), "tool"), oneLine(strings.Join(h.Uncallable, ", ")))
	}
	if h.Store != nil {
		fmt.Fprintf(b, "  store: %s\n", oneLine(h.Store.text()))
	}
}

// count says how many of something there are.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
