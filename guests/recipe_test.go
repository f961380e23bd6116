package guests

import (
	"bufio"
	"errors"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "\n") {
		t.Errorf("%s does not end with a line break", name)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// TestPins checks that every input is pinned, once, in the one form that the
// build reads, and that the names of the files say where they belong.
func TestPins(t *testing.T) {
	pin := regexp.MustCompile(`^[0-9a-f]{64}  pool/main/(lib)?[a-z0-9]+/[a-z0-9.+-]+/[A-Za-z0-9.+~_-]+\n$`)
	for _, name := range Names() {
		file := name + "/SHA256SUMS"
		pins := lines(t, file)
		if len(pins) == 0 {
			t.Errorf("%s pins nothing", file)
		}
		var paths []string
		for _, line := range pins {
			if !pin.MatchString(line) {
				t.Errorf("%s: %q is not DIGEST  PATH", file, line)
				continue
			}
			paths = append(paths, strings.TrimSuffix(line[66:], "\n"))
		}
		if !slices.IsSorted(paths) {
			t.Errorf("%s is not sorted by path", file)
		}
		if len(slices.Compact(slices.Clone(paths))) != len(paths) {
			t.Errorf("%s has a path twice", file)
		}
	}
}

// TestPinsMatchVersions checks that an upgrade did not change one file and
// forget the other.
func TestPinsMatchVersions(t *testing.T) {
	for _, name := range Names() {
		pins := strings.Join(lines(t, name+"/SHA256SUMS"), "")
		for _, line := range lines(t, name+"/versions.env") {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			if !ok || strings.HasPrefix(key, "#") || strings.HasPrefix(key, "export ") || key == "LLVM_VERSION" {
				continue // LLVM comes from the machine's own apt
			}
			if !strings.Contains(pins, value) {
				t.Errorf("%s/versions.env has %s=%s, which no pinned file has in its name", name, key, value)
			}
		}
	}
}

// TestDescriptionMatchesRecipe fails when what is embedded was built from
// another recipe than the one beside it.
func TestDescriptionMatchesRecipe(t *testing.T) {
	for _, name := range Names() {
		info, err := readInfo(artefacts, name)
		if errors.Is(err, ErrMissing) {
			t.Skip("no guest was built; run `make guests`")
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []Input
		for _, line := range lines(t, name+"/SHA256SUMS") {
			digest, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			want = append(want, Input{File: file, SHA256: digest})
		}
		if diff := cmp.Diff(want, info.Inputs); diff != "" {
			t.Errorf("%s.json is not of this recipe (-SHA256SUMS +json); run `make guests`:\n%s", name, diff)
		}
	}
}

// TestExports reads the module's own list of exports.
func TestExports(t *testing.T) {
	for _, name := range Names() {
		var want []string
		for _, line := range lines(t, name+"/exports.txt") {
			want = append(want, strings.TrimSuffix(line, "\n"))
		}
		if !slices.IsSorted(want) {
			t.Errorf("%s/exports.txt is not sorted", name)
		}
		guest, err := ByName(name)
		if errors.Is(err, ErrMissing) {
			t.Skip("no guest was built; run `make guests`")
		}
		if err != nil {
			t.Fatal(err)
		}
		got := exports(t, guest.Module)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("exports (-exports.txt +module):\n%s", diff)
		}
	}
}

// TestScriptsAreSafe checks what a shell script of the build must begin with.
func TestScriptsAreSafe(t *testing.T) {
	file, err := os.Open("build/main.sh")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if line := scanner.Text(); line != "" && !strings.HasPrefix(line, "#") {
			if line != "set -euo pipefail" {
				t.Errorf("%s begins with %q: a failed command would not end the build", path.Base(file.Name()), line)
			}
			return
		}
	}
	t.Error("build/main.sh is empty")
}
