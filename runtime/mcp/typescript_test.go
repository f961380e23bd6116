package mcp_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
)

// TestTypeScriptOverHTTP: the official TypeScript SDK lists, calls, is refused,
// approves, and gives a call up, with the real guest behind it.
func TestTypeScriptOverHTTP(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	client := filepath.Join("..", "..", "clients", "typescript")
	if _, err := os.Stat(filepath.Join(client, "node_modules")); errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the TypeScript SDK is not installed; make clients does it")
	}
	dir, err := os.MkdirTemp("", "clients") // its handler runs as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "clients", "harness")))); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := runtime.Open(t.Context(), runtime.Config{
		Harness: filepath.Join(dir, "harness.yaml"), Store: "memory", Trace: "none",
		Sandbox: runtime.SandboxConfig{CacheDir: filepath.Join(cache, "mayfly")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	url := listen(t, rt, mcp.HandlerConfig{Session: func(r *http.Request) (string, mcp.Config, error) {
		c := asking()
		c.Progress = 20 * time.Millisecond
		if r.Header.Get("Authorization") != "Bearer example" {
			return "", c, errors.New("no token")
		}
		return "example", c, nil
	}})
	command := exec.CommandContext(t.Context(), node, filepath.Join(client, "client.mjs"), url)
	command.Env = append(os.Environ(), "MAYFLY_TOKEN=example")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`{"step":"tools","names":["pay","python"],"readOnly":["python"]}`,
		`{"step":"called","result":{"value":42,"stdout":""}}`,
		`{"step":"refused","isError":true,"outcome":"invalid_arguments",`,
		`{"step":"asked",`,
		`{"step":"approved","isError":false,"result":{"paid":500,"to":"Zoë"}}`,
		`{"step":"cancelled","ended":"`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}
