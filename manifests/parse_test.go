package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// onlyError gives the one error of a text that is refused.
func onlyError(t *testing.T, name, text string) *Error {
	t.Helper()
	_, err := Parse(name, []byte(text))
	errs, ok := errors.AsType[Errors](err)
	if !ok || len(errs) != 1 {
		t.Fatalf("%s: got %v, want one error", name, err)
	}
	return errs[0]
}

func TestTooLarge(t *testing.T) {
	tool := "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: {name: t}\nspec: {handler: 'm:f'}\n"
	pad := func(n int) string { return tool + "#" + strings.Repeat("x", n-len(tool)-1) }
	if _, err := Parse("a.yaml", []byte(pad(MaxFileBytes))); err != nil {
		t.Errorf("a file of the largest size: %v", err)
	}
	if e := onlyError(t, "a.yaml", pad(MaxFileBytes+1)); e.Code != CodeTooLarge {
		t.Errorf("one byte more: %v", e)
	}
	if _, err := Parse("a.yaml", []byte(strings.Repeat("---\n"+tool, MaxDocuments))); err != nil {
		t.Errorf("as many documents as allowed: %v", err)
	}
	if e := onlyError(t, "a.yaml", strings.Repeat("---\n{}\n", MaxDocuments+1)); e.Code != CodeTooLarge {
		t.Errorf("one document more: %v", e)
	}
	if e := onlyError(t, "a.json", strings.Repeat("{}\n", MaxDocuments+1)); e.Code != CodeTooLarge {
		t.Errorf("one document more, in JSON: %v", e)
	}
	if e := onlyError(t, "a.yaml", strings.Repeat("---\n", MaxFileBytes/4)); e.Code != CodeTooLarge {
		t.Errorf("nothing but markers: %v", e)
	}
	many := "apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: {name: t}\nspec: {handler: 'm:f', input_schema: {prefixItems: [" + strings.Repeat("{}, ", 1000) + "]}}\n"
	if e := onlyError(t, "a.yaml", many); e.Code != CodeTooLarge || e.Pointer != "/spec/input_schema" {
		t.Errorf("too many schemas: %v", e)
	}
}

// TestManyErrors: the number of errors that are told apart is bounded.
func TestManyErrors(t *testing.T) {
	_, err := Parse("a.yaml", []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: {name: t}\nspec:\n  handler: m:f\n  tenants: ["+strings.Repeat("1, ", 5000)+"]\n"))
	errs, _ := errors.AsType[Errors](err)
	if len(errs) != maxErrors+1 || errs[maxErrors].Reason != "4900 more errors" {
		t.Errorf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
}

// TestBombs parses texts that are small and mean to cost much. Each must come
// to an end, in an error or not; what they cost shows in the test's time.
func TestBombs(t *testing.T) {
	const size = 1 << 18
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"brackets.yaml":  fill("["),
		"braces.yaml":    fill("{a: "),
		"dashes.yaml":    fill("- "),
		"keys.yaml":      fill("? "),
		"anchors.yaml":   fill("&a "),
		"tags.yaml":      fill("!a "),
		"commas.yaml":    "[" + fill("a,") + "]",
		"colons.yaml":    fill("a:"),
		"lines.yaml":     fill("a: 1\n"),
		"comments.yaml":  fill("#\n"),
		"quote.yaml":     "a: '" + fill("x\n\n") + "'",
		"literal.yaml":   "a: |\n" + fill(" x\n"),
		"folded.yaml":    "a: >\n" + fill(" x\n\n"),
		"indents.yaml":   staircase(700),
		"percents.yaml":  fill("%"),
		"aliases.yaml":   "a: &a [x]\nb: [" + fill("*a, ") + "]",
		"brackets.json":  fill("["),
		"objects.json":   fill(`{"a":`),
		"numbers.json":   "[" + fill("1e9,") + "1]",
		"digits.json":    "[" + fill("7") + "]",
		"names.json":     "{" + names(20_000) + "}",
		"escapes.json":   `"` + fill(`\u0041`) + `"`,
		"backslash.json": "[" + fill(`"\\",`) + `""]`,
		"quotes.json":    `["` + fill(`\"`) + `"]`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(name, []byte(text)); err == nil && name != "comments.yaml" {
				t.Error("accepted")
			}
		})
	}
}

