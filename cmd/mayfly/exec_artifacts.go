package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
)

// artifactDir is where the files that code hands back are written: a directory
// that is new or empty, so that nothing is overwritten and no file comes to lie
// beside a program that would load it.
type artifactDir struct{ path string }

// searchPaths are the variables that say where programs look for code.
var searchPaths = []string{"PATH", "PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "CLASSPATH", "LD_LIBRARY_PATH"}

// check refuses a directory before the call is made whose files could not be
// written.
func (d artifactDir) check() error {
	if d.path == "" {
		return nil
	}
	abs, err := filepath.Abs(d.path)
	if err != nil {
		return usagef("--artifacts %s: %w", d.path, plainError(err))
	}
	for _, variable := range searchPaths {
		for _, entry := range filepath.SplitList(os.Getenv(variable)) {
			if entry != "" && sameDir(entry, abs) {
				return usagef("--artifacts %s is in %s: programs would be looked for among files that code wrote; give another directory", d.path, variable)
			}
		}
	}
	info, err := os.Lstat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent, err := os.Stat(filepath.Dir(abs))
		if err == nil && !parent.IsDir() {
			err = errors.New("it is not a directory")
		}
		if err != nil {
			return usagef("--artifacts %s cannot be made: %s: %w", d.path, filepath.Dir(d.path), plainError(err))
		}
		return nil
	case err != nil:
		return usagef("--artifacts %s: %w", d.path, plainError(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return usagef("--artifacts %s is a link; give the directory itself", d.path)
	case !info.IsDir():
		return usagef("--artifacts %s is not a directory", d.path)
	}
	return d.empty(os.DirFS(abs))
}

func (d artifactDir) empty(dir fs.FS) error {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return usagef("--artifacts %s: %w", d.path, plainError(err))
	}
	if len(entries) > 0 {
		return usagef("--artifacts %s has files already; give a new or an empty directory, so that nothing is overwritten", d.path)
	}
	return nil
}

// sameDir reports whether two paths lead to the same place, or would.
func sameDir(a, b string) bool {
	if left, err := filepath.Abs(a); err == nil && left == b {
		return true
	}
	left, errA := os.Stat(a)
	right, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(left, right)
}

// write makes the directory and writes the files, and gives their paths. What was
// true of the directory when it was checked need not be true any more, so it is
// looked at again through a handle, and every file is new.
func (d artifactDir) write(files []sandbox.Artifact) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := d.empty(root.FS()); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		if err := sandbox.CheckArtifactName(f.Name); err != nil {
			return paths, fmt.Errorf("BUG(mayfly): an artifact came with a name that none may have: %w", err)
		}
		if err := writeNew(root, f); err != nil {
			return paths, fmt.Errorf("--artifacts %s: write %s: %w", d.path, f.Name, plainError(err))
		}
		paths = append(paths, filepath.Join(d.path, f.Name))
	}
	return paths, nil
}

// open gives the directory itself, and not what a link in its place leads to.
func (d artifactDir) open() (*os.Root, error) {
	fail := func(err error) (*os.Root, error) { return nil, usagef("--artifacts %s: %w", d.path, plainError(err)) }
	abs, err := filepath.Abs(d.path)
	if err != nil {
		return fail(err)
	}
	parent, err := os.OpenRoot(filepath.Dir(abs))
	if err != nil {
		return fail(err)
	}
	defer parent.Close()
	base := filepath.Base(abs)
	if err := parent.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fail(err)
	}
	root, err := parent.OpenRoot(base)
	if err != nil {
		return fail(err)
	}
	link, err := parent.Lstat(base)
	if err == nil {
		var opened fs.FileInfo
		if opened, err = root.Stat("."); err == nil && (!link.IsDir() || !os.SameFile(link, opened)) {
			err = errors.New("it is a link now; give the directory itself")
		}
	}
	if err != nil {
		_ = root.Close()
		return fail(err)
	}
	return root, nil
}

// writeNew writes a file that must not exist; os.Root follows no link to one. It cannot be executed, and is its
// owner's alone.
func writeNew(root *os.Root, a sandbox.Artifact) error {
	f, err := root.OpenFile(a.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(a.Bytes)
	return errors.Join(err, f.Close())
}

// artifactNames lists files for a note.
func artifactNames(files []sandbox.Artifact) string {
	const most = 5
	var names []string
	for i, f := range files {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
