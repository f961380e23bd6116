package expr

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
)

func compile(t testing.TB, source string) *Program {
	t.Helper()
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	p, err := env.Compile(source)
	if err != nil {
		t.Fatalf("Compile(%q): %v", source, err)
	}
	return p
}

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mailTool(t testing.TB) Tool {
	t.Helper()
	docs, err := manifests.Parse("t.yaml", []byte(`
apiVersion: harnessweaver/v1
kind: Tool
metadata: { name: send_mail, version: "3", owner: support }
spec: { handler: "app:send", risk: high, scopes: ["mail:send"], egress: [mail.example] }
`))
	if err != nil {
		t.Fatal(err)
	}
	return NewTool(docs.Tools[0])
}

func TestEval(t *testing.T) {
	tests := []struct {
		source, args string
		want         bool
		err          error
	}{
		{"args.n > 100", `{"n":101}`, true, nil},
		{"args.n > 100", `{"n":100.5}`, true, nil},
		{"args.n > 100.0", `{"n":101}`, true, nil},
		{"args.n > 100", `{"n":"101"}`, false, ErrFailed},
		{"args.n > 100", `{}`, false, ErrFailed},
		{"args.n == 1", `{"n":1.0}`, true, nil},
		{"args.n == 1", `{"n":true}`, false, nil},
		{"args.n in [1, 2]", `{"n":2}`, true, nil},
		{"args.n in [1, 2.5]", `{"n":2.5}`, true, nil},
		{"args.n + 1 > 2.4", `{"n":1.5}`, true, nil},
		{"args.n + 0.5 == 2.5", `{"n":2}`, true, nil},
		{"args.n - 0.5 == 1.5", `{"n":2}`, true, nil},
		{"args.n * 1.5 == 3", `{"n":2}`, true, nil},
		{"1 + 1.5 == 2.5", `{}`, true, nil},
		{"5.0 / args.n == 2.5", `{"n":2}`, true, nil},
		{"5 / args.n == 2", `{"n":2}`, true, nil},
		{"5 / args.n == 2", `{"n":0}`, false, ErrFailed},
		{"5 % args.n == 1", `{"n":2}`, true, nil},
		{"args.n + 1 > 0", `{"n":9223372036854775807}`, false, ErrFailed},
		{`args.s + "x" == "ax"`, `{"s":"a"}`, true, nil},
		{"args.l + [3] == [1, 2, 3]", `{"l":[1,2]}`, true, nil},
		{"args.n", `{"n":true}`, true, nil},
		{"args.n", `{"n":1}`, false, ErrNotBool},
		{"args.n", `{"n":null}`, false, ErrNotBool},
		{"args.l.exists(x, x > 1.5)", `{"l":[1,2]}`, true, nil},
		{"args.l.all(x, x > 1.5)", `{"l":[1,2]}`, false, nil},
		{"size(args.l) == 2 && has(args.l) && !has(args.m)", `{"l":[1,2]}`, true, nil},
		{`args.s.matches("^a+$")`, `{"s":"aaa"}`, true, nil},
		{`args["s"].startsWith("a")`, `{"s":"aaa"}`, true, nil},
		{"args.n > 1", `{"n":100000000000000000000}`, false, ErrFailed},
		{"args.l.exists(x, x == 1)", `{"l":[100000000000000000000,1]}`, true, nil},
		{"args.o.p.q == null", `{"o":{"p":{"q":null}}}`, true, nil},
		{`principal == "ada" && tenant == "north" && task == "support"`, `{}`, true, nil},
		{"labels.untrusted_seen && !labels.private_seen", `{}`, true, nil},
		{`tool.name == "send_mail" && tool.risk in ["high", "critical"] && "mail:send" in tool.scopes`, `{}`, true, nil},
		{`tool.egress.exists(h, h.endsWith(".example")) && tool.version == "3"`, `{}`, true, nil},
		// True or false whatever the broken half says.
		{"args.missing > 1 || true", `{}`, true, nil},
		{"args.missing > 1 && false", `{}`, false, nil},
	}
	tool := mailTool(t)
	for _, tt := range tests {
		var v Vars
		v.Set("ada", "north", "support", tool, parse(t, tt.args), len(tt.args), Labels{Untrusted: true})
		got, err := compile(t, tt.source).Eval(&v)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s with %s: %v, %v, want %v, %v", tt.source, tt.args, got, err, tt.want, tt.err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ source, want string }{
		{"", "1:1: Syntax error"},
		{"args.n >", "Syntax error"},
		{"user == 'x'", "1:1: undeclared reference to 'user'"},
		{"labels.untrusted", "labels has no field untrusted; it has private_seen, untrusted_seen"},
		{"has(tool.nmae)", "tool has no field nmae"},
		{"shell(args.x)", "undeclared reference to 'shell'"},
		{"1 + 1", "not bool"},
		{`"a" + 1 == "a1"`, "no matching overload"},
		{"principal > 1", "no matching overload"},
		{"tool == 'pay'", "tool (tool.name and others)"},
		{"nobody", "; there are principal, tenant and task"},
		{strings.Repeat("true&&", 700) + "true", "longer than 4096 bytes"},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "recursion"},
		{strings.Repeat("!", 1000) + "true", ""},
		{"true\n&& nope", "2:4: undeclared"},
	}
	env, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		_, err := env.Compile(tt.source)
		if tt.want == "" {
			continue // only must come back
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%.40q): %v, want %q", tt.source, err, tt.want)
		}
	}
}

