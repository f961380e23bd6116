package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/manifests"
)

type toolsAddCommand struct {
	Function string `arg:"" help:"A Python function, as package.module:function; the module is looked for in the harness's directory."`
	harnessFlag
	Name       string         `placeholder:"NAME" help:"The tool's name. Default: the function's."`
	Risk       riskFlag       `placeholder:"RISK" help:"How much harm a misused call does: low, medium, high or critical. Default low."`
	SideEffect sideEffectFlag `placeholder:"EFFECT" help:"What a call changes: none, read, write_internal, write_external or destructive. Default none."`
	Out        pathFlag       `placeholder:"FILE" help:"The manifest to write, .yaml or .json; - prints it and changes nothing. Default: NAME.yaml in the first directory that tools.manifests lists, else in tools."`
	JSON       bool           `name:"json" help:"Print a JSON object."`
	cacheFlag
}

func (toolsAddCommand) Help() string {
	return `The function's source is parsed in the sandbox; nothing of it is imported or run. Name and schema come from its signature, the descriptions from its docstring. An idempotency_key and a context are left out: models do not give them. What has no form in JSON is refused, with its place.

The manifest is written, and its directory added to tools.manifests in the harness unless it is listed already. The harness may name tools that are still to be added. Look it over: egress, data_access, approval and rate_limit are yours to fill in. Then pin it with mayfly tools pin.

Examples:

  mayfly tools add app.tools:refund_payment --risk high --side-effect write_external

  mayfly tools add app.tools:refund_payment --out -` + manifestExitCodes
}

type riskFlag manifests.Risk

func (f *riskFlag) UnmarshalText(text []byte) error {
	switch r := manifests.Risk(text); r {
	case manifests.RiskLow, manifests.RiskMedium, manifests.RiskHigh, manifests.RiskCritical:
		*f = riskFlag(r)
		return nil
	}
	return fmt.Errorf("%q is none of low, medium, high, critical; the default is low", text)
}

type sideEffectFlag manifests.SideEffect

func (f *sideEffectFlag) UnmarshalText(text []byte) error {
	switch e := manifests.SideEffect(text); e {
	case manifests.EffectNone, manifests.EffectRead, manifests.EffectWriteInternal, manifests.EffectWriteExternal, manifests.EffectDestructive:
		*f = sideEffectFlag(e)
		return nil
	}
	return fmt.Errorf("%q is none of none, read, write_internal, write_external, destructive; the default is none", text)
}

// addedTool is what "tools add --json" prints.
type addedTool struct {
	Tool     string   `json:"tool"`
	Manifest string   `json:"manifest"`
	Harness  string   `json:"harness"`
	Listed   string   `json:"listed,omitzero"` // what was added to tools.manifests
	Source   string   `json:"source"`
	Line     int      `json:"line"`
	Async    bool     `json:"async"`
	LeftOut  []string `json:"left_out"`
	Digest   string   `json:"definition_digest"`
	Notes    []remark `json:"notes"`
	// NotYet are the errors of a harness that names other tools, which are not
	// there yet; until they are it does not load.
	NotYet []string `json:"not_yet,omitzero"`
}

func (c *toolsAddCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	h, err := manifests.ParseHandler(c.Function)
	if err != nil {
		if strings.Contains(c.Function, "#") {
			return usagef("%q is no function: a JavaScript one is written ./file.mjs#function, a Python one package.module:function", c.Function)
		}
		return usagef("%q is no function: it is written package.module:function, such as app.tools:refund_payment", c.Function)
	}
	if h.Kind == manifests.HandlerNode {
		return refuseNode(h, c.Name)
	}
	file, err := c.find(p)
	if errors.Is(err, errNoHarness) {
		return usagef("%w. A first one is:\n%s", err, firstHarness)
	}
	if err != nil {
		return err
	}
	set, err := loadHarness(file)
	if set == nil {
		return manifestErrors(err)
	}
	if c.Name == "" {
		c.Name = h.Function
	}
	if old, ok := set.Tool(c.Name); ok {
		return usagef("%s has a tool of the name %s already, in %s:%d; --name gives another one", file, c.Name, old.Origin.File, old.Origin.Line)
	}
	root, err := os.OpenRoot(set.Harness.Origin.Root)
	if err != nil {
		return usagef("%s: %w", filepath.Dir(file), plainError(err))
	}
	defer root.Close()
	source, text, err := moduleSource(root, h.Module)
	if err != nil {
		return err
	}
	f, err := describeFunction(ctx, p, c.cacheFlag, h, source, text)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if len(f.Errors) > 0 {
		return f.refused(source, c.Function)
	}
	t, err := c.manifest(h, f)
	if err != nil {
		return err
	}
	done := addedTool{
		Tool: c.Name, Harness: file, Source: source, Line: f.Line, Async: f.Async,
		LeftOut: append([]string{}, f.LeftOut...), Digest: t.Digest(), Notes: append([]remark{}, f.Notes...),
	}
	if c.Out == "-" {
		manifest, err := done.encode(t, ".yaml")
		if err != nil {
			return err
		}
		done.remarks(p, c)
		return p.stdout.guest(manifest)
	}
	if err := c.write(set, root, t, &done); err != nil {
		return err
	}
	if c.JSON {
		return p.stdout.object(done)
	}
	done.remarks(p, c)
	for _, missing := range done.NotYet {
		p.stderr.note("the harness does not load yet: %s", missing)
	}
	return done.print(p)
}

