package httpapi

import (
	"net/http"

	"github.com/mayfly-run/mayfly/runtime/wire"
)

// routes is all there is, beside /mcp, which the Model Context Protocol describes,
// and the console.
var routes = []route{
	{method: "GET", pattern: "/healthz", public: true, handle: (*request).health, summary: "Whether the process answers.", out: status{}},
	{method: "GET", pattern: "/readyz", public: true, handle: (*request).ready, summary: "Whether calls are taken.", out: status{}},
	{method: "GET", pattern: "/metrics", raw: (*request).metrics, summary: "Metrics for Prometheus; takes the role metrics.", media: "text/plain"},
	{method: "GET", pattern: "/v1/me", handle: (*request).me, summary: "Who the caller is.", out: me{}},
	{method: "GET", pattern: "/v1/tools", handle: (*request).listTools, summary: "The tools that the caller may know of.", out: toolList{}},
	{method: "GET", pattern: "/v1/tools/{name}", handle: (*request).showTool, summary: "A tool; for an operator with its manifest.", out: toolDetails{}},
	{method: "POST", pattern: "/v1/tools/{name}/call", handle: (*request).call, summary: "Call a tool under the governor.", in: callRequest{}, out: wire.Call{}, codes: callCodes()},
	{method: "POST", pattern: "/v1/tools/{name}/authorize", handle: (*request).authorize, summary: "Say what would be decided about a call, and do nothing.", in: callRequest{}, out: wire.Decision{}},
	{method: "POST", pattern: "/v1/tools/{name}/sanitize", handle: (*request).sanitize, summary: "Do the governor's last step to a result of one's own.", in: sanitizeRequest{}, out: sanitized{}},
	{method: "POST", pattern: "/v1/exec", handle: (*request).exec, summary: "Run code in a fresh sandbox.", in: execRequest{}, out: wire.Call{}, codes: callCodes()},

	{method: "GET", pattern: "/v1/runs", handle: (*request).listRuns, summary: "Runs, the newest first.", query: []string{"principal", "tenant", "task", "limit"}, out: runList{}},
	{method: "POST", pattern: "/v1/runs", handle: (*request).startRun, summary: "Start a run.", in: runRequest{}, out: wire.Run{}, codes: []int{201}},
	{method: "GET", pattern: "/v1/runs/{id}", handle: (*request).showRun, summary: "A run, with its grants, approvals and effects.", out: runDetails{}},
	{method: "POST", pattern: "/v1/runs/{id}/grant", handle: (*request).grant, summary: "Let a run call tools; takes the role operator.", in: grantRequest{}, out: runDetails{}},
	{method: "POST", pattern: "/v1/runs/{id}/revoke", handle: (*request).revoke, summary: "Take tools from a run.", in: revokeRequest{}, out: runDetails{}},
	{method: "POST", pattern: "/v1/runs/{id}/labels", handle: (*request).label, summary: "Mark a run.", in: labelRequest{}, out: runDetails{}},

	{method: "GET", pattern: "/v1/approvals", handle: (*request).listApprovals, summary: "Approvals, the newest first; those that wait unless state says else.", query: []string{"state", "run", "principal", "tenant", "limit"}, out: approvalList{}},
	{method: "GET", pattern: "/v1/approvals/{id}", handle: (*request).showApproval, summary: "An approval.", out: shownApproval{}},
	{method: "POST", pattern: "/v1/approvals/{id}/approve", handle: (*request).approve, summary: "Let a call go ahead, once.", in: answerRequest{}, out: wire.Answer{}, codes: answerCodes()},
	{method: "POST", pattern: "/v1/approvals/{id}/edit", handle: (*request).edit, summary: "Let a call go ahead with other arguments.", in: editRequest{}, out: wire.Answer{}, codes: answerCodes()},
	{method: "POST", pattern: "/v1/approvals/{id}/reject", handle: (*request).reject, summary: "Say no to a call.", in: answerRequest{}, out: wire.Answer{}, codes: answerCodes()},

	{method: "GET", pattern: "/v1/trace", raw: (*request).stream, summary: "Notes of the trace as server-sent events, after Last-Event-ID.", query: []string{"run", "tool", "recent"}, media: "text/event-stream"},
}

type status struct {
	Status string `json:"status"`
}

// health says that the process answers.
func (q *request) health() answer { return ok(status{"ok"}) }

// ready says whether calls are taken.
func (q *request) ready() answer {
	select {
	case <-q.s.stopping:
		return no(refuse(http.StatusServiceUnavailable, "stopping", "", "the server is about to end"))
	default:
		return ok(status{"ready"})
	}
}

// me is who the caller is.
type me struct {
	Principal string   `json:"principal"`
	Tenant    string   `json:"tenant"`
	Roles     []string `json:"roles"`
	// Exec: the caller may run code of its own.
	Exec bool `json:"exec"`
	// Calls: the caller may call tools.
	Calls bool `json:"calls"`
	// ExecLimits are the most that code may be given.
	ExecLimits execLimits `json:"exec_limits"`
	// MaxRequest is how long the body of a request may be, in bytes.
	MaxRequest int64 `json:"max_request_bytes"`
}

func (q *request) me() answer {
	c := q.caller
	calls := c.Tenant != AllTenants
	most := q.s.config.ExecLimits
	return ok(me{
		c.Principal, c.Tenant, append([]string{}, c.Roles...), q.s.config.Exec && calls, calls,
		execLimits{most.Timeout.Milliseconds(), int64(most.MaxMemory >> 20)}, q.s.config.MaxBody,
	})
}
