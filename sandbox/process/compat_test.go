//go:build linux && (amd64 || arm64)

package process

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// compatTest is a piece of ordinary code that must run as it is.
type compatTest struct {
	name    string
	process bool
	code    string
	want    string
	// gap is what the code says where there are no namespaces, if that is
	// something else: RATIONALE.md has the list.
	gap string
}

// Each leaves its value on descriptor 3.
var pythonCode = []compatTest{
	{
		name: "who it is", want: `["mayfly","/tmp","/tmp","mayfly"]`, gap: "KeyError",
		code: `
import pwd, grp, os
put([pwd.getpwuid(os.getuid()).pw_name, pwd.getpwuid(os.getuid()).pw_dir, os.path.expanduser("~"), grp.getgrgid(os.getgid()).gr_name])`,
	},
	{
		name: "streams by name", want: `["in","out"]`,
		code: `
import sys
a = open("/dev/stdin").read()
print("out", file=open("/dev/stdout", "w"))
open("/dev/stderr", "w").close()
put(["in" if a == "5" else a, "out"])`,
	},
	{
		name: "the root can be listed", want: `["dev","etc","proc","tmp","usr"]`, gap: "PermissionError",
		code: `
import os
put(sorted(set(os.listdir("/")) & {"dev", "etc", "proc", "root", "home", "tmp", "usr", "var", "sys"}))`,
	},
	{
		name: "temporary files", want: `"text"`, gap: "FileNotFoundError",
		code: `
import tempfile
with tempfile.NamedTemporaryFile("w+") as f:
    f.write("text"); f.seek(0)
    put(f.read())`,
	},
	{
		name: "threads and pools", want: `[8,55,1]`,
		code: `
import threading, concurrent.futures, queue
done = queue.Queue()
threads = [threading.Thread(target=done.put, args=(i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    total = sum(pool.map(lambda x: x + 1, range(10)))
put([done.qsize(), total, threading.active_count()])`,
	},
	{
		name: "asyncio with threads and children", process: true, want: `[285,42,"a"]`,
		code: `
import asyncio, sys
async def square(n):
    await asyncio.sleep(0.001)
    return n * n
async def main():
    total = sum(await asyncio.gather(*(square(i) for i in range(10))))
    answer = await asyncio.to_thread(lambda: 42)
    child = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", "print('a')", stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()
    return [total, answer, out.decode().strip()]
put(asyncio.run(main()))`,
	},
	{
		name: "a pool of processes", process: true, want: `[0,1,4,9]`, gap: "PermissionError",
		code: `
import multiprocessing
def square(n): return n * n
with multiprocessing.get_context("fork").Pool(2) as pool:
    put(pool.map(square, range(4)))`,
	},
	{
		name: "shared memory", process: true, want: `[7,"gone"]`, gap: "PermissionError",
		code: `
import multiprocessing, os
from multiprocessing import shared_memory
m = shared_memory.SharedMemory(create=True, size=4096)
def fill(name):
    other = shared_memory.SharedMemory(name=name)
    other.buf[0] = 7
    other.close()
p = multiprocessing.get_context("fork").Process(target=fill, args=(m.name,))
p.start(); p.join()
value = m.buf[0]
m.close(); m.unlink()
put([value, "there" if os.path.exists("/dev/shm/" + m.name) else "gone"])`,
	},
	{
		name: "locks between processes", process: true, want: `4`, gap: "PermissionError",
		code: `
import multiprocessing
c = multiprocessing.get_context("fork")
n = c.Value("i", 0)
def add():
    with n.get_lock(): n.value += 1
ps = [c.Process(target=add) for _ in range(4)]
[p.start() for p in ps]; [p.join() for p in ps]
put(n.value)`,
	},
	{
		name: "no process without the grant", want: `"PermissionError"`,
		code: `
import subprocess, sys
try: subprocess.run([sys.executable, "-c", "1"])
except OSError as e: put(type(e).__name__)`,
	},
}

const pythonPut = `
import json, os
def put(v): os.write(3, json.dumps(v, separators=(",", ":")).encode())
try:
    exec(compile(os.environ["CODE"], "code", "exec"), globals())
except Exception as e:
    import traceback
    traceback.print_exc()
    put(type(e).__name__)
`

var nodeCode = []compatTest{
	{name: "who it is", want: `["mayfly","/tmp"]`, gap: "SystemError", code: `const os = require("os"); put([os.userInfo().username, os.homedir()])`},
	{name: "worker threads", want: `42`, code: `
const { Worker } = require("worker_threads");
new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true }).on("message", put)`},
	{name: "promises and timers", want: `45`, code: `
Promise.all([...Array(10).keys()].map((i) => new Promise((r) => setTimeout(r, 1, i)))).then((l) => put(l.reduce((a, b) => a + b)))`},
	{name: "children", process: true, want: `"a"`, code: `
const { execFile } = require("child_process");
execFile(process.execPath, ["-p", "'a'"], (e, out) => put(e ? String(e) : out.trim()))`},
	{name: "forked children", process: true, want: `7`, gap: "EACCES", code: `
require("fs").writeFileSync("/tmp/child.js", "process.on('message', (m) => { process.send(m + 1); process.disconnect(); })");
require("child_process").fork("/tmp/child.js").on("message", put).send(6)`},
	{name: "files", want: `"text"`, gap: "EACCES", code: `
const fs = require("fs"), path = require("path"), dir = fs.mkdtempSync(path.join(require("os").tmpdir(), "x"));
fs.writeFileSync(dir + "/f", "text"); put(fs.readFileSync(dir + "/f", "utf8"))`},
}

