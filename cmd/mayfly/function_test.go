package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mayfly-run/mayfly/sandbox"
)

var update = flag.Bool("update", false, "rewrite the expected halves of testdata")

// TestReadSignature runs the stories in testdata/function: Python files, and
// what is read of the function f in each, in the guest.
func TestReadSignature(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	limits := sandbox.Limits{Timeout: time.Minute, MaxMemory: 256 << 20}
	box, err := openSandbox(t.Context(), openConfig{guest: "python", cacheDir: filepath.Join(cache, "mayfly"), maxMemory: limits.MaxMemory, progress: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}()
	files, err := filepath.Glob("testdata/function/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			want := -1
			for i, one := range ar.Files {
				if one.Name == "want" {
					want = i
					continue
				}
				f, err := readSignature(t.Context(), box, limits, "f", one.Name, string(one.Data))
				if err != nil {
					t.Fatalf("%s: %v", one.Name, err)
				}
				fmt.Fprintf(&got, "== %s\n%s", one.Name, showFunction(t, one.Name, f))
			}
			if want < 0 {
				t.Fatal("there is no want")
			}
			if *update {
				ar.Files[want].Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[want].Data), got.String()); diff != "" {
				t.Errorf("what is read (-want +got):\n%s", diff)
			}
		})
	}
}

func showFunction(t *testing.T, file string, f function) string {
	t.Helper()
	var b strings.Builder
	for _, e := range f.Errors {
		fmt.Fprintf(&b, "refused %s\n", e.in(file))
	}
	if len(f.Errors) > 0 {
		return b.String()
	}
	schema := f.InputSchema
	if err := schema.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	properties, rest := splitProperties(t, schema)
	fmt.Fprintf(&b, "line %d, async %v, description %q, left out %q\n%s\n", f.Line, f.Async, f.Description, f.LeftOut, rest)
	for _, p := range properties {
		b.WriteString("  " + p + "\n")
	}
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "note %s\n", n.in(file))
	}
	return b.String()
}

// splitProperties puts each property on a line of its own.
func splitProperties(t *testing.T, schema jsontext.Value) (properties []string, rest string) {
	t.Helper()
	dec := jsontext.NewDecoder(strings.NewReader(string(schema)))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		key := name.String()
		if key != "properties" {
			v, err := dec.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, key+" "+string(v))
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				t.Fatal(err)
			}
			key := name.String()
			v, err := dec.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			properties = append(properties, key+" "+string(v))
		}
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
	}
	return properties, strings.Join(parts, ", ")
}
