//go:build amd64 || arm64

package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
)

// proxies is the host's side of a call's proxy.
type proxies struct {
	mu       sync.Mutex
	listener net.Listener
	cancel   context.CancelFunc
	over     bool
	running  sync.WaitGroup
}

// serve hands the listener to whoever serves it. The descriptor is serve's.
func (p *proxies) serve(fd int, serve func(context.Context, net.Listener)) error {
	f := os.NewFile(uintptr(fd), "proxy")
	l, err := net.FileListener(f)
	closeAll(f)
	if err != nil {
		return fmt.Errorf("take the proxy's listener: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.listener != nil {
		return l.Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.listener, p.cancel = l, cancel
	p.running.Go(func() { serve(ctx, l) })
	return nil
}

// end ends the proxy and waits until nothing of the proxy runs.
func (p *proxies) end() {
	p.mu.Lock()
	p.over = true
	l, cancel := p.listener, p.cancel
	p.mu.Unlock()
	if l != nil {
		cancel()
		_ = l.Close() // the proxy may have closed it
	}
	p.running.Wait()
}

// proxyEnvironment tells programs of their proxy, in all the ways that they look
// for it.
func proxyEnvironment() map[string]string {
	where := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(proxyPort))
	env := map[string]string{"NO_PROXY": "", "no_proxy": "", "NODE_USE_ENV_PROXY": "1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env[name] = where
	}
	return env
}
