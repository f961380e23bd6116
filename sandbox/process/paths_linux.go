//go:build amd64 || arm64

package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// link is a symbolic link that stands in the way to a granted path.
type link struct{ Path, Target string }

// errLinks says that a path goes through more links than the kernel follows.
var errLinks = errors.New("too many symbolic links")

// place is a granted path without symbolic links, and all rights that it has.
type place struct {
	Path   string
	Rights rights
	IsDir  bool
}

// resolve gives a path's place without symbolic links, and the links on its
// way, which a private tree must have as well. Most paths have none.
//
// What it finds is not relied on: keepers open places without following links.
func resolve(path string) (p place, links []link, err error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &openPath)
	if err != nil {
		return resolveLinks(path)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return place{}, nil, os.NewSyscallError("fstat", err)
	}
	return place{Path: filepath.Clean(path), IsDir: stat.Mode&unix.S_IFMT == unix.S_IFDIR}, nil, nil
}

func resolveLinks(path string) (p place, links []link, err error) {
	done, isDir := "/", true
	rest := strings.Split(strings.Trim(path, "/"), "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done, isDir = filepath.Dir(done), true
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		if err != nil {
			return place{}, nil, err
		}
		if info.Mode().Type() != os.ModeSymlink {
			done, isDir = next, info.IsDir()
			continue
		}
		if len(links) == 40 {
			return place{}, nil, errLinks
		}
		target, err := os.Readlink(next)
		if err != nil {
			return place{}, nil, err
		}
		links = append(links, link{next, target})
		rest = append(strings.Split(target, "/"), rest...)
		if filepath.IsAbs(target) {
			done, isDir = "/", true
		}
	}
	return place{Path: done, IsDir: isDir}, links, nil
}

// grant is one path and how it may be used.
type grant struct {
	path   string
	rights rights
}

// settle resolves grants and adds them up: each of what it gives has all rights
// that its path has, those of directories above included. Directories come
// before what is in them.
func settle(grants []grant) ([]place, []link, error) {
	var links []link
	sum := make(map[string]place)
	for _, g := range grants {
		p, on, err := resolve(g.path)
		if err != nil {
			return nil, nil, err
		}
		if reason := reservedPath(p.Path); reason != "" {
			return nil, nil, &os.PathError{Op: "grant", Path: p.Path, Err: errors.New(reason)}
		}
		links = append(links, on...)
		p.Rights = sum[p.Path].Rights | g.rights
		sum[p.Path] = p
	}
	var settled []place
	for path, p := range sum {
		for above, a := range sum {
			if strings.HasPrefix(path, above+"/") {
				p.Rights |= a.Rights
			}
		}
		settled = append(settled, p)
	}
	slices.SortFunc(settled, func(a, b place) int { return strings.Compare(a.Path, b.Path) })
	return settled, links, nil
}
