package manifests

import (
	"slices"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/manifests/internal/argschema"
)

// APIVersion is the version of the format, in every document.
const APIVersion = "harnessweaver/v1"

// The kinds of documents.
const (
	KindTool    = "Tool"
	KindHarness = "Harness"
)

// Tool is a manifest of kind Tool: what a model is told the tool does, how it
// is reached, what it may touch, and when a person must approve a call. It
// does not change after loading and may be used by several goroutines.
type Tool struct {
	Metadata Metadata
	Spec     ToolSpec
	// Origin says where the manifest was read.
	Origin Origin

	schema *argschema.Schema
	digest string
	doc    *node // for places in messages; nil for a tool that was not read
}

// Metadata names a document.
type Metadata struct {
	// Name is the tool's name, as models and policies see it. Required for a
	// tool.
	Name string
	// Version is the document's version, for people and the trace.
	Version string
	// Owner is the team that answers for it.
	Owner string
}

// Origin is where a document was read.
type Origin struct {
	// File is the file's name, as it was given or found.
	File string
	// Line is the document's first line.
	Line int
	// Root is the directory that relative paths in the document are relative
	// to: that of harness.yaml. Empty when the document was not loaded from one.
	Root string
	// SHA256 is the digest of the file's bytes, in hex, so that a change on disk
	// can be told.
	SHA256 string
}

// Position is a place in a file. Line and Column count from 1.
type Position struct {
	File         string
	Line, Column int
}

// Expression is source text in the policy language, compiled by the governor.
// The zero Expression is none.
type Expression struct {
	Source string
	// Position is where the value starts, its quote included.
	Position Position
}

// Transport is how a tool is reached.
type Transport string

// The transports.
const (
	TransportNative Transport = "native" // a process that runs a handler
	TransportHTTP   Transport = "http"   // a POST to a URL
	TransportCode   Transport = "code"   // code in a sandbox
	TransportMCP    Transport = "mcp"    // a tool of an MCP server
)

// SideEffect is what a call changes.
type SideEffect string

// The side effects, from none to the worst.
const (
	EffectNone          SideEffect = "none"
	EffectRead          SideEffect = "read"
	EffectWriteInternal SideEffect = "write_internal"
	EffectWriteExternal SideEffect = "write_external"
	EffectDestructive   SideEffect = "destructive"
)

// Writes reports whether a call changes anything, so that it must not be
// repeated blindly.
func (e SideEffect) Writes() bool { return e != EffectNone && e != EffectRead }

// Risk is how much harm a misused call does.
type Risk string

// The risks.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

// Sanitizer is something done to a result.
type Sanitizer string

// The sanitizers, in the order they run.
const (
	SanitizePII          Sanitizer = "pii_redact"
	SanitizeInstructions Sanitizer = "strip_instructions"
)

// Label says whether a result may hold someone else's words.
type Label string

// The labels.
const (
	LabelUntrusted Label = "untrusted"
	LabelTrusted   Label = "trusted"
)

// Sandbox names the interpreter of a code tool. monty and monty.sandbox are
// other names of the Python one.
type Sandbox string

// The sandboxes.
const (
	SandboxMonty     Sandbox = "monty"
	SandboxMontyLong Sandbox = "monty.sandbox"
	SandboxPython    Sandbox = "python"
	SandboxJS        Sandbox = "js"
)

// Guest is the name of the guest that runs the code: "python" or "js", "" for
// the zero Sandbox.
func (s Sandbox) Guest() string {
	switch s {
	case SandboxMonty, SandboxMontyLong, SandboxPython:
		return "python"
	case SandboxJS:
		return "js"
	}
	return ""
}

