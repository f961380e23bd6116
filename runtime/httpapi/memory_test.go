package httpapi_test

import (
	"context"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
	"github.com/mayfly-run/mayfly/sandbox"
)

// TestValuesTogether: bodies that take many times their length as values are bounded
// by what they take. Without the bound they do take that.
func TestValuesTogether(t *testing.T) {
	bounded, refusals := heapOfBodies(t, 16<<20)
	if refusals == 0 {
		t.Error("nobody was told that there is no room")
	}
	free, refusals := heapOfBodies(t, 16<<30)
	if refusals > 0 {
		t.Errorf("%d were refused where there is room for all", refusals)
	}
	t.Logf("the heap grew by %d MiB with the bound, by %d MiB without", bounded>>20, free>>20)
	if bounded > 200<<20 || free < 2*bounded {
		t.Errorf("the heap grew by %d MiB with a bound of 16 MiB, and by %d MiB without", bounded>>20, free>>20)
	}
}

// heapOfBodies is how much the heap grows at most while bodies are decided.
func heapOfBodies(t *testing.T, most int64) (grown int64, refusals int) {
	release := make(chan struct{})
	w := newWorld(t, func(w *world) {
		w.config.MaxCalls, w.config.MaxQueue = 24, -1
		w.config.MaxBody, w.config.MaxMemory = 1<<20, most
		w.config.Tokens, w.config.Anonymous = nil, &httpapi.Caller{Principal: "agent"}
		w.more = `---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: list }
spec: { handler: "host:list", side_effect: read, timeout: 1h }
`
		w.funcs["list"] = func(context.Context, runtime.FuncCall) (sandbox.RawJSON, error) {
			<-release
			return sandbox.RawJSON("null"), nil
		}
	})
	body := `{"args":{"v":[` + strings.Repeat("[],", 100_000) + `0]}}`
	heap := func() int64 {
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	goruntime.GC()
	before := heap()
	watched, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			grown = max(grown, heap()-before)
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	var all sync.WaitGroup
	statuses := make(chan int, 24)
	for range 24 {
		all.Go(func() { statuses <- w.do("", "POST", "/v1/tools/list/call", body).status })
	}
	for {
		if running, _ := w.server.Places(); running+len(statuses) == 24 {
			break
		}
		goruntime.Gosched()
	}
	close(release)
	all.Wait()
	close(stop)
	<-watched
	close(statuses)
	for status := range statuses {
		switch status {
		case 200:
		case 503:
			refusals++
		default:
			t.Errorf("status %d", status)
		}
	}
	w.stop()
	return grown, refusals
}
