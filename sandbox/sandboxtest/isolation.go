package sandboxtest

import "github.com/mayfly-run/mayfly/sandbox"

// The isolation cases come in pairs: the first leaves something behind, the
// second must not find it.
var isolationCases = []Case{
	{
		Name: "leave state behind",
		Code: py(
			"import builtins, json, os, sys, atexit, random, decimal",
			"builtins.leak = 1", "json.dumps = None", "open('/tmp/leak', 'w').write('x')",
			"os.environ['LEAK'] = '1'", "sys.path.append('/leak')", "sys.modules['leak'] = sys",
			"os.makedirs('/tmp/d')", "os.chdir('/tmp/d')", "atexit.register(print, 'leak')",
			"decimal.getcontext().prec = 3", "random.seed(1)", "sys.setrecursionlimit(50)", "str.__doc__").js("globalThis.leak = 1;", "JSON.stringify = null;", "Array.prototype.leak = 1;", "Object.prototype.toJSON = () => 'leak';", "Math.random = () => 0;", "console.log = null;", "Promise.prototype.then = null;", "delete globalThis.Map;", "setTimeout(() => { globalThis.leak = 2 }, 0);", "1"),
		Status: ok,
	},
	{
		Name: "find no state",
		Code: py(
			"import builtins, json, os, sys, decimal",
			"[hasattr(builtins, 'leak'), json.dumps({'a': 1}), os.path.exists('/tmp/leak'), os.environ.get('LEAK'),",
			" '/leak' in sys.path, 'leak' in sys.modules, os.getcwd(), decimal.getcontext().prec]"),
		Status: ok, Value: `[false,"{\"a\": 1}",false,null,false,false,"/tmp",28]`,
	},
	{
		Name: "find no prototypes of another call's",
		Code: js(
			"const later = await new Promise((r) => setTimeout(() => r(typeof leak), 5));",
			"[typeof leak, JSON.stringify({ a: 1 }), [].leak, ({}).toJSON, Math.random() > 0, typeof Map, later]"),
		Status: ok, Value: `["undefined","{\"a\":1}",null,null,true,"function","undefined"]`,
	},
	{Name: "the clock is live", Code: py("import time", "t = globals().get('now')", "[abs(time.time() - t) < 3600, time.monotonic() <= time.monotonic(), time.perf_counter() >= 0]"), Globals: map[string]any{"now": nowSeconds()}, Status: ok, Value: "[true,true,true]"},
	{Name: "the clock is live, and only goes forward", Code: js("const a = performance.now();", "[Math.abs(Date.now() / 1000 - now) < 3600, performance.now() >= a, new Date().getTimezoneOffset()]"), Globals: map[string]any{"now": nowSeconds()}, Status: ok, Value: "[true,true,0]"},
	{
		Name:          "a fixed seed and clock for everything random",
		Code:          js("[Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], Date.now(), new Date().toISOString().slice(0, 16)]"),
		Deterministic: &sandbox.Deterministic{Seed: 7, Clock: fixedClock}, Status: ok,
	},
	{
		Name:          "a fixed seed and clock",
		Code:          py("import random, uuid, os, time, datetime, secrets", "[random.random(), str(uuid.uuid4()), os.urandom(4).hex(), secrets.token_hex(4), datetime.datetime.now().isoformat()[:16]]"),
		Deterministic: &sandbox.Deterministic{Seed: 7, Clock: fixedClock}, Status: ok,
	},
}

