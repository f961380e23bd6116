package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// leave puts things into a directory: name, kind, and what it holds or leads to,
// again and again.
func init() {
	acts["leave"] = func(args []string) any {
		for len(args) >= 3 {
			path, kind, what := args[0], args[1], args[2]
			args = args[3:]
			if err := leave(path, kind, what); err != nil {
				return tried(err)
			}
		}
		if len(args) > 0 && args[0] == "fail" {
			os.Exit(3)
		}
		if len(args) > 0 && args[0] == "hang" {
			forever()
		}
		return tried(nil)
	}
	acts["names"] = func(args []string) any {
		entries, err := os.ReadDir(args[0])
		if err != nil {
			return tried(err)
		}
		names := []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
}

func leave(path, kind, what string) error {
	switch kind {
	case "file":
		return os.WriteFile(path, []byte(what), 0o755)
	case "no text":
		return os.WriteFile(path+"\xff", nil, 0o600)
	case "dir":
		return os.MkdirAll(path, 0o755)
	case "deep":
		return os.MkdirAll(path+strings.Repeat("/d", number(what)), 0o755)
	case "symlink":
		return os.Symlink(what, path)
	case "hardlink":
		return os.Link(filepath.Join(filepath.Dir(path), what), path)
	case "fifo":
		return syscall.Mkfifo(path, 0o644)
	case "hole":
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			err = f.Truncate(int64(number(what)))
			f.Close()
		}
		return err
	}
	panic(kind)
}
