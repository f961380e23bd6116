package fuzz

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed prelude.py
var prelude string

const (
	maxStatements = 60
	maxDepth      = 4
)

// generator writes one program. Its loops are short and its helpers keep values
// small, so that every program ends soon on both sides.
type generator struct {
	choices
	b          strings.Builder
	indent     int
	statements int
	functions  int
}

// variables are all assigned before the first statement, so that a program goes
// a long way before its first error.
var variables = []string{"a", "b", "c", "d", "e", "f"}

// Program gives the Python program that the bytes stand for. The same bytes
// always give the same one. Its last statement is an expression, a string.
func Program(data []byte) string {
	g := &generator{choices: choices{data}}
	for _, v := range variables {
		g.line("%s = %s", v, g.literal())
	}
	for len(g.data) > 0 && g.statements < maxStatements {
		// Most statements fail; what comes after them is to run, too.
		if g.of(8) == 0 {
			g.statement()
			continue
		}
		g.line("try:")
		g.indent++
		g.statement()
		g.indent--
		g.line("except Exception as error: print(show(error))")
	}
	g.line("show([%s])", strings.Join(variables, ", "))
	body := prelude + g.b.String()
	return imports(body) + body
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("    ", g.indent))
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *generator) variable() string { return pick(&g.choices, variables) }

// block writes some statements one step further in.
func (g *generator) block() {
	g.indent++
	for range 1 + g.of(3) {
		g.statement()
	}
	g.indent--
}

func (g *generator) statement() {
	g.statements++
	kinds := 16
	if g.indent >= maxDepth || g.statements >= maxStatements {
		kinds = 6 // no blocks
	}
	switch g.of(kinds) {
	case 0:
		g.line("%s = small(%s)", g.variable(), g.expression(maxDepth))
	case 1:
		g.line("print(show(%s))", g.expression(maxDepth))
	case 2:
		g.line("%s %s= %s", g.variable(), pick(&g.choices, []string{"+", "-", "//", "%", "&", "|", "^"}), g.expression(2))
	case 3:
		g.line("%s, *%s = order(%s)", g.variable(), g.variable(), g.expression(2))
	case 4:
		g.line("%s[at(%s)] = %s", g.variable(), g.expression(1), g.expression(2))
	case 5:
		g.line("print(%s, %s, sep=%s)", g.text(), g.formatted(), g.text())
	case 6, 7:
		g.line("try:")
		g.block()
		g.line("except %s as error:", pick(&g.choices, []string{"Exception", "TypeError", "(ValueError, KeyError)", "ArithmeticError", "LookupError", "AttributeError"}))
		g.indent++
		g.line("print(show(error))")
		g.indent--
		if g.of(3) == 1 {
			g.line("else:")
			g.block()
		}
		if g.of(3) == 1 {
			g.line("finally:")
			g.block()
		}
	case 8:
		g.line("if %s:", g.expression(2))
		g.block()
		g.line("else:")
		g.block()
	case 9:
		g.line("for %s in order(%s)[:4]:", g.variable(), g.expression(2))
		g.block()
		if g.of(4) == 1 {
			g.indent++
			g.line("if %s: %s", g.expression(1), pick(&g.choices, []string{"break", "continue"}))
			g.indent--
		}
	case 10:
		g.functions++
		name := fmt.Sprintf("f%d", g.functions)
		g.line("def %s(x, y=%s, *rest, z=1, **more):", name, g.literal())
		g.indent++
		g.line("%s", pick(&g.choices, []string{"global a, b", "c = d = e = f = x", "a, b = x, y; f = c = d = e = rest", "b = a = c = d = e = f = more"}))
		g.indent--
		g.block()
		g.indent++
		g.line("return small(%s)", g.expression(3))
		g.indent--
		g.line("try: print(show(%s(%s)))", name, g.arguments())
		g.line("except (NameError, UnboundLocalError, TypeError, ArithmeticError, ValueError, LookupError, AttributeError) as error: print(show(error))")
	case 11:
		g.line("match %s:", g.expression(2))
		g.indent++
		for range 1 + g.of(3) {
			g.line("case %s:", pick(&g.choices, []string{
				"int(n) if n > 3", "str(s)", "[x, *rest]", "{'k': v, **more}", "Point(x=0)", "(1 | 2 | None)", "[[_, x], y]", "float() | complex()", "{}", "'a' | b'a'",
			}))
			g.block()
		}
		g.line("case _:")
		g.block()
		g.indent--
	case 12:
		// A counter of its own, which the block cannot touch.
		n := fmt.Sprintf("n%d", g.statements)
		g.line("%s = 3", n)
		g.line("while (%s := %s - 1):", n, n)
		g.block()
	case 13:
		g.line("with io.StringIO() as out:")
		g.indent++
		g.line("csv.writer(out).writerow(order(%s)[:5])", g.expression(2))
		g.line("%s = out.getvalue()", g.variable())
		g.indent--
	case 14:
		g.line("class C%d(%s):", g.statements, pick(&g.choices, []string{"Point", "list", "dict", "int", "str", "Exception"}))
		g.indent++
		g.line("def __%s__(self, *other): return %s", pick(&g.choices, []string{"add", "radd", "bool", "repr", "eq", "getitem", "index", "format", "contains", "missing"}), g.expression(2))
		g.line("__hash__ = None")
		g.indent--
		g.line("try: print(show(C%d(%s) + %s), len(C%d(%s)))", g.statements, g.literal(), g.variable(), g.statements, g.literal())
		g.line("except Exception as error: print(show(error))")
	default:
		g.line("raise %s(%s)", pick(&g.choices, []string{"ValueError", "KeyError", "Done", "StopIteration", "ZeroDivisionError"}), g.expression(1))
	}
}

func (g *generator) arguments() string {
	return g.fill(pick(&g.choices, []string{"E", "E, E", "*order(E)[:3]", "E, z=E", "x=E", "E, **{'w': E}", ""}), 2)
}

// modules are imported only where they are used: to import is the slow part.
var modules = []string{
	"base64", "binascii", "bisect", "calendar", "collections", "colorsys", "csv", "datetime", "decimal", "difflib", "fractions",
	"functools", "hashlib", "heapq", "html", "io", "ipaddress", "itertools", "json", "math", "operator", "random", "re",
	"statistics", "string", "struct", "textwrap", "unicodedata", "urllib.parse", "zlib",
}

func imports(body string) string {
	var b strings.Builder
	for _, m := range modules {
		if strings.Contains(body, m+".") {
			b.WriteString("import " + m + "\n")
		}
	}
	return b.String()
}
