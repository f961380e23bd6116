package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipes: a pattern can lead to a pipe, and opening one would wait for its
// other end for ever.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	harness := filepath.Join(dir, "harness.yaml")
	if err := os.WriteFile(harness, []byte("apiVersion: harnessweaver/v1\nkind: Harness\nspec: {tools: {manifests: ['*.yml']}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yml"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(harness, nil)
	if err == nil || !strings.Contains(err.Error(), "pipe.yml: is not a regular file (unreadable)") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(filepath.Join(dir, "pipe.yml"), nil); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("as the harness: error %v", err)
	}
}
