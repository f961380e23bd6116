package manifests

import (
	"cmp"
	"slices"
)

// Set is a harness with its tools, checked against each other and brought
// within the operator's limits. It does not change and may be used by several
// goroutines.
type Set struct {
	// Harness is the operator's part.
	Harness *Harness
	// Warnings are about everything in the set, in order of their places.
	Warnings []Warning

	tools  []*Tool // by name
	byName map[string]*Tool
}

// Tool finds a tool by its name.
func (s *Set) Tool(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Tools gives all tools in order of their names. The list is the caller's.
func (s *Set) Tools() []*Tool { return slices.Clone(s.tools) }

// NewSet puts tools under a harness. The tools given are not changed: the set
// has copies, brought within the harness's limits.
//
// A returned error is of type [Errors]: two tools with one name, or a name in
// the harness that no tool has, or a secret that is not the tool's to have.
func NewSet(h *Harness, tools []*Tool) (*Set, error) {
	s, errs := newSet(h, tools)
	if errs = append(errs, s.checkNames()...); len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// newSet is NewSet without the check of the harness's names.
func newSet(h *Harness, tools []*Tool) (*Set, Errors) {
	s := &Set{Harness: h, byName: make(map[string]*Tool, len(tools))}
	var errs Errors
	for _, t := range tools {
		r := &reporter{file: t.Origin.File}
		if first, taken := s.byName[t.Metadata.Name]; taken {
			n := t.doc.get("metadata", "name")
			if n == nil {
				n = &node{}
			}
			r.at(n, CodeDuplicate, "another tool has this name, in %s, line %d", first.Origin.File, first.Origin.Line)
			errs = append(errs, r.all()...)
			continue
		}
		fresh := *t
		if fresh.Spec.Output.MaxBytes == 0 {
			fresh.Spec.Output.MaxBytes = h.Tools.MaxOutputBytes
		}
		(&tightener{reporter: r, tool: &fresh, ceilings: &h.Limits, root: h.Origin.Root}).all()
		s.byName[t.Metadata.Name] = &fresh
		s.tools = append(s.tools, &fresh)
		s.Warnings = append(s.Warnings, r.warnings...)
	}
	slices.SortFunc(s.tools, func(a, b *Tool) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return s, errs
}

// checkNames refuses names in the harness that no tool has: a misspelt name in
// approvals would leave the tool that was meant without approval. It refuses
// secrets that are granted and not there, too.
func (s *Set) checkNames() Errors {
	r := &reporter{file: s.Harness.Origin.File}
	spec := s.Harness.doc.get("spec")
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Metadata.Name
	}
	check := func(n *node) {
		if n == nil || n.kind != textNode {
			return
		}
		if _, ok := s.byName[n.text]; !ok {
			r.at(n, CodeUnknownTool, "no tool has this name%s", suggest(n.text, names))
		}
	}
	check(spec.get("tools", "judge", "tool"))
	if secrets := spec.get("secrets"); secrets != nil {
		for _, secret := range secrets.items {
			if list := secret.get("tools"); list != nil {
				for _, n := range list.items {
					check(n)
				}
			}
			if list := secret.get("tasks"); list != nil {
				for _, n := range list.items {
					if _, ok := s.Harness.Tasks[n.text]; !ok && n.kind == textNode {
						r.at(n, CodeUnknownTask, "the harness has no task of this name")
					}
				}
			}
		}
	}
	if tasks := spec.get("tasks"); tasks != nil {
		for _, task := range tasks.items {
			for _, list := range []*node{task.get("tools"), task.get("approvals", "tools")} {
				if list != nil {
					for _, n := range list.items {
						check(n)
					}
				}
			}
		}
	}
	return append(r.all(), s.checkGranted()...)
}
