//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/sandboxtest"
)

// nativePython runs code as a guest would, in a process of the machine's own
// Python: enough of a host for the cases of the contract.
type nativePython struct {
	program string
	mode    Namespaces
}

const nativeRunner = `
import ast, asyncio, json, os, sys, types
call = json.load(sys.stdin)
dumps, depth = json.dumps, sys.getrecursionlimit()
world = dict(call["globals"] or {}, __name__="__main__")
out, said, value = os.dup(3), {}, None
try:
    tree = ast.parse(call["code"], "main.py")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    for part, mode in ((tree, "exec"), (last, "eval")):
        if part is None:
            continue
        value = eval(compile(part, "main.py", mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), world)
        if isinstance(value, types.CoroutineType):
            async def wait(c):
                return await c
            value = asyncio.run(wait(value))
    said = {"value": value}
    sys.setrecursionlimit(depth)
    text = dumps(said, separators=(",", ":"))
except SystemExit as e:
    text = dumps({"value": None} if not e.code else {"raised": "SystemExit"})
except BaseException as e:
    line = e.lineno if isinstance(e, SyntaxError) else None
    text = dumps({"raised": type(e).__name__, "message": str(e)[:1000], "line": line or 0})
os.write(out, text.encode())
os._exit(0)
`

func (p nativePython) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	input, err := json.Marshal(map[string]any{"code": spec.Code, "globals": spec.Globals})
	if err != nil {
		return sandbox.Result{}, err
	}
	exec, read := SystemLibraries()
	l := spec.Limits
	limits := Limits{Timeout: l.Timeout, MaxMemory: int64(l.MaxMemory), MaxOutput: l.MaxOutput, MaxValue: l.MaxValue}
	if limits.Timeout == 0 {
		limits.Timeout = time.Minute
	}
	native := Spec{Command: p.program, Args: []string{"-I", "-u", "-c", nativeRunner}, Exec: exec, Read: read, Input: input, Namespaces: p.mode}
	if p.mode != NamespacesOff {
		native.Dir, limits.MaxTempBytes = "/tmp", l.MaxFileBytes
	}
	native.Limits = limits
	r, err := Run(ctx, native)
	result := r.Result
	if err != nil || result.Status != sandbox.StatusOK {
		return result, err
	}
	var said struct {
		Value   json.RawMessage
		Raised  string
		Message string
		Line    int
	}
	if err := json.Unmarshal(result.Value, &said); err != nil {
		return result, err
	}
	result.Value = sandbox.RawJSON(said.Value)
	if said.Raised != "" {
		result.Status, result.Value = sandbox.StatusError, nil
		result.Error = &sandbox.Error{Type: said.Raised, Message: said.Message, Line: said.Line}
	}
	return result, nil
}

func (nativePython) Close() error { return nil }

// TestContract holds native programs to the contract that guests keep, as far as
// it is about them.
func TestContract(t *testing.T) {
	program := firstProgram([]string{"/usr/bin/python3"})
	if program == "" {
		t.Skip("Python is not installed")
	}
	if testing.Short() {
		t.Skip("starts an interpreter for each of many cases")
	}
	forTiers(t, func(t *testing.T, mode Namespaces) {
		var without []string
		if mode == NamespacesOff {
			// There is no private /tmp, and the others are the interpreter's own.
			without = []string{"files", "isolation", "memory", "output", "source", "value"}
		}
		sandboxtest.RunNative(t, nativePython{program, mode}, without...)
	})
}
