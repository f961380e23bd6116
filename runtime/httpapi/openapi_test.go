package httpapi_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// TestDescription: each route is described, what is described is there, and real
// answers are what the description says.
func TestDescription(t *testing.T) {
	w := newWorld(t, nil)
	doc := w.must(200, "agent", "GET", "/openapi.json", "")
	w.must(401, "", "GET", "/openapi.json", "")
	compiler := jsonschema.NewCompiler()
	compiler.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("nothing is loaded") }
	if err := compiler.AddResource("doc.json", strings.NewReader(doc.text)); err != nil {
		t.Fatal(err)
	}

	// What is described is there, and the other way round.
	paths := doc.at("paths").(map[string]any)
	described := 0
	for path, item := range paths {
		for method := range item.(map[string]any) {
			described++
			at := strings.NewReplacer("{name}", "find_order", "{id}", "none").Replace(path)
			if path == "/v1/trace" {
				at += "?recent=no" // or it would not end
			}
			body := ""
			if method == "post" {
				body = `{"no_such_member":1}`
			}
			got := w.do("prom", strings.ToUpper(method), at, body)
			if got.status == 405 || got.status == 404 && strings.Contains(got.text, "there is nothing here") {
				t.Errorf("%s %s is described and not there: %s", method, path, got.text)
			}
			if body != "" && got.status != 400 {
				t.Errorf("%s %s takes a member that is not described: %s", method, path, got.text)
			}
		}
	}
	for _, r := range httpapi.Routes() {
		item, _ := paths[r[1]].(map[string]any)
		if item[strings.ToLower(r[0])] == nil {
			t.Errorf("%s %s is not described", r[0], r[1])
		}
	}
	if described != len(httpapi.Routes()) {
		t.Errorf("%d operations are described, %d are there", described, len(httpapi.Routes()))
	}

	seen := make(map[string]bool)
	check := func(as, method, path, body, pattern string) reply {
		t.Helper()
		got := w.do(as, method, path, body)
		code, media := strconv.Itoa(got.status), got.header.Get("Content-Type")
		if media == "application/problem+json" {
			code = "default"
		}
		pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace
		where := "doc.json#/paths/" + pointer(pattern) + "/" + strings.ToLower(method) + "/responses/" + code + "/content/" + pointer(media) + "/schema"
		schema, err := compiler.Compile(strings.ReplaceAll(strings.ReplaceAll(where, "{", "%7B"), "}", "%7D"))
		if err != nil {
			t.Errorf("%s %s answers %d %s, which is not described: %v", method, path, got.status, media, err)
			return got
		}
		var value any
		if err := json.Unmarshal([]byte(got.text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s %s: %#v in %s", method, path, err, got.text)
		}
		seen[method+" "+pattern] = true
		return got
	}
	check("agent", "GET", "/healthz", "", "/healthz")
	check("agent", "GET", "/readyz", "", "/readyz")
	check("agent", "GET", "/v1/me", "", "/v1/me")
	check("agent", "GET", "/v1/tools", "", "/v1/tools")
	check("olga", "GET", "/v1/tools/refund", "", "/v1/tools/{name}")
	check("agent", "GET", "/v1/tools/none", "", "/v1/tools/{name}")
	const call = "/v1/tools/{name}/call"
	check("agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":"ada@example.org"}}`, call)
	check("agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":1}}`, call)
	check("agent", "POST", "/v1/tools/find_order/call", `{"argh":1}`, call)
	check("olga", "POST", "/v1/tools/fails/call", `{}`, call)
	check("agent", "POST", "/v1/tools/rare/call", `{}`, call)
	check("agent", "POST", "/v1/tools/rare/call", `{}`, call)
	check("agent", "POST", "/v1/tools/closed/call", `{}`, call)
	asked := check("agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"A","usd":900}}`, call)
	run, id := asked.at("run").(string), asked.at("approval").(string)
	check("agent", "POST", "/v1/tools/refund/authorize", `{"args":{"id":"A","usd":900}}`, "/v1/tools/{name}/authorize")
	check("agent", "POST", "/v1/tools/find_order/sanitize", `{"text":"ada@example.org"}`, "/v1/tools/{name}/sanitize")
	check("agent", "POST", "/v1/exec", `{"code":"1","globals":{"a":1}}`, "/v1/exec")
	check("agent", "POST", "/v1/exec", `{"code":"raise"}`, "/v1/exec")
	check("agent", "GET", "/v1/runs", "", "/v1/runs")
	check("agent", "POST", "/v1/runs", `{"ttl_seconds":60,"labels":["private"]}`, "/v1/runs")
	check("agent", "GET", "/v1/runs/"+run, "", "/v1/runs/{id}")
	check("olga", "POST", "/v1/runs/"+run+"/grant", `{"tools":["closed"],"ttl_seconds":60}`, "/v1/runs/{id}/grant")
	check("olga", "POST", "/v1/runs/"+run+"/revoke", `{"tools":["closed"]}`, "/v1/runs/{id}/revoke")
	check("agent", "POST", "/v1/runs/"+run+"/labels", `{"add":["untrusted"]}`, "/v1/runs/{id}/labels")
	check("ann", "GET", "/v1/approvals?state=all", "", "/v1/approvals")
	check("ann", "GET", "/v1/approvals/"+id, "", "/v1/approvals/{id}")
	check("ann", "POST", "/v1/approvals/"+id+"/edit", `{"args":{"id":"A","usd":"x"}}`, "/v1/approvals/{id}/edit")
	check("agent", "POST", "/v1/approvals/"+id+"/reject", `{}`, "/v1/approvals/{id}/reject")
	check("ann", "POST", "/v1/approvals/"+id+"/edit", `{"args":{"id":"A","usd":150}}`, "/v1/approvals/{id}/edit")
	check("ann", "POST", "/v1/approvals/"+id+"/approve", `{}`, "/v1/approvals/{id}/approve")
	check("olga", "GET", "/v1/runs/"+run, "", "/v1/runs/{id}")
	for _, r := range httpapi.Routes() {
		if r[1] != "/metrics" && r[1] != "/v1/trace" && !seen[r[0]+" "+r[1]] {
			t.Errorf("no answer of %s %s was looked at", r[0], r[1])
		}
	}
}
