package expr

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/mayfly-run/mayfly/manifests"
)

// Labels are what a run has seen.
type Labels struct {
	Untrusted, Private bool
}

// Vars are the values of the names in one call. The zero Vars is ready for
// [Vars.Set].
type Vars struct {
	principal, tenant, task text
	tool, labels            any
	args                    any
	size                    int
}

// text is a string that becomes a CEL value when it is asked for, once.
type text struct {
	s string
	v any
}

func (t *text) value() any {
	if t.v == nil {
		t.v = types.String(t.s)
	}
	return t.v
}

// Set fills v. The arguments are a tree as canonjson gives it, of that many
// bytes of JSON; they are not copied.
func (v *Vars) Set(principal, tenant, task string, tool Tool, args any, size int, labels Labels) {
	v.principal, v.tenant, v.task = text{s: principal}, text{s: tenant}, text{s: task}
	v.tool, v.args, v.size, v.labels = tool.fields, args, size, labelFields[labels]
}

// ResolveName implements cel.Activation.
func (v *Vars) ResolveName(name string) (any, bool) {
	switch name {
	case namePrincipal:
		return v.principal.value(), true
	case nameTenant:
		return v.tenant.value(), true
	case nameTask:
		return v.task.value(), true
	case nameTool:
		return v.tool, true
	case nameArgs:
		return v.args, true
	case nameLabels:
		return v.labels, true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (*Vars) Parent() cel.Activation { return nil }

const (
	fieldUntrusted = "untrusted_seen"
	fieldPrivate   = "private_seen"
)

// labelFields has all values of labels, made once.
var labelFields = func() map[Labels]any {
	all := make(map[Labels]any, 4)
	for _, u := range []bool{false, true} {
		for _, p := range []bool{false, true} {
			all[Labels{Untrusted: u, Private: p}] = map[string]any{fieldUntrusted: types.Bool(u), fieldPrivate: types.Bool(p)}
		}
	}
	return all
}()

// Tool is what expressions can say about a tool.
type Tool struct {
	fields map[string]any
}

// NewTool takes from a manifest what expressions can ask for.
func NewTool(t *manifests.Tool) Tool {
	return Tool{map[string]any{
		"name":        types.String(t.Metadata.Name),
		"version":     types.String(t.Metadata.Version),
		"owner":       types.String(t.Metadata.Owner),
		"transport":   types.String(t.Spec.Transport),
		"side_effect": types.String(t.Spec.SideEffect),
		"risk":        types.String(t.Spec.Risk),
		"digest":      types.String(t.Digest()),
		"data_access": list(t.Spec.DataAccess),
		"egress":      list(t.Spec.Egress),
		"scopes":      list(t.Spec.Scopes),
	}}
}

func list[T ~string](texts []T) ref.Val {
	values := make([]ref.Val, len(texts))
	for i, s := range texts {
		values[i] = types.String(s)
	}
	return types.NewRefValList(adapter{}, values)
}

// fieldsOf are the fields of a name whose fields are known beforehand; nil for
// other names.
func fieldsOf(name string) map[string]any {
	switch name {
	case nameTool:
		return NewTool(&manifests.Tool{}).fields
	case nameLabels:
		return labelFields[Labels{}].(map[string]any)
	}
	return nil
}
