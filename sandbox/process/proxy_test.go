//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// ownProxy is where a call finds its proxy.
var ownProxy = fmt.Sprintf("127.0.0.1:%d", proxyPort)

// saying is a proxy that tells every connection the same.
func saying(text string) func(context.Context, net.Listener) {
	return func(_ context.Context, l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
}

// No attack works for a program with a proxy either: those that reach for the
// network, and all others.
func TestAttacksWithProxy(t *testing.T) {
	w := newWorld(t)
	// Another service of the host's, at the very port.
	if l, err := net.Listen("tcp", ownProxy); err == nil {
		defer l.Close()
		go saying(secret)(t.Context(), l)
	}
	list := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool {
		return a.name == "a family in the low half" || a.signal != "" // the first is a TCP socket, which it may have
	})
	list = append(list,
		attack{name: "connect to the host at the proxy's port", args: []string{"dial", "tcp", ownProxy}},
		attack{name: "connect to another loopback address at the proxy's port", args: []string{"dial", "tcp", fmt.Sprintf("127.0.0.2:%d", proxyPort)}},
		attack{name: "connect to loopback 6 at the proxy's port", args: []string{"dial", "tcp", fmt.Sprintf("[::1]:%d", proxyPort)}},
		attack{name: "connect to the metadata address", args: []string{"dial", "tcp", "169.254.169.254:80"}},
		attack{name: "ask a name server", args: []string{"datagram", "udp", "127.0.0.1:53"}},
		attack{name: "listen at the proxy's port", args: []string{"listen", "tcp", ownProxy}},
		sys("datagrams", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM, 0),
		sys("datagrams 6", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP),
		sys("multipath TCP 6", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP),
		sys("SCTP", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
		sys("ICMP", "EAFNOSUPPORT", nothing, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
	)
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			spec := w.grant(NamespacesRequired, a)
			spec.Network, spec.Proxy = NetworkProxy, saying("proxy")
			r := run(t, spec, a.arguments(w)...)
			if r.Status != sandbox.StatusOK {
				t.Fatalf("status %s: %+v\n%s", r.Status, r.Error, r.Stderr)
			}
			if o := readOutcome(t, r.Value); o.Worked || a.answer != "" && o.Detail != a.answer {
				t.Errorf("worked: %v, answer %s, want %s", o.Worked, o.Detail, a.answer)
			}
		})
	}
	w.intact(t)
	// The control: what the proxy says is heard.
	r := run(t, Spec{Network: NetworkProxy, Proxy: saying(secret)}, "dial", "tcp", ownProxy)
	if o := readOutcome(t, r.Value); !o.Worked {
		t.Errorf("the proxy itself: %s", o.Detail)
	}
}

// Each call has a proxy of its own, though all have the same address.
func TestProxyOfAnotherCall(t *testing.T) {
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			said := "nothing of interest"
			if i%2 == 0 {
				said = secret
			}
			spec := Spec{Network: NetworkProxy, Proxy: saying(said), Limits: Limits{Timeout: time.Minute}}
			spec.Command, spec.Args = victim, []string{"dial", "tcp", ownProxy}
			r, err := Run(t.Context(), spec)
			if err != nil || r.Status != sandbox.StatusOK {
				t.Errorf("%v: %+v", err, r)
				return
			}
			if o := readOutcome(t, r.Value); o.Worked != (i%2 == 0) {
				t.Errorf("call %d heard of another: %v %s", i, o.Worked, o.Detail)
			}
		})
	}
	calls.Wait()
}

// The proxy's listener closes with the call, however it ends, and Run waits for
// the proxy.
func TestProxyEnds(t *testing.T) {
	for name, spec := range map[string]Spec{
		"ended":  {Args: []string{"silent"}},
		"killed": {Args: []string{"hang"}, Limits: Limits{Timeout: 300 * time.Millisecond}},
	} {
		var ended atomic.Bool
		spec.Command, spec.Network = victim, NetworkProxy
		spec.Proxy = func(ctx context.Context, l net.Listener) {
			defer ended.Store(true)
			defer func() { <-ctx.Done() }()
			if got := l.Addr().String(); got != ownProxy {
				t.Errorf("%s: the listener is at %s", name, got)
			}
			for {
				if _, err := l.Accept(); err != nil {
					if !errors.Is(err, net.ErrClosed) {
						t.Errorf("%s: %v", name, err)
					}
					return
				}
			}
		}
		if _, err := Run(t.Context(), spec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !ended.Load() {
			t.Errorf("%s: the proxy still runs", name)
		}
	}
}

func TestProxySpec(t *testing.T) {
	for name, spec := range map[string]Spec{
		"no proxy":   {Network: NetworkProxy},
		"no network": {Proxy: saying("")},
		"all of it":  {Network: NetworkAll, Proxy: saying("")},
	} {
		r := run(t, spec, "silent")
		if r.Status != sandbox.StatusInvalid || r.Error.Path != "/proxy" {
			t.Errorf("%s: %s %+v", name, r.Status, r.Error)
		}
	}
	// Without a network of its own a program could go around its proxy: refused,
	// not run.
	spec := Spec{Command: victim, Args: []string{"silent"}, Network: NetworkProxy, Proxy: saying(""), Namespaces: NamespacesOff}
	_, err := Run(t.Context(), spec)
	if e, ok := errors.AsType[*UnavailableError](err); !ok || e.Layer != LayerNamespaces {
		t.Errorf("without namespaces: %v", err)
	}
}

// The environment names the proxy, whatever the spec says, and nothing that goes
// around it.
func TestProxyEnvironment(t *testing.T) {
	env := environment(&Spec{Network: NetworkProxy, Env: map[string]string{"HTTPS_PROXY": "http://elsewhere", "NO_PROXY": "*", "OWN": "1"}})
	want := "http://" + ownProxy
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if !slices.Contains(env, name+"="+want) {
			t.Errorf("%s is not %s in %v", name, want, env)
		}
	}
	for _, line := range []string{"NO_PROXY=", "no_proxy=", "OWN=1"} {
		if !slices.Contains(env, line) {
			t.Errorf("%s is not in %v", line, env)
		}
	}
	if env := environment(&Spec{}); strings.Contains(strings.Join(env, " "), "PROXY") {
		t.Errorf("without a proxy: %v", env)
	}
}
