//go:build amd64 || arm64

package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// link is a symbolic link that stands in the way to a granted path.
type link struct{ path, target string }

// errLinks says that a path goes through more links than the kernel follows.
var errLinks = errors.New("too many symbolic links")

// place is a granted path without symbolic links, and all rights that it has.
type place struct {
	path   string
	rights rights
	isDir  bool
}

// resolve gives a path's place without symbolic links, and the links on its
// way, which a private tree must have as well.
func resolve(path string) (p place, links []link, err error) {
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
	return place{path: done, isDir: isDir}, links, nil
}

// settle resolves grants and adds them up: each of what it gives has all rights
// that its path has, those of directories above included. Directories come
// before what is in them.
func settle(grants []grant) ([]place, []link, error) {
	var links []link
	sum := make(map[string]place)
	for _, g := range grants {
		p, on, err := resolve(g.Path)
		if err != nil {
			return nil, nil, err
		}
		if reason := reservedPath(p.path); reason != "" {
			return nil, nil, &os.PathError{Op: "grant", Path: p.path, Err: errors.New(reason)}
		}
		links = append(links, on...)
		p.rights = sum[p.path].rights | g.Rights
		sum[p.path] = p
	}
	var settled []place
	for path, p := range sum {
		for above, a := range sum {
			if strings.HasPrefix(path, above+"/") {
				p.rights |= a.rights
			}
		}
		settled = append(settled, p)
	}
	slices.SortFunc(settled, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return settled, links, nil
}