func staircase(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%s a:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func names(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"n%d":0`, i))
	}
	return strings.Join(list, ",")
}

// TestRoundTrip writes every valid manifest of the stories in both notations,
// reads them back, and compares everything.
func TestRoundTrip(t *testing.T) {
	stories, err := filepath.Glob("testdata/valid/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, story := range stories {
		ar, err := txtar.ParseFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			docs, err := Parse(f.Name, unescapeStory(f.Data))
			if err != nil {
				continue
			}
			for _, tool := range docs.Tools {
				checkRoundTrip(t, tool)
				n++
			}
			for _, h := range docs.Harnesses {
				checkHarnessRoundTrip(t, h)
				n++
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d manifests found", n)
	}
}

// checkRoundTrip is also the oracle of FuzzParse.
func checkRoundTrip(t *testing.T, tool *Tool) {
	t.Helper()
	for name, encode := range map[string]func() ([]byte, error){"again.yaml": tool.YAML, "again.json": tool.JSON} {
		text, err := encode()
		if err != nil {
			t.Fatalf("%s: cannot be written: %v", tool.Metadata.Name, err)
		}
		if len(text) > MaxFileBytes {
			continue
		}
		docs, err := Parse(name, text)
		if err != nil || len(docs.Tools) != 1 {
			t.Fatalf("%s: cannot be read back: %v\n%s", name, err, text)
		}
		again := docs.Tools[0]
		if again.Digest() != tool.Digest() {
			t.Errorf("%s: digest %s, want %s\n%s", name, again.Digest(), tool.Digest(), text)
		}
		was, is := tool.Spec, again.Spec
		// The digest stands for the schema, in which 1.0 may have become 1, and a
		// place for itself.
		was.InputSchema, is.InputSchema = nil, nil
		was.Approval.When.Position, is.Approval.When.Position = Position{}, Position{}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s: spec (-want +got):\n%s\n%s", name, diff, text)
		}
		if diff := cmp.Diff(tool.Metadata, again.Metadata); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
		}
	}
}

func checkHarnessRoundTrip(t *testing.T, h *Harness) {
	t.Helper()
	for name, encode := range map[string]func() ([]byte, error){"again.yaml": h.YAML, "again.json": h.JSON} {
		text, err := encode()
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		docs, err := Parse(name, text)
		if err != nil || len(docs.Harnesses) != 1 {
			t.Fatalf("%s: cannot be read back: %v\n%s", name, err, text)
		}
		if diff := cmp.Diff(h.specFields().value(), docs.Harnesses[0].specFields().value(), cmp.AllowUnexported(member{})); diff != "" {
			t.Errorf("%s: spec (-want +got):\n%s\n%s", name, diff, text)
		}
		if diff := cmp.Diff(h.Metadata, docs.Harnesses[0].Metadata); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
		}
	}
}

// TestPlaces holds the places that the readers give against the text: where a
// value is said to stand, it stands.
func TestPlaces(t *testing.T) {
	text := "a: é\nü: {x: \"é\", 'y z': [1, -2.5, true, null, plain text]}\nlist:\n  - k: v\n  - |\n    block\n"
	for name, text := range map[string]string{
		"a.yaml": text, "b.yaml": strings.ReplaceAll(text, "\n", "\r\n"), "c.yaml": strings.ReplaceAll(text, "\n", "\r"),
		"a.json": "{\"é\": [\"\\\"\", \"\\\\\", \"\", 1, -2.5,\r\n true , null, {\"x\" : \"ü\\u00e9\"}]}",
	} {
		s := newSource([]byte(text))
		r := &reporter{file: name}
		docs := s.readYAML
		if strings.HasSuffix(name, ".json") {
			docs = s.readJSON
		}
		seen := 0
		var walk func(n *node)
		walk = func(n *node) {
			seen++
			lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
			at := string([]rune(lines[n.line-1])[n.column-1:])
			here := strings.TrimLeft(at, `"'`)
			switch {
			case !strings.HasPrefix(text[n.offset:], at[:1]):
				t.Errorf("%s: %s: line %d column %d is not offset %d", name, n.pointer(), n.line, n.column, n.offset)
			case n.kind == textNode && !strings.HasPrefix(here, strings.Split(n.text, "\n")[0]) && at[0] != '|' && at[0] != '"',
				n.kind == boolNode && !strings.HasPrefix(at, "true"),
				n.kind == nullNode && !strings.HasPrefix(at, "null"),
				n.kind == listNode && at[0] != '[' && at[0] != '-',
				n.flow && n.kind == objectNode && at[0] != '{':
				t.Errorf("%s: %s is said to stand at %d:%d, where it says %q", name, n.pointer(), n.line, n.column, at)
			}
			for _, key := range n.keys {
				walk(key)
			}
			for _, item := range n.items {
				walk(item)
			}
		}
		for _, doc := range docs(r) {
			walk(doc)
		}
		if len(r.errs) > 0 || seen < 9 {
			t.Errorf("%s: %d values, errors %v", name, seen, r.errs)
		}
	}
}

