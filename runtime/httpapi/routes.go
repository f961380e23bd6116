package httpapi

import "net/http"

// routes is all there is, beside /mcp, which the Model Context Protocol describes.
var routes = []route{
	{method: "GET", pattern: "/healthz", public: true, handle: (*request).health},
	{method: "GET", pattern: "/readyz", public: true, handle: (*request).ready},
	{method: "GET", pattern: "/metrics", raw: (*request).metrics},

	{method: "GET", pattern: "/v1/me", handle: (*request).me},
	{method: "GET", pattern: "/v1/tools", handle: (*request).listTools},
	{method: "GET", pattern: "/v1/tools/{name}", handle: (*request).showTool},
	{method: "POST", pattern: "/v1/tools/{name}/call", handle: (*request).call},
	{method: "POST", pattern: "/v1/tools/{name}/authorize", handle: (*request).authorize},
	{method: "POST", pattern: "/v1/tools/{name}/sanitize", handle: (*request).sanitize},
	{method: "POST", pattern: "/v1/exec", handle: (*request).exec},

	{method: "GET", pattern: "/v1/runs", handle: (*request).listRuns},
	{method: "POST", pattern: "/v1/runs", handle: (*request).startRun},
	{method: "GET", pattern: "/v1/runs/{id}", handle: (*request).showRun},
	{method: "POST", pattern: "/v1/runs/{id}/grant", handle: (*request).grant},
	{method: "POST", pattern: "/v1/runs/{id}/revoke", handle: (*request).revoke},
	{method: "POST", pattern: "/v1/runs/{id}/labels", handle: (*request).label},

	{method: "GET", pattern: "/v1/approvals", handle: (*request).listApprovals},
	{method: "GET", pattern: "/v1/approvals/{id}", handle: (*request).showApproval},
	{method: "POST", pattern: "/v1/approvals/{id}/approve", handle: (*request).approve},
	{method: "POST", pattern: "/v1/approvals/{id}/edit", handle: (*request).edit},
	{method: "POST", pattern: "/v1/approvals/{id}/reject", handle: (*request).reject},

	{method: "GET", pattern: "/v1/trace", raw: (*request).stream},
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
}

func (q *request) me() answer {
	c := q.caller
	calls := c.Tenant != AllTenants
	return ok(me{c.Principal, c.Tenant, append([]string{}, c.Roles...), q.s.config.Exec && calls, calls})
}
