package memfs

import experimental "github.com/tetratelabs/wazero/experimental/sys"

// Rename implements sys.FS, with the rules of POSIX: what is in the way is
// replaced in one step, a directory only by a directory and only if it is
// empty, and nothing can move into itself.
func (f *FS) Rename(from, to string) experimental.Errno {
	src, errno := f.resolve(from, false)
	if errno != 0 {
		return errno
	}
	dst, errno := f.resolve(to, false)
	switch {
	case errno != 0:
		return errno
	case src.node == nil:
		return experimental.ENOENT
	case src.slash && !src.node.isDir():
		return experimental.ENOTDIR
	case src.fixed(), dst.fixed():
		return experimental.EROFS
	case src.node == dst.node:
		return 0
	case !src.node.isDir() && dst.slash:
		return experimental.ENOTDIR
	case src.node.isDir() && within(dst.dir, src.node):
		return experimental.EINVAL
	}
	if old := dst.node; old != nil {
		switch {
		case src.node.isDir() && !old.isDir():
			return experimental.ENOTDIR
		case !src.node.isDir() && old.isDir():
			return experimental.EISDIR
		case len(old.order) > 0:
			return experimental.ENOTEMPTY
		}
	}
	if src.node.isDir() {
		if dst.dir.depth+1+src.node.height() > MaxDepth {
			return experimental.ENAMETOOLONG
		}
	}
	now := f.now()
	if dst.node != nil {
		f.drop(dst.dir, dst.name, dst.node, now)
	}
	src.dir.remove(src.name)
	src.dir.touch(now)
	dst.dir.add(dst.name, src.node)
	dst.dir.touch(now)
	src.node.ctim = now
	if src.node.isDir() {
		src.node.parent = dst.dir
		src.node.settle()
	}
	return 0
}

// within says whether dir is n or lies below it.
func within(dir, n *node) bool {
	for ; dir != nil; dir = dir.parent {
		if dir == n {
			return true
		}
	}
	return false
}

// height is how many levels of directories n has below it. MaxDepth bounds the
// recursion.
func (n *node) height() int {
	h := 0
	for _, e := range n.order {
		if e.node.isDir() {
			h = max(h, 1+e.node.height())
		}
	}
	return h
}

// settle corrects the depth of n and of the directories below.
func (n *node) settle() {
	n.depth = n.parent.depth + 1
	for _, e := range n.order {
		if e.node.isDir() {
			e.node.settle()
		}
	}
}
