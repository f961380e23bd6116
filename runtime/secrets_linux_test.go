package runtime_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/scrub"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// sentinel is a secret that is looked for everywhere. It could be the name of a
// type, so that nothing but the scrubber keeps it out of an error's type.
const sentinel = "Sentinel7f3a9b1c5d"

const secretHarness = `apiVersion: harnessweaver/v1
kind: Harness
spec:
  tools: { manifests: [tools.yaml] }
  store: store.db
  trace: { file: trace.jsonl }
  secrets:
    API_KEY: { env: HOST_KEY }
    FILE_KEY: { file: key.txt }
    COMMAND_KEY: { command: { command: ./fetch.sh, args: [the-key] } }
`

const secretTools = `apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: leak }
spec: { handler: "app:leak", side_effect: write_external, timeout: 20s, grants: { secrets: [API_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: leak_given }
spec: { handler: "app:leak", side_effect: write_external, timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: ask }
spec: { handler: "app:leak", timeout: 20s, approval: { when: "true", approver_role: lead } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: raise }
spec: { handler: "app:fail", timeout: 20s, grants: { secrets: [API_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: raise_given }
spec: { handler: "app:fail", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: cut }
spec: { handler: "app:cut", timeout: 20s, grants: { secrets: [API_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: sources }
spec: { handler: "app:sources", timeout: 20s, grants: { secrets: [API_KEY, FILE_KEY, COMMAND_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: file }
spec: { handler: "app:sources", side_effect: write_external, timeout: 20s, grants: { secrets: [FILE_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: command }
spec: { handler: "app:sources", timeout: 20s, grants: { secrets: [COMMAND_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: seen }
spec: { handler: "app:seen", timeout: 20s, grants: { secrets: [API_KEY], process: true, filesystem_read: [meet], filesystem_write: [meet] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: program }
spec: { handler: { command: ./program.py }, timeout: 20s, grants: { secrets: [API_KEY] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: node }
spec: { handler: "./app.mjs#seen", timeout: 20s, grants: { secrets: [API_KEY], process: true, code: [{node}] } }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: none }
spec: { handler: "app:sources", timeout: 20s }
---
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: native }
spec: { handler: "host:native", timeout: 20s, grants: { secrets: [API_KEY] } }
`

const secretPython = `import base64, json, os, subprocess, sys, urllib.parse

def forms(value):
    raw = value.encode()
    return {
        "plain": value, "in text": "it is " + value + "!", value: "as a key", "list": [[value]],
        "base64": base64.b64encode(b"user:" + raw).decode(), "base64 lines": base64.encodebytes(raw * 9).decode(),
        "base64 url": base64.urlsafe_b64encode(b"?>" + raw).decode(), "hex": raw.hex(), "HEX": raw.hex(":").upper(),
        "url": "".join("%%%02x" % b for b in raw), "json": json.dumps({"k": [value]}), "json json": json.dumps(json.dumps(value)),
        "escaped": "".join("\\u%04x" % ord(c) for c in value), "repr": repr(raw),
    }

def leak(value=None):
    value = os.environ.get("API_KEY", value)
    print(value)
    print(value, file=sys.stderr)
    sys.stdout.write(value[:7])
    sys.stdout.flush()
    sys.stdout.write(value[7:])
    return forms(value)

def fail(value=None):
    value = os.environ.get("API_KEY", value)
    print(json.dumps(forms(value)), file=sys.stderr)
    raise type(value, (Exception,), {})(value)

def cut():
    sys.stderr.write("x" * (100_000 - 9) + os.environ["API_KEY"])
    sys.stderr.flush()
    os._exit(3)

def sources():
    return {name: len(os.environ[name]) for name in ("API_KEY", "FILE_KEY", "COMMAND_KEY") if name in os.environ}

def seen():
    value = os.environ["API_KEY"]
    with open("meet/there", "w") as there, open("meet/back") as back:
        there.write("x")
        there.flush()
        back.read()
    def has(text):
        return value in text
    read = "import os; print(dict(os.environ)); print(open('/proc/self/environ').read()); print(os.listdir('/proc/self/fd'))"
    run = lambda **more: subprocess.run([sys.executable, "-I", "-c", read], capture_output=True, text=True, close_fds=False, **more).stdout
    return {
        "value": len(value), "getenv": os.getenv("API_KEY") == value, "copy": os.environ.copy()["API_KEY"] == value,
        "own environ": has(open("/proc/self/environ").read()), "arguments": has(open("/proc/self/cmdline").read()),
        "ran": "PATH" in run(), "child": has(run()), "told child": has(run(env={"API_KEY": value})),
        "descriptor": any("memfd" in os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd") if os.path.islink("/proc/self/fd/" + fd)),
    }
`

