package runtime_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayfly-run/mayfly/runtime"
)

// httpTool is the manifest of an http tool; more are further fields of its spec.
func httpTool(name, url string, more ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: %s }\nspec:\n  transport: http\n  url: %q\n", name, url)
	for _, line := range more {
		text.WriteString("  " + line + "\n")
	}
	return text.String() + "---\n"
}

const (
	writes = "side_effect: write_external"
	reads  = "side_effect: read"
	here   = `egress: ["127.0.0.1"]`
)

// openTools makes a runtime with manifests of its own.
func openTools(t *testing.T, manifests string, change func(*runtime.Config)) *runtime.Runtime {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.yaml":   manifests,
		"harness.yaml": "apiVersion: harnessweaver/v1\nkind: Harness\nspec:\n  tools: { manifests: [tools.yaml] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.TrimSuffix(text, "---\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := runtime.Config{Harness: filepath.Join(dir, "harness.yaml")}
	if change != nil {
		change(&config)
	}
	r, err := runtime.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// rawServer speaks TCP and nothing else: each connection is handled and closed.
type rawServer struct {
	addr        string
	connections atomic.Int64
}

func newRawServer(t *testing.T, handle func(net.Conn)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{addr: l.Addr().String()}
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended); _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go func() {
				go func() { <-ended; _ = conn.Close() }()
				handle(conn)
				_ = conn.Close()
			}()
		}
	}()
	return s
}

func (s *rawServer) url(path string) string { return "http://" + s.addr + path }

// readRequest reads a whole request and gives its body.
func readRequest(conn net.Conn) (string, error) {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(req.Body)
	return string(body), err
}

// answering is a server that reads a request and then writes text.
func answering(t *testing.T, text string) *rawServer {
	t.Helper()
	return newRawServer(t, func(conn net.Conn) {
		if _, err := readRequest(conn); err == nil {
			_, _ = io.WriteString(conn, text)
		}
	})
}

// closedPort is an address that nobody listens at.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// effects gives the states in the journal, the newest first.
func effects(t *testing.T, r *runtime.Runtime) []runtime.EffectState {
	t.Helper()
	list, err := r.Effects(t.Context(), runtime.EffectFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var states []runtime.EffectState
	for _, e := range list {
		states = append(states, e.State)
	}
	return states
}

// env is an environment.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}
