package manifests

import (
	"cmp"
	"path"
	"slices"
)

// tightener applies an operator's ceilings to one tool. What the manifest asks
// for and does not get is a warning; a default that is lowered is not.
type tightener struct {
	*reporter
	tool     *Tool
	ceilings *Ceilings
	// root is the directory that the ceilings' relative paths are from.
	root string
}

func (t *tightener) all() {
	spec := &t.tool.Spec
	lower(t, &spec.Timeout, t.ceilings.Timeout, "timeout")
	lower(t, &spec.Output.MaxBytes, t.ceilings.MaxOutputBytes, "output", "max_bytes")
	if spec.Transport == TransportCode {
		l, c := &spec.Limits, &t.ceilings.Code
		lower(t, &l.Timeout, c.Timeout, "limits", "timeout")
		lower(t, &l.MaxMemoryMB, c.MaxMemoryMB, "limits", "max_memory_mb")
		lower(t, &l.MaxOutputBytes, c.MaxOutputBytes, "limits", "max_output_bytes")
		lower(t, &l.MaxFuel, c.MaxFuel, "limits", "max_fuel")
		lower(t, &l.MaxValueBytes, c.MaxValueBytes, "limits", "max_value_bytes")
		lower(t, &l.MaxSourceBytes, c.MaxSourceBytes, "limits", "max_source_bytes")
		lower(t, &l.MaxDepth, c.MaxDepth, "limits", "max_depth")
		lower(t, &l.MaxFiles, c.MaxFiles, "limits", "max_files")
		lower(t, &l.MaxFileBytes, c.MaxFileBytes, "limits", "max_file_bytes")
		lower(t, &l.MaxArtifacts, c.MaxArtifacts, "limits", "max_artifacts")
		lower(t, &l.MaxArtifactBytes, c.MaxArtifactBytes, "limits", "max_artifact_bytes")
		lower(t, &l.MaxHostCalls, c.MaxHostCalls, "limits", "max_host_calls")
	}
	t.egress()
	t.grants()
}

// lower brings a value down to its ceiling. A zero value is unbounded where a
// zero is possible at all, and a zero ceiling is none.
func lower[T cmp.Ordered](t *tightener, value *T, ceiling T, field ...string) {
	var zero T
	if ceiling == zero || *value != zero && *value <= ceiling {
		return
	}
	*value = ceiling
	t.over("is more than the operator's limits give; the limit holds", field...)
}

// over warns about a field if the manifest has it.
func (t *tightener) over(message string, field ...string) {
	if n := t.tool.doc.get(append([]string{"spec"}, field...)...); n != nil {
		t.warn(n, t.tool.Metadata.Name, WarnOverLimit, "%s", message)
	}
}

// egress works out which hosts the limits leave. The declared hosts stay for
// the trifecta rule: a tool does not get less dangerous by asking for too much.
func (t *tightener) egress() {
	spec, limit := &t.tool.Spec, t.ceilings.Egress
	if limit == nil {
		return
	}
	allowed := []Host{}
	dropped := false
	for _, declared := range spec.Egress {
		if declared.coveredBy(limit) {
			allowed = append(allowed, declared)
			continue
		}
		dropped = true
		for _, l := range limit {
			if declared.Covers(l) {
				allowed = append(allowed, l)
			}
		}
	}
	slices.Sort(allowed)
	spec.EgressAllowed = slices.Compact(allowed)
	if dropped {
		t.over("names hosts that the operator's limits do not; they cannot be reached", "egress")
	}
	if spec.URL != "" && !addressHost(spec.URL).coveredBy(limit) {
		spec.Enabled = false
		t.over("leads to a host that the operator's limits do not name; the tool is disabled", "url")
	}
	if spec.Grants.Network && len(spec.EgressAllowed) == 0 {
		spec.Grants.Network = false
		t.over("is not given: the operator's limits allow none of the tool's hosts", "grants", "network")
	}
}

// grants keeps what the ceilings allow.
func (t *tightener) grants() {
	g, limit := &t.tool.Spec.Grants, t.ceilings.Grants
	if limit == nil || g.IsZero() {
		return
	}
	const message = "is more than the operator's limits grant; what is over is not given"
	kept := func(list *[]string, field string, keep func(string) bool) {
		left := slices.DeleteFunc(slices.Clone(*list), func(s string) bool { return !keep(s) })
		if len(left) < len(*list) {
			*list = left
			t.over(message, "grants", field)
		}
	}
	below := func(dirs []string) func(string) bool {
		return func(p string) bool {
			p = t.absolute(p, t.workDir())
			return slices.ContainsFunc(dirs, func(dir string) bool { return within(p, t.absolute(dir, t.root)) })
		}
	}
	listed := func(allowed []string) func(string) bool {
		return func(s string) bool { return slices.Contains(allowed, s) }
	}
	flag := func(given *bool, allowed bool, field string) {
		if *given && !allowed {
			*given = false
			t.over(message, "grants", field)
		}
	}
	kept(&g.Read, "filesystem_read", below(limit.Read))
	kept(&g.Write, "filesystem_write", below(limit.Write))
	kept(&g.Code, "code", below(limit.Code))
	kept(&g.NetworkLocal, "network_local", listed(limit.NetworkLocal))
	kept(&g.Secrets, "secrets", listed(limit.Secrets))
	flag(&g.Network, limit.Network, "network")
	flag(&g.Process, limit.Process, "process")
}

// workDir is the directory that a handler starts in.
func (t *tightener) workDir() string {
	cwd := "."
	if h := t.tool.Spec.Handler; h != nil && h.Cwd != "" {
		cwd = h.Cwd
	}
	return t.absolute(cwd, t.tool.Origin.Root)
}

// absolute makes a path absolute where dir is; where dir is not known it stays
// relative, and within then holds for nothing absolute.
func (*tightener) absolute(p, dir string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}