const secretNode = `import { spawnSync } from "node:child_process";
import fs from "node:fs";

export function seen() {
  const value = process.env.API_KEY;
  const read = "console.log(JSON.stringify(process.env)); console.log(require('fs').readFileSync('/proc/self/environ', 'utf8'))";
  const run = (options) => spawnSync(process.execPath, ["-e", read], { encoding: "utf8", ...options }).stdout;
  const { API_KEY } = process.env;
  process.env.OTHER = "x";
  return {
    value: value.length, same: API_KEY === value, has: "API_KEY" in process.env, hasOwn: Object.hasOwn(process.env, "API_KEY"),
    listed: Object.keys(process.env).includes("API_KEY"), other: process.env.OTHER,
    "own environ": fs.readFileSync("/proc/self/environ", "utf8").includes(value), ran: run().includes("OTHER"), child: run().includes(value),
    "told child": run({ env: { API_KEY: value } }).includes(value), deleted: delete process.env.API_KEY && process.env.API_KEY === undefined,
  };
}
`

const secretProgram = `#!/usr/bin/python3
import json, os, sys
with os.fdopen(int(os.environ["MAYFLY_SECRETS_FD"])) as f:
    values = json.load(f)
value = values["API_KEY"]
print(value, file=sys.stderr)
sys.stdout.write(json.dumps({"names": list(values), "length": len(value), "environment": value in str(os.environ), "is": value}))
`

// openSecrets makes a runtime whose tools are handed secrets.
func openSecrets(t *testing.T, change func(c *runtime.Config, dir string)) (r *runtime.Runtime, dir string) {
	t.Helper()
	r = open(t, "", func(c *runtime.Config) {
		dir = filepath.Dir(c.Harness)
		for d := dir; d != "/" && d != filepath.Clean(os.TempDir()); d = filepath.Dir(d) { // every user may look
			if err := os.Chmod(d, 0o755); err != nil {
				break
			}
		}
		node, _ := exec.LookPath("node")
		if node == "" {
			node = "/usr/bin/node"
		}
		write(t, dir, "harness.yaml", secretHarness, 0o644)
		write(t, dir, "tools.yaml", strings.ReplaceAll(secretTools, "{node}", node), 0o644)
		write(t, dir, "app.py", secretPython, 0o644)
		write(t, dir, "app.mjs", secretNode, 0o644)
		write(t, dir, "program.py", secretProgram, 0o755)
		write(t, dir, "fetch.sh", "#!/bin/sh\necho \"$1-of-the-command\"\necho "+sentinel+" >&2\n", 0o755)
		write(t, dir, "key.txt", sentinel+"-of-the-file\n", 0o600)
		if err := os.Mkdir(filepath.Join(dir, "meet"), 0o777); err != nil {
			t.Fatal(err)
		}
		c.LookupEnv = func(name string) (string, bool) { return sentinel, name == "HOST_KEY" }
		c.Funcs = map[string]runtime.Func{"native": func(_ context.Context, in runtime.FuncCall) (sandbox.RawJSON, error) {
			if in.Secrets["API_KEY"] != sentinel || len(in.Secrets) != 1 {
				return nil, errors.New("it was handed something else")
			}
			return nil, fmt.Errorf("refused by the bank: %s", in.Secrets["API_KEY"])
		}}
		if change != nil {
			change(c, dir)
		}
	})
	return r, dir
}

