package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/mayfly-run/mayfly/manifests"
)

// write writes the manifest and lists it in the harness: both, and so that the
// harness loads with it, or neither.
func (c *toolsAddCommand) write(set *manifests.Set, root *os.Root, t *manifests.Tool, done *addedTool) error {
	name, err := c.outFile(set, root)
	if err != nil {
		return err
	}
	done.Manifest = filepath.Join(filepath.Dir(done.Harness), filepath.FromSlash(name))
	manifest, err := done.encode(t, path.Ext(name))
	if err != nil {
		return err
	}
	unlock, err := lockManifests(set.Harness.Origin.Root)
	if err != nil {
		return err
	}
	defer unlock()
	// All that can be refused is refused before anything is written.
	before, err := readManifest(done.Harness)
	if err != nil {
		return err
	}
	after, err := manifests.AddManifest(done.Harness, before, name)
	if err != nil {
		return manifestErrors(err)
	}
	undo, err := createFile(root, name, manifest)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already; --out names another file", done.Manifest)
	}
	if err != nil {
		return usagef("%s cannot be written: %w", done.Manifest, plainError(err))
	}
	if string(after) != string(before) {
		if err := replaceFile(done.Harness, after); err != nil {
			undo()
			return err
		}
		done.Listed = path.Dir(name)
		if done.Listed == "." {
			done.Listed = name
		}
	}
	if err := verify(done, t); err != nil {
		undo()
		if done.Listed != "" {
			err = errors.Join(err, replaceFile(done.Harness, before))
		}
		return err
	}
	return nil
}

// verify loads the harness as every other verb will. It may still name tools that
// are not there.
func verify(done *addedTool, t *manifests.Tool) error {
	set, err := loadHarness(done.Harness)
	if errs, ok := errors.AsType[manifests.Errors](err); ok && set != nil {
		for _, e := range errs {
			done.NotYet = append(done.NotYet, e.Error())
		}
		err = nil
	}
	if err != nil {
		return usagef("nothing was changed, as the harness would not load with the new manifest: %w", err)
	}
	if got, ok := set.Tool(done.Tool); !ok || got.Digest() != t.Digest() {
		return usagef("nothing was changed: %s would not be read, as names that start with a dot are not; --out names another file", done.Manifest)
	}
	return nil
}

// createFile makes a file that is not there yet, with the directories that it
// lies in. undo takes away what was made.
func createFile(root *os.Root, name string, text []byte) (undo func(), err error) {
	var made []string
	undo = func() {
		for i := len(made) - 1; i >= 0; i-- {
			_ = root.Remove(made[i]) // a directory that others have put something into stays
		}
	}
	defer func() {
		if err != nil {
			undo()
		}
	}()
	var dirs []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	for _, dir := range dirs {
		err := root.Mkdir(dir, 0o755)
		if err == nil {
			made = append(made, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return undo, err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return undo, err
	}
	made = append(made, name)
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return undo, fmt.Errorf("write: %w", err)
	}
	return undo, nil
}
