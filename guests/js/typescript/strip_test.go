package typescript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

const source = `interface Row { id: number; name?: string }

type Names = Record<string, number>;

enum Level { Low = 1, High }

class Box<T> {
  constructor(private readonly value: T) {}
  get(): T {
    throw new TypeError("é" + String(this.value));
  }
}
function run<T>(box: Box<T>): T {
	return box.get() as T;
}
const rows: Row[] = [{ id: 1 }];
run(new Box(rows[0]!.id));
`

func TestStrip(t *testing.T) {
	p, err := Strip("main.ts", source)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"interface", "Record<", ": T", "private", "as T", ": Row"} {
		if strings.Contains(p.Code, gone) {
			t.Errorf("%q is still there:\n%s", gone, p.Code)
		}
	}
	// Every line of the JavaScript that throws is taken to the user's own.
	line, column := locate(t, p.Code, "new TypeError")
	if got, _, _ := p.place(line, column); got != 10 {
		t.Errorf("%d:%d comes from line %d, want 10", line, column, got)
	}
	line, column = locate(t, p.Code, "run(new Box")
	if got, _, _ := p.place(line, column); got != 17 {
		t.Errorf("%d:%d comes from line %d, want 17", line, column, got)
	}
}

func locate(t *testing.T, code, text string) (line, column int) {
	t.Helper()
	before, _, ok := strings.Cut(code, text)
	if !ok {
		t.Fatalf("%q is not in\n%s", text, code)
	}
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

func TestRestore(t *testing.T) {
	p, err := Strip("main.ts", source)
	if err != nil {
		t.Fatal(err)
	}
	l1, c1 := locate(t, p.Code, "new TypeError")
	l2, c2 := locate(t, p.Code, "run(new Box")
	place := func(l, c int) string { return strings.Join([]string{"main.ts", itoa(l), itoa(c)}, ":") }
	got := p.Restore(&sandbox.Error{
		Type: "TypeError", Message: "é1", Line: l1, Source: "    throw …",
		Traceback: "main.ts:" + itoa(l1) + "\n    throw …\n      ^\n\nTypeError: é1\n    at get (" + place(l1, c1) + ")\n    at " + place(l2, c2) + "\n    at other (else.ts:1:1)\n",
	})
	want := &sandbox.Error{
		Type: "TypeError", Message: "é1", Line: 10, Source: `    throw new TypeError("é" + String(this.value));`,
		Traceback: "main.ts:10\n    throw new TypeError(\"é\" + String(this.value));\n          ^\n\nTypeError: é1\n    at get (main.ts:10:11)\n    at main.ts:17:1\n    at other (else.ts:1:1)\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if p.Restore(nil) != nil {
		t.Error("no error became one")
	}
	limit := &sandbox.Error{Type: "timeout", Message: "the call ran into its timeout of 5s"}
	if diff := cmp.Diff(limit, p.Restore(limit)); diff != "" {
		t.Errorf("an error without a place changed:\n%s", diff)
	}
}

func itoa(n int) string {
	if n >= 10 {
		return itoa(n/10) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}

func TestSyntaxError(t *testing.T) {
	_, err := Strip("a.ts", "const x: number = 1;\n\tconst é: = 2;\n")
	e := AsError(err)
	if e == nil {
		t.Fatalf("error %v", err)
	}
	want := sandbox.Error{
		Type: "SyntaxError", Message: `Unexpected "="`, Line: 2, Source: "\tconst é: = 2;",
		Traceback: "a.ts:2\n\tconst é: = 2;\n\t         ^\n\nSyntaxError: Unexpected \"=\"\n    at a.ts:2:11\n",
	}
	if diff := cmp.Diff(want, e.Sandbox); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// TestValueIsKept: the last expression is what the call is for, even if it does
// nothing.
func TestValueIsKept(t *testing.T) {
	for _, last := range []string{"1 + 1", "x", "({ a: x })", "[x, x]", "`${x}`", "x as number", "await x", "10n ** 20n"} {
		p, err := Strip("main.ts", "const x: number = 1;\n"+last+";\n")
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(p.Code), "\n"); len(lines) != 2 {
			t.Errorf("%s became %q", last, p.Code)
		}
	}
}

func TestReadMappings(t *testing.T) {
	got, err := readMappings("AAAA,CAAC;;EACA,C;AACD")
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping{{1, 1, 1, 1}, {1, 2, 1, 2}, {3, 3, 2, 2}, {4, 1, 3, 1}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("mappings (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"!", "g", "AAAD", "AADA", "ACAA", "gggggggggA"} {
		if got, err := readMappings(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

func FuzzReadMappings(f *testing.F) {
	f.Add("AAGA,MAAM,IAAO;AAEpB,IAAK")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := readMappings(text)
		if err != nil {
			return
		}
		for _, m := range all {
			if m.line < 1 || m.column < 1 || m.sourceLine < 1 || m.sourceColumn < 1 {
				t.Errorf("%q gave %+v", text, m)
			}
		}
	})
}