func write(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// leaks gives the forms in which the sentinel stands in a text, without the help
// of what takes it out.
func leaks(text []byte) []string {
	var found []string
	lower := bytes.ToLower(text)
	squeezed := strings.NewReplacer("\n", "", `\n`, "", ":", "", " ", "").Replace(string(lower))
	look := func(form, what string) {
		if bytes.Contains(lower, []byte(strings.ToLower(what))) || strings.Contains(squeezed, strings.ToLower(what)) {
			found = append(found, form)
		}
	}
	look("plain", sentinel)
	look("hex", hex.EncodeToString([]byte(sentinel)))
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + sentinel))
		look(fmt.Sprint("base64, ", before), text[4:len(text)-2])
	}
	percent, escaped := "", ""
	for _, b := range []byte(sentinel) {
		percent += fmt.Sprintf("%%%02x", b)
		escaped += fmt.Sprintf(`u%04x`, b)
	}
	look("percent", percent)
	if strings.Contains(strings.ReplaceAll(string(lower), `\`, ""), escaped) {
		found = append(found, "escaped")
	}
	return found
}

// everything is all that a call leaves anywhere.
func everything(t *testing.T, dir string, r runtime.Result) map[string][]byte {
	t.Helper()
	left := make(map[string][]byte)
	if r.Output != nil {
		left["output"] = []byte(r.Output.Text)
	}
	text, err := json.Marshal(r) // what a host would log
	if err != nil {
		t.Fatal(err)
	}
	left["result"] = text
	left["result in Go's form"] = fmt.Appendf(nil, "%+v %#v", r, r)
	if r.Error != nil {
		left["error"] = []byte(r.Error.Type + ": " + r.Error.Message)
	}
	for _, pattern := range []string{"store.db*", "trace.jsonl"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no %s (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			left[filepath.Base(file)] = text
		}
	}
	return left
}

// A secret that a handler gives away in every way that it has comes out of none
// of them. The control: the same text, given as an argument, comes out of all.
func TestSecretsDoNotComeBack(t *testing.T) {
	r, dir := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	given := runtime.Call{RunID: run, Args: fmt.Appendf(nil, `{"value":%q}`, sentinel)}
	for _, c := range []struct {
		tool  string
		args  sandbox.RawJSON
		want  runtime.Outcome
		forms []string
		where []string
	}{
		{"leak_given", given.Args, runtime.EffectConfirmed, []string{"plain", "hex", "base64, 0", "base64, 2", "percent", "escaped"}, []string{"output", "result"}},
		{"raise_given", given.Args, runtime.ToolError, []string{"plain", "hex", "base64, 0", "base64, 2", "percent", "escaped"}, []string{"error", "result"}},
		{"leak", nil, runtime.EffectConfirmed, nil, nil},
		{"raise", nil, runtime.ToolError, nil, nil},
		{"native", nil, runtime.ToolError, nil, nil},
		{"program", nil, runtime.OK, nil, nil},
	} {
		t.Run(c.tool, func(t *testing.T) {
			got := call(t, r, runtime.Call{RunID: run, Tool: c.tool, Args: c.args}, c.want)
			for where, text := range everything(t, dir, got) {
				found := leaks(text)
				if slices.Contains(c.where, where) {
					for _, form := range c.forms {
						if !slices.Contains(found, form) {
							t.Errorf("the control: %s has the text in these forms only: %v", where, found)
						}
					}
				} else if c.where == nil && len(found) > 0 && where != "trace.jsonl" {
					t.Errorf("%s has the secret: %v\n%.2000s", where, found, text)
				}
			}
			if c.where != nil {
				return
			}
			if got.Error != nil && !strings.Contains(got.Error.Message, "[SECRET:API_KEY]") {
				t.Errorf("the message does not name the secret: %+v", got.Error)
			}
			if got.Output != nil && (got.Output.Redactions["secret"] == 0 || !got.Output.JSON || !strings.Contains(got.Output.Text, "[SECRET:API_KEY]")) {
				t.Errorf("output %+v", got.Output)
			}
		})
	}
	text, err := os.ReadFile(filepath.Join(dir, "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if found := leaks(line); len(found) > 0 && !bytes.Contains(line, []byte("_given")) {
			t.Errorf("the trace has the secret: %s", line)
		}
	}
	if !bytes.Contains(text, []byte(`"redacted":{"secret":`)) || !bytes.Contains(text, []byte(`"error_type":"[SECRET:API_KEY]"`)) {
		t.Errorf("the trace does not say what was taken out:\n%s", text)
	}
}

// A tool that was handed nothing gives nothing away that another one was handed.
func TestSecretOfAnotherTool(t *testing.T) {
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	args := fmt.Appendf(nil, `{"value":%q}`, sentinel)
	if got := call(t, r, runtime.Call{RunID: run, Tool: "leak_given", Args: args}, runtime.EffectConfirmed); len(leaks([]byte(got.Output.Text))) == 0 {
		t.Errorf("the control: before anybody was handed it, it is ordinary text; output %s", got.Output.Text)
	}
	call(t, r, runtime.Call{RunID: run, Tool: "leak"}, runtime.EffectConfirmed)
	run = start(t, r, runtime.RunConfig{Principal: "ann"})
	if got := call(t, r, runtime.Call{RunID: run, Tool: "leak_given", Args: args}, runtime.EffectConfirmed); len(leaks([]byte(got.Output.Text))) > 0 {
		t.Errorf("output %s", got.Output.Text)
	}
}

// Who is asked to approve a call is not shown a secret in it.
func TestSecretInAnApproval(t *testing.T) {
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	ask := runtime.Call{RunID: run, Tool: "ask", Args: fmt.Appendf(nil, `{"value":%q}`, "x"+sentinel)}
	id := call(t, r, ask, runtime.ApprovalRequired).Approval
	if a, err := r.Approval(t.Context(), id); err != nil || a.Args != string(ask.Args) {
		t.Errorf("the control: arguments %s (%v)", a.Args, err)
	}
	call(t, r, runtime.Call{RunID: run, Tool: "leak"}, runtime.EffectConfirmed)
	const want = `{"value":"x[SECRET:API_KEY]"}`
	if a, err := r.Approval(t.Context(), id); err != nil || a.Args != want {
		t.Errorf("arguments %s (%v)", a.Args, err)
	}
	list, err := r.Approvals(t.Context(), runtime.ApprovalFilter{RunID: run})
	if err != nil || len(list) != 1 || list[0].Args != want {
		t.Errorf("list %+v (%v)", list, err)
	}
	if got := r.Approve(t.Context(), id, runtime.Approver{Name: "bo", Roles: []string{"lead"}}, ""); !got.Accepted || got.Approval.Args != want {
		t.Errorf("answer %+v", got)
	}
	ask.Approval = id
	call(t, r, ask, runtime.OK) // it is the call that was asked for all the same
}

// Text that is cut does not end in half a secret.
func TestSecretAtACut(t *testing.T) {
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "cut"}, runtime.ToolError)
	if strings.Contains(got.Error.Message, sentinel[:4]) || !strings.Contains(got.Error.Message, "xxxx[SECRET:API_KEY]") {
		t.Errorf("the message ends %q", got.Error.Message[max(0, len(got.Error.Message)-60):])
	}
}

// Secrets come from where the harness says, to who was granted them.
func TestSecretSources(t *testing.T) {
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for tool, want := range map[string]string{
		"sources": fmt.Sprintf(`{"API_KEY":%d,"FILE_KEY":%d,"COMMAND_KEY":%d}`, len(sentinel), len(sentinel+"-of-the-file"), len("the-key-of-the-command")),
		"none":    `{}`,
	} {
		got := call(t, r, runtime.Call{RunID: run, Tool: tool}, runtime.OK)
		if diff := cmp.Diff(want, got.Output.Text); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
	}
}

// A function has its secrets where it looks for them, and nobody else does: not
// the host's other programs, which see environments and arguments, and not what
// the function starts.
func TestWhoSeesSecrets(t *testing.T) {
	r, dir := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	for _, name := range []string{"there", "back"} {
		path := filepath.Join(dir, "meet", name)
		if err := errors.Join(syscall.Mkfifo(path, 0o666), os.Chmod(path, 0o666), os.Chmod(filepath.Dir(path), 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	scanned := make(chan error, 1)
	go func() { scanned <- scanProcesses(dir) }()
	got := call(t, r, runtime.Call{RunID: run, Tool: "seen"}, runtime.OK)
	if err := <-scanned; err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf(`{"value":%d,"getenv":true,"copy":true,"own environ":false,"arguments":false,"ran":true,"child":false,"told child":true,"descriptor":false}`, len(sentinel))
	if diff := cmp.Diff(want, got.Output.Text); diff != "" {
		t.Error(diff)
	}
}

// scanProcesses looks into all processes while the handler waits for it.
func scanProcesses(dir string) error {
	there, err := os.Open(filepath.Join(dir, "meet", "there")) // waits for the handler
	if err != nil {
		return err
	}
	defer there.Close()
	back, err := os.OpenFile(filepath.Join(dir, "meet", "back"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer back.Close() // lets it go on
	if _, err := there.Read(make([]byte, 1)); err != nil {
		return err
	}
	runner := false
	for _, name := range []string{"environ", "cmdline"} {
		files, err := filepath.Glob("/proc/[0-9]*/" + name)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no processes are seen: %w", err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // gone, or somebody else's
			}
			runner = runner || bytes.Contains(text, []byte("importlib.import_module"))
			if len(leaks(text)) > 0 {
				return fmt.Errorf("%s has the secret", file)
			}
		}
	}
	if !runner {
		return errors.New("the handler's process was not seen")
	}
	return nil
}

func TestNodeSeesSecrets(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("needs node: %v", err)
	}
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "node"}, runtime.OK)
	want := fmt.Sprintf(`{"value":%d,"same":true,"has":true,"hasOwn":true,"listed":false,"other":"x","own environ":false,"ran":true,"child":false,"told child":true,"deleted":true}`, len(sentinel))
	if diff := cmp.Diff(want, got.Output.Text); diff != "" {
		t.Error(diff)
	}
}

func TestProgramSeesSecrets(t *testing.T) {
	r, _ := openSecrets(t, nil)
	run := start(t, r, runtime.RunConfig{Principal: "ann"})
	got := call(t, r, runtime.Call{RunID: run, Tool: "program"}, runtime.OK)
	want := fmt.Sprintf(`{"names":["API_KEY"],"length":%d,"environment":false,"is":"[SECRET:API_KEY]"}`, len(sentinel))
	if diff := cmp.Diff(want, got.Output.Text); diff != "" {
		t.Error(diff)
	}
}

// A call whose secret cannot be had does not begin: nothing is journalled, and it
// can be repeated. The message names the secret and no value.
func TestMissingSecret(t *testing.T) {
	chmod := func(mode os.FileMode) func(*runtime.Config, string) error {
		return func(_ *runtime.Config, dir string) error { return os.Chmod(filepath.Join(dir, "key.txt"), mode) }
	}
	grants := func(what string) func(*runtime.Config, string) error {
		return func(c *runtime.Config, _ string) error {
			text, err := os.ReadFile(c.Harness)
			if err != nil {
				return err
			}
			text = bytes.Replace(text, []byte("args: [the-key] } }"), []byte("args: [the-key] }, grants: { "+what+" } }"), 1)
			return os.WriteFile(c.Harness, text, 0o600)
		}
	}
	network := func(testMode bool) func(*runtime.Config, string) error {
		return func(c *runtime.Config, dir string) error {
			c.TestMode = testMode
			return grants("network: true")(c, dir)
		}
	}
	fetch := func(script string) func(*runtime.Config, string) error {
		return func(_ *runtime.Config, dir string) error {
			return os.WriteFile(filepath.Join(dir, "fetch.sh"), []byte("#!/bin/sh\n"+script), 0o755)
		}
	}
	key := func(text string) func(*runtime.Config, string) error {
		return func(_ *runtime.Config, dir string) error {
			return os.WriteFile(filepath.Join(dir, "key.txt"), []byte(text), 0o600)
		}
	}
	for _, c := range []struct {
		name, tool string
		change     func(c *runtime.Config, dir string) error
		want       string // a part of the message; empty: the call goes ahead
	}{
		{"variable not set", "leak", func(c *runtime.Config, _ string) error {
			c.LookupEnv = func(string) (string, bool) { return "", false }
			return nil
		}, "secret API_KEY: the environment variable HOST_KEY is not set"},
		{"no environment at all", "leak", func(c *runtime.Config, _ string) error { c.LookupEnv = nil; return nil }, "is not set"},
		{"variable of its own name", "leak", func(c *runtime.Config, _ string) error {
			c.LookupEnv = func(name string) (string, bool) { return sentinel, name == "API_KEY" }
			return nil
		}, "HOST_KEY is not set"},
		{"too short", "leak", func(c *runtime.Config, _ string) error {
			c.LookupEnv = func(string) (string, bool) { return sentinel[:scrub.MinLength-1], true }
			return nil
		}, "fewer than 8 bytes"},
		{"not text", "leak", func(c *runtime.Config, _ string) error {
			c.LookupEnv = func(string) (string, bool) { return sentinel + "\xff", true }
			return nil
		}, "not UTF-8"},
		{"no file", "file", func(_ *runtime.Config, dir string) error { return os.Remove(filepath.Join(dir, "key.txt")) }, "secret FILE_KEY: its file cannot be read: no such file"},
		{"file of the group", "file", chmod(0o640), ""},
		{"file open to all", "file", chmod(0o644), "is open to others (mode 0644)"},
		{"file writable by the group", "file", chmod(0o660), "is open to others"},
		{"file is a pipe", "file", func(_ *runtime.Config, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "key.txt")), syscall.Mkfifo(filepath.Join(dir, "key.txt"), 0o600))
		}, "not a regular file"},
		{"file is a directory", "file", func(_ *runtime.Config, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "key.txt")), os.Mkdir(filepath.Join(dir, "key.txt"), 0o700))
		}, "not a regular file"},
		{"file behind a link", "file", func(_ *runtime.Config, dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "key.txt"), filepath.Join(dir, "..data")), os.Symlink("..data", filepath.Join(dir, "key.txt")))
		}, ""},
		{"empty file", "file", key(""), "fewer than 8 bytes"},
		{"line end only", "file", key("\r\n"), "fewer than 8 bytes"},
		{"large file", "file", key(strings.Repeat(sentinel, 1<<16)), "more than 65536 bytes"},
		{"largest file", "file", key(strings.Repeat("x", 1<<16) + "\r\n"), ""},
		{"command fails", "command", fetch("echo " + sentinel + "; echo " + sentinel + " >&2; exit 3"), "secret COMMAND_KEY: its command ended with code 3"},
		{"command writes too much", "command", fetch("while :; do echo " + sentinel + "; done"), "more than 65536 bytes"},
		{"command has no network", "command", fetch("exec 3<>/dev/tcp/127.0.0.1/1 && echo " + sentinel), "its command ended with code"},
		{"command with a network", "command", network(false), ""},
		{"command with a network, in test mode", "command", network(true), "test mode"},
		{"command without a network, in test mode", "command", func(c *runtime.Config, _ string) error { c.TestMode = true; return nil }, ""},
		{"command cannot look around", "command", fetch("read -r line <key.txt && echo $line"), "its command ended with code"},
		{"command is not there", "command", func(_ *runtime.Config, dir string) error { return os.Remove(filepath.Join(dir, "fetch.sh")) }, "secret COMMAND_KEY: its command: the handler's program"},
		{"socket of the command is not there", "command", grants("network_local: [/run/no-such.sock]"), "secret COMMAND_KEY: its command: connect to /run/no-such.sock: cannot be granted: no such file or directory"},
		{"directory of the command is not there", "command", grants("filesystem_read: [key.txt, no-such]"), "/no-such: cannot be granted: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, dir := openSecrets(t, func(config *runtime.Config, dir string) {
				if err := c.change(config, dir); err != nil {
					t.Fatal(err)
				}
			})
			run := start(t, r, runtime.RunConfig{Principal: "ann"})
			result, err := r.Call(t.Context(), runtime.Call{RunID: run, Tool: c.tool})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if !result.Outcome.OK() {
					t.Errorf("%s: %+v", result.Outcome, result.Error)
				}
				return
			}
			if result.Outcome != runtime.Unavailable || result.Error.Type != "SecretUnavailable" || !strings.Contains(result.Error.Message, c.want) {
				t.Errorf("%s: %+v", result.Outcome, result.Error)
			}
			for where, text := range everything(t, dir, result) {
				if bytes.Contains(text, []byte(sentinel[:7])) {
					t.Errorf("%s has the value: %.500s", where, text)
				}
			}
			effects, err := r.Effects(t.Context(), runtime.EffectFilter{})
			if err != nil || len(effects) > 0 {
				t.Errorf("the journal has %+v (%v)", effects, err)
			}
		})
	}
}

// Values are fetched when they are needed: not when the harness is opened, not
// for a call that is blocked, and anew for each call.
func TestSecretsAreFetchedAtCalls(t *testing.T) {
	fetched := 0
	value := sentinel
	r, _ := openSecrets(t, func(c *runtime.Config, dir string) {
		c.LookupEnv = func(string) (string, bool) { fetched++; return value, true }
	})
	run := start(t, r, runtime.RunConfig{Principal: "ann", Tools: []string{"leak"}})
	call(t, r, runtime.Call{RunID: run, Tool: "raise"}, runtime.Denied)
	r.Authorize(t.Context(), runtime.Call{RunID: run, Tool: "leak"})
	if fetched != 0 {
		t.Errorf("fetched %d times before any call", fetched)
	}
	call(t, r, runtime.Call{RunID: run, Tool: "leak"}, runtime.EffectConfirmed)
	value = "another-" + sentinel
	run = start(t, r, runtime.RunConfig{Principal: "ann", Tools: []string{"leak"}})
	if got := call(t, r, runtime.Call{RunID: run, Tool: "leak"}, runtime.EffectConfirmed); fetched != 2 || len(leaks([]byte(got.Output.Text))) > 0 || strings.Contains(got.Output.Text, "another-") {
		t.Errorf("fetched %d times, output %s", fetched, got.Output.Text)
	}
}

// A call's own value is not forgotten while the call runs, however many new ones
// the secret has meanwhile.
func TestSecretIsNewForEachCall(t *testing.T) {
	var r *runtime.Runtime
	var mine string
	fetched := 0
	r, _ = openSecrets(t, func(c *runtime.Config, dir string) {
		c.LookupEnv = func(string) (string, bool) {
			fetched++
			return fmt.Sprintf("value-number-%04d-of-many", fetched), true
		}
		c.Funcs["native"] = func(_ context.Context, in runtime.FuncCall) (sandbox.RawJSON, error) {
			if mine == "" {
				mine = in.Secrets["API_KEY"]
				for range 40 {
					call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{Principal: "ann"}), Tool: "native"}, runtime.ToolError)
				}
			}
			return nil, errors.New("refused by the bank: " + mine)
		}
	})
	got := call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{Principal: "ann"}), Tool: "native"}, runtime.ToolError)
	if fetched != 41 || got.Error == nil || got.Error.Message != "refused by the bank: [SECRET:API_KEY]" {
		t.Errorf("fetched %d times: %+v", fetched, got.Error)
	}
}

// A secret that is for another task is not handed over, nor is it fetched.
func TestSecretScope(t *testing.T) {
	fetched := false
	r, _ := openSecrets(t, func(c *runtime.Config, dir string) {
		write(t, dir, "harness.yaml", strings.Replace(secretHarness, "API_KEY: { env: HOST_KEY }", "API_KEY: { env: HOST_KEY, tasks: [support], principals: [ann] }", 1)+"  tasks: { support: {}, reports: {} }\n", 0o644)
		c.LookupEnv = func(string) (string, bool) { fetched = true; return sentinel, true }
	})
	for _, c := range []runtime.RunConfig{{Principal: "ann"}, {Principal: "ann", Task: "reports"}, {Principal: "eve", Task: "support"}} {
		if got := call(t, r, runtime.Call{RunID: start(t, r, c), Tool: "raise"}, runtime.Denied); got.Decision.Code != governor.CodeSecretNotGranted {
			t.Errorf("%+v: %s", c, got.Decision.Code)
		}
	}
	if fetched {
		t.Error("a secret was fetched for a call that was blocked")
	}
	call(t, r, runtime.Call{RunID: start(t, r, runtime.RunConfig{Principal: "ann", Task: "support"}), Tool: "raise"}, runtime.ToolError)
}

// Names without a source, and code tools with secrets, do not load.
func TestSecretsThatDoNotLoad(t *testing.T) {
	for name, tool := range map[string]string{
		"no source": "spec: { handler: \"app:leak\", grants: { secrets: [HOST_KEY] } }\n",
		"code":      "spec: { transport: code, sandbox: python, grants: { secrets: [API_KEY] } }\n",
	} {
		dir := t.TempDir()
		write(t, dir, "harness.yaml", secretHarness, 0o644)
		write(t, dir, "tools.yaml", "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: t }\n"+tool, 0o644)
		r, err := runtime.Open(t.Context(), runtime.Config{Harness: filepath.Join(dir, "harness.yaml"), LookupEnv: func(string) (string, bool) { return sentinel, true }})
		if err == nil {
			r.Close()
		}
		if _, ok := errors.AsType[manifests.Errors](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