// manifest makes the tool, and has it checked like one that was read.
func (c *toolsAddCommand) manifest(h *manifests.Handler, f function) (*manifests.Tool, error) {
	type metadata struct {
		Name string `json:"name"`
	}
	type spec struct {
		Description string               `json:"description"`
		InputSchema jsontext.Value       `json:"input_schema"`
		Handler     string               `json:"handler"`
		SideEffect  manifests.SideEffect `json:"side_effect,omitzero"`
		Risk        manifests.Risk       `json:"risk,omitzero"`
	}
	text, err := json.Marshal(struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   metadata `json:"metadata"`
		Spec       spec     `json:"spec"`
	}{
		manifests.APIVersion, manifests.KindTool, metadata{c.Name},
		spec{f.Description, f.InputSchema, h.String(), manifests.SideEffect(c.SideEffect), manifests.Risk(c.Risk)},
	})
	if err != nil {
		return nil, fmt.Errorf("make a manifest of %s: %w", c.Function, err)
	}
	docs, err := manifests.Parse("manifest.json", text)
	if errs, ok := errors.AsType[manifests.Errors](err); ok {
		var b strings.Builder
		for _, e := range errs {
			// The places are those of a text that nobody has seen.
			fmt.Fprintf(&b, "\n%s: %s (%s)", e.Pointer, e.Reason, e.Code)
		}
		return nil, usagef("the manifest of %s would be refused:%s", c.Function, b.String())
	}
	return docs.Tools[0], nil
}

// encode writes the manifest as YAML with a comment, or as JSON, by the name's
// ending.
func (d addedTool) encode(t *manifests.Tool, ending string) ([]byte, error) {
	if ending == ".json" {
		return t.JSON()
	}
	text, err := t.YAML()
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	comment := fmt.Sprintf("# Made from %s:%d. Fill in egress, data_access, approval and rate_limit, then pin it.\n", oneLine(d.Source), d.Line)
	return append([]byte(comment), text...), nil
}

// outFile gives the manifest to write, from the harness's directory.
func (c *toolsAddCommand) outFile(set *manifests.Set, root *os.Root) (string, error) {
	if c.Out == "" {
		dir := "tools"
		for _, pattern := range set.Harness.Tools.Manifests {
			if info, err := root.Stat(path.Clean(pattern)); err == nil && info.IsDir() && path.Clean(pattern) != "." {
				dir = path.Clean(pattern)
				break
			}
		}
		return path.Join(dir, c.Name+".yaml"), nil
	}
	switch strings.ToLower(filepath.Ext(string(c.Out))) {
	case ".yaml", ".yml", ".json":
	default:
		return "", usagef("--out %s: a manifest's name ends in .yaml, .yml or .json", c.Out)
	}
	abs, err := filepath.Abs(string(c.Out))
	if err == nil {
		abs, err = filepath.Rel(set.Harness.Origin.Root, abs)
	}
	if err != nil || !filepath.IsLocal(abs) {
		return "", usagef("--out %s: manifests stand below the harness's directory, %s", c.Out, set.Harness.Origin.Root)
	}
	return filepath.ToSlash(abs), nil
}

// print says what was done.
func (d addedTool) print(p *process) error {
	async := ""
	if d.Async {
		async = ", async"
	}
	text := fmt.Sprintf("wrote %s from %s:%d%s\n", d.Manifest, d.Source, d.Line, async)
	if d.Listed != "" {
		text += fmt.Sprintf("added %s to tools.manifests in %s\n", d.Listed, d.Harness)
	}
	return p.stdout.guest([]byte(text))
}

// remarks says what deserves a look.
func (d addedTool) remarks(p *process, c *toolsAddCommand) {
	for _, n := range d.Notes {
		p.stderr.note("%s", n.in(d.Source))
	}
	if len(d.LeftOut) > 0 {
		p.stderr.note("left out of the schema: %s", strings.Join(d.LeftOut, ", "))
	}
	if c.Risk == "" || c.SideEffect == "" {
		p.stderr.note("the defaults of --side-effect (none) and --risk (low) are taken where they were not given")
	}
}

const firstHarness = `
apiVersion: ` + manifests.APIVersion + `
kind: Harness
`

// refuseNode says how to go on: what a JavaScript function takes is not in its
// signature.
func refuseNode(h *manifests.Handler, name string) error {
	if name == "" {
		name = h.Function
	}
	return usagef(`the signature of a JavaScript function does not say what it takes; write the manifest by hand, such as tools/%s.yaml:

apiVersion: %s
kind: Tool
metadata: { name: %s }
spec:
  handler: "%s"
  description: What it does, for the model.
  input_schema:
    type: object
    properties:
      order: { type: string, description: "Number of the order" }
    required: [order]
    additionalProperties: false

and list it below tools.manifests in harness.yaml`, name, manifests.APIVersion, name, h)
}