func TestCostIsBounded(t *testing.T) {
	long := make([]any, 100_000)
	for i := range long {
		long[i] = int64(i)
	}
	text := strings.Repeat("a", 1<<19)
	tests := []struct {
		source string
		want   error
	}{
		{"args.l.exists(x, x == 9000)", nil},
		{"args.l.exists(x, x < 0)", ErrCost},
		{"args.l.exists(x, x > 9000 && args.l.exists(y, x + y == -1))", ErrCost},
		{"args.l.map(x, x).exists(y, y in args.l)", ErrCost},
		// Operands without a type until they are there.
		{"args.l.map(x, args.s + args.s).size() > 0", ErrCost},
		{"args.l.exists(x, args != args)", ErrCost},
		{"args.l.exists(x, args.l != args.l)", ErrCost},
		{"args.l.exists(x, [args.l] == [args.l] && x < 0)", ErrCost},
		{"args.l.all(x, x in args.l)", ErrCost},
		{"args.l.exists(x, size(args.s) == x - 1)", ErrCost},
		{"args.l.exists(x, args.s < args.s)", ErrCost},
		{"args.l.exists(x, {args.s: 1}[args.s] == 2)", ErrCost},
		{"args.l.exists(x, string(args.s) == '')", ErrCost},
		{"args.s.contains('b')", nil},
		{"args.l.exists(x, args.s.contains('b'))", ErrCost},
		{"args.l.exists(x, args.l.exists(y, x + y == -1))", ErrCost},
		{"args.l.all(x, args.l.all(y, args.l.all(z, x + y + z >= 0)))", ErrCost},
		{`(args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s + args.s).matches("(a+)+b")`, ErrCost},
	}
	for _, tt := range tests {
		var v Vars
		v.Set("", "", "", mailTool(t), map[string]any{"l": long, "s": text}, 1<<20, Labels{})
		if _, err := compile(t, tt.source).Eval(&v); !errors.Is(err, tt.want) {
			t.Errorf("%.50s: %v, want %v", tt.source, err, tt.want)
		}
	}
}

// Small arguments are not free of charge either.
func TestPassesAreBounded(t *testing.T) {
	list := make([]any, smallArgs/2)
	for i := range list {
		list[i] = int64(1)
	}
	var v Vars
	v.Set(strings.Repeat("p", 1000), "", "", mailTool(t), map[string]any{"l": list}, smallArgs, Labels{})
	for source, want := range map[string]error{
		"args.l.all(x, x == 1)":                                                nil,
		"args.l.all(x, args.l.all(y, x == y))":                                 ErrCost,
		"args.l.all(x, args.l.all(y, args.l.all(z, x + y > z)))":               ErrCost,
		"args.l.map(x, " + strings.Repeat("principal+", 40) + "'').size() > 0": ErrCost,
	} {
		if _, err := compile(t, source).Eval(&v); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", source, err, want)
		}
	}
}

func TestFor(t *testing.T) {
	tests := []struct {
		source string
		want   Known
	}{
		{`tool.name == "send_mail"`, True},
		{`tool.name == "other" && args.n > 1`, False},
		{`args.n > 1 && tool.name == "other"`, False},
		{`tool.name == "send_mail" || args.n > 1`, True},
		{`tool.name == "send_mail" && args.n > 1`, Unknown},
		{`labels.untrusted_seen`, Unknown},
		{`principal == tenant`, Unknown},
		{`size(tool.scopes) / 0 == 1`, Unevaluable},
		{`tool["nope"] == 1`, Unevaluable},
		{`tool.scopes.exists(s, s.startsWith("mail:"))`, True},
		{`true`, True},
	}
	tool := mailTool(t)
	for _, tt := range tests {
		if got := compile(t, tt.source).For(tool); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.source, got, tt.want)
		}
	}
}

// Errors must not quote a call.
func TestErrorsHoldNoValue(t *testing.T) {
	var v Vars
	v.Set("", "", "", mailTool(t), map[string]any{"n": "hunter2", "b": big.NewInt(1)}, 1, Labels{})
	for _, source := range []string{"args.n > 100", "int(args.n) > 1", `{"a": 1}[args.n] == 1`, "timestamp(args.n) == timestamp(args.n)"} {
		if _, err := compile(t, source).Eval(&v); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	tool := mailTool(b)
	for _, source := range []string{"args.n > 100", `tool.name == "send_mail" && labels.untrusted_seen`, "args.l.exists(x, x > 5)"} {
		b.Run(source, func(b *testing.B) {
			p := compile(b, source)
			var v Vars
			v.Set("ada", "north", "support", tool, parse(b, `{"n":500,"l":[1,2,3]}`), 24, Labels{})
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Eval(&v)
			}
		})
	}
}
