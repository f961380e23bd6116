package guests

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of packages in python/packages/README.md anew")

func pythonPackages(t *testing.T) []Package {
	t.Helper()
	text, err := os.ReadFile("python/packages/packages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := ReadPackages(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("there are no packages")
	}
	return packages
}

// TestPackageList checks what the build takes on trust: each line of
// packages.tsv is pinned, is in its place, and has a licence that may be passed
// on with a program under any other.
func TestPackageList(t *testing.T) {
	packages := pythonPackages(t)
	file := regexp.MustCompile(`^pool/main/(lib)?[a-z0-9]/[a-z0-9.+-]+/python3?-[a-z0-9.+-]+_[A-Za-z0-9.+~-]+_(all|amd64)\.deb$`)
	digest := regexp.MustCompile(`^[0-9a-f]{64}$`)
	licences := []string{
		"Apache-2.0", "Apache-2.0 OR BSD-3-Clause", "Artistic-1.0-Perl", "BSD-2-Clause", "BSD-3-Clause", "LGPL-3.0-or-later", "MIT", "PSF-2.0",
	}
	names := make(map[string]bool)
	for _, p := range packages {
		names[p.Name] = true
	}
	for _, p := range packages {
		if !file.MatchString(p.Input.File) || !digest.MatchString(p.Input.SHA256) {
			t.Errorf("%s: %q with digest %q is not a pinned package", p.Name, p.Input.File, p.Input.SHA256)
		}
		if !slices.Contains(licences, p.Licence) {
			t.Errorf("%s: %q is a licence that nobody has looked at; add it here when it may be passed on", p.Name, p.Licence)
		}
		if by, needed := strings.CutPrefix(p.Why, "needed by "); needed && !names[by] {
			t.Errorf("%s is there for %s, which is not", p.Name, by)
		}
		if len(p.Modules) == 1 && p.Modules[0] == "-" {
			t.Errorf("%s: a package without modules has none, not one called -", p.Name)
		}
	}
	var files []string
	for _, line := range lines(t, "python/packages/packages.tsv") {
		if !strings.HasPrefix(line, "#") {
			files = append(files, strings.Split(line, "\t")[1])
		}
	}
	if !slices.IsSorted(files) {
		t.Error("packages.tsv is not sorted by file")
	}
}

// TestPackagesOfDescription fails when the embedded guest was built from another
// list than the one beside it.
func TestPackagesOfDescription(t *testing.T) {
	info, err := readInfo(artefacts, "python")
	if errors.Is(err, ErrMissing) {
		t.Skip("no guest was built; run `make guests`")
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pythonPackages(t), info.Packages); diff != "" {
		t.Errorf("python.json is not of this list (-packages.tsv +json); run `make guests`:\n%s", diff)
	}
}

// TestPackagesTable keeps the table of the README as the list is.
func TestPackagesTable(t *testing.T) {
	const readme, begin, end = "python/packages/README.md", "<!-- packages -->\n", "<!-- end of packages -->\n"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no table between %q and %q", readme, begin, end)
	}
	want := packagesTable(pythonPackages(t))
	if *update {
		if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("%s is not what packages.tsv says (-want +got); go test ./guests -run TestPackagesTable -update:\n%s", readme, diff)
	}
}

func packagesTable(packages []Package) string {
	var b strings.Builder
	b.WriteString("| package | version | licence | import | tier | what for |\n|---|---|---|---|---|---|\n")
	for _, p := range packages {
		modules := "`" + strings.Join(p.Modules, "`, `") + "`"
		if len(p.Modules) == 0 {
			modules = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", p.Name, p.Version, p.Licence, modules, p.Tier, p.Why)
	}
	return b.String()
}

func TestReadPackages(t *testing.T) {
	sum := strings.Repeat("a", 64)
	line := func(fields ...string) string { return strings.Join(fields, "\t") + "\n" }
	const file = "pool/main/x/x/python3-x_1:2.0.1+dfsg-3+b1_all.deb"
	tests := []struct{ name, text, want string }{
		{"whole", line(sum, file, "MIT", "image y", "x", "-", "tables"), ""},
		{"a field less", line(sum, file, "MIT", "image", "x", "-"), "6 fields"},
		{"an empty field", line(sum, file, "", "image", "x", "-", "tables"), "7 fields"},
		{"an unknown tier", line(sum, file, "MIT", "always", "x", "-", "tables"), `no tier "always"`},
		{"no package", line(sum, "pool/x.deb", "MIT", "image", "x", "-", "tables"), "NAME_VERSION_ARCHITECTURE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadPackages([]byte("# comment\n\n" + tt.text))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "packages.tsv:3:") {
					t.Errorf("err = %v, want line 3 and %q", err, tt.want)
				}
				return
			}
			want := []Package{{"x", "2.0.1", "MIT", []string{"x"}, TierImage, []string{"x", "x.y"}, "tables", Input{file, sum}}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
