package guests

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Package is a library that is part of a guest besides its language's own. It
// is what one line of the guest's packages.tsv says.
type Package struct {
	// Name is what the Debian package is called that it comes from, without
	// "python3-" or "python-" before it; Version is the version of the
	// library, as its authors count.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Licence is an SPDX expression.
	Licence string `json:"licence"`
	// Modules are the names that code imports; none for a package of data.
	Modules []string `json:"modules"`
	// Tier says what an import costs a call.
	Tier Tier `json:"tier"`
	// Imported are the modules that are imported into the image, for TierImage.
	// Others may be imported by them.
	Imported []string `json:"imported,omitzero"`
	// Why says what it is good for, or "needed by" which other package.
	Why string `json:"why"`
	// Input is the file that it comes from.
	Input Input `json:"input"`
}

// Tier says where a package is before a call.
type Tier string

const (
	// TierImage: it was imported before the image was taken, so that importing
	// it costs a call nothing.
	TierImage Tier = "image"
	// TierImport: it is imported by the calls that ask for it.
	TierImport Tier = "import"
)

// packageFields are the fields of a line of packages.tsv.
const packageFields = 7

// ReadPackages reads a packages.tsv; see guests/python/packages/README.md. They
// come back sorted by name.
func ReadPackages(text []byte) ([]Package, error) {
	packages := []Package{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, err := readPackage(line)
		if err != nil {
			return nil, fmt.Errorf("packages.tsv:%d: %w", number, err)
		}
		packages = append(packages, p)
	}
	slices.SortFunc(packages, func(a, b Package) int { return cmp.Compare(a.Name, b.Name) })
	return packages, nil
}

func readPackage(line string) (Package, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != packageFields || slices.Contains(fields, "") {
		return Package{}, fmt.Errorf("%d fields, want %d that are not empty", len(fields), packageFields)
	}
	tier, below, _ := strings.Cut(fields[3], " ")
	p := Package{
		Licence: fields[2], Tier: Tier(tier), Modules: strings.Fields(fields[4]), Why: fields[6],
		Input: Input{File: fields[1], SHA256: fields[0]},
	}
	if p.Tier == TierImage {
		p.Imported = append(p.Imported, p.Modules...)
		for name := range strings.FieldsSeq(below) {
			p.Imported = append(p.Imported, p.Modules[0]+"."+name)
		}
	}
	parts := strings.Split(path.Base(fields[1]), "_")
	if len(parts) != 3 {
		return Package{}, fmt.Errorf("%q is not NAME_VERSION_ARCHITECTURE.deb", path.Base(fields[1]))
	}
	if fields[4] == "-" {
		p.Modules = []string{}
	}
	p.Name, p.Version = strings.TrimPrefix(strings.TrimPrefix(parts[0], "python3-"), "python-"), upstream(parts[1])
	if p.Tier != TierImage && p.Tier != TierImport {
		return Package{}, fmt.Errorf("%s: there is no tier %q", p.Name, p.Tier)
	}
	return p, nil
}

// upstream is the part of a version of Debian's that the authors gave.
func upstream(version string) string {
	if at := strings.IndexByte(version, ':'); at > 0 {
		version = version[at+1:]
	}
	if at := strings.LastIndexByte(version, '-'); at > 0 {
		version = version[:at]
	}
	if at := strings.IndexAny(version, "+~"); at > 0 {
		version = version[:at]
	}
	return version
}

// Own reports whether the package is there for its own sake, and not because
// another one needs it.
func (p Package) Own() bool { return !strings.HasPrefix(p.Why, "needed by ") }
