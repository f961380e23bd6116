package httpapi

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// tool is a tool as the list has it. It says nothing of the host's files.
type tool struct {
	Name        string               `json:"name"`
	Version     string               `json:"version,omitzero"`
	Owner       string               `json:"owner,omitzero"`
	Description string               `json:"description"`
	Transport   manifests.Transport  `json:"transport"`
	SideEffect  manifests.SideEffect `json:"side_effect"`
	Risk        manifests.Risk       `json:"risk"`
	Egress      []manifests.Host     `json:"egress"`
	Enabled     bool                 `json:"enabled"`
	Pin         string               `json:"pin"` // ok, none or mismatch
	Digest      string               `json:"definition_digest"`
}

func newTool(t *manifests.Tool) tool {
	pin := "mismatch"
	switch {
	case !t.Pinned():
		pin = "none"
	case t.PinMatches():
		pin = "ok"
	}
	return tool{
		t.Metadata.Name, t.Metadata.Version, t.Metadata.Owner, runtime.Describe(t), t.Spec.Transport, t.Spec.SideEffect, t.Spec.Risk,
		slices.Concat([]manifests.Host{}, t.Spec.EgressAllowed), t.Spec.Enabled, pin, t.Digest(),
	}
}

type toolList struct {
	Tools []tool `json:"tools"`
}

// seen are the tools that the caller may know of: those that its tenant can call,
// for an operator also those that are switched off.
func (q *request) seen(t *manifests.Tool) bool {
	switch c := q.caller; {
	case t.Metadata.Name == runtime.ExecTool:
		return false
	case !c.has(RoleOperator):
		return t.EnabledFor(c.Tenant)
	default:
		return c.Tenant == AllTenants || len(t.Spec.Tenants) == 0 || slices.Contains(t.Spec.Tenants, c.Tenant)
	}
}

func (q *request) listTools() answer {
	list := toolList{[]tool{}}
	for _, t := range q.s.rt.Manifests().Tools() {
		if q.seen(t) {
			list.Tools = append(list.Tools, newTool(t))
		}
	}
	return ok(list)
}

// toolDetails are a tool and what there is to know about calling it.
type toolDetails struct {
	tool        `json:",inline"`
	InputSchema jsontext.Value `json:"input_schema"`
	// Manifest is the manifest as it is in force, for operators: it names files
	// and variables of the host.
	Manifest jsontext.Value `json:"manifest,omitzero"`
}

func (q *request) showTool() answer {
	t, known := q.s.rt.Manifests().Tool(q.r.PathValue("name"))
	if !known || !q.seen(t) {
		return no(refuse(http.StatusNotFound, "not_found", "name", "there is no such tool; /v1/tools lists all"))
	}
	schema, err := canonjson.Append(nil, t.Definition().InputSchema)
	if err != nil {
		q.s.config.Logger.Error("a schema cannot be written", "error", err)
		return no(refuse(http.StatusInternalServerError, "internal", "", "the schema cannot be written"))
	}
	d := toolDetails{tool: newTool(t), InputSchema: jsontext.Value(schema)}
	if q.caller.has(RoleOperator) {
		text, err := t.JSON()
		if err != nil {
			q.s.config.Logger.Error("a manifest cannot be written", "error", err)
			return no(refuse(http.StatusInternalServerError, "internal", "", "the manifest cannot be written"))
		}
		d.Manifest = jsontext.Value(text)
	}
	return ok(d)
}
