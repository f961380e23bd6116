//go:build linux && (amd64 || arm64)

package process

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Interpreters with threads, event loops and worker pools run as they are,
// with nothing but their libraries granted.
func TestRuntimes(t *testing.T) {
	const (
		python = `
import sys, json, os, threading, asyncio, concurrent.futures, hashlib, datetime, random, tempfile
args = json.load(sys.stdin)
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
async def work(n):
    await asyncio.sleep(0.001)
    return n * n
async def main():
    return sum(await asyncio.gather(*(work(i) for i in range(10))))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    total = sum(pool.map(lambda x: x + 1, range(10)))
with os.fdopen(3, "w") as out:
    json.dump([args["n"], len(done), asyncio.run(main()), total], out)
`
		node = `
const { Worker, isMainThread, parentPort } = require("worker_threads");
const fs = require("fs");
const args = JSON.parse(fs.readFileSync(0, "utf8"));
const w = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
w.on("message", async (m) => {
  await new Promise((r) => setTimeout(r, 1));
  fs.writeSync(3, JSON.stringify([args.n, m]));
  process.exit(0);
});
`
	)
	tests := []struct {
		name     string
		programs []string // the first that is there
		args     []string
		spec     Spec
		want     string
	}{
		{"python", []string{"/usr/bin/python3"}, []string{"-I", "-c", python}, Spec{}, "[5, 8, 285, 55]"},
		{"python, processes", []string{"/usr/bin/python3"}, []string{"-I", "-c", "import os, subprocess, sys\nr = subprocess.run([sys.executable, '-I', '-c', 'print(42)'], capture_output=True)\nos.write(3, r.stdout or repr(r.stderr).encode())"}, Spec{Process: true}, "42\n"},
		{"node", []string{"/usr/bin/node", "/usr/local/bin/node"}, []string{"-e", node}, Spec{Limits: Limits{MaxMemory: 4 << 30}}, "[5,42]"},
		{"shell", []string{"/bin/sh"}, []string{"-c", "x=$(echo a | (read y; echo $y$y)); echo \"\\\"$x\\\"\" >&3"}, Spec{Process: true}, "\"aa\"\n"},
	}
	exec, read := SystemLibraries()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program := firstProgram(tt.programs)
			if program == "" {
				t.Skipf("none of %v is installed", tt.programs)
			}
			forTiers(t, func(t *testing.T, mode Namespaces) {
				spec := tt.spec
				spec.Command, spec.Args, spec.Exec, spec.Read = program, tt.args, exec, read
				spec.Input, spec.Namespaces, spec.Limits.Timeout = sandbox.RawJSON(`{"n":5}`), mode, time.Minute
				r, err := Run(t.Context(), spec)
				if err != nil || r.Status != sandbox.StatusOK || string(r.Value) != tt.want {
					t.Errorf("status %s, value %q, error %v, %+v\n%s", r.Status, r.Value, err, r.Error, r.Stderr)
				}
			})
		})
	}
}

func firstProgram(paths []string) string {
	for _, path := range paths {
		if _, err := filepath.EvalSymlinks(path); err == nil {
			return path
		}
	}
	return ""
}

// What a program is linked with must be granted: nothing is, by itself.
func TestNoLibraries(t *testing.T) {
	if firstProgram([]string{"/bin/sh"}) == "" {
		t.Skip("there is no shell")
	}
	r, err := Run(t.Context(), Spec{Command: "/bin/sh", Args: []string{"-c", "true"}})
	if err != nil || r.Status != sandbox.StatusInvalid || r.Error.Path != "/command" {
		t.Errorf("status %s, %+v, error %v; want a refusal of /command", r.Status, r.Error, err)
	}
}
