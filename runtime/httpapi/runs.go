package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// query reads the parameters of a request; any but those that are known is
// refused, as is one that is given twice.
func (q *request) query(known ...string) (map[string]string, *refused) {
	values := make(map[string]string)
	all, err := parseQuery(q.r)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "bad_request", "", "the query cannot be read")
	}
	for name, v := range all {
		if !slices.Contains(known, name) {
			return nil, refuse(http.StatusBadRequest, "bad_request", "", "there is no such parameter; there are %v", known)
		}
		if len(v) != 1 || len(v[0]) > maxText {
			return nil, refuse(http.StatusBadRequest, "bad_request", name, "a parameter is given once, and is not long")
		}
		values[name] = v[0]
	}
	return values, nil
}

// limit reads how many are wanted.
func limit(values map[string]string) (int, *refused) {
	text, given := values["limit"]
	if !given {
		return store.DefaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > store.MaxLimit {
		return 0, refuse(http.StatusBadRequest, "bad_request", "limit", "limit is a number from 1 to %d", store.MaxLimit)
	}
	return n, nil
}

// runList is the answer of GET /v1/runs.
type runList struct {
	Runs []wire.Run `json:"runs"`
}

func (q *request) listRuns() answer {
	values, refused := q.query("principal", "tenant", "task", "limit")
	if refused != nil {
		return no(refused)
	}
	f := runtime.RunFilter{Principal: values["principal"], Tenant: values["tenant"], Task: values["task"]}
	if f.Limit, refused = limit(values); refused != nil {
		return no(refused)
	}
	// The store narrows down, so that a limit counts what the caller may see.
	if !q.caller.has(RoleOperator) {
		if f.Principal != "" && f.Principal != q.caller.Principal {
			return ok(runList{[]wire.Run{}})
		}
		f.Principal = q.caller.Principal
	}
	if q.caller.Tenant != AllTenants {
		if f.Tenant != "" && f.Tenant != q.caller.Tenant {
			return ok(runList{[]wire.Run{}})
		}
		f.Tenant = q.caller.Tenant
	}
	runs, err := q.s.rt.Runs(q.r.Context(), f)
	if err != nil {
		return no(q.storeError(err, ""))
	}
	list := runList{[]wire.Run{}}
	for _, r := range runs {
		if q.caller.sees(r) {
			list.Runs = append(list.Runs, wire.NewRun(r))
		}
	}
	return ok(list)
}

// runRequest is a run to be started.
type runRequest struct {
	ID         string   `json:"id"`
	Task       string   `json:"task"`
	Labels     []string `json:"labels"`
	Tools      []string `json:"tools"`
	TTLSeconds int64    `json:"ttl_seconds"`
}

// maxTools is how many tools a request may name. Each is a transaction of the store.
const maxTools = 1000

func checkTools(names []string) *refused {
	if len(names) > maxTools {
		return refuse(http.StatusBadRequest, "bad_request", "/tools", "a request may name %d tools", maxTools)
	}
	return nil
}

// maxTTL is how long a run or a grant may be asked to hold, in seconds: a year.
const maxTTL = 366 * 24 * 3600

func (q *request) startRun() answer {
	var in runRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	labels, refused := readLabels(in.Labels, "/labels")
	if refused == nil {
		refused = checkTools(in.Tools)
	}
	switch {
	case refused != nil:
	case q.caller.Tenant == AllTenants:
		refused = refuse(http.StatusForbidden, "tenant", "", "a token for all tenants starts nothing")
	case in.TTLSeconds < 0 || in.TTLSeconds > maxTTL:
		refused = refuse(http.StatusBadRequest, "bad_request", "/ttl_seconds", "ttl_seconds is a number from 1 to %d; without it the run does not end", maxTTL)
	case len(in.ID) > 128:
		refused = refuse(http.StatusBadRequest, "bad_request", "/id", "the ID may have 128 bytes")
	case slices.Contains(in.Tools, runtime.ExecTool) && !q.s.config.Exec:
		refused = refuse(http.StatusForbidden, "exec", "/tools", "this server runs no code of callers; mayfly serve --exec lets it")
	}
	if refused != nil {
		return no(refused)
	}
	run, err := q.s.rt.StartRun(q.r.Context(), runtime.RunConfig{
		ID: in.ID, Principal: q.caller.Principal, Tenant: q.caller.Tenant, Task: in.Task, Labels: labels, Tools: in.Tools,
		TTL: time.Duration(in.TTLSeconds) * time.Second,
	})
	if err != nil {
		return no(q.storeError(err, ""))
	}
	return answer{status: http.StatusCreated, body: wire.NewRun(run)}
}

// runDetails is the answer of GET /v1/runs/{id}.
type runDetails struct {
	wire.RunDetails `json:",inline"`
	// MaxCalls is how many calls the run may make; 0: no bound.
	MaxCalls int64 `json:"max_tool_calls"`
}

func (q *request) showRun() answer {
	ctx := q.r.Context()
	run, refused := q.run(ctx, q.r.PathValue("id"), "id")
	if refused != nil {
		return no(refused)
	}
	d, err := wire.NewRunDetails(ctx, q.s.rt, run)
	if err != nil {
		return no(q.storeError(err, ""))
	}
	return ok(runDetails{d, q.budget(run)})
}

// budget is how many calls a run may make: the tighter of the harness's bound and
// that of its task.
func (q *request) budget(run runtime.Run) int64 {
	h := q.s.rt.Manifests().Harness
	most := h.Budgets.MaxToolCalls
	if task, known := h.Tasks[run.Task]; known {
		if n := task.Budgets.MaxToolCalls; n > 0 && (most == 0 || n < most) {
			most = n
		}
	}
	return most
}

// watchedRun is a run whose grants the caller may change.
func (q *request) watchedRun(ctx context.Context) (runtime.Run, *refused) {
	run, refused := q.run(ctx, q.r.PathValue("id"), "id")
	if refused == nil && !q.caller.watches(run.Tenant) {
		refused = refuse(http.StatusForbidden, "role", "", "this takes the role %s", RoleOperator)
	}
	return run, refused
}

type grantRequest struct {
	Tools      []string `json:"tools"`
	TTLSeconds int64    `json:"ttl_seconds"`
}

func (q *request) grant() answer {
	var in grantRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	if refused := checkTools(in.Tools); refused != nil {
		return no(refused)
	}
	ctx := q.r.Context()
	run, refused := q.watchedRun(ctx)
	switch {
	case refused != nil:
		return no(refused)
	case run.Principal == q.caller.Principal:
		return no(refuse(http.StatusForbidden, "not_yours", "", "nobody grants tools to their own runs"))
	case len(in.Tools) == 0:
		return no(refuse(http.StatusBadRequest, "bad_request", "/tools", "name the tools"))
	case in.TTLSeconds < 0 || in.TTLSeconds > maxTTL:
		return no(refuse(http.StatusBadRequest, "bad_request", "/ttl_seconds", "ttl_seconds is a number from 1 to %d", maxTTL))
	}
	for _, name := range in.Tools { // before the first is granted
		if _, known := q.s.rt.Manifests().Tool(name); !known || name == runtime.ExecTool && !q.s.config.Exec {
			return no(refuse(http.StatusUnprocessableEntity, "not_found", "/tools", "there is no such tool"))
		}
	}
	var expires time.Time
	if in.TTLSeconds > 0 {
		expires = q.s.config.Now().Add(time.Duration(in.TTLSeconds) * time.Second)
	}
	for _, name := range in.Tools {
		if err := q.s.rt.Grant(ctx, run.ID, name, q.caller.Principal, expires); err != nil {
			return no(q.storeError(err, ""))
		}
	}
	return q.showRun()
}

type revokeRequest struct {
	Tools []string `json:"tools"`
	All   bool     `json:"all"`
}

// revoke takes tools from a run. Its own principal may do that too.
func (q *request) revoke() answer {
	var in revokeRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	if refused := checkTools(in.Tools); refused != nil {
		return no(refused)
	}
	ctx := q.r.Context()
	run, refused := q.run(ctx, q.r.PathValue("id"), "id")
	if refused != nil {
		return no(refused)
	}
	if in.All == (len(in.Tools) > 0) {
		return no(refuse(http.StatusBadRequest, "bad_request", "/tools", "name the tools, or say all"))
	}
	tools := in.Tools
	if in.All {
		tools = []string{""} // which stands for all
	}
	var failed error
	for _, name := range tools {
		failed = errors.Join(failed, q.s.rt.Revoke(ctx, run.ID, name)) // and go on: what can be taken away is
	}
	if failed != nil {
		return no(q.storeError(failed, "/tools"))
	}
	return q.showRun()
}

type labelRequest struct {
	Add []string `json:"add"`
}

// label marks a run. Marks only tighten, so that its principal may do it.
func (q *request) label() answer {
	var in labelRequest
	if refused := q.read(&in); refused != nil {
		return no(refused)
	}
	ctx := q.r.Context()
	run, refused := q.run(ctx, q.r.PathValue("id"), "id")
	if refused != nil {
		return no(refused)
	}
	labels, refused := readLabels(in.Add, "/add")
	if refused != nil {
		return no(refused)
	}
	if err := q.s.rt.AddLabels(ctx, run.ID, labels); err != nil {
		return no(q.storeError(err, ""))
	}
	return q.showRun()
}
