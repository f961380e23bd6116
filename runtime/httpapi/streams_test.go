package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-run/mayfly/runtime"
)

// TestThousandStreams: a thousand watch at once, each gets what happens, the memory
// for them is their connections', calls go on, and in the end nothing is left.
func TestThousandStreams(t *testing.T) {
	const streams = 1000
	if most := openFiles(); most < 2*streams+200 {
		t.Skipf("a process may have %d open files here, and this takes %d", most, 2*streams+200)
	}
	w := newWorld(t, func(w *world) { w.config.MaxStreams, w.config.MaxConns = streams, streams+100 })
	send := "GET /v1/trace HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + w.tokens["root"] + "\r\n\r\n"
	var before goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	type watcher struct {
		conn net.Conn
		text *bufio.Reader
	}
	all := make([]watcher, streams)
	var wg sync.WaitGroup
	errs := make(chan error, streams)
	each := func(do func(*watcher) error) {
		t.Helper()
		for i := range all {
			wg.Go(func() {
				if err := do(&all[i]); err != nil {
					errs <- err
				}
			})
		}
		wg.Wait()
		select {
		case err := <-errs:
			t.Fatal(err)
		default:
		}
	}
	dialing := make(chan struct{}, 64) // a listener's queue is short
	each(func(s *watcher) error {
		dialing <- struct{}{}
		defer func() { <-dialing }()
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			return err
		}
		s.conn, s.text = c, bufio.NewReaderSize(c, 512)
		if _, err := io.WriteString(c, send); err != nil {
			return err
		}
		status, err := s.text.ReadString('\n')
		if err != nil || !strings.HasPrefix(status, "HTTP/1.1 200") {
			return fmt.Errorf("a stream: %q %w", status, err)
		}
		return nil
	})
	defer func() {
		for _, s := range all {
			_ = s.conn.Close()
		}
	}()
	w.settle("mayfly_http_streams 1000")
	if got := w.do("root", "GET", "/v1/trace", ""); got.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", got.status)
	}
	var with goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&with)
	perStream := (int64(with.HeapAlloc+with.StackInuse) - int64(before.HeapAlloc+before.StackInuse)) / streams
	t.Logf("a stream takes %d bytes, with the client's end", perStream)
	if perStream > 256<<10 {
		t.Errorf("a stream takes %d bytes", perStream)
	}
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"call":"seen-by-all","args":{"id":"A"}}`)
	each(func(s *watcher) error {
		for notes := 0; notes < 2; {
			line, err := s.text.ReadString('\n')
			if err != nil {
				return err
			}
			if strings.HasPrefix(line, "data: ") && strings.Contains(line, `"call":"seen-by-all"`) {
				notes++
			}
		}
		return nil
	})
	// Nobody reads any longer, and notes go on: the ring goes round, and those who
	// write them wait for nobody.
	for i := range 5000 {
		w.config.Trace.Note(runtime.Note{Run: "none", Call: fmt.Sprint(i)})
	}
	w.must(200, "agent", "POST", "/v1/tools/find_order/call", `{"args":{"id":"A"}}`)
	for _, s := range all {
		_ = s.conn.Close()
	}
	w.settle("mayfly_http_streams 0")
}
