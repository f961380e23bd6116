package memfs

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Tree is a directory with all that is below it, read once and never changed,
// for any number of file systems to show; see [Config].Tree.
type Tree struct{ root *node }

// treeName is where a guest finds the Tree that its file system shows.
const treeName = "mnt"

// inoTree is where the inode numbers of a Tree start: far from those that a
// guest's own files can get.
const inoTree = 1 << 40

// NewTree reads all of files. Anything but regular files and directories is
// refused, as are names that a guest could not give a file itself.
func NewTree(files fs.FS) (*Tree, error) {
	t := &Tree{root: &node{ino: inoTree, mode: fs.ModeDir | 0o555, linked: true, fixed: true, parent: rootNode, depth: 1}}
	dirs := map[string]*node{".": t.root}
	ino := uint64(inoTree)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		dir, base := ".", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, base = path[:i], path[i+1:]
		}
		parent := dirs[dir]
		if len(base) > MaxName || !utf8.ValidString(base) || parent.depth >= MaxDepth {
			return fmt.Errorf("read the tree: a guest could not name %q", path)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		ino++
		at := info.ModTime().UnixNano()
		n := &node{ino: ino, linked: true, fixed: true, atim: at, mtim: at, ctim: at}
		switch {
		case d.IsDir():
			n.mode, n.parent, n.depth = fs.ModeDir|0o555, parent, parent.depth+1
			dirs[path] = n
		case d.Type().IsRegular():
			text, err := fs.ReadFile(files, path)
			if err != nil {
				return err
			}
			n.mode, n.data = 0o444, sharedContent(text)
		default:
			return fmt.Errorf("read the tree: %s is neither a file nor a directory", path)
		}
		parent.add(base, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// sharedContent makes a content of b without copying it.
func sharedContent(b []byte) content {
	c := content{size: int64(len(b))}
	for len(b) > 0 {
		n := min(len(b), chunkSize)
		c.chunks = append(c.chunks, b[:n:n])
		b = b[n:]
	}
	return c
}
