package manifests

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// fields is the table of a document of kind Tool.
func (t *Tool) fields() fields {
	return fields{
		versionField(),
		kindField(KindTool),
		{name: "metadata", required: true, slot: group(t.Metadata.fields(true)), doc: "The tool's name, version and owner."},
		{name: "spec", required: true, slot: group(t.Spec.fields()), doc: "The contract of the tool."},
	}
}

// fields is the table of metadata. Only tools need a name.
func (m *Metadata) fields(named bool) fields {
	return fields{
		{name: "name", required: named, slot: textSlot{&m.Name, toolName},
			doc: "The name, as models and policies see it: letters, digits, _, . and -, not starting with a digit, at most 128 characters."},
		{name: "version", slot: textSlot{&m.Version, line}, doc: "The version, for people and the trace; quote it when it looks like a number."},
		{name: "owner", slot: textSlot{&m.Owner, line}, doc: "The team that answers for it."},
	}
}

func (s *ToolSpec) fields() fields {
	words := func(p *string) slot { return textSlot{p, label} }
	return fields{
		{name: "transport", slot: choice(&s.Transport, TransportNative, TransportHTTP, TransportCode, TransportMCP),
			doc: "How the tool is reached: native runs a handler in a confined process, http posts the arguments to a URL, code runs the code in one of the arguments in a sandbox, mcp calls a tool of an MCP server."},
		{name: "description", slot: textSlot{&s.Description, anyText},
			doc: "What a model is told the tool does. Part of what definition_digest pins. Default: empty."},
		{name: "input_schema", slot: schemaSlot{&s.InputSchema},
			doc: "The arguments as JSON Schema 2020-12, in the subset that is fully checked; $ref leads to #/$defs only, pattern is RE2 and matches anywhere unless anchored. Part of what definition_digest pins."},
		{name: "definition_digest", slot: textSlot{&s.DefinitionDigest, digestRule},
			doc: "Pins name, description and input_schema: sha256: and 64 lower-case hex digits. A tool that does not match its pin loads, and every call to it is blocked. Default: not pinned."},
		{name: "handler", slot: handlerSlot{&s.Handler},
			doc: "native, required: what is called. package.module:function for Python, ./file.mjs#function for JavaScript, or {command, args, cwd} for any program; paths are from the harness's directory. A function that takes idempotency_key is given it."},
		{name: "grants", slot: group(grantFields(&s.Grants)),
			doc: "native: what the handler's process may touch; everything else is denied. Mayfly's own addition to the format."},
		{name: "url", slot: textSlot{&s.URL, address},
			doc: "http, required: where the arguments are posted as JSON; http or https, without user, password and fragment. The host must be one that egress lists."},
		{name: "headers_env", slot: headers(&s.HeadersEnv),
			doc: "http: headers of the request, each with the name of the environment variable that holds its value. Default: none."},
		{name: "server", slot: textSlot{&s.Server, serverRule},
			doc: "mcp, required: the MCP server that has the tool, such as mcp://payments."},
		{name: "sandbox", slot: choice(&s.Sandbox, SandboxPython, SandboxJS, SandboxMonty, SandboxMontyLong),
			doc: "code, required: what runs the code: python or js; monty and monty.sandbox are python too."},
		{name: "code_arg", slot: textSlot{&s.CodeArg, argName},
			doc: "code: the argument that holds the code. The others become global variables."},
		{name: "limits", slot: group(codeLimitFields(&s.Limits)),
			doc: "code: limits of the code in one call. The operator's limits hold as well."},
		{name: "timeout", slot: duration(&s.Timeout),
			doc: "How long a call may take, as whole numbers with units: 500ms, 30s, 2m, 1h30m. At most 24h."},
		{name: "side_effect", slot: choice(&s.SideEffect, EffectNone, EffectRead, EffectWriteInternal, EffectWriteExternal, EffectDestructive),
			doc: "What a call changes. A call that writes is never repeated blindly."},
		{name: "risk", slot: choice(&s.Risk, RiskLow, RiskMedium, RiskHigh, RiskCritical),
			doc: "How much harm a misused call does; the harness can ask for approval by risk."},
		{name: "data_access", slot: list(&s.DataAccess, func(p *string) slot { return textSlot{p, dataClass} }),
			doc: "The data that the tool reads, in lower case. An entry pii:... marks the run as having seen private data. Default: none."},
		{name: "egress", slot: list(&s.Egress, host),
			doc: "Where the tool can send data: host names, *.name, IP addresses or *, each with an optional :port. This machine, private networks and addresses with a special use are reached only if the address itself, localhost, or a whole name below .internal is listed. A tool with egress is subject to the trifecta rule. Default: nowhere."},
		{name: "scopes", slot: list(&s.Scopes, words),
			doc: "Permissions that the tool needs, for policy rules and gateways. Default: none."},
		{name: "tenants", slot: list(&s.Tenants, func(p *string) slot { return textSlot{p, line} }),
			doc: "The tenants that the tool is enabled for. Default: all."},
		{name: "enabled", slot: flagSlot{&s.Enabled}, doc: "false blocks every call."},
		{name: "rate_limit", slot: group(s.RateLimit.fields()),
			doc: "How many calls are allowed in a sliding window. Default: no limit."},
		{name: "approval", slot: group(s.Approval.fields()), doc: "When a person must approve a call. Default: only when another step asks."},
		{name: "output", slot: group(s.Output.fields()), doc: "What is done to the result before anything else sees it."},
	}
}

