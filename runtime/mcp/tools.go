package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// Names under _meta; a name of ours cannot be taken for the protocol's.
const (
	metaTool = "mayfly.run/tool"
	metaCall = "mayfly.run/call"
)

// Hints are what a client is told of what a tool does. All four are given:
// their defaults in the protocol differ from each other.
type Hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// HintsOf gives the hints of a tool, from its side effect, its risk and where it
// can send data.
func HintsOf(t *manifests.Tool) Hints {
	writes := t.Spec.SideEffect.Writes()
	risky := t.Spec.Risk == manifests.RiskHigh || t.Spec.Risk == manifests.RiskCritical
	return Hints{
		ReadOnly: !writes,
		// A write that does much harm when it is misused is not one that only
		// adds something.
		Destructive: t.Spec.SideEffect == manifests.EffectDestructive || writes && risky,
		// Whether a write that is repeated does more than the first one is not
		// in a manifest, so nobody may rely on it.
		Idempotent: !writes,
		// These transports reach something outside, whatever egress says.
		OpenWorld: len(t.Spec.Egress) > 0 || t.Spec.Transport == manifests.TransportHTTP || t.Spec.Transport == manifests.TransportMCP,
	}
}

func (h Hints) annotations(title string) *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{
		Title: title, ReadOnlyHint: h.ReadOnly, DestructiveHint: &h.Destructive, IdempotentHint: h.Idempotent, OpenWorldHint: &h.OpenWorld,
	}
}

// tool is one that the session's run may call.
type tool struct {
	name     string // as it is offered
	manifest *manifests.Tool
	wire     *sdk.Tool
	key      string // stands for everything that is offered
}

// newTool describes a tool from the record that its calls are checked against.
func newTool(t *manifests.Tool) (tool, error) {
	name, d := t.Metadata.Name, t.Definition()
	text, err := canonjson.Append(nil, d.InputSchema)
	if err != nil {
		return tool{}, fmt.Errorf("describe %s: %w", name, err)
	}
	schema := jsontext.Value(text)
	if _, typed := d.InputSchema["type"]; !typed {
		// Arguments are always an object, and the protocol wants it said.
		schema = jsontext.Value(strings.Replace(string(text), "{", `{"type":"object",`, 1))
		if len(d.InputSchema) == 0 {
			schema = jsontext.Value(`{"type":"object"}`)
		}
	}
	wire := &sdk.Tool{
		Name: name, Title: title(name), Description: runtime.Describe(t), InputSchema: schema, Annotations: HintsOf(t).annotations(title(name)),
		Meta: sdk.Meta{metaTool: map[string]any{
			"definition_digest": t.Digest(), "version": t.Metadata.Version, "side_effect": t.Spec.SideEffect, "risk": t.Spec.Risk,
		}},
	}
	if t.Spec.Transport == manifests.TransportCode {
		wire.OutputSchema = jsontext.Value(codeOutputSchema)
	}
	if name == runtime.ExecTool {
		wire.Name, wire.Title, wire.Description, wire.InputSchema = ExecName, "Run code", runtime.DescribeExec(execDescription), jsontext.Value(execSchema)
		wire.Annotations.Title = wire.Title
	}
	return tool{wire.Name, t, wire, t.Digest() + " " + wire.Name}, nil
}

// codeOutputSchema is the result of every code tool: what the transport makes,
// or, of a call that failed, what [problem] holds. A result that was cut is text
// without structure.
const codeOutputSchema = `{
	"type": "object",
	"properties": {
		"value": {"description": "The value of the code's last statement, if that is an expression."},
		"stdout": {"type": "string", "description": "What the code printed."},
		"stderr": {"type": "string", "description": "What the code wrote to standard error."},
		"error": {"type": "object", "description": "What the code raised."},
		"truncated": {"type": "object", "description": "How long what was cut is, in bytes."},
		"text": {"type": "string", "description": "The start of a result that was too long."},
		"outcome": {"type": "string", "description": "How the call ended, if it did not do what it was to do."},
		"next": {"type": "string", "description": "What is safe to do then."}
	}
}`

// title makes a name readable: refund_payment is Refund payment.
func title(name string) string {
	words := strings.Join(strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '-' || c == '.' }), " ")
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// offered gives the tools that a run may call now, by name.
func (s *Session) offered(ctx context.Context) ([]tool, error) {
	run, err := s.rt.Run(ctx, s.run)
	if err != nil {
		return nil, fmt.Errorf("look up run %s: %w", s.run, err)
	}
	bound, err := s.rt.Bound(ctx, s.run)
	if err != nil {
		return nil, fmt.Errorf("look up the grants of run %s: %w", s.run, err)
	}
	var list []tool
	for _, t := range bound {
		if s.withheld(t, run.Tenant) != "" {
			continue
		}
		one, err := newTool(t)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b tool) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// withheld says why a tool is not offered even though it was granted; empty: it
// is.
func (s *Session) withheld(t *manifests.Tool, tenant string) string {
	switch {
	case t.Metadata.Name == runtime.ExecTool && !s.config.Exec:
		return "it is not offered by this server"
	case !t.EnabledFor(tenant):
		return "it is disabled, or not enabled for the tenant"
	case !t.PinMatches():
		return "its definition is not the pinned one, so that every call would be blocked"
	case !s.rt.Reaches(t):
		return "this host cannot reach it"
	}
	return ""
}