const nodePut = `
const put = (v) => require("fs").writeSync(3, JSON.stringify(v));
process.on("uncaughtException", (e) => { console.error(e); put(e.code === "ERR_SYSTEM_ERROR" ? e.name : e.code ?? e.name); process.exit(0); });
eval(process.env.CODE);
`

// Interpreters and tools do what they do elsewhere. Where there are no
// namespaces some of it is missing, and the tests say what.
func TestCompat(t *testing.T) {
	exec, read := SystemLibraries()
	for _, runtime := range []struct {
		name     string
		programs []string
		args     []string
		memory   int64
		tests    []compatTest
	}{
		{"python", []string{"/usr/bin/python3"}, []string{"-I", "-c", pythonPut}, 0, pythonCode},
		{"node", []string{"/usr/bin/node", "/usr/local/bin/node"}, []string{"-e", nodePut}, 4 << 30, nodeCode},
	} {
		t.Run(runtime.name, func(t *testing.T) {
			program := firstProgram(runtime.programs)
			if program == "" {
				t.Skipf("none of %v is installed", runtime.programs)
			}
			for _, tt := range runtime.tests {
				t.Run(tt.name, func(t *testing.T) {
					forTiers(t, func(t *testing.T, mode Namespaces) {
						r, err := Run(t.Context(), Spec{
							Command: program, Args: runtime.args, Env: map[string]string{"CODE": tt.code}, Exec: exec, Read: read,
							Input: sandbox.RawJSON("5"), Process: tt.process, Namespaces: mode, Limits: Limits{Timeout: time.Minute, MaxMemory: runtime.memory},
						})
						want := tt.want
						if mode == NamespacesOff && tt.gap != "" {
							want = `"` + tt.gap + `"`
						}
						if err != nil || r.Status != sandbox.StatusOK || string(r.Value) != want {
							t.Errorf("status %s, value %s, want %s; error %v, %+v\n%s", r.Status, r.Value, want, err, r.Error, r.Stderr)
						}
					})
				})
			}
		})
	}
}

// A Go program with a pool of workers, and one that looks up its user.
func TestCompatGo(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		r := run(t, Spec{Namespaces: mode, Limits: Limits{Timeout: time.Minute}}, "workers")
		want := `{"sum":4950,"user":"mayfly"}`
		if mode == NamespacesOff {
			want = `{"sum":4950,"user":"mayfly-unknown"}`
		}
		if string(r.Value) != want {
			t.Errorf("status %s, value %s, want %s\n%s", r.Status, r.Value, want, r.Stderr)
		}
	})
}

// A version control system runs: it starts programs of its own, looks up who
// it is, and needs a home.
func TestCompatGit(t *testing.T) {
	program, shell := firstProgram([]string{"/usr/bin/git"}), firstProgram([]string{"/bin/sh"})
	if program == "" || shell == "" {
		t.Skip("git is not installed")
	}
	exec, read := SystemLibraries()
	r, err := Run(t.Context(), Spec{
		Command: shell, Exec: append(exec, program), Read: read, Process: true, Output: OutputStdout, Dir: "/tmp",
		Env:    map[string]string{"EMAIL": "call@example.com"},
		Args:   []string{"-ec", "git init -q x; cd x; echo a > a; git add a; git commit -qm first; printf '\"%s\"' \"$(git log --format='%s %an')\""},
		Limits: Limits{Timeout: time.Minute},
	})
	if err != nil || r.Status != sandbox.StatusOK || !strings.HasPrefix(string(r.Value), `"first mayfly"`) {
		t.Errorf("status %s, value %s, error %v, %+v\n%s", r.Status, r.Value, err, r.Error, r.Stderr)
	}
}

// What is granted counts more than what is made up.
func TestGrantedPasswd(t *testing.T) {
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Skip(err)
	}
	for _, grant := range []string{"/etc/passwd", "/etc"} {
		r := run(t, Spec{Read: []string{grant}}, "count", "/etc/passwd", ":")
		host, err := os.ReadFile("/etc/passwd")
		if err != nil {
			t.Fatal(err)
		}
		if want := `"` + strings.Repeat(":", strings.Count(string(host), ":")) + `"`; string(r.Value) != want {
			t.Errorf("%s: value %s, want %s, %+v", grant, r.Value, want, r.Error)
		}
	}
	if text, err := os.ReadFile("/etc/passwd"); err != nil || strings.Contains(string(text), userName+":x:") {
		t.Errorf("the host's own file has become the call's: %v", err)
	}
}

// The root can be listed only if everything below it may be read: a rule for
// it holds for a directory that was granted for writing alone.
func TestListNothingWriteOnly(t *testing.T) {
	dir := writeOnlyDir(t)
	for _, tt := range []struct {
		spec Spec
		path string
		want bool
	}{
		{Spec{}, "/", true},
		{Spec{Write: []string{dir}}, "/", false},
		{Spec{Write: []string{dir}}, dir, false},
		{Spec{Write: []string{dir}, Read: []string{dir}}, "/", true},
		{Spec{Write: []string{dir}, Read: []string{dir}}, dir, true},
		{Spec{}, dir, false}, // it is not there
	} {
		r := run(t, tt.spec, "list", tt.path)
		if o := readOutcome(t, r.Value); o.Worked != tt.want {
			t.Errorf("write %v, read %v: listing %s works: %v (%s)", tt.spec.Write, tt.spec.Read, tt.path, o.Worked, o.Detail)
		}
	}
}
