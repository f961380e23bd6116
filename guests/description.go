package guests

import (
	"fmt"
	"slices"
	"strings"
)

// Environment says in a few sentences what code finds in a guest: for a model
// that is to write such code. It is made from what the build wrote down about
// the guest, and goes behind the description of a tool. The error is as in
// [ByName].
func Environment(name string) (string, error) {
	for _, r := range recipes() {
		if r.name == name {
			info, err := readInfo(artefacts, name)
			if err != nil {
				return "", err
			}
			return r.environment(info), nil
		}
	}
	return "", fmt.Errorf("guests: %q: %w; known are %s", name, ErrUnknown, strings.Join(Names(), ", "))
}

func (r recipe) environment(info Info) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Code is %s. ", r.language(info))
	if names := r.imports(info); len(names) > 0 {
		fmt.Fprintf(&b, "Besides the standard library it can import %s. ", strings.Join(names, ", "))
	}
	b.WriteString(r.absent)
	return b.String()
}

// imports are the packages that a guest has for their own sake, by the name that
// code imports, with their versions.
func (r recipe) imports(info Info) []string {
	var names []string
	for _, p := range info.Packages {
		if p.Own() {
			names = append(names, p.Modules[len(p.Modules)-1]+" "+p.Version)
		}
	}
	slices.Sort(names)
	return names
}

// Absent are modules that code of models asks for and a guest does not have;
// what its [Environment] says is absent.
func Absent(name string) []string {
	for _, r := range recipes() {
		if r.name == name {
			return slices.Clone(r.lacks)
		}
	}
	return nil
}

// What the guests lack, and what to use instead.
var pythonLacks = []string{"numpy", "pandas", "scipy", "matplotlib", "requests"}

const pythonAbsent = "Not there, and not to be installed: numpy, pandas, scipy, matplotlib, requests. " +
	"Use instead: sql() of the module mayfly over lists of dicts, petl or agate for tables; statistics, fractions, mpmath or sympy for numbers; " +
	"pygal or leather for charts, as SVG that artifact() of the module mayfly hands back; openpyxl for Excel files. " +
	"There is no network, no subprocess, no thread, and no file but those that the code writes below /tmp."

const jsAbsent = "There are no modules but 'mayfly', no network, no files, no process and no DOM. BigInt, typed arrays and top-level await are there."
