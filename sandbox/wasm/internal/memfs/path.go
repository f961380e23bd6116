package memfs

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// place is where a path leads: an entry of a directory, which may not exist.
type place struct {
	dir  *node  // the directory that holds the entry; nil for the root itself
	name string // its name there; empty for the root and for a path that ends in ".."
	node *node  // what it is, nil if there is nothing
	// slash says that the path ends in a slash, so it means a directory.
	slash bool
}

// fixed says that the entry lies outside of what a guest may change.
func (p place) fixed() bool { return p.dir == nil || p.dir.fixed || p.name == "" }

// resolve follows a path from the root. Symbolic links on the way are followed,
// one at the end only if follow is set. A missing last name is no error; what
// is missing on the way is.
func (f *FS) resolve(path string, follow bool) (place, sys.Errno) {
	if len(path) > MaxPath {
		return place{}, sys.ENAMETOOLONG
	}
	if strings.IndexByte(path, 0) >= 0 {
		return place{}, sys.EINVAL
	}
	root := f.root()
	at := place{node: root}
	links := 0
	for rest := path; ; {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			return at, 0
		}
		if at.node == nil {
			return place{}, sys.ENOENT
		}
		if !at.node.isDir() {
			return place{}, sys.ENOTDIR
		}
		var name string
		name, rest, at.slash = strings.Cut(rest, "/")
		switch {
		case name == ".":
			continue
		case name == "..":
			if at.node != root {
				at = place{dir: at.node.parent.parent, node: at.node.parent, slash: at.slash}
			}
			continue
		case len(name) > MaxName:
			return place{}, sys.ENAMETOOLONG
		}
		dir := at.node
		at = place{dir: dir, name: name, node: f.lookup(dir, name), slash: at.slash}
		last := strings.Trim(rest, "/") == ""
		if at.node == nil || !at.node.isLink() || (last && !follow) {
			continue
		}
		if links++; links > MaxLinks {
			return place{}, sys.ELOOP
		}
		target := at.node.target
		at = place{node: dir, dir: dir.parent, slash: at.slash}
		if strings.HasPrefix(target, "/") {
			at = place{node: root, slash: at.slash}
		}
		if at.slash {
			target += "/" + rest
		}
		if rest = target; len(rest) > 2*MaxPath {
			return place{}, sys.ENAMETOOLONG
		}
	}
}

// existing resolves a path whose end must exist, and must be a directory if
// the path says so.
func (f *FS) existing(path string, follow bool) (place, sys.Errno) {
	p, errno := f.resolve(path, follow)
	switch {
	case errno != 0:
		return place{}, errno
	case p.node == nil:
		return place{}, sys.ENOENT
	case p.slash && !p.node.isDir():
		return place{}, sys.ENOTDIR
	}
	return p, 0
}
