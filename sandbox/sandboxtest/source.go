package sandboxtest

import (
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
)

// contained is any end but a crash: the case is about the host.
var contained = []sandbox.Status{
	sandbox.StatusOK, sandbox.StatusError, sandbox.StatusTimeout, sandbox.StatusMemoryLimit, sandbox.StatusStackLimit,
}

var sourceCases = []Case{
	{Name: "syntax error", Code: py("x = 1", "def ("), Status: raised, ErrorType: pyError("SyntaxError")},
	{Name: "NUL", Code: map[string]string{"python": "x = 1\x00"}, Status: raised, ErrorType: pyError("SyntaxError")},
	{Name: "byte order mark", Code: map[string]string{"python": "\ufeff1 + 1"}, Status: ok, Value: "2"},
	{Name: "CRLF", Code: map[string]string{"python": "x = 1\r\nx + 1\r\n"}, Status: ok, Value: "2"},
	{Name: "mixed tabs", Code: map[string]string{"python": "if 1:\n\tx = 1\n        y = 2\n"}, Status: raised, ErrorType: pyError("TabError")},
	{Name: "other coding cookie", Code: map[string]string{"python": "# -*- coding: latin-1 -*-\n'é'"}, Status: ok, Value: `"é"`},
	{Name: "only a comment", Code: py("# nothing"), Status: ok, Value: "null"},
	{Name: "not UTF-8", Code: map[string]string{"python": "x = '\xff'"}, Status: []sandbox.Status{sandbox.StatusInvalid}},
	{Name: "too large", Code: map[string]string{"python": strings.Repeat("#", 2<<20)}, Status: []sandbox.Status{sandbox.StatusInvalid}},
	{Name: "deep parentheses", Code: map[string]string{"python": strings.Repeat("(", 100_000)}, Status: contained},
	{Name: "deep lists", Code: map[string]string{"python": strings.Repeat("[", 5000) + strings.Repeat("]", 5000)}, Status: contained},
	{Name: "deep unary operators", Code: map[string]string{"python": strings.Repeat("-", 500_000) + "1"}, Status: contained},
	{Name: "long chain of operators", Code: map[string]string{"python": "1" + strings.Repeat("+1", 300_000)}, Status: contained},
	{Name: "deep attributes", Code: map[string]string{"python": "a" + strings.Repeat(".a", 300_000)}, Status: contained},
	{Name: "deep f-strings", Code: map[string]string{"python": strings.Repeat("f'{", 200) + "1" + strings.Repeat("}'", 200)}, Status: contained},
	{Name: "nested finally", Code: map[string]string{"python": nestedFinally(18)}, Status: contained},
	{Name: "many branches of match", Code: map[string]string{"python": "match 1:\n" + strings.Repeat("  case 2: pass\n", 50_000)}, Status: contained},
}

func nestedFinally(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "try:\n" + strings.Repeat(" ", i+1) + "pass\n" + strings.Repeat(" ", i) + "finally:\n")
	}
	b.WriteString(strings.Repeat(" ", n) + "pass\n")
	return b.String()
}
