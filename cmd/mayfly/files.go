package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mayfly-run/mayfly/manifests"
)

// readManifest reads a file that is to be edited.
func readManifest(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, usagef("%s cannot be read: %w", name, plainError(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, manifests.MaxFileBytes+1))
	if err != nil {
		return nil, usagef("%s cannot be read: %w", name, plainError(err))
	}
	return text, nil // one byte over the limit is refused by whoever parses it
}

// replaceFile gives a file new content in one step: whoever reads it, also
// after a crash, sees the old text or the new one. Its permissions stay, and a
// symbolic link to it stays one.
func replaceFile(name string, text []byte) error {
	failed := func(err error) error { return fmt.Errorf("%s cannot be written: %w", name, plainError(err)) }
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return failed(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return failed(err)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".mayfly-*")
	if err != nil {
		return failed(err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		os.Remove(f.Name())
		return failed(err)
	}
	return nil
}
