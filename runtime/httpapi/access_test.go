package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// TestNoTokenNothingButHealth asks for everything there is, and for what there is
// not, without a token and with ones that are none.
func TestNoTokenNothingButHealth(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		w.must(200, "", "GET", path, "")
	}
	wrong := []string{"", "Bearer", "Bearer ", "Bearer mayfly_x", "Basic " + w.tokens["agent"], w.tokens["agent"], "Bearer  " + w.tokens["agent"]}
	asked := 0
	for _, r := range append(httpapi.Routes(), [3]string{"GET", "/v1/nothing", ""}, [3]string{"GET", "/mcp", ""}) {
		if r[2] == "public" {
			continue
		}
		path := strings.NewReplacer("{name}", "find_order", "{id}", "x").Replace(r[1])
		for _, token := range wrong {
			got := w.do("", r[0], path, `{"args":{"id":"A1"}}`, "Authorization", token)
			if got.status != 401 || got.header.Get("WWW-Authenticate") == "" || strings.Contains(got.text, "order") {
				t.Errorf("%s %s with %q: %d %s", r[0], path, token, got.status, got.text)
			}
			asked++
		}
		if r[0] == "GET" && r[1] == "/v1/tools" {
			w.must(200, "agent", r[0], path, "") // the positive control
		}
	}
	if asked < 100 {
		t.Errorf("only %d requests were tried", asked)
	}
}

func TestWhoSeesWhat(t *testing.T) {
	w := newWorld(t, nil)
	run := w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"A","usd":500}}`).at("run").(string)
	for as, want := range map[string]int{"agent": 200, "other": 404, "ann": 404, "olga": 200, "root": 200, "eve": 404, "prom": 404} {
		if got := w.do(as, "GET", "/v1/runs/"+run, ""); got.status != want {
			t.Errorf("%s sees the run: %d, want %d", as, got.status, want)
		}
		list := w.must(200, as, "GET", "/v1/runs", "")
		if got := strings.Contains(list.text, run); got != (want == 200) {
			t.Errorf("%s has the run in the list: %v", as, got)
		}
	}
	for as, want := range map[string]int{"agent": 1, "other": 0, "ann": 1, "abe": 0, "olga": 1, "root": 1, "eve": 0} {
		if got := w.must(200, as, "GET", "/v1/approvals", "").at("approvals").([]any); len(got) != want {
			t.Errorf("%s sees %d approvals, want %d", as, len(got), want)
		}
	}
	for as, want := range map[string]int{"agent": 403, "olga": 403, "root": 403, "prom": 200} {
		if as == "root" {
			want = 200
		}
		if got := w.do(as, "GET", "/metrics", ""); got.status != want {
			t.Errorf("%s reads the metrics: %d, want %d", as, got.status, want)
		}
	}
	if got := w.must(200, "agent", "GET", "/v1/tools/find_order", ""); got.at("manifest") != nil || got.at("input_schema", "type") != "object" {
		t.Errorf("what an agent sees of a tool: %s", got.text)
	}
	if got := w.must(200, "olga", "GET", "/v1/tools/closed", ""); got.at("manifest") == nil || got.at("enabled") != false {
		t.Errorf("what an operator sees of a tool: %s", got.text)
	}
	w.must(404, "agent", "GET", "/v1/tools/closed", "")
	w.must(404, "olga", "GET", "/v1/tools/north_only", "")
}

// TestApprovals: who may answer, that the answer counts, and that it counts once.
func TestApprovals(t *testing.T) {
	w := newWorld(t, nil)
	asked := w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"A","usd":500}}`)
	run, id := asked.at("run").(string), asked.at("approval").(string)
	path := "/v1/approvals/" + id
	again := `{"run":"` + run + `","approval":"` + id + `","args":{"id":"A","usd":500}}`
	w.must(403, "agent", "POST", path+"/approve", `{}`) // their own
	w.must(404, "abe", "POST", path+"/approve", `{}`)   // not the role
	w.must(403, "olga", "POST", path+"/approve", `{}`)
	w.must(404, "eve", "POST", path+"/approve", `{}`) // another tenant's
	w.must(202, "agent", "POST", "/v1/tools/refund/call", again)
	w.must(409, "ann", "POST", path+"/approve", `{"call_hash":"00"}`)
	shown := w.must(200, "ann", "GET", path, "")
	if shown.at("may_answer") != true || shown.at("args", "usd") != 500.0 {
		t.Errorf("shown %s", shown.text)
	}
	w.must(200, "ann", "POST", path+"/approve", `{"reason":"fine","call_hash":"`+shown.at("call_hash").(string)+`"}`)
	w.must(409, "ann", "POST", path+"/reject", `{}`)
	if got := w.must(403, "agent", "POST", "/v1/tools/refund/call", strings.Replace(again, "500", "501", 1)); got.at("decision", "code") != "approval_mismatch" {
		t.Errorf("other arguments: %s", got.text)
	}
	w.must(200, "agent", "POST", "/v1/tools/refund/call", again)
	if got := w.do("agent", "POST", "/v1/tools/refund/call", again); got.at("repeated") != true && got.status == 200 {
		t.Errorf("an approval was used twice: %s", got.text)
	}

	// Edited: the edited call goes through, and only that.
	asked = w.must(202, "agent", "POST", "/v1/tools/refund/call", `{"args":{"id":"B","usd":500}}`)
	run, id = asked.at("run").(string), asked.at("approval").(string)
	if got := w.must(422, "ann", "POST", "/v1/approvals/"+id+"/edit", `{"args":{"id":7,"usd":50}}`); got.at("accepted") != false {
		t.Errorf("arguments against the schema: %s", got.text)
	}
	w.must(200, "ann", "POST", "/v1/approvals/"+id+"/edit", `{"args":{"id":"B","usd":400},"reason":"less"}`)
	w.must(403, "agent", "POST", "/v1/tools/refund/call", `{"run":"`+run+`","approval":"`+id+`","args":{"id":"B","usd":500}}`)
	if got := w.must(200, "agent", "POST", "/v1/tools/refund/call", `{"run":"`+run+`","approval":"`+id+`","args":{"id":"B","usd":400}}`); got.at("output", "args", "usd") != 400.0 {
		t.Errorf("the edited call: %s", got.text)
	}

	// One that names no role is not everybody's.
	id = w.must(202, "agent", "POST", "/v1/tools/anyone/call", `{"args":{}}`).at("approval").(string)
	w.must(404, "other", "POST", "/v1/approvals/"+id+"/approve", `{}`)
	w.must(403, "agent", "POST", "/v1/approvals/"+id+"/reject", `{}`)
	w.must(200, "abe", "POST", "/v1/approvals/"+id+"/reject", `{"reason":"no"}`)
}

