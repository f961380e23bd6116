package httpapi_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// TestRevokedStreamEnds: a stream ends soon after its token does, and not before.
func TestRevokedStreamEnds(t *testing.T) {
	for name, broken := range map[string]string{"taken out": "", "a slip in the file": "{"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens")
			token, line, err := httpapi.NewToken(httpapi.Caller{Principal: "agent"}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, line, 0o600); err != nil {
				t.Fatal(err)
			}
			rt, err := runtime.Open(t.Context(), runtime.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			synctest.Test(t, func(t *testing.T) {
				tokens, err := httpapi.OpenTokens(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				server, err := httpapi.New(rt, httpapi.Config{Tokens: tokens, Trace: httpapi.NewTrace()})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				r := httptest.NewRequestWithContext(ctx, "GET", "/v1/trace", nil)
				r.Host = "127.0.0.1"
				r.Header.Set("Authorization", "Bearer "+token)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					server.ServeHTTP(httptest.NewRecorder(), r)
				}()
				open := func() bool {
					synctest.Wait()
					select {
					case <-ended:
						return false
					default:
						return true
					}
				}
				time.Sleep(time.Hour)
				if !open() {
					t.Fatal("the stream ended although its token holds")
				}
				if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Second)
				if open() {
					t.Error("the stream goes on without a token that holds")
				}
			})
		})
	}
}
