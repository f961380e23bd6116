package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
	confined "github.com/mayfly-run/mayfly/sandbox/process"
)

// probeCommand tries what confines native programs here.
type probeCommand struct {
	JSON    bool       `name:"json" help:"Print one JSON object."`
	All     bool       `help:"Print every check, not only what each layer's say together."`
	Read    []fileFlag `sep:"none" placeholder:"PATH" help:"With a program: a file or directory that it may read. Repeatable."`
	Write   []fileFlag `sep:"none" placeholder:"PATH" help:"With a program: a file or directory that it may write. Repeatable."`
	Exec    []fileFlag `sep:"none" placeholder:"PATH" help:"With a program: a file that it may execute, beside its own. Repeatable."`
	Network bool       `help:"With a program: it may use the network, all of it."`
	Process bool       `help:"With a program: it may start others."`
	Program []string   `arg:"" optional:"" help:"Behind --: a program and its arguments, to be run confined instead of the probe."`
}

func (probeCommand) Help() string {
	return `Native tools run in processes that the kernel confines. This command finds out what of that holds here, by trying: a program of Mayfly's own runs in each of the two ways, as a tool does and as on a host without namespaces, and tries what must be refused and what must work. The host is looked at for what it has left behind. Nothing is concluded from versions.

With a program behind --, that one runs instead, confined like the handler of a tool with the grants of the flags, and what confined it is said.

Examples:

  mayfly probe

  mayfly probe --all --json

  mayfly probe --read /etc/ssl -- python3 -c 'import os; print(os.listdir("/"), os.getuid())'

With --json: {ok, os, arch, kernel, user, tiers}, user being root or ordinary. Each of tiers, named namespaces and without_namespaces, has required, verdict, problem, missing_layer and remedy (where nothing could be run), landlock_abi, cgroup_version, layers ({layer, verdict, checks, failed, remedy}) and checks ({layer, check, verdict, tried, seen}). Verdicts are holds, does_not_hold, not_here and not_tried. Of a program: {status, exit_code, signal, error, stdout, stderr, truncated, layers, missing, landlock_abi, cgroup_version, uid}. What is empty may be left out; names keep their meaning, and more may be added.

Exit codes: 0 everything that native tools require holds, 1 something does not, 2 the command is wrong, 4 something of Mayfly's own failed. With a program: 0 it ended with 0, 1 it did not, 3 a limit ended it, 4 it could not be confined and was not run.`
}

