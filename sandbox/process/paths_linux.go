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

// resolve gives a path's place without symbolic links, and the links on its
// way, which a private tree must have as well.
func resolve(path string) (string, []link, error) {
	var links []link
	done, rest := "/", strings.Split(strings.Trim(path, "/"), "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", nil, err
		}
		if info.Mode().Type() != os.ModeSymlink {
			done = next
			continue
		}
		if len(links) == 40 {
			return "", nil, errLinks
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		links = append(links, link{next, target})
		rest = append(strings.Split(target, "/"), rest...)
		if filepath.IsAbs(target) {
			done = "/"
		}
	}
	return done, links, nil
}

// settle resolves grants and adds them up: each of what it gives has all rights
// that its path has, those of directories above included. Directories come
// before what is in them.
func settle(grants []grant) ([]grant, []link, error) {
	var links []link
	sum := make(map[string]rights)
	for _, g := range grants {
		path, on, err := resolve(g.Path)
		if err != nil {
			return nil, nil, err
		}
		if reason := reservedPath(path); reason != "" {
			return nil, nil, &os.PathError{Op: "grant", Path: path, Err: errors.New(reason)}
		}
		links = append(links, on...)
		sum[path] |= g.Rights
	}
	var settled []grant
	for path := range sum {
		all := sum[path]
		for above, r := range sum {
			if strings.HasPrefix(path, above+"/") {
				all |= r
			}
		}
		settled = append(settled, grant{path, all})
	}
	slices.SortFunc(settled, func(a, b grant) int { return strings.Compare(a.Path, b.Path) })
	return settled, links, nil
}
