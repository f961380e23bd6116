package mayfly

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ban is something that the compiler takes and this repository does not.
type ban struct {
	// name of the rule.
	name string
	// reason why, for whoever runs into it.
	reason string
	// pkg and names are what must not be used: the package of that import path,
	// and of it those names; no names mean that the import itself is banned.
	pkg   string
	names []string
	// applies says in which files.
	applies func(f *sourceFile) bool
	// bad and good are the proof that the rule works: a file that breaks it and
	// one that may do the same.
	bad, good example
}

type example struct{ path, text string }

// Where a rule applies.
func production(f *sourceFile) bool { return !f.isTest() }

// outside gives production code outside of folders.
func outside(folders ...string) func(f *sourceFile) bool {
	return func(f *sourceFile) bool { return !f.isTest() && !below(f.folder(), folders...) }
}

func inside(folders ...string) func(f *sourceFile) bool {
	return func(f *sourceFile) bool { return !f.isTest() && below(f.folder(), folders...) }
}

var bans = []ban{
	{
		name:    "files are created exclusively",
		reason:  "os.Create follows links and empties what it finds, which gave a container runtime CVE-2024-45310; use os.OpenFile with O_EXCL, an os.Root, or a new temporary directory",
		pkg:     "os",
		names:   []string{"Create"},
		applies: production,
		bad:     example{"sandbox/wasm/x.go", `package p; import "os"; func f() { os.Create("x") }`},
		good:    example{"sandbox/wasm/x.go", `package p; import "os"; func f() { os.CreateTemp("", "x") }`},
	},
	{
		name:    "no default HTTP client",
		reason:  "the default client has no timeout, follows redirects anywhere and is shared; make one that has limits",
		pkg:     "net/http",
		names:   []string{"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
		applies: production,
		bad:     example{"runtime/x.go", `package p; import "net/http"; var c = http.DefaultClient`},
		good:    example{"runtime/x.go", `package p; import "net/http"; var c = &http.Client{}`},
	},
	{
		name:    "no DefaultServeMux",
		reason:  "anything in the process can add a handler to it",
		pkg:     "net/http",
		names:   []string{"DefaultServeMux", "Handle", "HandleFunc"},
		applies: production,
		bad:     example{"runtime/x.go", `package p; import h "net/http"; func f() { h.HandleFunc("/", nil) }`},
		good:    example{"runtime/x.go", `package p; import h "net/http"; var m = h.NewServeMux()`},
	},
	{
		name:    "processes start in sandbox/process",
		reason:  "a process outside of the launcher is a process without confinement",
		pkg:     "os/exec",
		applies: outside("sandbox/process", "bench"),
		bad:     example{"runtime/x.go", `package p; import "os/exec"; var f = exec.Command`},
		good:    example{"sandbox/process/x.go", `package p; import "os/exec"; var f = exec.Command`},
	},
	{
		name:    "processes start in sandbox/process (os)",
		reason:  "a process outside of the launcher is a process without confinement",
		pkg:     "os",
		names:   []string{"StartProcess"},
		applies: outside("sandbox/process"),
		bad:     example{"cmd/mayfly/x.go", `package p; import "os"; var f = os.StartProcess`},
		good:    example{"sandbox/process/x.go", `package p; import "os"; var f = os.StartProcess`},
	},
	{
		name:    "JSON from outside is read strictly",
		reason:  `encoding/json takes the last of two equal names, and "PATH" for "path", without a word; use github.com/go-json-experiment/json`,
		pkg:     "encoding/json",
		applies: outside("bench"),
		bad:     example{"governor/x.go", `package p; import "encoding/json"; var f = json.Unmarshal`},
		good:    example{"governor/x.go", `package p; import "github.com/go-json-experiment/json"; var f = json.Unmarshal`},
	},
	{
		name:    "the governor has no clock of its own",
		reason:  "a decision must be the same for the same call; the time is part of its configuration",
		pkg:     "time",
		names:   []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"},
		applies: inside("governor"),
		bad:     example{"governor/x.go", `package p; import "time"; var f = time.Now`},
		good:    example{"runtime/x.go", `package p; import "time"; var f = time.Now`},
	},
	{
		name:    "nobody sleeps",
		reason:  "a sleep is a race that has not been lost yet; wait for the event, or use testing/synctest",
		pkg:     "time",
		names:   []string{"Sleep"},
		applies: func(f *sourceFile) bool { return f.imports()["testing/synctest"] == "" && !below(f.folder(), "bench") },
		bad:     example{"sandbox/wasm/x_test.go", `package p; import "time"; func f() { time.Sleep(1) }`},
		good:    example{"sandbox/wasm/x_test.go", `package p; import ("time"; "testing/synctest"); func f() { synctest.Test(nil, nil); time.Sleep(1) }`},
	},
	{
		name:    "the environment is read in cmd",
		reason:  "a library whose behaviour hangs on a variable cannot be reasoned about; take it as configuration",
		pkg:     "os",
		names:   []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserCacheDir", "UserConfigDir", "UserHomeDir"},
		applies: outside("cmd", "bench"),
		bad:     example{"sandbox/wasm/x.go", `package p; import "os"; var f = os.Getenv`},
		good:    example{"cmd/mayfly/x.go", `package p; import "os"; var f = os.Getenv`},
	},
	{
		name:    "flags are read in cmd",
		reason:  "a library has no command line",
		pkg:     "flag",
		applies: outside("cmd", "bench", "guests/build"),
		bad:     example{"runtime/x.go", `package p; import "flag"; var f = flag.Parse`},
		good:    example{"cmd/mayfly/x.go", `package p; import "flag"; var f = flag.Parse`},
	},
	{
		name:    "only main ends the process",
		reason:  "a library that exits takes its host, and every other call, with it",
		pkg:     "os",
		names:   []string{"Exit"},
		applies: outside("cmd", "bench", "guests/build"),
		bad:     example{"runtime/x.go", `package p; import "os"; func f() { os.Exit(1) }`},
		good:    example{"cmd/mayfly/x.go", `package p; import "os"; func f() { os.Exit(1) }`},
	},
	{
		name:    "no global logger",
		reason:  "log writes where the host does not expect it, and log.Fatal ends the process; return an error, or take a logger",
		pkg:     "log",
		applies: outside("bench"),
		bad:     example{"cmd/mayfly/x.go", `package p; import "log"; func f() { log.Fatal(1) }`},
		good:    example{"cmd/mayfly/x_test.go", `package p; import "log"; func f() { log.Fatal(1) }`},
	},
	{
		name:    "libraries do not print",
		reason:  "standard output belongs to the program, and may carry a protocol",
		pkg:     "fmt",
		names:   []string{"Print", "Printf", "Println"},
		applies: outside("cmd", "bench", "guests/build"),
		bad:     example{"runtime/x.go", `package p; import "fmt"; func f() { fmt.Println() }`},
		good:    example{"runtime/x.go", `package p; import "fmt"; func f() { fmt.Sprintln() }`},
	},
	{
		name:    "unsafe shows in the file's name",
		reason:  "whoever audits looks for *_unsafe.go",
		pkg:     "unsafe",
		applies: func(f *sourceFile) bool { return !strings.Contains(f.path, "_unsafe") },
		bad:     example{"sandbox/wasm/x.go", `package p; import "unsafe"; var f unsafe.Pointer`},
		good:    example{"sandbox/wasm/x_unsafe.go", `package p; import "unsafe"; var f unsafe.Pointer`},
	},
	{
		name:    "randomness that matters is from crypto/rand",
		reason:  "math/rand can be guessed; version 1 is also shared state",
		pkg:     "math/rand",
		applies: production,
		bad:     example{"runtime/x.go", `package p; import "math/rand"; var f = rand.Int`},
		good:    example{"runtime/x.go", `package p; import "crypto/rand"; var f = rand.Read`},
	},
}

func TestBans(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, b := range bans {
			for _, line := range b.breaches(f) {
				t.Errorf("%s:%d: %s: %s", f.path, line, b.name, b.reason)
			}
		}
		for _, line := range initFunctions(f) {
			t.Errorf("%s:%d: an init function: what an import does by itself can be neither configured nor seen", f.path, line)
		}
	}
}

