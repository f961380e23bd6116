package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// harnessName is the file that a harness is in unless somebody says otherwise.
const harnessName = "harness.yaml"

// pathFlag is the name of a file that is opened by name: not standard input.
type pathFlag string

func (f *pathFlag) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("the name of a file must follow")
	}
	*f = pathFlag(text)
	return nil
}

// harnessFlag is for the verbs that work on a harness.
type harnessFlag struct {
	Harness pathFlag `placeholder:"FILE" env:"MAYFLY_HARNESS" help:"The harness. Default: harness.yaml in the working directory or the nearest one above it."`
}

// errNoHarness is in the chain when none was named and none was found.
var errNoHarness = errors.New("there is no " + harnessName + " in the working directory or above it; --harness names one")

// find gives the harness's file, and says which one that is where it is not
// the one in front of the user.
func (h harnessFlag) find(p *process) (string, error) {
	if h.Harness != "" {
		return string(h.Harness), nil
	}
	start, err := os.Getwd()
	if err != nil {
		return "", usagef("the working directory is not known (%w); --harness names the harness", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, harnessName)
		info, err := os.Stat(file)
		switch {
		case err == nil:
			// Whoever can write to a directory above could put rules there.
			if dir != start && !trustedBy(info, start) {
				return "", usagef("%s belongs to somebody else and is not used; --harness names it if it is meant", file)
			}
			name, err := filepath.Rel(start, file)
			if err != nil {
				name = file
			}
			if dir != start {
				p.stderr.note("using %s", name)
			}
			return name, nil
		case !errors.Is(err, fs.ErrNotExist):
			// It may be there, and another one further up would be the wrong one.
			return "", usagef("%s: %w; --harness names the harness", file, plainError(err))
		case dir == filepath.Dir(dir):
			return "", &usageError{errNoHarness}
		}
	}
}

// trustedBy reports whether a file above the working directory can be followed.
func trustedBy(file os.FileInfo, working string) bool {
	info, err := os.Stat(working)
	return err == nil && trustedOwner(file, info)
}

// load finds and reads the harness.
func (h harnessFlag) load(p *process) (file string, set *manifests.Set, err error) {
	if file, err = h.find(p); err != nil {
		return "", nil, err
	}
	set, err = loadHarness(file)
	if err != nil {
		return file, nil, manifestErrors(err)
	}
	return file, set, nil
}

// loadHarness reads a harness with the tools of this program, which its rules
// and tasks may name.
func loadHarness(file string) (*manifests.Set, error) {
	exec, err := runtime.ExecManifest()
	if err != nil {
		return nil, err
	}
	return manifests.Load(file, []*manifests.Tool{exec})
}

// isBuiltIn reports whether a tool is this program's own. Models are not told
// of those, and they need no pin: they change with the program.
func isBuiltIn(name string) bool { return name == runtime.ExecTool }

// manifestErrors is what a verb ends with when manifests have errors: each on
// a line of its own that starts with its place.
func manifestErrors(err error) error {
	if errs, ok := errors.AsType[manifests.Errors](err); ok && len(errs) > 1 {
		return usagef("%d errors in the manifests:\n%w", len(errs), err)
	}
	return &usageError{err}
}
