package guests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWithoutArtefacts compiles the package as it is in a fresh checkout,
// before any guest was built, and asks it for one.
func TestWithoutArtefacts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a copy of the package")
	}
	dir := t.TempDir()
	for _, pattern := range []string{
		"go.mod", "go.sum", "sandbox/*.go", "guests/*.go", "guests/*/*.go", "guests/artefacts/README.md",
	} {
		names, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: nothing there (%v)", pattern, err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				copyFile(t, filepath.Join(dir, strings.TrimPrefix(name, "../")), name)
			}
		}
	}
	program := `package main

import (
	"errors"
	"fmt"

	"github.com/mayfly-run/mayfly/guests"
)

func main() {
	_, err := guests.Python()
	infos, allErr := guests.All()
	fmt.Println(errors.Is(err, guests.ErrMissing), len(infos), allErr)
	fmt.Println(err)
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "run", "-mod=mod", "main.go")
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := string(out); !strings.HasPrefix(got, "true 0 <nil>\n") || !strings.Contains(got, "make guests") {
		t.Errorf("the program printed %q", got)
	}
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