// TestBansWork is the positive control of every rule.
func TestBansWork(t *testing.T) {
	for _, b := range bans {
		if b.reason == "" || b.bad.text == "" || b.good.text == "" {
			t.Errorf("%s: has no reason or no examples", b.name)
			continue
		}
		bad, good := parseSource(t, b.bad.path, []byte(b.bad.text)), parseSource(t, b.good.path, []byte(b.good.text))
		if len(b.breaches(bad)) == 0 {
			t.Errorf("%s: does not find\n%s", b.name, b.bad.text)
		}
		if len(b.breaches(good)) != 0 {
			t.Errorf("%s: finds\n%s", b.name, b.good.text)
		}
	}
	if len(initFunctions(parseSource(t, "p.go", []byte("package p\nfunc init() {}")))) != 1 {
		t.Error("an init function is not found")
	}
	if len(initFunctions(parseSource(t, "p.go", []byte("package p\ntype t int\nfunc (t) init() {}")))) != 0 {
		t.Error("a method is taken for an init function")
	}
}

// breaches gives the lines of a file that break the rule.
func (b ban) breaches(f *sourceFile) []int {
	name := f.imports()[b.pkg]
	if name == "" || !b.applies(f) {
		return nil
	}
	if name == "." || name == "_" || len(b.names) == 0 {
		return []int{1} // every use may be one
	}
	var lines []int
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name && slices.Contains(b.names, sel.Sel.Name) {
				lines = append(lines, f.line(sel.Pos()))
			}
		}
		return true
	})
	return lines
}