// ToolSpec is the contract of a tool. Fields that a transport does not use are
// empty.
type ToolSpec struct {
	// Transport is how the tool is reached. Default native.
	Transport Transport
	// Description is what a model is told. Default "".
	Description string
	// InputSchema is the JSON Schema of the arguments, a tree as canonjson gives
	// it. Default {"type": "object"}.
	InputSchema map[string]any
	// DefinitionDigest pins {name, description, input_schema}; "" is no pin.
	DefinitionDigest string
	// Handler is what a native tool calls.
	Handler *Handler
	// Grants is what its process may touch. Default: nothing.
	Grants Grants
	// URL is where an http tool posts its arguments.
	URL string
	// HeadersEnv maps the headers of an http tool to the environment variables
	// that hold their values.
	HeadersEnv map[string]string
	// Server is the MCP server of an mcp tool, such as mcp://payments.
	Server string
	// Sandbox is where the code of a code tool runs.
	Sandbox Sandbox
	// CodeArg is the argument that holds the code. Default "code"; empty for
	// other transports.
	CodeArg string
	// Limits bound the code of a code tool.
	Limits CodeLimits
	// Timeout is how long a call may take. Default 30s.
	Timeout time.Duration
	// SideEffect is what a call changes. Default none.
	SideEffect SideEffect
	// Risk is how much harm a misused call does. Default low.
	Risk Risk
	// DataAccess is the data the tool reads; entries pii:* are private.
	DataAccess []string
	// Egress is where the tool can send data, as its manifest says. A tool with
	// egress is subject to the trifecta rule.
	Egress []Host
	// EgressAllowed is the part of Egress that the operator's limits leave. It
	// is what may be reached.
	EgressAllowed []Host
	// Scopes are permissions that the tool needs, for policies.
	Scopes []string
	// Tenants are the tenants it is enabled for; empty is all.
	Tenants []string
	// Enabled is false for a tool that no one may call. Default true.
	Enabled bool
	// RateLimit bounds calls.
	RateLimit RateLimit
	// Approval says when a person must approve a call.
	Approval Approval
	// Output is what is done to the result.
	Output OutputPolicy
}

// RateLimit bounds calls in a sliding window; a zero [Rate] does not.
type RateLimit struct {
	PerPrincipal Rate
	PerTenant    Rate
}

// Approval says when a person must approve a call, and who.
type Approval struct {
	// When asks for approval where it is true or cannot be evaluated; without a
	// source it asks for none.
	When Expression
	// ApproverRole is the role that may approve. Default: the task's, else the
	// harness's.
	ApproverRole string
}

// OutputPolicy is what is done to a result before anything else sees it.
type OutputPolicy struct {
	// MaxBytes is how much of the result is kept, in bytes of UTF-8. Default:
	// the harness's tools.max_output_bytes; 0 until the manifest is part of a
	// [Set].
	MaxBytes int64
	// Sanitize are the sanitizers, in the order they run. Default: none.
	Sanitize []Sanitizer
	// Label says whether the result is someone else's words. Default untrusted.
	Label Label
}

// Private reports whether the tool reads private data.
func (t *Tool) Private() bool {
	return slices.ContainsFunc(t.Spec.DataAccess, func(s string) bool { return strings.HasPrefix(s, "pii:") })
}

// EnabledFor reports whether the tool may be called for a tenant, "" for none.
func (t *Tool) EnabledFor(tenant string) bool {
	return t.Spec.Enabled && (len(t.Spec.Tenants) == 0 || slices.Contains(t.Spec.Tenants, tenant))
}

// CheckArguments checks arguments, a tree as canonjson gives it, against the
// input_schema, and returns what is wrong with them in a fixed order; nil means
// valid. A Tool that was not read from a manifest accepts nothing.
func (t *Tool) CheckArguments(args any) []Violation {
	if t.schema == nil {
		return []Violation{{Rule: "cannot be checked: the tool was not read from a manifest"}}
	}
	var list []Violation
	for _, v := range t.schema.Validate(args) {
		list = append(list, Violation(v))
	}
	return list
}

// Violation is one rule of an input_schema that arguments break. It names
// places and rules, never a value of the arguments.
type Violation struct {
	// Pointer is the JSON pointer of the argument, "" for all of them. Long
	// names in it are cut.
	Pointer string
	// Keyword is the schema's keyword, such as "minimum"; "" when no single one
	// is to blame.
	Keyword string
	// Rule says what is asked for, in words made of the schema.
	Rule string
}

// String gives the place and the rule.
func (v Violation) String() string { return argschema.Violation(v).String() }

// newTool gives a Tool with the defaults that hold for every transport.
func newTool() *Tool {
	return &Tool{Spec: ToolSpec{
		Transport:  TransportNative,
		Timeout:    30 * time.Second,
		SideEffect: EffectNone,
		Risk:       RiskLow,
		Enabled:    true,
		CodeArg:    "code",
		Limits:     DefaultCodeLimits(),
		Output:     OutputPolicy{Label: LabelUntrusted},
	}}
}
