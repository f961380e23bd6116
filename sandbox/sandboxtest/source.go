package sandboxtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// contained is any end but a crash: the case is about the host.
var contained = []sandbox.Status{
	sandbox.StatusOK, sandbox.StatusError, sandbox.StatusTimeout, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit,
}

var sourceCases = []Case{
	{Name: "syntax error", Code: py("x = 1", "def (").js("const x = 1;", "function ("), Status: raised, ErrorType: pyError("SyntaxError").js("SyntaxError"), Check: func(t *testing.T, r sandbox.Result) {
		if r.Error.Line != 2 {
			t.Errorf("line %d, want 2", r.Error.Line)
		}
	}},
	{Name: "NUL", Code: Programs{"python": "x = 1\x00", "js": "x = 1\x00"}, Status: raised, ErrorType: pyError("SyntaxError").js("SyntaxError")},
	{Name: "byte order mark", Code: Programs{"python": "\ufeff1 + 1", "js": "\ufeff1 + 1"}, Status: ok, Value: "2"},
	{Name: "CRLF", Code: Programs{"python": "x = 1\r\nx + 1\r\n", "js": "x = 1\r\nx + 1\r\n"}, Status: ok, Value: "2"},
	{Name: "mixed tabs", Code: Programs{"python": "if 1:\n\tx = 1\n        y = 2\n"}, Status: raised, ErrorType: pyError("TabError")},
	{Name: "other coding cookie", Code: Programs{"python": "# -*- coding: latin-1 -*-\n'é'"}, Status: ok, Value: `"é"`},
	{Name: "only a comment", Code: py("# nothing").js("// nothing"), Status: ok, Value: "null"},
	{Name: "not UTF-8", Code: Programs{"python": "x = '\xff'", "js": "x = '\xff'"}, Status: []sandbox.Status{sandbox.StatusInvalid}},
	{Name: "too large", Code: Programs{"python": strings.Repeat("#", 2<<20), "js": strings.Repeat(" ", 2<<20)}, Status: []sandbox.Status{sandbox.StatusInvalid}},
	{Name: "deep parentheses", Code: Programs{"python": strings.Repeat("(", 100_000), "js": strings.Repeat("(", 100_000)}, Status: contained},
	{Name: "deep lists", Code: Programs{"python": strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "js": strings.Repeat("[", 5000) + strings.Repeat("]", 5000)}, Status: contained},
	{Name: "deep unary operators", Code: Programs{"python": strings.Repeat("-", 500_000) + "1", "js": strings.Repeat("- ", 400_000) + "1"}, Status: contained},
	{Name: "long chain of operators", Code: Programs{"python": "1" + strings.Repeat("+1", 300_000), "js": "1" + strings.Repeat("+1", 300_000)}, Status: contained},
	{Name: "deep attributes", Code: Programs{"python": "a" + strings.Repeat(".a", 300_000), "js": "a" + strings.Repeat(".a", 300_000)}, Status: contained},
	{Name: "deep f-strings", Code: Programs{"python": strings.Repeat("f'{", 200) + "1" + strings.Repeat("}'", 200)}, Status: contained},
	{Name: "deep templates", Code: js(strings.Repeat("`${", 20_000) + "1" + strings.Repeat("}`", 20_000)), Status: contained},
	{Name: "deep arrow functions", Code: js(strings.Repeat("a=>", 100_000) + "1"), Status: contained},
	{Name: "deep blocks", Code: js(strings.Repeat("{", 200_000)), Status: contained},
	{Name: "deep conditions", Code: js(strings.Repeat("a?", 200_000)), Status: contained},
	{Name: "deep destructuring", Code: js("let " + strings.Repeat("[", 100_000)), Status: contained},
	{Name: "deep classes", Code: js(strings.Repeat("class A { [", 20_000)), Status: contained},
	{Name: "deep regular expression", Code: js("new RegExp('('.repeat(200_000))"), Status: contained},
	{Name: "deep JSON", Code: js("JSON.parse('['.repeat(500_000))"), Status: contained},
	{Name: "many cases", Code: js("switch (1) {" + strings.Repeat("case 2:", 100_000) + "}"), Status: contained},
	{Name: "many locals", Code: js("let a0" + manyNames(80_000)), Status: contained},
	{Name: "nested finally", Code: Programs{"python": nestedFinally(18)}, Status: contained},
	{Name: "many branches of match", Code: Programs{"python": "match 1:\n" + strings.Repeat("  case 2: pass\n", 50_000)}, Status: contained},
}

func nestedFinally(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "try:\n" + strings.Repeat(" ", i+1) + "pass\n" + strings.Repeat(" ", i) + "finally:\n")
	}
	b.WriteString(strings.Repeat(" ", n) + "pass\n")
	return b.String()
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",b%d", i)
	}
	return b.String()
}