var fileCases = []Case{
	{Name: "a private temporary directory", Code: py("import os", "open('note', 'w').write('hi')", "[open('/tmp/note').read(), os.listdir('/tmp'), os.listdir('/')]"), Status: ok, Value: `["hi",["out","note"],["dev","tmp"]]`},
	{Name: "many bytes", Code: py("f = open('/tmp/f', 'wb')", "while True: f.write(b'x'*65536); f.flush()"), Limits: sandbox.Limits{MaxFileBytes: 1 << 20}, Status: raised, ErrorType: pyError("OSError")},
	{Name: "file bytes count as memory", Code: py("f = open('/tmp/f', 'wb')", "while True: f.write(b'x'*65536); f.flush()"), Limits: sandbox.Limits{MaxMemory: 16 << 20, MaxFileBytes: 1 << 30}, Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusMemoryLimit}},
	{Name: "many files", Code: py("for i in range(10**6): open(f'/tmp/{i}', 'w').close()"), Status: raised, ErrorType: pyError("OSError")},
	{Name: "many directories", Code: py("import os", "p = '/tmp'", "for i in range(10**5):", "  os.mkdir('d')", "  os.chdir('d')"), Status: raised, ErrorType: pyError("OSError")},
	{Name: "a huge hole", Code: py("f = open('/tmp/f', 'wb')", "f.truncate(10**12)"), Status: raised, ErrorType: pyError("OSError")},
	{Name: "outside is read-only", Code: py("open('/x', 'w')"), Status: raised, ErrorType: pyError("OSError")},
	{Name: "outside is empty", Code: py("open('/etc/passwd')"), Status: raised, ErrorType: pyError("FileNotFoundError")},
	{Name: "many open files", Code: py("fs = []", "while True: fs.append(open('/tmp/f', 'w'))"), Limits: shortRoomy, Status: raised, ErrorType: pyError("OSError")},
}

var doorCases = []Case{
	{Name: "socket", Code: py("import socket", "socket.create_connection(('127.0.0.1', 80), 1)"), Status: raised},
	{Name: "subprocess", Code: py("import subprocess", "subprocess.run(['true'])"), Status: raised},
	{Name: "fork", Code: py("import os", "os.fork()"), Status: raised},
	{Name: "exec", Code: py("import os", "os.execv('/bin/true', ['true'])"), Status: raised},
	{Name: "system", Code: py("import os", "os.system('true')"), Status: raised},
	{Name: "threads", Code: py("import threading", "threading.Thread(target=print).start()"), Status: raised, ErrorType: pyError("RuntimeError")},
	{Name: "multiprocessing", Code: py("import multiprocessing", "multiprocessing.Process(target=print).start()"), Status: raised},
	{Name: "ctypes", Code: py("import ctypes"), Status: raised},
	{Name: "numpy is not there and the message helps", Code: py("import numpy"), Status: raised, ErrorType: pyError("ModuleNotFoundError"), Check: mentions("statistics")},
	{Name: "pandas is not there and the message helps", Code: py("import pandas as pd"), Status: raised, ErrorType: pyError("ModuleNotFoundError"), Check: mentions("sqlite3")},
	{Name: "host tools are not granted", Code: py("import mayfly", "mayfly.call_tool('x')").js("mayfly.callTool('x')"), Status: raised, ErrorType: pyError("PermissionError")},
	{Name: "no network, and a sign that says so", Code: js("fetch('http://127.0.0.1/')"), Status: raised, ErrorType: jsError("Error"), Check: mentions("no network")},
	{Name: "no modules, and a sign that says so", Code: js("require('fs')"), Status: raised, ErrorType: jsError("Error"), Check: mentions("no modules")},
	{Name: "no modules for import either", Code: js("import fs from 'node:fs';", "fs"), Status: raised, ErrorType: jsError("ReferenceError"), Check: mentions("no modules")},
	{Name: "no modules for a dynamic import either", Code: js("await import('./secret.js')"), Status: raised, ErrorType: jsError("ReferenceError"), Check: mentions("no modules")},
	{Name: "nothing of the host is there", Code: js("['process', 'Deno', 'Bun', 'std', 'os', 'scriptArgs', 'print', 'gc', 'load', 'read', 'Worker', 'WebAssembly', 'global', 'window', 'navigator'].filter((n) => n in globalThis)"), Status: ok, Value: "[]"},
	{Name: "nothing to wait on", Code: js("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"), Status: raised},
	{Name: "a small fixed world", Code: py("import os, sys", "[sorted(os.environ), sys.argv, os.getcwd()]"), Status: ok, Value: `[["HOME","LANG","TMPDIR","TZ"],["main.py"],"/tmp"]`},
	{Name: "abort is contained", Code: py("import os", "os.abort()"), Status: []sandbox.Status{sandbox.StatusError, sandbox.StatusCrashed}},
}
