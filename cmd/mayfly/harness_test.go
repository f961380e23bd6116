package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A harness above the working directory that somebody else has put there is not
// used unless it is named; one of the working directory's owner is.
func TestForeignHarness(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	top := t.TempDir()
	file := filepath.Join(top, harnessName)
	if err := os.WriteFile(file, []byte("apiVersion: harnessweaver/v1\nkind: Harness\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	working := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(working, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(working)
	find := func(h harnessFlag) (string, error) {
		var said strings.Builder
		name, err := h.find(&process{stderr: output{w: &said}})
		if err == nil && h.Harness == "" && !strings.Contains(said.String(), "using ../../harness.yaml") {
			t.Errorf("said %q", said.String())
		}
		return name, err
	}
	if _, err := find(harnessFlag{}); err != nil {
		t.Errorf("our own: %v", err)
	}
	const stranger = 65534
	if err := os.Chown(file, stranger, -1); err != nil {
		t.Fatal(err)
	}
	if name, err := find(harnessFlag{}); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
		t.Errorf("a stranger's: %q, %v", name, err)
	}
	if _, err := find(harnessFlag{Harness: pathFlag(file)}); err != nil {
		t.Errorf("named: %v", err)
	}
	if err := os.Chown(working, stranger, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := find(harnessFlag{}); err != nil {
		t.Errorf("of the owner of the working directory: %v", err)
	}
	t.Chdir(top)
	if name, err := (harnessFlag{}).find(&process{}); err != nil || name != harnessName {
		t.Errorf("in the working directory: %q, %v", name, err)
	}
}
