package manifests

import "time"

// Harness is a manifest of kind Harness: which tools there are, and the
// operator's policy and limits for all of them. It does not change after
// loading.
type Harness struct {
	Metadata  Metadata
	Tools     ToolsConfig
	Policy    *Policy
	Tasks     map[string]Task
	Secrets   map[string]Secret
	Approvals ApprovalsConfig
	Budgets   Budgets
	Limits    Ceilings
	// MCPServers say where the tools of MCP servers are, by the server's name.
	MCPServers map[string]MCPServer
	Store      string
	Trace      TraceConfig
	Origin     Origin

	doc *node // for places in messages; nil for a harness that was not read
}

// ToolsConfig is about all tools.
type ToolsConfig struct {
	// Manifests are patterns for the files with the tools' manifests, relative
	// to the directory of harness.yaml. Default: none.
	Manifests []string
	// RequireManifest refuses calls of tools without a manifest. Default true.
	RequireManifest bool
	// Trifecta is what happens to a call that the trifecta rule catches. Default
	// require_approval.
	Trifecta TrifectaAction
	// ApprovalByRisk has the risks whose tools need approval for every call.
	ApprovalByRisk map[string]Requirement
	// MaxOutputBytes is the default of a tool's output.max_bytes. Default 20,000.
	MaxOutputBytes int64
	// Namespaces is what happens to a call of a native tool, or of another program
	// that the harness names, on a host that has no namespaces to give. Default
	// required. This field is Mayfly's own.
	Namespaces NamespacesRule
	// Judge is asked about every call that got so far; nil: no judge.
	Judge *Judge
}

// TrifectaAction is what happens to a call of a tool with egress after a run
// has seen both private data and untrusted content.
type TrifectaAction string

// The actions.
const (
	TrifectaApproval TrifectaAction = "require_approval"
	TrifectaBlock    TrifectaAction = "block"
)

// NamespacesRule is what happens to native calls where there are no namespaces.
type NamespacesRule string

// The rules.
const (
	// NamespacesRequired refuses the call.
	NamespacesRequired NamespacesRule = "required"
	// NamespacesPreferred lets it run under the other layers, if they can hold what
	// was granted.
	NamespacesPreferred NamespacesRule = "preferred"
)

// Requirement is the value of an entry of approval_by_risk.
type Requirement string

// Required asks for approval.
const Required Requirement = "required"

// Requires reports whether every call of a tool with this risk needs approval.
func (c *ToolsConfig) Requires(r Risk) bool { return c.ApprovalByRisk[string(r)] == Required }

// Judge is who is asked for a verdict on a call. Exactly one of URL, Command and
// Tool is set. This form is Mayfly's own.
type Judge struct {
	// URL is where {tool, args} is posted as JSON.
	URL string
	// HeadersEnv are headers for URL, as in [ToolSpec].
	HeadersEnv map[string]string
	// Command is a program that reads {tool, args} and writes its verdict, as
	// confined as a handler without grants.
	Command *Handler
	// Tool is the name of a tool that is called with {tool, args}.
	Tool string
	// Timeout is how long the judge may take. Default 10s. A judge that takes
	// longer asks a person.
	Timeout time.Duration
}

// Policy are the operator's rules. A harness without one lets this step pass.
type Policy struct {
	// DefaultEffect holds for calls that no rule matches. Default deny.
	DefaultEffect Effect
	// Rules are all looked at; of those that match, deny goes before
	// require_approval before allow.
	Rules []PolicyRule
}

// Effect is what a policy says.
type Effect string

// The effects.
const (
	Allow           Effect = "allow"
	Deny            Effect = "deny"
	RequireApproval Effect = "require_approval"
)

// PolicyRule is one rule.
type PolicyRule struct {
	// ID names the rule in decisions. Unique.
	ID string
	// When says which calls it matches.
	When Expression
	// Effect is what it says about them.
	Effect Effect
}

// Task is a kind of run.
type Task struct {
	// Tools are the tools that a run of the task is given. nil when the task
	// does not say; empty when it gives none.
	Tools []string
	// Approvals are the task's own.
	Approvals TaskApprovals
	// Budgets are the task's own, beside the harness's.
	Budgets Budgets
}

// TaskApprovals say which calls of a task need a person.
type TaskApprovals struct {
	// Tools need approval for every call.
	Tools []string
	// ApproverRole is who may approve when the step that asks does not say.
	ApproverRole string
}

// ApprovalsConfig is about all approvals.
type ApprovalsConfig struct {
	// ApproverRole is who may approve when neither step nor task says.
	ApproverRole string
	// Timeout is how long a request waits for a person before it counts as
	// rejected. Default 1h. Mayfly's own addition.
	Timeout time.Duration
}

// Budgets bound a run.
type Budgets struct {
	// MaxToolCalls is how many calls a run may make; 0 is no bound.
	MaxToolCalls int64
}

// TraceConfig is where decisions are noted down.
type TraceConfig struct {
	// File is a file of JSON Lines, from the harness's directory. Default
	// ".mayfly/trace.jsonl".
	File string
	// OTLP sends spans as well; nil: it does not.
	OTLP *OTLP
}

// OTLP is an OpenTelemetry collector.
type OTLP struct {
	// Endpoint is its URL, OTLP over HTTP.
	Endpoint string
	// HeadersEnv are headers of its requests, as in [ToolSpec].
	HeadersEnv map[string]string
	// ArgumentsOf are the tools whose calls have their arguments in the span, without
	// what may be secret or personal; nil: none.
	ArgumentsOf []string
}

// Ceilings are the operator's limits, which no manifest can exceed. A manifest
// that asks for more gets the tighter of the two, and a [Warning]. A zero field
// sets no ceiling.
type Ceilings struct {
	// Timeout bounds every tool's timeout.
	Timeout time.Duration
	// MaxOutputBytes bounds every tool's output.max_bytes.
	MaxOutputBytes int64
	// Code bounds the limits of code tools.
	Code CodeLimits
	// Egress are the only hosts that tools may send data to; nil: any.
	Egress []Host
	// Grants are the most that a native tool may be granted; nil: anything.
	Grants *Grants
}

// StoreMemory is the store that keeps nothing on disk.
const StoreMemory = "memory"

// NewHarness gives the harness that an empty document of kind Harness is.
func NewHarness() *Harness {
	return &Harness{
		Tools:     ToolsConfig{RequireManifest: true, Trifecta: TrifectaApproval, MaxOutputBytes: 20_000, Namespaces: NamespacesRequired},
		Approvals: ApprovalsConfig{Timeout: time.Hour},
		Store:     ".mayfly/store.db",
		Trace:     TraceConfig{File: ".mayfly/trace.jsonl"},
	}
}
