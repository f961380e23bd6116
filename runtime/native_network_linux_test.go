package runtime_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/runtime"
)

const networkPython = `import os, socket, ssl, urllib.error, urllib.request

def fetch(url):
    context = ssl.create_default_context(cafile=os.path.join(os.path.dirname(os.path.abspath(__file__)), "ca.pem"))
    try:
        return urllib.request.urlopen(url, data=b"x", timeout=20, context=context).read().decode()
    except urllib.error.HTTPError as error:
        return "status %d" % error.code
    except urllib.error.URLError as error:
        return "no tunnel" if "403" in str(error) else str(error)

def direct(host, port):
    try:
        socket.create_connection((host, port), timeout=5)
        return "connected"
    except OSError as error:
        return "refused"

def packet(host, port):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (host, port))
        return "sent"
    except OSError as error:
        return "refused"
`

// The client of older versions of Node.js, which do not read HTTP_PROXY.
const networkNode = `import http from "node:http";
export const fetch = ({ url }) => new Promise((done) => {
  const proxy = new URL(process.env.HTTP_PROXY);
  const to = new URL(url);
  const request = http.request({ host: proxy.hostname, port: proxy.port, method: "POST", path: url, headers: { Host: to.host } }, (response) => {
    let text = "";
    response.on("data", (part) => (text += part));
    response.on("end", () => done(response.statusCode === 200 ? text : "status " + response.statusCode));
  });
  request.on("error", (error) => done(error.code));
  request.end("x");
});
export const builtin = async ({ url }) => {
  try {
    return await (await fetch_(url, { method: "POST", body: "x" })).text();
  } catch {
    return "refused";
  }
};
const fetch_ = globalThis.fetch;
`

// Handlers with a network for listed hosts: what they reach through their proxy,
// and that there is no way around it.
func TestNativeNetwork(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skipf("needs python3: %v", err)
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		host, _, _ := strings.Cut(r.Host, ":")
		_, _ = io.WriteString(w, "hello "+host+" "+string(body))
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	port := func(s *httptest.Server) string {
		_, port, err := net.SplitHostPort(s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	names := egresstest.NewNames(t, func(name string, _ int) []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	files := map[string]string{
		"tool.py": networkPython, "tool.mjs": networkNode,
		"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})),
	}
	tool := func(name, handler, egress, more string) string {
		return "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: " + name + " }\nspec: { handler: \"" + handler + "\", timeout: 30s, egress: " + egress + ", grants: { network: true" + more + " } }\n---\n"
	}
	const listed = `[example.com, "127.0.0.1"]`
	open := func(manifests string, change func(*runtime.Config)) (*runtime.Runtime, string) {
		r := openTools(t, manifests, func(c *runtime.Config) {
			c.Resolver = names.Resolver()
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(filepath.Dir(c.Harness), name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if change != nil {
				change(c)
			}
		})
		return r, start(t, r, runtime.RunConfig{})
	}
	r, run := open(tool("fetch", "tool:fetch", listed, ", filesystem_read: [ca.pem]")+tool("direct", "tool:direct", listed, "")+tool("packet", "tool:packet", listed, "")+
		tool("node", "./tool.mjs#fetch", listed, "")+tool("builtin", "./tool.mjs#builtin", listed, "")+
		tool("everywhere", "tool:direct", `["*"]`, "")+tool("portless", "tool:fetch", `["example.com:1", "127.0.0.1"]`, ", filesystem_read: [ca.pem]"), nil)
	tests := []struct {
		tool string
		args map[string]any
		want string
	}{
		{"fetch", map[string]any{"url": "http://example.com:" + port(plain) + "/"}, "hello example.com x"},
		{"fetch", map[string]any{"url": "https://example.com:" + port(secure) + "/"}, "hello example.com x"},
		{"fetch", map[string]any{"url": "http://127.0.0.1:" + port(plain) + "/"}, "hello 127.0.0.1 x"},
		{"fetch", map[string]any{"url": "http://other.example:" + port(plain) + "/"}, "status 403"},
		{"fetch", map[string]any{"url": "https://other.example:" + port(secure) + "/"}, "no tunnel"},
		{"fetch", map[string]any{"url": "http://169.254.169.254/latest"}, "status 403"},
		{"fetch", map[string]any{"url": "http://localhost:" + port(plain) + "/"}, "status 403"},
		{"portless", map[string]any{"url": "http://example.com:" + port(plain) + "/"}, "status 403"},
		{"direct", map[string]any{"host": "127.0.0.1", "port": number(t, port(plain))}, "refused"},
		{"packet", map[string]any{"host": "127.0.0.1", "port": 53}, "refused"},
		// The control: with all of the network the same connection is made.
		{"everywhere", map[string]any{"host": "127.0.0.1", "port": number(t, port(plain))}, "connected"},
		{"node", map[string]any{"url": "http://example.com:" + port(plain) + "/"}, "hello example.com x"},
		{"node", map[string]any{"url": "http://other.example:" + port(plain) + "/"}, "status 403"},
		{"builtin", map[string]any{"url": "http://example.com:" + port(plain) + "/"}, "hello example.com x"},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.want, func(t *testing.T) {
			if tt.tool == "node" || tt.tool == "builtin" {
				needNode(t, tt.tool == "builtin")
			}
			args, err := json.Marshal(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			result := call(t, r, runtime.Call{RunID: run, Tool: tt.tool, Args: args}, runtime.OK)
			if diff := cmp.Diff(`"`+tt.want+`"`, result.Output.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("test mode", func(t *testing.T) {
		r, run := open(tool("fetch", "tool:fetch", listed, ""), func(c *runtime.Config) { c.TestMode = true })
		result := call(t, r, runtime.Call{RunID: run, Tool: "fetch", Args: []byte(`{"url":"http://example.com/"}`)}, runtime.Unavailable)
		if !strings.Contains(result.Error.Message, "test mode") {
			t.Errorf("%+v", result.Error)
		}
	})
}

func number(t *testing.T, text string) json.Number {
	t.Helper()
	return json.Number(text)
}

// needNode skips without Node.js, and with a version whose own client does, or
// does not, read HTTP_PROXY (NODE_USE_ENV_PROXY).
func needNode(t *testing.T, builtin bool) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("needs node: %v", err)
	}
	help, err := exec.Command(node, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	if reads := strings.Contains(string(help), "--use-env-proxy"); reads != builtin {
		t.Skipf("is for a Node.js that reads NODE_USE_ENV_PROXY (%v), and this one: %v", builtin, reads)
	}
}
