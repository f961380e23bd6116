package sandboxtest

import (
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

var narrow = sandbox.Limits{MaxOutput: 100}

// cutTo checks that a stream was cut, and that its full size is told.
func cutTo(kept, full int64) func(*testing.T, sandbox.Result) {
	return func(t *testing.T, r sandbox.Result) {
		t.Helper()
		if int64(len(r.Stdout)) != kept || r.Truncated == nil || r.Truncated.Stdout != full || r.Usage.Stdout != full {
			t.Errorf("kept %d bytes, truncated %+v, usage %d; want %d of %d", len(r.Stdout), r.Truncated, r.Usage.Stdout, kept, full)
		}
	}
}

var outputCases = []Case{
	{Name: "both streams", Code: py("import sys", "print('out')", "print('err', file=sys.stderr)").js("console.log('out');", "console.error('err')", "undefined"), Status: ok, Value: "null", Stdout: "out\n", Stderr: "err\n"},
	{
		Name:   "every way to write arrives",
		Code:   py("import os, sys", "print('a')", "sys.stdout.write('b\\n')", "sys.__stdout__.write('c\\n')", "sys.stdout.flush()", "sys.__stdout__.flush()", "os.write(1, b'd\\n')", "sys.stdout.buffer.write(b'e\\n')", "os.write(2, b'f\\n')").js("console.log('a');", "console.info('b');", "console.debug('c');", "console.timeEnd('d');", "console.log('d');", "console.log('%s', 'e');", "console.warn('f')"),
		Status: ok, Stdout: "a\nb\nc\nd\ne\n", Stderr: "f\n",
	},
	{Name: "a flood is stopped", Code: py("while True: print('x'*1000)").js("for (;;) console.log('x'.repeat(1000))"), Status: []sandbox.Status{sandbox.StatusOutputLimit}},
	{Name: "a flood of errors is stopped", Code: py("import os", "while True: os.write(2, b'x'*1000)").js("for (;;) console.error('x'.repeat(1000))"), Status: []sandbox.Status{sandbox.StatusOutputLimit}},
	{Name: "too much is cut and the value is kept", Code: py("print('y'*999)", "7").js("console.log('y'.repeat(999));", "7"), Limits: narrow, Status: ok, Value: "7", Check: cutTo(100, 1000)},
	{Name: "output before a timeout is kept", Code: py("print('so far')", "while True: pass").js("console.log('so far');", "for (;;);"), Limits: short, Status: timeout, Stdout: "so far\n"},
	{Name: "bytes that are not text", Code: py("import os", "os.write(1, b'\\xff\\x00\\x1b[2J')"), Status: ok, Stdout: "\xff\x00\x1b[2J"},
	{Name: "surrogates can be printed", Code: py("print('\\udcff')").js(`console.log('\udcff')`), Status: ok, Check: func(t *testing.T, r sandbox.Result) {
		if len(r.Stdout) == 0 {
			t.Error("nothing was printed")
		}
	}},
	{Name: "an exception of 50 MB", Code: py("raise ValueError('m'*50_000_000)").js("throw new TypeError('m'.repeat(50_000_000))"), Limits: sandbox.Limits{MaxMemory: 400 << 20}, Status: raised, ErrorType: pyError("ValueError"), Check: func(t *testing.T, r sandbox.Result) {
		if n := len(r.Error.Message); n == 0 || n > 20_000 {
			t.Errorf("message of %d bytes", n)
		}
	}},
	{Name: "a value that would not fit into the memory beside its text", Code: py("'v'*45_000_000").js("'v'.repeat(45_000_000)"), Status: []sandbox.Status{sandbox.StatusOutputLimit}, Check: func(t *testing.T, r sandbox.Result) {
		if r.Usage.Value != 45_000_002 || r.Truncated == nil {
			t.Errorf("a value of %d bytes, truncated: %+v", r.Usage.Value, r.Truncated)
		}
	}},
	{Name: "a value over its limit", Code: py("'v'*1000").js("'v'.repeat(1000)"), Limits: sandbox.Limits{MaxValue: 100}, Status: []sandbox.Status{sandbox.StatusOutputLimit}, Check: func(t *testing.T, r sandbox.Result) {
		if r.ValuePrefix != `"`+strings.Repeat("v", 99) || r.Truncated == nil || r.Truncated.Value != 1002 {
			t.Errorf("prefix %q, truncated %+v", r.ValuePrefix, r.Truncated)
		}
	}},
	{Name: "closed streams do no harm", Code: py("import sys", "sys.stdout.close()", "sys.stderr.close()", "5"), Status: ok, Value: "5"},
	{Name: "closed descriptors do no harm", Code: py("import os", "os.close(1)", "os.close(2)", "6"), Status: ok, Value: "6"},
	{Name: "input is empty", Code: py("import sys", "sys.stdin.read()"), Status: ok, Value: `""`},
	{Name: "input ends at once", Code: py("input()"), Status: raised, ErrorType: pyError("EOFError")},
}
