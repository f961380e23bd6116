package runtime_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/internal/egress/egresstest"
	"github.com/mayfly-run/mayfly/runtime"
)

// seen is what a server was asked.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) add(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, fmt.Sprintf("%s %s auth=%s key=%v body=%s", r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key") != "", body))
}

func (s *seen) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// Redirects, each followed or not as its status and the tool's egress say.
func TestHTTPRedirects(t *testing.T) {
	var atHome, atOther seen
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		atOther.add(r)
		if back := r.URL.Query().Get("back"); back != "" {
			http.Redirect(w, r, back, http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "other")
	}))
	defer other.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer secure.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		atHome.add(r)
		var code int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &code); err != nil {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "home")
			return
		}
		if where := r.URL.Query()["to"]; where != nil {
			w.Header()["Location"] = where
		}
		w.WriteHeader(code)
	}))
	defer home.Close()
	const post, get = "POST", "GET"
	asked := func(method, path string, known bool) string {
		auth, key, body := "", method == post, ""
		if known {
			auth = "s3cr3t-value"
		}
		if method == post {
			body = `{"n":1}`
		}
		return fmt.Sprintf("%s %s auth=%s key=%v body=%s", method, path, auth, key, body)
	}
	tests := []struct {
		name  string
		start string // path and query at home
		// outcome and failure of a tool that writes, and what it gives.
		outcome         runtime.Outcome
		failure, output string
		journal         runtime.EffectState
		home, other     []string
	}{
		{"307", "/307?to=/there", runtime.EffectConfirmed, "", `"home"`, "confirmed", []string{asked(post, "/307", true), asked(post, "/there", true)}, nil},
		{"308", "/308?to=there", runtime.EffectConfirmed, "", `"home"`, "confirmed", []string{asked(post, "/308", true), asked(post, "/there", true)}, nil},
		{"303", "/303?to=/result", runtime.EffectConfirmed, "", `"home"`, "confirmed", []string{asked(post, "/303", true), asked(get, "/result", true)}, nil},
		{"303, then 302", "/303?to=/302%3Fto=/result", runtime.EffectConfirmed, "", `"home"`, "confirmed", []string{asked(post, "/303", true), asked(get, "/302", true), asked(get, "/result", true)}, nil},
		{"to another origin", "/307?to=" + other.URL + "/x", runtime.EffectConfirmed, "", `"other"`, "confirmed", []string{asked(post, "/307", true)}, []string{asked(post, "/x", false)}},
		{"303 to another origin", "/303?to=" + other.URL + "/x", runtime.EffectConfirmed, "", `"other"`, "confirmed", []string{asked(post, "/303", true)}, []string{asked(get, "/x", false)}},
		// Who has been elsewhere comes back without credentials.
		{"there and back", "/307?to=" + other.URL + "/x%3Fback=" + home.URL + "/admin", runtime.EffectConfirmed, "", `"home"`, "confirmed", []string{asked(post, "/307", true), asked(post, "/admin", false)}, []string{asked(post, "/x", false)}},
		{"on from there", "/307?to=" + other.URL + "/x%3Fback=/y", runtime.EffectConfirmed, "", `"other"`, "confirmed", []string{asked(post, "/307", true)}, []string{asked(post, "/x", false), asked(post, "/y", false)}},

		{"301", "/301?to=/there", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/301", true)}, nil},
		{"302", "/302?to=/there", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/302", true)}, nil},
		{"304", "/304", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/304", true)}, nil},
		{"300", "/300?to=/there", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/300", true)}, nil},
		{"nowhere", "/307", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"two places", "/307?to=/a&to=/b", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"303 to nowhere", "/303", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/303", true)}, nil},
		{"303, then an error", "/303?to=/500", runtime.EffectAmbiguous, "HTTP500", "", "ambiguous", []string{asked(post, "/303", true), asked(get, "/500", true)}, nil},
		{"303, then not found", "/303?to=/404", runtime.EffectAmbiguous, "HTTP404", "", "ambiguous", []string{asked(post, "/303", true), asked(get, "/404", true)}, nil},
		{"303, then unavailable", "/303?to=/503", runtime.EffectAmbiguous, "HTTP503", "", "ambiguous", []string{asked(post, "/303", true), asked(get, "/503", true)}, nil},
		{"303, then nobody", "/303?to=http://" + closedPort(t) + "/", runtime.EffectAmbiguous, "Unreachable", "", "ambiguous", []string{asked(post, "/303", true)}, nil},
		{"307, then nobody", "/307?to=http://" + closedPort(t) + "/", runtime.ToolError, "Unreachable", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"307, then an error", "/307?to=/500", runtime.ToolError, "HTTP500", "", "failed", []string{asked(post, "/307", true), asked(post, "/500", true)}, nil},
		{"another host", "/307?to=http://evil.test/", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"metadata", "/307?to=http://169.254.169.254/latest", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"303 to metadata", "/303?to=http://169.254.169.254/latest", runtime.EffectAmbiguous, "BadRedirect", "", "ambiguous", []string{asked(post, "/303", true)}, nil},
		{"decimal address", "/307?to=http://2130706433/", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"user in the URL", "/307?to=http://user@127.0.0.1/", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"another scheme", "/307?to=file:///etc/passwd", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"no URL", "/307?to=http://%25zz/", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
		{"a name that turns into another address", "/307?to=http://rebind.test:1/", runtime.ToolError, "BadRedirect", "", "failed", []string{asked(post, "/307", true)}, nil},
	}
	names := egresstest.NewNames(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.2")} })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			atHome.list, atOther.list = nil, nil
			r := openTools(t, httpTool("pay", home.URL+tt.start, writes, `egress: ["127.0.0.1", rebind.test]`, "headers_env: { Authorization: AUTH }"), func(c *runtime.Config) {
				c.LookupEnv, c.Resolver = env("AUTH", "s3cr3t-value"), names.Resolver()
			})
			result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "pay", Args: []byte(`{"n":1}`)}, tt.outcome)
			got := struct {
				failure, output string
				journal         []runtime.EffectState
				home, other     []string
			}{journal: effects(t, r), home: atHome.all(), other: atOther.all()}
			if result.Error != nil {
				got.failure = result.Error.Type
			}
			if result.Output != nil {
				got.output = result.Output.Text
			}
			if got.failure != tt.failure || got.output != tt.output {
				t.Errorf("%q %q, want %q %q: %+v", got.failure, got.output, tt.failure, tt.output, result.Error)
			}
			for what, pair := range map[string][2]any{
				"journal": {[]runtime.EffectState{tt.journal}, got.journal}, "home": {tt.home, got.home}, "other": {tt.other, got.other},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
	t.Run("from https to http", func(t *testing.T) {
		atOther.list = nil
		r := openTools(t, httpTool("pay", secure.URL+"/", writes, here), func(c *runtime.Config) { c.RootCAs = rootsOf(secure) })
		result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "pay"}, runtime.ToolError)
		if result.Error.Type != "BadRedirect" || len(atOther.all()) > 0 {
			t.Errorf("%+v; asked %v", result.Error, atOther.all())
		}
	})
	t.Run("in a circle", func(t *testing.T) {
		n := 0
		circle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}))
		defer circle.Close()
		r := openTools(t, httpTool("pay", circle.URL+"/", writes, here), nil)
		result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "pay"}, runtime.ToolError)
		if result.Error.Type != "BadRedirect" || n != 6 {
			t.Errorf("%+v after %d requests", result.Error, n)
		}
	})
}

