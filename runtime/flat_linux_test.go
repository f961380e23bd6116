package runtime_test

import (
	"bytes"
	"os"
	gort "runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// footprint is what a process can leak.
type footprint struct{ rss, goroutines, descriptors, mappings int }

func measure(t *testing.T) footprint {
	t.Helper()
	gort.GC()
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(statm)[1]))
	if err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return footprint{pages * os.Getpagesize(), gort.NumGoroutine(), len(fds), bytes.Count(maps, []byte("\n"))}
}

// maxGrowth is what resident memory may differ by. A leak of one page a call
// shows as 40 MB after 10,000 calls.
const maxGrowth = 16 << 20

// flatMix is what calls of one language do: mix again and again, each of rare
// once in a while, since it takes its whole timeout.
type flatMix struct{ mix, rare []string }

var flatMixes = map[string]flatMix{
	"python": {
		mix: []string{
			"1+1", "x = [i*i for i in range(1000)]\nsum(x)", "1/0", "def (", "bytearray(10**9)",
			"print('x'*1000)\n'y'*1000", "open('/tmp/f','w').write('x'*100000)", "import numpy", "raise SystemExit(3)",
			"import os\nos._exit(1)", "def f(): f()\nf()", "{'a': object()}", "import json\njson.loads('[1,2')",
		},
		rare: []string{"while True: pass", "import time\ntime.sleep(9)", "import os\nos.abort()", "x=[]\nwhile True: x.append('x'*10000)"},
	},
	"js": {
		mix: []string{
			"1+1", "Array.from({ length: 1000 }, (_, i) => i * i).reduce((a, b) => a + b)", "null.x", "let = (", "new ArrayBuffer(1e9)",
			"console.log('x'.repeat(1000)); 'y'.repeat(1000)", "import fs from 'fs'", "import { callTool } from 'mayfly'; typeof callTool",
			"function f() { f() } f()", "({ a: () => 1 })", "JSON.parse('[1,2')", "await Promise.all([1, 2].map(async (x) => x))",
			"Promise.reject(new Error('lost'))", "await new Promise(() => {})", "setTimeout(() => console.log('later'), 1)",
			"new Proxy({}, { ownKeys() { throw 1 } })", "[2n ** 4000n, new Map([[1, new Uint8Array(1e5)]])]", "throw new Error('x'.repeat(1e5))",
			"new FinalizationRegistry(() => {}).register({}, 1); new WeakRef({}).deref() === undefined",
		},
		rare: []string{"for (;;);", "setInterval(() => {}, 1)", "const a = []; for (;;) a.push('x'.repeat(10000) + a.length)", "/^(a+)+$/.test('a'.repeat(50) + 'b')", "const t = { then(f) { f(t) } }; await t"},
	},
}

// TestFlat makes thousands of calls in each language, good and bad, and looks
// for what stays.
func TestFlat(t *testing.T) {
	calls := 10_000
	if testing.Short() {
		calls = 1_000
	}
	for _, guest := range []string{"python", "js"} {
		t.Run(guest, func(t *testing.T) {
			box := python(t)
			if guest == "js" {
				box = javaScript(t)
			}
			checkFlat(t, box, flatMixes[guest], calls)
		})
	}
}

func checkFlat(t *testing.T, box *wasm.Engine, mix flatMix, calls int) {
	t.Helper()
	limits := sandbox.Limits{Timeout: 20 * time.Millisecond, MaxMemory: 8 << 20}
	run := func(n int) {
		for i := range n {
			code := mix.mix[i%len(mix.mix)]
			if i%100 == 99 {
				code = mix.rare[i/100%len(mix.rare)]
			}
			if _, err := box.Run(t.Context(), sandbox.Spec{Code: code, Limits: limits}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(calls / 5)
	before := measure(t)
	run(calls)
	after := measure(t)
	bound := maxGrowth
	if testing.Short() {
		// With the race detector, whose own memory grows with what it has seen, a
		// few calls say little at first. A leak comes with every round, though, and
		// one page a call is looked for.
		bound = 4096 * calls
		for range 5 {
			if after.rss-before.rss <= bound {
				break
			}
			t.Logf("before %+v, after %d calls %+v, looking again", before, calls, after)
			before = after
			run(calls)
			after = measure(t)
		}
	}
	// Used instances are dropped a moment later, on a goroutine of their own; on
	// a busy machine some are still there.
	for range 20 {
		if after.rss-before.rss <= bound {
			break
		}
		run(10)
		after = measure(t)
	}
	t.Logf("before %+v, after %d calls %+v", before, calls, after)
	if grown := after.rss - before.rss; grown > bound {
		t.Errorf("resident memory grew by %d KiB over %d calls", grown>>10, calls)
	}
	if after.goroutines > before.goroutines+2 || after.descriptors > before.descriptors+2 || after.mappings > before.mappings+60 {
		t.Errorf("something stays: before %+v, after %+v", before, after)
	}
}
