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