func initFunctions(f *sourceFile) []int {
	if f.isTest() {
		return nil
	}
	var lines []int
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			lines = append(lines, f.line(fn.Pos()))
		}
	}
	return lines
}

// foreignText is what must not be in any file: it names the machine that the
// file was written on, or a host that a build would depend on. The words are
// put together here so that this file is not found itself.
var foreignText = map[string]*regexp.Regexp{
	"a path of somebody's machine": regexp.MustCompile(`(^|[^\w.])(/` + `root|/` + `work|/home/[a-z]+)/\w`),
	"a registry's host":            regexp.MustCompile(`(proxy\.golang|registry\.npmjs|deb\.debian|ftp\.debian|security\.debian)` + `\.org`),
}

func TestNoForeignText(t *testing.T) {
	seen := 0
	walk(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\x00") {
			return
		}
		seen++
		for _, finding := range foreign(string(text)) {
			t.Errorf("%s: %s", name, finding)
		}
	})
	if seen < 20 {
		t.Errorf("looked at %d files only", seen)
	}
}

func TestForeignTextIsFound(t *testing.T) {
	for text, want := range map[string]int{
		"see /" + "root/x":                 1,
		"cd /home/" + "someone/src":        1,
		`"https://deb.debian` + `.org/x"`:  1,
		"the root/x of a tree, net/work/x": 0,
		"/rooted/x":                        0,
	} {
		if got := foreign(text); len(got) != want {
			t.Errorf("foreign(%q) = %q, want %d", text, got, want)
		}
	}
}

func foreign(text string) []string {
	var findings []string
	for what, pattern := range foreignText {
		if at := pattern.FindStringIndex(text); at != nil {
			findings = append(findings, fmt.Sprintf("line %d has %s", 1+strings.Count(text[:at[0]], "\n"), what))
		}
	}
	return findings
}
