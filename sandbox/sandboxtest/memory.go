package sandboxtest

import (
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

var small = sandbox.Limits{MaxMemory: 16 << 20}

var memoryCases = []Case{
	{Name: "grow to the ceiling", Code: py("x = []", "while True: x.append(bytearray(100_000))").js("const x = [];", "for (;;) x.push(new Uint8Array(100_000))"), Limits: small, Status: memory, ErrorType: pyError("MemoryError").js("InternalError")},
	{Name: "one large block", Code: py("bytearray(10**9)").js("new Uint8Array(1_000_000_000)"), Limits: small, Status: memory, ErrorType: pyError("MemoryError").js("InternalError")},
	{Name: "many small objects", Code: py("x = []", "while True: x.append([x])").js("const x = [];", "for (;;) x.push([x])"), Limits: small, Status: memory},
	{Name: "a string that doubles", Code: py("s = 'x'", "while True: s += s").js("let s = 'x'.repeat(1000);", "for (;;) s = (s + s).split('').join('')"), Limits: small, Status: memory},
	{Name: "a failed allocation can be handled", Code: py("try:", "  bytearray(10**9)", "except MemoryError:", "  r = 'handled'", "r").js("let r;", "try { new Uint8Array(1_000_000_000) } catch { r = 'handled' }", "r"), Limits: small, Status: ok, Value: `"handled"`},
	{
		Name:   "a failed allocation that is retried forever",
		Code:   py("x = []", "while True:", "  try: x.append(bytearray(100_000))", "  except MemoryError: pass").js("const x = [];", "for (;;) { try { x.push(new Uint8Array(100_000)) } catch {} }"),
		Limits: sandbox.Limits{MaxMemory: 16 << 20, Timeout: short.Timeout}, Status: timeout,
	},
	{Name: "memory freed is memory again", Code: py("for _ in range(200): bytearray(8_000_000)", "1").js("for (let i = 0; i < 200; i++) new Uint8Array(8_000_000);", "1"), Limits: small, Status: ok, Value: "1"},
	{Name: "arguments count", Code: py("len(s)").js("s.length"), Globals: map[string]any{"s": string(make([]byte, 32<<20))}, Limits: small, Status: memory},
	{
		Name: "usage tells the peak", Code: py("b = bytearray(60_000_000)", "del b", "1").js("let b = new Uint8Array(60_000_000);", "b = null;", "1"), Status: ok,
		Check: func(t *testing.T, r sandbox.Result) {
			if r.Usage.PeakMemory < 36_000_000 || r.Usage.PeakMemory > 66_000_000 {
				// Some of it may fit into room that the image already has.
				t.Errorf("peak of %d bytes for 60 MB", r.Usage.PeakMemory)
			}
		},
	},
	{Name: "recursion", Code: py("def f(): return f()", "f()").js("function f() { return f() }", "f()"), Status: raised, ErrorType: pyError("RecursionError").js("RangeError")},
	{
		Name:   "recursion without a limit",
		Code:   py("import sys", "sys.setrecursionlimit(10**9)", "def f(): return f()", "f()"),
		Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit, sandbox.StatusTimeout},
	},
	{
		Name:   "recursion in C",
		Code:   py("import sys", "sys.setrecursionlimit(10**9)", "x = []", "for _ in range(10**6): x = [x]", "repr(x)").js("let x = [];", "for (let i = 0; i < 1e6; i++) x = [x];", "JSON.stringify(x)"),
		Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit},
	},
	{Name: "recursion can be handled", Code: py("def f(): return f()", "try: f()", "except RecursionError: r = 'handled'", "r").js("let r;", "function f() { return f() }", "try { f() } catch (e) { r = e instanceof RangeError ? 'handled' : 'other' }", "r"), Status: ok, Value: `"handled"`},
}