func (c *probeCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	var err error
	if len(c.Program) > 0 {
		err = c.program(ctx, p)
	} else if len(c.Read) > 0 || len(c.Write) > 0 || len(c.Exec) > 0 || c.Network || c.Process {
		err = usagef("--read, --write, --exec, --network and --process are for a program, which follows --")
	} else {
		err = c.probe(ctx, p)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// probeJSON is what "probe --json" prints.
type probeJSON struct {
	// OK: what native tools require holds.
	OK     bool   `json:"ok"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitzero"`
	// User is root, or ordinary.
	User  string     `json:"user"`
	Tiers []tierJSON `json:"tiers"`
}

// tierJSON is one way to confine programs.
type tierJSON struct {
	Name     string           `json:"name"` // namespaces, or without_namespaces
	Required bool             `json:"required"`
	Verdict  confined.Verdict `json:"verdict"`
	// Of a way that nothing could be run in.
	Problem string         `json:"problem,omitzero"`
	Missing confined.Layer `json:"missing_layer,omitzero"`
	Remedy  string         `json:"remedy,omitzero"`

	LandlockABI int         `json:"landlock_abi,omitzero"`
	Cgroup      int         `json:"cgroup_version,omitzero"`
	Layers      []layerJSON `json:"layers"`
	Checks      []checkJSON `json:"checks"`
}

// layerJSON is what the checks of a layer say together.
type layerJSON struct {
	Layer   confined.Layer   `json:"layer"`
	Verdict confined.Verdict `json:"verdict"`
	Checks  int              `json:"checks"`
	Failed  []string         `json:"failed,omitzero"`
	Remedy  string           `json:"remedy,omitzero"`
}

type checkJSON struct {
	Layer   confined.Layer   `json:"layer"`
	Check   string           `json:"check"`
	Verdict confined.Verdict `json:"verdict"`
	Tried   string           `json:"tried"`
	Seen    string           `json:"seen"`
}

func newProbe(r *confined.Report) probeJSON {
	j := probeJSON{OK: r.OK(), OS: goruntime.GOOS, Arch: goruntime.GOARCH, Kernel: kernelVersion(), User: "ordinary", Tiers: []tierJSON{}}
	if r.Root {
		j.User = "root"
	}
	for i := range r.Tiers {
		j.Tiers = append(j.Tiers, newTier(&r.Tiers[i]))
	}
	return j
}

func newTier(t *confined.Tier) tierJSON {
	j := tierJSON{
		Name: t.Name, Required: t.Required, Verdict: confined.Fails, Problem: t.Problem, Missing: t.Layer, Remedy: t.Remedy,
		LandlockABI: t.Enforced.LandlockABI, Cgroup: t.Enforced.Cgroup, Layers: []layerJSON{}, Checks: []checkJSON{},
	}
	switch {
	case t.Holds():
		j.Verdict = confined.Holds
	case t.Layer != "":
		j.Verdict = confined.Absent
	case t.Problem != "":
		j.Verdict = confined.Untried
	}
	for _, l := range t.Layers() {
		layer := layerJSON{Layer: l, Verdict: t.Verdict(l)}
		for _, c := range t.Checks {
			if c.Layer != l {
				continue
			}
			layer.Checks++
			if c.Verdict == confined.Fails {
				layer.Failed = append(layer.Failed, c.Name)
			}
		}
		if layer.Verdict == confined.Fails || layer.Verdict == confined.Absent {
			layer.Remedy = remedies[l]
		}
		j.Layers = append(j.Layers, layer)
	}
	for _, c := range t.Checks {
		j.Checks = append(j.Checks, checkJSON{c.Layer, c.Name, c.Verdict, c.Tried, c.Seen})
	}
	return j
}

// remedies say what to do where a layer is not there, or does not hold.
var remedies = map[confined.Layer]string{
	confined.LayerCgroup:    "give mayfly a control group of its own with the controllers memory and pids (systemd: Delegate=yes); until then each process is bounded, not the call as a whole",
	confined.LayerProc:      "nothing is lost but /proc itself; a container that hides parts of its /proc does not allow another one",
	confined.LayerProcesses: "without namespaces an ordinary user's processes are counted together; run mayfly as root, or with namespaces",
}

func (c *probeCommand) probe(ctx context.Context, p *process) error {
	r, err := confined.Probe(ctx)
	if err != nil {
		return err
	}
	j := newProbe(r)
	if c.JSON {
		err = p.stdout.object(j)
	} else {
		err = j.text(p, c.All)
	}
	if err == nil && !j.OK {
		err = exitRaised
	}
	return err
}

// text is the report for people.
func (j probeJSON) text(p *process, all bool) error {
	verdict := "native tools can run here"
	if !j.OK {
		verdict = "native tools are refused here"
	}
	system := j.OS + "/" + j.Arch
	if j.Kernel != "" {
		system += ", kernel " + j.Kernel
	}
	user := "as an ordinary user"
	if j.User == "root" {
		user = "as root"
	}
	if err := p.stdout.guest(fmt.Appendf(nil, "%s (%s, %s)\n", verdict, oneLine(system), user)); err != nil {
		return err
	}
	for _, t := range j.Tiers {
		if err := t.text(p, all); err != nil {
			return err
		}
	}
	return nil
}

func (t tierJSON) text(p *process, all bool) error {
	head := "\nwith namespaces, as tools require: "
	if !t.Required {
		head = "\nwithout namespaces, as on a host that has none to give: "
	}
	head += words(t.Verdict)
	if t.Problem != "" {
		head += "\n  " + oneLine(t.Problem)
		if t.Missing != "" {
			head += fmt.Sprintf(" (layer %s)", t.Missing)
		}
	}
	if t.Remedy != "" {
		head += "\n  what to do: " + oneLine(t.Remedy)
	}
	if err := p.stdout.guest([]byte(head + "\n")); err != nil || len(t.Layers) == 0 {
		return err
	}
	if all {
		rows := [][]string{}
		for _, c := range t.Checks {
			rows = append(rows, []string{string(c.Layer), c.Check, words(c.Verdict), c.Tried, c.Seen})
		}
		return p.stdout.table([]string{"LAYER", "CHECK", "VERDICT", "TRIED", "SEEN"}, rows)
	}
	rows := [][]string{}
	for _, l := range t.Layers {
		rows = append(rows, []string{string(l.Layer), words(l.Verdict), t.how(l), l.Remedy})
	}
	return p.stdout.table([]string{"LAYER", "VERDICT", "TRIED", "WHAT TO DO"}, rows)
}

// how says how a layer was tried: everything that failed, else how much and what
// came first.
func (t tierJSON) how(l layerJSON) string {
	first := ""
	var failed []string
	for _, c := range t.Checks {
		if c.Layer != l.Layer {
			continue
		}
		if first == "" {
			first = c.Tried
		}
		if c.Verdict == confined.Fails {
			failed = append(failed, c.Tried+": "+c.Seen)
		}
	}
	switch {
	case len(failed) > 0:
		return strings.Join(failed, "; ")
	case l.Checks > 1:
		return fmt.Sprintf("%s, and %d more", first, l.Checks-1)
	case first == "":
		return "the launcher does without it"
	}
	return first
}

// words are a verdict for people.
func words(v confined.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// programJSON is what "probe --json" prints about a program.
type programJSON struct {
	Status      sandbox.Status     `json:"status"`
	ExitCode    int                `json:"exit_code"`
	Signal      string             `json:"signal,omitzero"`
	Error       *sandbox.Error     `json:"error,omitzero"`
	Stdout      string             `json:"stdout"`
	Stderr      string             `json:"stderr"`
	Truncated   *sandbox.Truncated `json:"truncated,omitzero"`
	Layers      []confined.Layer   `json:"layers"`
	Missing     []confined.Layer   `json:"missing"`
	LandlockABI int                `json:"landlock_abi"`
	Cgroup      int                `json:"cgroup_version"`
	UID         int                `json:"uid"`
}

// program runs a program of the user's.
func (c *probeCommand) program(ctx context.Context, p *process) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	h := &manifests.Handler{Kind: manifests.HandlerCommand, Command: c.Program[0], Args: c.Program[1:]}
	g := manifests.Grants{Network: c.Network, Process: c.Process}
	for _, f := range c.Read {
		g.Read = append(g.Read, absolute(dir, string(f)))
	}
	for _, f := range c.Write {
		g.Write = append(g.Write, absolute(dir, string(f)))
	}
	for _, f := range c.Exec {
		g.Code = append(g.Code, absolute(dir, string(f)))
	}
	r, err := runtime.RunConfined(ctx, h, dir, g)
	if err != nil {
		return err
	}
	if c.JSON {
		err = p.stdout.object(programJSON{
			Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal, Error: r.Error, Stdout: string(r.Stdout), Stderr: string(r.Stderr), Truncated: r.Truncated,
			Layers: list(r.Enforced.Layers), Missing: list(r.Enforced.Missing), LandlockABI: r.Enforced.LandlockABI, Cgroup: r.Enforced.Cgroup, UID: r.Enforced.UID,
		})
	} else {
		err = programText(p, r)
	}
	if code := statusExit(r.Status); err == nil && code != exitOK {
		err = code
	}
	return err
}

func programText(p *process, r confined.Result) error {
	if err := p.stdout.guest(r.Stdout); err != nil {
		return err
	}
	if err := p.stderr.guest(r.Stderr); err != nil {
		return err
	}
	_ = startLine(p.stderr, r.Stderr)
	if r.Error != nil {
		p.stderr.note("%s: %s", r.Status, strings.TrimSpace(r.Error.Path+" "+r.Error.Message))
	}
	e := r.Enforced
	if len(e.Layers) == 0 {
		return nil // it did not start
	}
	p.stderr.note("confined by %s (Landlock ABI %d, user %d)", names(e.Layers), e.LandlockABI, e.UID)
	if len(e.Missing) > 0 {
		p.stderr.note("not here: %s", names(e.Missing))
	}
	return nil
}

func names(layers []confined.Layer) string {
	var text []string
	for _, l := range layers {
		text = append(text, string(l))
	}
	return strings.Join(text, ", ")
}

// list is never null.
func list(layers []confined.Layer) []confined.Layer {
	if layers == nil {
		layers = []confined.Layer{}
	}
	return layers
}

// absolute makes a path what a grant must be.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