func TestOtherSites(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.Hosts = []string{"tools.example"} })
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"as a program", nil, 200},
		{"the page itself", []string{"Origin", w.url, "Sec-Fetch-Site", "same-origin"}, 200},
		{"typed in", []string{"Sec-Fetch-Site", "none"}, 200},
		{"a name that was given", []string{"Host", "tools.example"}, 200},
		{"with a port", []string{"Host", "tools.example:8787"}, 200},
		{"another origin", []string{"Origin", "https://evil.example"}, 403},
		{"another port", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"no origin", []string{"Origin", "null"}, 403},
		{"as another site", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"as a sister site", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"rebound name", []string{"Host", "evil.example"}, 421},
		{"rebound with its origin", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
		{"name with the address in it", []string{"Host", "127.0.0.1.evil.example"}, 421},
		{"another address", []string{"Host", "192.0.2.1"}, 421},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			w.must(tt.status, "agent", "GET", "/v1/tools", "", tt.headers...)
			w.must(tt.status, "agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`, tt.headers...)
		})
	}
}

func TestStrictRequests(t *testing.T) {
	w := newWorld(t, func(w *world) { w.config.MaxBody = 4096 })
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	tests := []struct {
		name, body string
		status     int
		where      string
		headers    []string
	}{
		{"as it should be", `{"args":{"id":"A"}}`, 200, "", nil},
		{"repeated name", `{"args":{"id":"A","id":"B"}}`, 400, "/args/id", nil},
		{"repeated member", `{"args":{"id":"A"},"args":{"id":"B"}}`, 400, "/args", nil},
		{"unknown member", `{"args":{"id":"A"},"approve":true}`, 400, "/approve", nil},
		{"other case", `{"Args":{"id":"A"}}`, 400, "/Args", nil},
		{"wrong type", `{"args":{"id":"A"},"run":7}`, 400, "/run", nil},
		{"not UTF-8", "{\"args\":{\"id\":\"\xff\xfe\"}}", 400, "/args/id", nil},
		{"half a pair", `{"args":{"id":"\ud800"}}`, 400, "/args/id", nil},
		{"too deep", `{"args":{"id":` + deep + `}}`, 400, "", nil},
		{"number", `{"args":{"id":1e400}}`, 400, "/args/id", nil},
		{"two values", `{"args":{"id":"A"}}{}`, 400, "", nil},
		{"no object", `[]`, 400, "", nil},
		{"no JSON", `args=1`, 400, "", nil},
		{"too long", `{"args":{"id":"` + strings.Repeat("A", 5000) + `"}}`, 413, "", nil},
		{"a form", `{"args":{"id":"A"}}`, 415, "Content-Type", []string{"Content-Type", "text/plain"}},
		{"other charset", `{"args":{"id":"A"}}`, 415, "Content-Type", []string{"Content-Type", "application/json; charset=latin1"}},
		{"compressed", `{"args":{"id":"A"}}`, 415, "Content-Encoding", []string{"Content-Encoding", "gzip"}},
		{"labels of a run", `{"args":{"id":"A"},"run":"x","labels":["private"]}`, 400, "/run", nil},
		{"no such label", `{"args":{"id":"A"},"labels":["SENTINEL"]}`, 400, "/labels", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			got := w.must(tt.status, "agent", "POST", "/v1/tools/find_order/call", tt.body, tt.headers...)
			if tt.status == 200 {
				return
			}
			if got.header.Get("Content-Type") != "application/problem+json" || got.at("status") != float64(tt.status) || got.at("type") == nil || got.at("detail") == "" {
				t.Errorf("no problem: %s", got.text)
			}
			if where, _ := got.at("where").(string); tt.where != "" && where != tt.where {
				t.Errorf("where is %q, want %q: %s", where, tt.where, got.text)
			}
			if strings.Contains(got.text, "SENTINEL") {
				t.Errorf("a value came back: %s", got.text)
			}
		})
	}
	w.t = t
	w.must(405, "agent", "GET", "/v1/tools/find_order/call", "")
	w.must(404, "agent", "GET", "/v1/tools//find_order", "")
	w.must(404, "agent", "GET", "/v1/../v1/tools", "")
	w.must(400, "agent", "GET", "/v1/runs?limit=0", "")
	w.must(400, "agent", "GET", "/v1/runs?token=x", "")
	w.must(400, "agent", "GET", "/v1/runs?limit=1&limit=2", "")
	if got := w.do("agent", http.MethodTrace, "/v1/tools", ""); got.status != 405 {
		t.Errorf("TRACE gives %d", got.status)
	}
}
