package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// Tools that are added at once are all there afterwards.
func TestAddAtOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, harnessName)
	if err := os.WriteFile(file, []byte(firstHarness), 0o600); err != nil {
		t.Fatal(err)
	}
	const n = 12
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = addOne(dir, file, fmt.Sprintf("tool%d", i)) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	set, err := loadHarness(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if name := fmt.Sprintf("tool%d", i); !hasTool(set, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}

func hasTool(set *manifests.Set, name string) bool {
	_, ok := set.Tool(name)
	return ok
}

func addOne(dir, file, name string) error {
	docs, err := manifests.Parse("t.yaml", []byte("apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: "+name+" }\nspec: { handler: \"app:f\" }\n"))
	if err != nil {
		return err
	}
	set, err := loadHarness(file)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	c := toolsAddCommand{Name: name, Out: pathFlag(filepath.Join(dir, name, "t.yaml"))}
	return c.write(set, root, docs.Tools[0], &addedTool{Tool: name, Harness: file})
}

func TestStartErrors(t *testing.T) {
	for _, tt := range []struct {
		err   error
		usage bool
	}{
		{fmt.Errorf("start run: %w", store.ErrFull), false},
		{fmt.Errorf("start run: %w", store.ErrBusy), false},
		{fmt.Errorf("start run: %w", store.ErrIO), false},
		{fmt.Errorf("start run: %w", store.ErrCorrupt), false},
		{fmt.Errorf("start run: %w", store.ErrInvalid), true},
		{fmt.Errorf("start run: %w", store.ErrExists), true},
		{errors.New("start run: there is no tool"), true},
	} {
		if _, usage := errors.AsType[*usageError](startError(tt.err)); usage != tt.usage {
			t.Errorf("%v: usage %v, want %v", tt.err, usage, tt.usage)
		}
	}
}
