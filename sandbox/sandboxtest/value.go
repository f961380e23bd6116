package sandboxtest

import (
	"math/big"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

var valueCases = []Case{
	{Name: "expression", Code: py("x = 20", "x + 1"), Status: ok, Value: "21"},
	{Name: "assignment", Code: py("x = 1"), Status: ok, Value: "null"},
	{Name: "comment after the expression", Code: py("41 + 1", "# done"), Status: ok, Value: "42"},
	{Name: "semicolon after the expression", Code: py("1;"), Status: ok, Value: "1"},
	{Name: "block", Code: py("if True:", "  5"), Status: ok, Value: "null"},
	{Name: "empty", Code: py(""), Status: ok, Value: "null"},
	{Name: "None", Code: py("None"), Status: ok, Value: "null"},
	{Name: "await", Code: py("import asyncio", "async def f():", "  await asyncio.sleep(0)", "  return 3", "await f()"), Status: ok, Value: "3"},
	{Name: "large integers keep their digits", Code: py("[2**60+1, -(2**63), 10**400]"), Status: ok, Value: "[1152921504606846977,-9223372036854775808,1" + strings.Repeat("0", 400) + "]"},
	{Name: "arguments keep their digits", Code: py("x + 1"), Globals: map[string]any{"x": new(big.Int).Lsh(big.NewInt(1), 200)}, Status: ok, Value: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 200), big.NewInt(1)).String()},
	{Name: "JSON arguments keep their digits", Code: py("[x, type(y).__name__, z]"), Globals: map[string]any{"x": sandbox.RawJSON("9007199254740993"), "y": sandbox.RawJSON("1.0"), "z": sandbox.RawJSON(`{"a":[null,true,"é"]}`)}, Status: ok, Value: `[9007199254740993,"float",{"a":[null,true,"é"]}]`},
	{Name: "a table is a list of records", Code: py("rows"), Globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"a", "b"}, Rows: [][]any{{1, "x"}, {2.5, nil}}}}, Status: ok, Value: `[{"a":1,"b":"x"},{"a":2.5,"b":null}]`},
	{Name: "records are independent", Code: py("rows[0]['a'] = 9", "rows[0]['new'] = 1", "rows"), Globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}, {2}}}}, Status: ok, Value: `[{"a":9,"new":1},{"a":2}]`},
	{Name: "floats", Code: py("[0.1, 1.0, 1e100, -0.0, 5e-324]"), Status: ok, Value: "[0.1,1.0,1e+100,-0.0,5e-324]"},
	{Name: "not a number", Code: py("float('nan')"), Status: ok, Value: `{"$float":"nan"}`},
	{Name: "infinity", Code: py("[float('inf'), -float('inf')]"), Status: ok, Value: `[{"$float":"inf"},{"$float":"-inf"}]`},
	{Name: "a tag cannot be imitated", Code: py("{'$float': 'nan'}"), Status: ok, Value: `{"$$float":"nan"}`},
	{Name: "a cycle", Code: py("x = []", "x.append(x)", "x"), Status: raised, Check: hasPath("/0")},
	{Name: "too deep", Code: py("x = 1", "for _ in range(70): x = [x]", "x"), Status: raised, Check: hasPath(strings.Repeat("/0", 64))},
	{Name: "no JSON form", Code: py("{'a': [1, lambda: 0]}"), Status: raised, Check: hasPath("/a/1")},
	{Name: "colliding keys", Code: py("{1: 'a', '1': 'b'}"), Status: raised},
	{Name: "raised", Code: py("def f():", "  return 1/0", "f()"), Status: raised, ErrorType: pyError("ZeroDivisionError"), Check: func(t *testing.T, r sandbox.Result) {
		if r.Error.Line != 2 || strings.TrimSpace(r.Error.Source) != "return 1/0" || !strings.Contains(r.Error.Traceback, "line 3") {
			t.Errorf("line %d, source %q, traceback:\n%s", r.Error.Line, r.Error.Source, r.Error.Traceback)
		}
	}},
	{Name: "leaving with success", Code: py("import sys", "print('bye')", "sys.exit(0)"), Status: ok, Value: "null", Stdout: "bye\n"},
	{Name: "leaving with failure", Code: py("import sys", "sys.exit(3)"), Status: raised, ErrorType: pyError("SystemExit")},
	{Name: "ending the interpreter", Code: py("import os", "os._exit(3)"), Status: raised, ErrorType: pyError("SystemExit")},
	{Name: "argument names are checked", Code: py("1"), Globals: map[string]any{"not a name": 1}, Status: []sandbox.Status{sandbox.StatusInvalid}, Check: hasPath("/not a name")},
	{Name: "argument kinds are checked", Code: py("1"), Globals: map[string]any{"x": []any{1, struct{}{}}}, Status: []sandbox.Status{sandbox.StatusInvalid}, Check: hasPath("/x/1")},
	{Name: "duplicate names in JSON arguments", Code: py("1"), Globals: map[string]any{"x": sandbox.RawJSON(`{"a":1,"a":2}`)}, Status: []sandbox.Status{sandbox.StatusInvalid}},
}

func hasPath(path string) func(*testing.T, sandbox.Result) {
	return func(t *testing.T, r sandbox.Result) {
		t.Helper()
		if r.Error.Path != path {
			t.Errorf("path %q, want %q (%s)", r.Error.Path, path, r.Error.Message)
		}
	}
}
