package sandboxtest

import (
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

var small = sandbox.Limits{MaxMemory: 16 << 20}

var memoryCases = []Case{
	{Name: "grow to the ceiling", Code: py("x = []", "while True: x.append(bytearray(100_000))"), Limits: small, Status: memory, ErrorType: pyError("MemoryError")},
	{Name: "one large block", Code: py("bytearray(10**9)"), Limits: small, Status: memory, ErrorType: pyError("MemoryError")},
	{Name: "many small objects", Code: py("x = []", "while True: x.append([x])"), Limits: small, Status: memory},
	{Name: "a string that doubles", Code: py("s = 'x'", "while True: s += s"), Limits: small, Status: memory},
	{Name: "a failed allocation can be handled", Code: py("try:", "  bytearray(10**9)", "except MemoryError:", "  r = 'handled'", "r"), Limits: small, Status: ok, Value: `"handled"`},
	{
		Name:   "a failed allocation that is retried forever",
		Code:   py("x = []", "while True:", "  try: x.append(bytearray(100_000))", "  except MemoryError: pass"),
		Limits: sandbox.Limits{MaxMemory: 16 << 20, Timeout: short.Timeout}, Status: timeout,
	},
	{Name: "memory freed is memory again", Code: py("for _ in range(200): bytearray(8_000_000)", "1"), Limits: small, Status: ok, Value: "1"},
	{Name: "arguments count", Code: py("len(s)"), Globals: map[string]any{"s": string(make([]byte, 32<<20))}, Limits: small, Status: memory},
	{
		Name: "usage tells the peak", Code: py("b = bytearray(9_000_000)", "del b", "1"), Status: ok,
		Check: func(t *testing.T, r sandbox.Result) {
			if r.Usage.PeakMemory < 4_000_000 || r.Usage.PeakMemory > 16_000_000 {
				// Some of it may fit into room that the image already has.
				t.Errorf("peak of %d bytes for 9 MB", r.Usage.PeakMemory)
			}
		},
	},
	{Name: "recursion", Code: py("def f(): return f()", "f()"), Status: raised, ErrorType: pyError("RecursionError")},
	{
		Name:   "recursion without a limit",
		Code:   py("import sys", "sys.setrecursionlimit(10**9)", "def f(): return f()", "f()"),
		Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit, sandbox.StatusTimeout},
	},
	{
		Name:   "recursion in C",
		Code:   py("import sys", "sys.setrecursionlimit(10**9)", "x = []", "for _ in range(10**6): x = [x]", "repr(x)"),
		Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit},
	},
	{Name: "recursion can be handled", Code: py("def f(): return f()", "try: f()", "except RecursionError: r = 'handled'", "r"), Status: ok, Value: `"handled"`},
}