// TestLoadIsDeterministic: the same project gives the same warnings every time.
func TestLoadIsDeterministic(t *testing.T) {
	var first *Set
	for range 5 {
		set, err := Load("testdata/examples/shop/harness.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = set
		}
		if diff := cmp.Diff(first.Warnings, set.Warnings); diff != "" {
			t.Errorf("warnings (-first +now):\n%s", diff)
		}
	}
}

func TestBuiltInTools(t *testing.T) {
	docs, err := Parse("builtin/exec.yaml", []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: {name: exec}\nspec: {transport: code, sandbox: python, timeout: 1h}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := NewHarness()
	h.Limits.Timeout = MaxDuration / 24
	set, err := NewSet(h, docs.Tools)
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := set.Tool("exec")
	if !ok || tool.Spec.Output.MaxBytes != 20_000 || tool == docs.Tools[0] {
		t.Errorf("tool %+v", tool)
	}
	if docs.Tools[0].Spec.Output.MaxBytes != 0 {
		t.Error("the set changed the tool it was given")
	}
	if _, err := NewSet(h, append(docs.Tools, docs.Tools[0])); err == nil || !strings.Contains(err.Error(), string(CodeDuplicate)) {
		t.Errorf("the same name twice: %v", err)
	}

	dir := t.TempDir()
	file := filepath.Join(dir, "harness.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: harnessweaver/v1\nkind: Harness\nspec: {tasks: {t: {tools: [exec]}}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, nil); err == nil {
		t.Error("a task named a tool that is not there")
	}
	set, err = Load(file, docs.Tools)
	if err != nil || len(set.Tools()) != 1 || set.Harness.Origin.Root != dir {
		t.Errorf("set %+v, %v", set, err)
	}
}

func TestLoadOfNothing(t *testing.T) {
	for _, file := range []string{"testdata/none/harness.yaml", "testdata/none.yaml", "testdata"} {
		set, err := Load(file, nil)
		errs, ok := errors.AsType[Errors](err)
		if set != nil || !ok || errs[0].Code != CodeUnreadable {
			t.Errorf("%s: %v, %v", file, set, err)
		}
	}
}

// TestErrorsShowNoControls: names of fields are not ours, and are printed on
// terminals.
func TestErrorsShowNoControls(t *testing.T) {
	_, err := Parse("a.json", []byte(`{"apiVersion":"harnessweaver/v1","kind":"Tool","metadata":{"name":"t"},"spec":{"handler":"m:f","\u001b[2J\u202ex":1}}`))
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e") || !strings.Contains(err.Error(), `\x1b[2J\u202ex`) {
		t.Errorf("error: %q", err)
	}
}

// TestSetTools: the list that a set gives is the caller's.
func TestSetTools(t *testing.T) {
	set, err := Load("testdata/examples/shop/harness.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	list := set.Tools()
	list[0] = nil
	if set.Tools()[0] == nil {
		t.Error("the set's own list changed")
	}
	var names []string
	for _, tool := range set.Tools() {
		names = append(names, tool.Metadata.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("names %v are not in order", names)
	}
}

// TestZeroTool: a tool that nobody read accepts nothing.
func TestZeroTool(t *testing.T) {
	if v := new(Tool).CheckArguments(map[string]any{}); len(v) != 1 {
		t.Errorf("violations %v", v)
	}
	if new(Tool).EnabledFor("") {
		t.Error("it is enabled")
	}
}

// TestConcurrentUse: loaded tools are shared by goroutines.
func TestConcurrentUse(t *testing.T) {
	set, err := Load("testdata/examples/shop/harness.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Tool("refund_order")
	done := make(chan []Violation)
	for range 8 {
		go func() {
			var last []Violation
			for range 50 {
				last = tool.CheckArguments(map[string]any{"order": "B-1", "euros": -1.5})
				if text, err := tool.YAML(); err != nil || !bytes.Contains(text, []byte("refund_order")) {
					last = nil
				}
			}
			done <- last
		}()
	}
	for range 8 {
		if v := <-done; len(v) != 2 {
			t.Errorf("violations %v, want two", v)
		}
	}
}