func (l *RateLimit) fields() fields {
	return fields{
		{name: "per_principal", slot: rate(&l.PerPrincipal), doc: "For each principal: a count and a window, such as 10/m; windows are s, m, h and d. Default: no limit."},
		{name: "per_tenant", slot: rate(&l.PerTenant), doc: "For each tenant, in the same form. Default: no limit."},
	}
}

func (a *Approval) fields() fields {
	return fields{
		{name: "when", slot: exprSlot{&a.When},
			doc: "An expression over principal, tenant, task, tool, args and labels. A person must approve the call when it is true or cannot be evaluated. Default: never."},
		{name: "approver_role", slot: textSlot{&a.ApproverRole, label},
			doc: "The role that may approve. Default: the task's approvals.approver_role, else the harness's."},
	}
}

func (o *OutputPolicy) fields() fields {
	return fields{
		{name: "max_bytes", slot: countSlot{&o.MaxBytes, 1, MaxBytes},
			doc: "How much of the result is kept, in bytes of UTF-8; a JSON result becomes compact JSON text first. Default: the harness's tools.max_output_bytes."},
		{name: "sanitize", slot: list(&o.Sanitize, func(p *Sanitizer) slot { return choice(p, SanitizePII, SanitizeInstructions) }),
			doc: "Sanitizers of values and object keys. They run in this order, however they are listed: pii_redact, strip_instructions. Default: none."},
		{name: "label", slot: choice(&o.Label, LabelUntrusted, LabelTrusted),
			doc: "Whether the result marks the run as having seen untrusted content."},
	}
}

// digestRule is a pin.
var digestRule = rule{code: CodeDigest, pattern: `^sha256:[0-9a-f]{64}$`, check: func(s string) string {
	hex, ok := strings.CutPrefix(s, canonjson.DigestPrefix)
	if !ok || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return "must be sha256: and 64 lower-case hex digits"
	}
	return ""
}}

var serverRule = rule{pattern: `^mcp://[A-Za-z0-9][A-Za-z0-9._-]*$`, check: func(s string) string {
	name, ok := strings.CutPrefix(s, "mcp://")
	if !ok || name == "" || len(name) > MaxName || !letter(name[0]) && !digit(name[0]) ||
		strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f || !letter(byte(r)) && !digit(byte(r)) && !isOneOf(byte(r), "._-") }) {
		return "must be mcp:// and the name of a server"
	}
	return ""
}}

// argName is an argument that can become a global variable.
var argName = rule{pattern: `^[A-Za-z_][A-Za-z0-9_]*$`, check: func(s string) string {
	if len(s) > MaxName || !isIdentifier(s, "") {
		return "must be the name of an argument: letters, digits and _"
	}
	return ""
}}

// MaxExpression is how long an expression may be, in bytes.
const MaxExpression = 4096

// exprSlot is an expression. YAML's true and false are expressions too.
type exprSlot struct{ p *Expression }

func (e exprSlot) read(r *reporter, n *node) {
	source := n.text
	if n.kind == boolNode {
		source = "false"
		if n.value.(bool) {
			source = "true"
		}
	} else if !expect(r, n, textNode) {
		return
	}
	if strings.TrimSpace(source) == "" || len(source) > MaxExpression {
		r.at(n, CodeValue, "must be an expression of at most %d bytes", MaxExpression)
		return
	}
	*e.p = Expression{Source: source, Position: Position{File: r.file, Line: n.line, Column: n.column}}
}

func (e exprSlot) value() any {
	if e.p.Source == "" {
		return nil
	}
	return e.p.Source
}

func (exprSlot) schema() object {
	return object{{"type", []any{"string", "boolean"}}, {"minLength", int64(1)}}
}

// schemaSlot is a JSON Schema, checked later, as a whole.
type schemaSlot struct{ p *map[string]any }

func (s schemaSlot) read(r *reporter, n *node) {
	if !expect(r, n, objectNode) {
		return
	}
	if tree, ok := n.tree(); ok {
		*s.p = tree.(map[string]any)
	}
}

func (s schemaSlot) value() any {
	if *s.p == nil {
		return nil
	}
	return *s.p
}

func (schemaSlot) schema() object {
	return object{{"$ref", "#/$defs/input_schema"}, {"default", object{{"type", "object"}}}}
}

func versionField() field {
	return field{name: "apiVersion", required: true, slot: fixedSlot{APIVersion}, doc: "The version of the format."}
}

func kindField(kind string) field {
	return field{name: "kind", required: true, slot: fixedSlot{kind}, doc: "What the document describes."}
}

// order puts sanitizers into the order they run.
func order(list []Sanitizer) {
	slices.SortFunc(list, func(a, b Sanitizer) int { return cmp.Compare(rank(a), rank(b)) })
}

func rank(s Sanitizer) int { return slices.Index([]Sanitizer{SanitizePII, SanitizeInstructions}, s) }
