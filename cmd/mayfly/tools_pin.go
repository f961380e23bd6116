package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/mayfly-run/mayfly/manifests"
)

type toolsPinCommand struct {
	Tool string `placeholder:"NAME" help:"Pin this tool only."`
	harnessFlag
	JSON bool `name:"json" help:"Print a JSON object."`
}

func (toolsPinCommand) Help() string {
	return `A pin makes sure that a tool whose name, description or schema changed without review does not run. One line of each manifest changes or is new; comments and layout stay. A pin that differed is replaced, so look at what changed first: the old and the new digest are printed.

Example:

  mayfly tools pin --tool refund_payment` + manifestExitCodes
}

// pinReport is what "tools pin --json" prints.
type pinReport struct {
	Harness   string   `json:"harness"`
	Changed   []newPin `json:"changed"`
	Unchanged []string `json:"unchanged"`
}

type newPin struct {
	Tool string `json:"tool"`
	File string `json:"file"`
	Old  string `json:"old,omitzero"`
	New  string `json:"new"`
}

func (c *toolsPinCommand) Run(p *process) error {
	file, err := c.find(p)
	if err != nil {
		return err
	}
	unlock, err := lockManifests(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer unlock()
	done := pinReport{Harness: file, Changed: []newPin{}, Unchanged: []string{}}
	set, err := loadHarness(file)
	if err != nil {
		// A pin that is no digest keeps everything from loading, and is mended
		// here.
		if set, err = c.mend(&done, err); err != nil {
			return err
		}
	}
	if c.Tool != "" {
		if _, err := findTool(set, file, c.Tool); err != nil {
			return err
		}
		if isBuiltIn(c.Tool) {
			return usagef("%s is part of this program and has no pin", c.Tool)
		}
	}
	files := make(map[string]bool)
	for _, t := range set.Tools() {
		name := t.Metadata.Name
		switch {
		case c.Tool != "" && c.Tool != name, done.has(name), isBuiltIn(name):
		case t.Pinned() && t.PinMatches():
			done.Unchanged = append(done.Unchanged, name)
		default:
			files[t.Origin.File] = true
			done.Changed = append(done.Changed, newPin{name, t.Origin.File, t.Spec.DefinitionDigest, t.Digest()})
		}
	}
	if err := c.pinFiles(slices.Sorted(maps.Keys(files))); err != nil {
		return err
	}
	return done.print(p, c.JSON)
}

// mend pins the files of errors that are all about malformed pins, and loads
// again.
func (c *toolsPinCommand) mend(done *pinReport, err error) (*manifests.Set, error) {
	errs, _ := errors.AsType[manifests.Errors](err)
	before := make(map[string][]byte)
	for _, e := range errs {
		if e.Code != manifests.CodeDigest {
			return nil, manifestErrors(err)
		}
		text, readErr := readManifest(e.File)
		if readErr != nil {
			return nil, readErr
		}
		if c.Tool != "" {
			if _, pinErr := manifests.Pin(e.File, text, c.Tool); pinErr != nil {
				return nil, manifestErrors(err) // it is about another tool
			}
		}
		before[e.File] = text
	}
	if err := c.pinFiles(slices.Sorted(maps.Keys(before))); err != nil {
		return nil, err
	}
	set, err := loadHarness(done.Harness)
	if err != nil {
		return nil, manifestErrors(err)
	}
	for _, t := range set.Tools() {
		text, mended := before[t.Origin.File]
		if mended && t.Pinned() && !bytes.Contains(text, []byte(t.Digest())) {
			done.Changed = append(done.Changed, newPin{Tool: t.Metadata.Name, File: t.Origin.File, Old: "malformed", New: t.Digest()})
		}
	}
	return set, nil
}

// pinFiles pins the tools in files. All new texts are worked out before the
// first file is written.
func (c *toolsPinCommand) pinFiles(files []string) error {
	texts := make([][]byte, len(files))
	var errs manifests.Errors
	for i, name := range files {
		text, err := readManifest(name)
		if err != nil {
			return err
		}
		texts[i], err = manifests.Pin(name, text, c.Tool)
		if some, ok := errors.AsType[manifests.Errors](err); ok {
			errs = append(errs, some...)
		} else if err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return manifestErrors(errs)
	}
	for i, name := range files {
		if err := replaceFile(name, texts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *pinReport) has(tool string) bool {
	return slices.ContainsFunc(r.Changed, func(n newPin) bool { return n.Tool == tool })
}

func (r *pinReport) print(p *process, asJSON bool) error {
	if asJSON {
		return p.stdout.object(r)
	}
	for _, n := range r.Changed {
		was := ""
		if n.Old != "" {
			was = ", was " + n.Old
		}
		if err := p.stdout.guest(fmt.Appendf(nil, "pinned %s in %s: %s%s\n", n.Tool, n.File, n.New, was)); err != nil {
			return err
		}
	}
	if len(r.Changed) == 0 {
		p.stderr.note("all pins are right")
	}
	return nil
}
