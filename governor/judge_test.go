package governor_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
)

const judgedHarness = `
apiVersion: harnessweaver/v1
kind: Harness
metadata: { name: h }
spec: { tools: { judge: { url: "https://judge.example/", timeout: 3s } } }
`

const echoTool = `
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: echo }
spec: { handler: "app:echo" }
`

func judged(t *testing.T, j governor.Judge) governor.Decision {
	t.Helper()
	g, err := governor.New(governor.Config{
		Set: newSet(t, judgedHarness, echoTool), Store: store.NewMemory(), Clock: time.Now, Judge: j,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g.Authorize(t.Context(), governor.Call{Tool: "echo", Args: governor.ParseArguments([]byte(`{"b":1.0,"a":"ä"}`))})
}

// A judge that does not answer, and does not look at its context either, is left
// behind after the harness's timeout.
func TestSlowJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		begin := time.Now()
		d := judged(t, judgeFunc(func(context.Context, governor.JudgeRequest) (governor.Verdict, error) {
			<-release
			return governor.VerdictAllow, nil
		}))
		if d.Outcome != governor.RequireApproval || d.Code != governor.CodeJudgeFailed {
			t.Errorf("%v %s", d.Outcome, d.Code)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("waited %v, want the harness's 3s", took)
		}
	})
}

// A call that is cancelled while the judge thinks is not allowed afterwards.
func TestCancelledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := store.NewMemory()
	g, err := governor.New(governor.Config{
		Set: newSet(t, judgedHarness, echoTool), Store: s, Clock: time.Now,
		Judge: judgeFunc(func(context.Context, governor.JudgeRequest) (governor.Verdict, error) {
			cancel()
			return governor.VerdictAllow, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := g.Authorize(ctx, governor.Call{Tool: "echo", Args: governor.ParseArguments([]byte(`{}`))})
	if d.Outcome != governor.Block || d.Code != governor.CodeInternal {
		t.Errorf("%v %s", d.Outcome, d.Code)
	}
}

func TestHTTPJudge(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		outcome governor.Outcome
		code    governor.Code
	}{
		{"allow", 200, `{"decision":"allow","reason":"fine"}`, governor.Allow, governor.CodeAllowed},
		{"block", 200, `{"decision":"block"}`, governor.Block, governor.CodeJudgeBlocked},
		{"ask", 200, `{"decision":"require_approval"}`, governor.RequireApproval, governor.CodeJudgeApproval},
		{"escalate", 200, `{"decision":"escalate"}`, governor.RequireApproval, governor.CodeJudgeApproval},
		{"other status", 201, `{"decision":"allow"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"error", 500, `{"decision":"allow"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"redirect", 307, `{"decision":"allow"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"empty", 200, ``, governor.RequireApproval, governor.CodeJudgeFailed},
		{"no verdict", 200, `{}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"another case", 200, `{"Decision":"allow"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"another verdict", 200, `{"decision":"sure"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"another type", 200, `{"decision":true}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"twice", 200, `{"decision":"block","decision":"allow"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"text", 200, `allow`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"list", 200, `["allow"]`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"trailing text", 200, `{"decision":"allow"} {"decision":"block"}`, governor.RequireApproval, governor.CodeJudgeFailed},
		{"too long", 200, `{"decision":"allow","reason":"` + strings.Repeat("x", 70_000) + `"}`, governor.RequireApproval, governor.CodeJudgeFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got := []string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body)}
				want := []string{"POST", "/judge", "application/json", "Bearer s", `{"args":{"a":"\u00e4","b":1.0},"tool":"echo"}`}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			j, err := governor.NewHTTPJudge(server.URL+"/judge", http.Header{"Authorization": {"Bearer s"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := judged(t, j); d.Outcome != tt.outcome || d.Code != tt.code {
				t.Errorf("%v %s, want %v %s", d.Outcome, d.Code, tt.outcome, tt.code)
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestHTTPJudgeUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	j, err := governor.NewHTTPJudge(server.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := judged(t, j); d.Code != governor.CodeJudgeFailed || strings.Contains(d.Reason, server.URL) {
		t.Errorf("%s: %s", d.Code, d.Reason)
	}
	if _, err := governor.NewHTTPJudge("http://a b/", nil, nil); err == nil || strings.Contains(err.Error(), "a b") {
		t.Errorf("an URL that is none: %v", err)
	}
	if _, err := j.Judge(canceled(t), governor.JudgeRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
