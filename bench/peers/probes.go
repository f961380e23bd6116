package main

import "fmt"

// The sizes that probes try to have. Each is far above the limit that was set.
const (
	wantMiB   = 512
	outputMiB = 32
	nesting   = "200000" // lists in lists
)

// nothing is the value of code that found no way to try.
const nothing = `"nothing to try it with"`

// probes are the ways out that are tried. In Pyodide, Python can reach
// JavaScript; code that is hostile would.
func probes(secret string, port int) []probe {
	succeeded := func(value, word string) func(answer, bool) string {
		return func(a answer, _ bool) string {
			switch a.Value {
			case value:
				return word
			case nothing:
				return "no such function"
			}
			return ""
		}
	}
	return []probe{
		{"time: a loop without end", map[string]request{
			python:     {Body: endless[python], Expr: "1", TimeoutMS: stopAfter},
			javaScript: {Body: endless[javaScript], Expr: "1", TimeoutMS: stopAfter},
		}, succeeded("1", "ended by itself")},
		{fmt.Sprintf("memory: %d MiB, %d allowed", wantMiB, limitMemory/mib), map[string]request{
			python:     {Body: fmt.Sprintf("kept = []\nfor i in range(%d): kept.append('x' * 1048576 + str(i))", wantMiB), Expr: "len(kept)"},
			javaScript: {Body: fmt.Sprintf("const kept = []; for (let i = 0; i < %d; i++) kept.push(new Uint8Array(1048576).fill(i));", wantMiB), Expr: "kept.length"},
		}, succeeded(fmt.Sprint(wantMiB), "no limit")},
		{fmt.Sprintf("output: %d MiB", outputMiB), map[string]request{
			python: {Body: fmt.Sprintf("for i in range(%d): print('x' * 1048576)", outputMiB), Expr: "1"},
			javaScript: {
				Body: fmt.Sprintf("const can = typeof console !== 'undefined'; for (let i = 0; can && i < %d; i++) console.log('x'.repeat(1048576));", outputMiB),
				Expr: `can || ` + nothing,
			},
		}, func(a answer, _ bool) string {
			switch {
			case a.Stdout >= outputMiB<<20:
				return "no limit"
			case a.Value == nothing:
				return "no such function"
			}
			return fmt.Sprintf("cut at %d KiB", a.Stdout>>10)
		}},
		{"recursion without end", map[string]request{
			python:     {Body: "def f(n):\n    return f(n + 1) + 1\n", Expr: "f(0)"},
			javaScript: {Body: "function f(n) { return f(n + 1) + 1; }", Expr: "f(0)"},
		}, succeeded("", "")},
		{"recursion in native code, Python's own limit raised", map[string]request{
			python: {Body: `try:
    import sys
    sys.setrecursionlimit(10 ** 6)
except Exception:
    pass
a = []
for i in range(` + nesting + `):
    a = [a]
`, Expr: "len(repr(a))"},
			javaScript: {Body: "let a = []; for (let i = 0; i < " + nesting + "; i++) a = [a];", Expr: "JSON.stringify(a).length", TimeoutMS: 5000},
		}, func(a answer, _ bool) string { return "ended, with " + a.Value + " characters" }},
		{"a process", map[string]request{
			python:     {Body: "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)", Expr: "'started'"},
			javaScript: {Body: nodeModule("child_process", "m.spawnSync('/bin/true').status === 0 ? 'started' : 'failed'"), Expr: "found"},
		}, succeeded(`"started"`, "started")},
		{"a thread", map[string]request{
			python:     {Body: "import threading\nfound = []\nt = threading.Thread(target=found.append, args=(1,))\nt.start()\nt.join()", Expr: "'started' if found else 'failed'"},
			javaScript: {Body: nodeModule("worker_threads", "(new m.Worker('1', { eval: true }), 'started')"), Expr: "found"},
		}, succeeded(`"started"`, "started")},
		{"a file of the host", map[string]request{
			python: {Body: fmt.Sprintf(`
def read():
    try:
        return open(%[1]q).read()
    except Exception as e:
        first = e
    try:
        from pyodide.code import run_js
    except Exception:
        raise first
    return run_js('process.getBuiltinModule("fs").readFileSync(%[1]q, "utf8")')
found = read()
`, secret), Expr: "found"},
			javaScript: {Body: nodeModule("fs", fmt.Sprintf("m.readFileSync(%q, 'utf8')", secret)), Expr: "found"},
		}, succeeded(`"canary"`, "was read")},
		{"a server on the host", map[string]request{
			python: {Body: fmt.Sprintf(`
def connect():
    try:
        import socket
        socket.create_connection(("127.0.0.1", %[1]d), 2).close()
        return "connected"
    except Exception as e:
        first = e
    try:
        from pyodide.code import run_js
    except Exception:
        raise first
    return run_js('process.getBuiltinModule("child_process").spawnSync("bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/%[1]d"]).status === 0 ? "connected" : "failed"')
found = connect()
`, port), Expr: "found"},
			javaScript: {Body: nodeModule("net", fmt.Sprintf("(m.connect(%d, '127.0.0.1').on('connect', function () { this.end(); }), 'tried')", port)), Expr: "found"},
		}, func(a answer, reached bool) string {
			switch {
			case reached:
				return "was reached"
			case a.Value == nothing:
				return "no such function"
			}
			return "was not reached"
		}},
	}
}

// nodeModule is code that uses a module of Node, if this is Node.
func nodeModule(name, use string) string {
	return fmt.Sprintf("const m = typeof process === 'undefined' ? undefined : process.getBuiltinModule(%q); const found = m ? %s : %s;", name, use, nothing)
}
