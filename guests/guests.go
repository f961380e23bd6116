package guests

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mayfly-run/mayfly/guests/js"
	"github.com/mayfly-run/mayfly/guests/python"
	"github.com/mayfly-run/mayfly/sandbox"
)

// ErrMissing is in the chain of the error when a guest is known but was not
// there when the program was compiled.
var ErrMissing = errors.New("the guest is not part of this program; run `make guests` and compile again")

// ErrUnknown is in the chain of the error when there is no guest of a name.
var ErrUnknown = errors.New("there is no such guest")

// recipe is what a guest needs besides its built module.
type recipe struct {
	name          string
	defaultName   string // of Spec.Name
	encodeGlobals func(globals map[string]any, maxDepth int) ([]byte, error)
	language      func(Info) string // what code is to be written in
	absent        string            // what it will not find, for a model
	lacks         []string          // modules that absent names
}

// recipes has one line for each guest; everything else about it is in its
// folder.
func recipes() []recipe {
	return []recipe{
		{"python", "main.py", python.EncodeGlobals, func(i Info) string { return i.Language + " " + i.Version }, pythonAbsent, pythonLacks},
		{"js", "main.js", js.EncodeGlobals, func(Info) string { return "JavaScript (ES2025)" }, jsAbsent, nil},
	}
}

// Python gives the CPython guest. Its module is unpacked anew by each call,
// which takes some tens of milliseconds. See [ByName] for the errors.
func Python() (sandbox.Guest, error) { return ByName("python") }

// ByName gives a guest by the name of its folder. The error has [ErrUnknown]
// or [ErrMissing] in its chain, or says how the embedded module is damaged.
func ByName(name string) (sandbox.Guest, error) {
	for _, r := range recipes() {
		if r.name == name {
			return r.guest(artefacts)
		}
	}
	return sandbox.Guest{}, fmt.Errorf("guests: %q: %w; known are %s", name, ErrUnknown, strings.Join(Names(), ", "))
}

// Names lists all guests, whether they are part of this program or not.
func Names() []string {
	var names []string
	for _, r := range recipes() {
		names = append(names, r.name)
	}
	return names
}

// All describes the guests that are part of this program. It gives none, and
// no error, when the program was compiled without.
func All() ([]Info, error) {
	var infos []Info
	for _, name := range Names() {
		info, err := readInfo(artefacts, name)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (r recipe) guest(files fs.FS) (sandbox.Guest, error) {
	info, err := readInfo(files, r.name)
	if err != nil {
		return sandbox.Guest{}, err
	}
	module, err := readModule(files, info)
	if err != nil {
		return sandbox.Guest{}, err
	}
	return sandbox.Guest{
		Name:          info.Name,
		Version:       info.Version,
		Module:        module,
		DefaultName:   r.defaultName,
		EncodeGlobals: r.encodeGlobals,
	}, nil
}
