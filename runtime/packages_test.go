package runtime_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// TestPackages: of each package that the guest has there is a script that uses
// it, whose value is the one that Python gives natively.
func TestPackages(t *testing.T) {
	packages, err := guests.ReadPackages(readTestFile(t, "../guests/python/packages/packages.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("there are no packages")
	}
	for _, p := range packages {
		t.Run(p.Name, func(t *testing.T) {
			script := "../guests/python/testdata/packages/" + p.Name + ".py"
			for _, module := range p.Modules {
				if !strings.Contains(string(readTestFile(t, script)), module) {
					t.Errorf("%s does not use %s", script, module)
				}
			}
			runLikeNative(t, script, nil)
		})
	}
}

// runLikeNative runs a script in the guest and compares its value with what
// `make expect` wrote down natively.
func runLikeNative(t *testing.T, script string, globals map[string]any) {
	t.Helper()
	code := readTestFile(t, script)
	want := readTestFile(t, strings.TrimSuffix(script, ".py")+".json")
	result, err := python(t).Run(t.Context(), sandbox.Spec{
		Code: string(code), Name: filepath.Base(script), Globals: globals,
		Limits: sandbox.Limits{Timeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != sandbox.StatusOK {
		t.Fatalf("status %q, error %+v", result.Status, result.Error)
	}
	if diff := cmp.Diff(decoded(t, want), decoded(t, result.Value)); diff != "" {
		t.Errorf("value (-native +guest):\n%s", diff)
	}
}

// decoded reads JSON with numbers as they are written: 1 is not 1.0.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readTestFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%v; scripts are written by hand, and their values by `make expect`", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDataScripts: scripts of the kind that models write, over some thousands of
// rows. The rows are made by a script too, in the guest here and natively there.
func TestDataScripts(t *testing.T) {
	const folder = "../guests/python/testdata/scripts/"
	scripts, err := filepath.Glob(folder + "*.py")
	if err != nil {
		t.Fatal(err)
	}
	made, err := python(t).Run(t.Context(), sandbox.Spec{
		Code: string(readTestFile(t, folder+"rows.py")), Limits: sandbox.Limits{Timeout: time.Minute, MaxOutput: 16 << 20},
	})
	if err != nil || made.Status != sandbox.StatusOK {
		t.Fatalf("status %q, error %+v, %v", made.Status, made.Error, err)
	}
	var variables map[string]json.RawMessage
	if err := json.Unmarshal(made.Value, &variables); err != nil {
		t.Fatal(err)
	}
	globals := make(map[string]any)
	for name, value := range variables {
		globals[name] = sandbox.RawJSON(value)
	}
	ran := 0
	for _, script := range scripts {
		if filepath.Base(script) == "rows.py" {
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(script), ".py"), func(t *testing.T) { runLikeNative(t, script, globals) })
	}
	if ran < 10 {
		t.Errorf("only %d scripts in %s", ran, folder)
	}
}

// TestPackagesCannotBeReplaced: nothing that code writes gets in the way of an
// import. The positive control at the end shows that the same file would be
// imported if a program asked for that by itself.
func TestPackagesCannotBeReplaced(t *testing.T) {
	const code = `
import os, sys
fake = "raise SystemExit('the file was imported')"
written = []
for folder in ("/packages/tabulate", "/packages", "/tmp", "/tmp/tabulate", "/usr/lib/python3.13", "/lib/python3.13"):
    try:
        os.makedirs(folder, exist_ok=True)
        for name in ("__init__.py", "tabulate.py", "lark.py", "yaml.py"):
            with open(f"{folder}/{name}", "w") as file:
                file.write(fake)
            written.append(folder)
    except OSError:
        pass
for name in ("tabulate", "yaml"):
    sys.modules.pop(name, None)
import tabulate, yaml, lark
from importlib.machinery import PathFinder
spec = PathFinder.find_spec("lark", ["/tmp"])
{
    "written": sorted(set(written)), "path": sys.path, "tabulate": tabulate.tabulate([[1]]).split(), "yaml": yaml.safe_load("a: 1"),
    "lark": lark.__version__ > "1", "spec": spec is not None and spec.origin,
}
`
	result, err := python(t).Run(t.Context(), sandbox.Spec{Code: code, Limits: sandbox.Limits{Timeout: time.Minute}})
	if err != nil || result.Status != sandbox.StatusOK {
		t.Fatalf("status %q, error %+v, %v", result.Status, result.Error, err)
	}
	want := `{"written":["/tmp","/tmp/tabulate"],"path":[],"tabulate":["-","1","-"],"yaml":{"a":1},"lark":true,"spec":"/tmp/lark.py"}`
	if diff := cmp.Diff(want, string(result.Value)); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

// TestEnvironmentIsTrue imports what the guest says that it has, in the version
// that it says, and what it says that it lacks.
func TestEnvironmentIsTrue(t *testing.T) {
	text, err := guests.Environment("python")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(text, "it can import ")
	list, _, ends := strings.Cut(rest, ". Not there")
	if !ok || !ends {
		t.Fatalf("no list of packages in %q", text)
	}
	if len(text) > 2000 {
		t.Errorf("%d bytes are too many for a prompt", len(text))
	}
	var there []any
	for one := range strings.SplitSeq(list, ", ") {
		there = append(there, strings.Fields(one)[0])
	}
	code := `
import importlib
here = []
for name in there:
    importlib.import_module(name)
    here.append(name)
for name in absent:
    try:
        importlib.import_module(name)
        here.append(name)
    except ModuleNotFoundError as e:
        assert "cannot be installed" in str(e)
here
`
	var absent []any
	for _, name := range guests.Absent("python") {
		absent = append(absent, name)
		if !strings.Contains(text, name) {
			t.Errorf("%s is absent, which %q does not say", name, text)
		}
	}
	result, err := python(t).Run(t.Context(), sandbox.Spec{
		Code: code, Globals: map[string]any{"there": there, "absent": absent}, Limits: sandbox.Limits{Timeout: time.Minute},
	})
	if err != nil || result.Status != sandbox.StatusOK {
		t.Fatalf("status %q, error %+v, %v", result.Status, result.Error, err)
	}
	want, err := json.Marshal(there)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(result.Value)); diff != "" {
		t.Errorf("modules that can be imported (-said +got):\n%s", diff)
	}
}