// The name that a redirect leads back to means another machine the second time.
func TestHTTPRebinding(t *testing.T) {
	victims := 0
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://rebind.test:" + port + "/"
	serve := func(l net.Listener, handle http.HandlerFunc) {
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: handle}}
		s.Start()
		t.Cleanup(s.Close)
	}
	serve(listener, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, url+"again", http.StatusTemporaryRedirect)
	})
	serve(second, func(http.ResponseWriter, *http.Request) { victims++ })
	names := egresstest.NewNames(t, func(_ string, nth int) []netip.Addr {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(min(nth, 2))})}
	})
	r := openTools(t, httpTool("look", url, reads, `egress: [rebind.test, 127.0.0.1]`), func(c *runtime.Config) { c.Resolver = names.Resolver() })
	result := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{}), Tool: "look"}, runtime.ToolError)
	if result.Error.Type != "BadRedirect" || !strings.Contains(result.Error.Message, "127.0.0.2") || victims != 0 {
		t.Errorf("%+v; the victim was asked %d times", result.Error, victims)
	}
	if n := names.Asked("rebind.test"); n != 2 {
		t.Errorf("the name was looked up %d times for two connections", n)
	}
	// The control: a client that does not check gets there.
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{Resolver: names.Resolver()}).DialContext(ctx, network, address)
	}}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if victims != 1 {
		t.Errorf("the control asked the victim %d times", victims)
	}
}
