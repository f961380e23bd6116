package sandboxtest

import (
	"math/big"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

var valueCases = []Case{
	{Name: "expression", Code: py("x = 20", "x + 1").js("const x = 20", "x + 1"), Status: ok, Value: "21"},
	{Name: "assignment", Code: py("x = 1").js("const x = 1"), Status: ok, Value: "null"},
	{Name: "comment after the expression", Code: py("41 + 1", "# done").js("41 + 1", "// done"), Status: ok, Value: "42"},
	{Name: "semicolon after the expression", Code: py("1;").js("1;"), Status: ok, Value: "1"},
	{Name: "block", Code: py("if True:", "  5").js("if (true) { 5 }"), Status: ok, Value: "null"},
	{Name: "empty", Code: py("").js(""), Status: ok, Value: "null"},
	{Name: "None", Code: py("None").js("null"), Status: ok, Value: "null"},
	{Name: "await", Code: py("import asyncio", "async def f():", "  await asyncio.sleep(0)", "  return 3", "await f()").js("async function f() { await null; return 3 }", "await f()"), Status: ok, Value: "3"},
	{Name: "large integers keep their digits", Code: py("[2**60+1, -(2**63), 10**400]").js("[2n ** 60n + 1n, -(2n ** 63n), 10n ** 400n]"), Status: ok, Value: "[1152921504606846977,-9223372036854775808,1" + strings.Repeat("0", 400) + "]"},
	{Name: "arguments keep their digits", Code: py("x + 1").js("x + 1n"), Globals: map[string]any{"x": new(big.Int).Lsh(big.NewInt(1), 200)}, Status: ok, Value: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 200), big.NewInt(1)).String()},
	{Name: "JSON arguments keep their digits", Code: py("[x, type(y).__name__, z]"), Globals: map[string]any{"x": sandbox.RawJSON("9007199254740993"), "y": sandbox.RawJSON("1.0"), "z": sandbox.RawJSON(`{"a":[null,true,"é"]}`)}, Status: ok, Value: `[9007199254740993,"float",{"a":[null,true,"é"]}]`},
	{Name: "JSON arguments keep their digits, and whole numbers that fit are numbers", Code: js("[x, typeof x, y, z, typeof w]"), Globals: map[string]any{"x": sandbox.RawJSON("9007199254740993"), "y": sandbox.RawJSON("1.0"), "z": sandbox.RawJSON(`{"a":[null,true,"é"]}`), "w": sandbox.RawJSON("-9007199254740991")}, Status: ok, Value: `[9007199254740993,"bigint",1,{"a":[null,true,"é"]},"number"]`},
	{Name: "keys are data", Code: js("[Object.keys(x), x.__proto__, x.constructor, x.toJSON, ({}).p, Object.getPrototypeOf(x) === Object.prototype]"), Globals: map[string]any{"x": sandbox.RawJSON(`{"__proto__":{"p":1},"constructor":2,"toJSON":3,"0":4}`)}, Status: ok, Value: `[["0","__proto__","constructor","toJSON"],{"p":1},2,3,null,true]`},
	{Name: "keys are data on the way out", Code: js("const x = JSON.parse('{\"__proto__\":1,\"constructor\":2}');", "x.toJSON = 3;", "x"), Status: ok, Value: `{"__proto__":1,"constructor":2,"toJSON":3}`},
	{Name: "a name that the language gives a meaning", Code: js("[typeof __proto__, __proto__.p, ({}).p]"), Globals: map[string]any{"__proto__": map[string]any{"p": 1}}, Status: ok, Value: `["object",1,null]`},
	{Name: "columns are data", Code: js("[rows[0].__proto__, Object.keys(rows[1]), ({}).p]"), Globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"__proto__", "constructor", "toJSON"}, Rows: [][]any{{1, 2, 3}, {4, 5, 6}}}}, Status: ok, Value: `[1,["__proto__","constructor","toJSON"],null]`},
	{Name: "a table is a list of records", Code: py("rows").js("rows"), Globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"a", "b"}, Rows: [][]any{{1, "x"}, {2.5, nil}}}}, Status: ok, Value: `[{"a":1,"b":"x"},{"a":2.5,"b":null}]`},
	{Name: "records are independent", Code: py("rows[0]['a'] = 9", "rows[0]['new'] = 1", "rows").js("rows[0].a = 9;", "rows[0].new = 1;", "rows"), Globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}, {2}}}}, Status: ok, Value: `[{"a":9,"new":1},{"a":2}]`},
	{Name: "floats", Code: py("[0.1, 1.0, 1e100, -0.0, 5e-324]"), Status: ok, Value: "[0.1,1.0,1e+100,-0.0,5e-324]"},
	{Name: "numbers", Code: js("[0.1, 1, 1e100, -0, 5e-324, 2 ** 53 - 1, 2 ** 53]"), Status: ok, Value: "[0.1,1,1e+100,-0.0,5e-324,9007199254740991,9.007199254740992e+15]"},
	{Name: "not a number", Code: py("float('nan')").js("NaN"), Status: ok, Value: `{"$float":"nan"}`},
	{Name: "infinity", Code: py("[float('inf'), -float('inf')]").js("[Infinity, -Infinity]"), Status: ok, Value: `[{"$float":"inf"},{"$float":"-inf"}]`},
	{Name: "a tag cannot be imitated", Code: py("{'$float': 'nan'}").js("({ $float: 'nan' })"), Status: ok, Value: `{"$$float":"nan"}`},
	{Name: "a cycle", Code: py("x = []", "x.append(x)", "x").js("const x = [];", "x.push(x);", "x"), Status: raised, Check: hasPath("/0")},
	{Name: "too deep", Code: py("x = 1", "for _ in range(70): x = [x]", "x").js("let x = 1;", "for (let i = 0; i < 70; i++) x = [x];", "x"), Status: raised, Check: hasPath(strings.Repeat("/0", 64))},
	{Name: "no JSON form", Code: py("{'a': [1, lambda: 0]}").js("({ a: [1, () => 0] })"), Status: raised, Check: hasPath("/a/1")},
	{Name: "colliding keys", Code: py("{1: 'a', '1': 'b'}").js("new Map([[1, 'a'], ['1', 'b']])"), Status: raised},
	{Name: "raised", Code: py("def f():", "  return 1/0", "f()"), Status: raised, ErrorType: pyError("ZeroDivisionError"), Check: func(t *testing.T, r sandbox.Result) {
		if r.Error.Line != 2 || strings.TrimSpace(r.Error.Source) != "return 1/0" || !strings.Contains(r.Error.Traceback, "line 3") {
			t.Errorf("line %d, source %q, traceback:\n%s", r.Error.Line, r.Error.Source, r.Error.Traceback)
		}
	}},
	{Name: "thrown", Code: js("function f() {", "  return null.x;", "}", "f()"), Status: raised, ErrorType: jsError("TypeError"), Check: func(t *testing.T, r sandbox.Result) {
		if r.Error.Line != 2 || strings.TrimSpace(r.Error.Source) != "return null.x;" || !strings.Contains(r.Error.Traceback, "main.js:4") {
			t.Errorf("line %d, source %q, traceback:\n%s", r.Error.Line, r.Error.Source, r.Error.Traceback)
		}
	}},
	{Name: "leaving with success", Code: py("import sys", "print('bye')", "sys.exit(0)"), Status: ok, Value: "null", Stdout: "bye\n"},
	{Name: "leaving with failure", Code: py("import sys", "sys.exit(3)"), Status: raised, ErrorType: pyError("SystemExit")},
	{Name: "ending the interpreter", Code: py("import os", "os._exit(3)"), Status: raised, ErrorType: pyError("SystemExit")},
	{Name: "argument names are checked", Code: py("1").js("1"), Globals: map[string]any{"not a name": 1}, Status: []sandbox.Status{sandbox.StatusInvalid}, Check: hasPath("/not a name")},
	{Name: "argument kinds are checked", Code: py("1").js("1"), Globals: map[string]any{"x": []any{1, struct{}{}}}, Status: []sandbox.Status{sandbox.StatusInvalid}, Check: hasPath("/x/1")},
	{Name: "duplicate names in JSON arguments", Code: py("1").js("1"), Globals: map[string]any{"x": sandbox.RawJSON(`{"a":1,"a":2}`)}, Status: []sandbox.Status{sandbox.StatusInvalid}},
}

func hasPath(path string) func(*testing.T, sandbox.Result) {
	return func(t *testing.T, r sandbox.Result) {
		t.Helper()
		if r.Error.Path != path {
			t.Errorf("path %q, want %q (%s)", r.Error.Path, path, r.Error.Message)
		}
	}
}
