package memfs

import (
	"io/fs"
	"strings"
	"unicode/utf8"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

var _ experimental.FS = (*FS)(nil)

// accessMode are the bits of a flag that say how a file is opened.
const accessMode = experimental.O_RDONLY | experimental.O_RDWR | experimental.O_WRONLY

// OpenFile implements sys.FS. perm is ignored: see the package comment.
func (f *FS) OpenFile(path string, flag experimental.Oflag, _ fs.FileMode) (experimental.File, experimental.Errno) {
	has := func(o experimental.Oflag) bool { return flag&o != 0 }
	access := flag & accessMode
	if access == accessMode {
		return nil, experimental.EINVAL
	}
	// A new file's name is taken as it is: with O_EXCL a link in its place
	// exists, wherever it leads.
	exclusive := has(experimental.O_CREAT) && has(experimental.O_EXCL)
	p, errno := f.resolve(path, !has(experimental.O_NOFOLLOW) && !exclusive)
	if errno != 0 {
		return nil, errno
	}
	n := p.node
	if n == nil {
		if !has(experimental.O_CREAT) {
			return nil, experimental.ENOENT
		}
		if p.slash {
			return nil, experimental.EISDIR
		}
		if p.fixed() {
			return nil, experimental.EROFS
		}
		if errno := f.mayOpen(nil); errno != 0 {
			return nil, errno
		}
		if n, errno = f.create(p.dir, p.name, 0o600); errno != 0 {
			return nil, errno
		}
		return f.handle(n, flag), 0
	}
	switch {
	case exclusive:
		return nil, experimental.EEXIST
	case n.isLink():
		return nil, experimental.ELOOP // O_NOFOLLOW
	case n.isDir() && (access != experimental.O_RDONLY || has(experimental.O_TRUNC) || has(experimental.O_CREAT)):
		return nil, experimental.EISDIR
	case !n.isDir() && (p.slash || has(experimental.O_DIRECTORY)):
		return nil, experimental.ENOTDIR
	case n.fixed && n.isRegular() && (access != experimental.O_RDONLY || has(experimental.O_TRUNC)):
		return nil, experimental.EROFS
	}
	if errno := f.mayOpen(n); errno != 0 {
		return nil, errno
	}
	if has(experimental.O_TRUNC) && access != experimental.O_RDONLY && n.isRegular() {
		if errno := f.truncate(n, 0); errno != 0 {
			return nil, errno
		}
	}
	return f.handle(n, flag), 0
}

// mayOpen refuses one more handle when there are enough. n is nil for a file
// that does not exist yet.
func (f *FS) mayOpen(n *node) experimental.Errno {
	if f.open >= MaxOpen || (n != nil && n.isDir() && f.dirs >= MaxOpenDirs) {
		return f.fail(EMFILE)
	}
	return 0
}

// handle opens n. Preconditions: mayOpen agreed.
func (f *FS) handle(n *node, flag experimental.Oflag) experimental.File {
	f.open++
	if !n.fixed { // fixed nodes are shared with other file systems
		n.open++
	}
	if n.isDir() {
		f.dirs++
		return &dir{fs: f, node: n}
	}
	access := flag & accessMode
	return &file{
		fs: f, node: n,
		readable: access != experimental.O_WRONLY,
		writable: access != experimental.O_RDONLY,
		append:   flag&experimental.O_APPEND != 0,
		nonblock: flag&experimental.O_NONBLOCK != 0,
	}
}

// closed gives a handle back.
func (f *FS) closed(n *node) {
	f.open--
	if n.isDir() {
		f.dirs--
	}
	if !n.fixed {
		n.open--
		f.release(n)
	}
}

// truncate sets the size of a regular file. Growing makes a hole, which
// counts.
func (f *FS) truncate(n *node, size int64) experimental.Errno {
	switch {
	case size < 0:
		return experimental.EINVAL
	case size-n.data.size > f.room():
		return f.fail(ENOSPC)
	}
	f.bytes += size - n.data.size
	n.data.truncate(size)
	n.touch(f.now())
	return 0
}

// Lstat implements sys.FS.
func (f *FS) Lstat(path string) (sys.Stat_t, experimental.Errno) {
	return f.stat(path, strings.HasSuffix(path, "/"))
}

// Stat implements sys.FS.
func (f *FS) Stat(path string) (sys.Stat_t, experimental.Errno) { return f.stat(path, true) }

func (f *FS) stat(path string, follow bool) (sys.Stat_t, experimental.Errno) {
	p, errno := f.existing(path, follow)
	if errno != 0 {
		return sys.Stat_t{}, errno
	}
	return p.node.stat(), 0
}

// Mkdir implements sys.FS.
func (f *FS) Mkdir(path string, _ fs.FileMode) experimental.Errno {
	p, errno := f.resolve(path, false)
	switch {
	case errno != 0:
		return errno
	case p.node != nil:
		return experimental.EEXIST
	case p.fixed():
		return experimental.EROFS
	}
	_, errno = f.create(p.dir, p.name, fs.ModeDir|0o700)
	return errno
}

// Chmod implements sys.FS. There are no permissions to change.
func (f *FS) Chmod(path string, _ fs.FileMode) experimental.Errno {
	p, errno := f.existing(path, true)
	switch {
	case errno != 0:
		return errno
	case p.node.fixed:
		return experimental.EROFS
	}
	return experimental.ENOTSUP
}

// Unlink implements sys.FS. A file that is open stays readable and writable
// through its handles.
func (f *FS) Unlink(path string) experimental.Errno {
	p, errno := f.existing(path, false)
	switch {
	case errno != 0:
		return errno
	case p.node.isDir():
		if p.fixed() {
			return experimental.EROFS
		}
		return experimental.EISDIR
	case p.fixed():
		return experimental.EROFS
	}
	f.drop(p.dir, p.name, p.node, f.now())
	return 0
}

// Rmdir implements sys.FS.
func (f *FS) Rmdir(path string) experimental.Errno {
	p, errno := f.existing(path, false)
	switch {
	case errno != 0:
		return errno
	case p.fixed():
		return experimental.EROFS
	case !p.node.isDir():
		return experimental.ENOTDIR
	case len(p.node.order) > 0:
		return experimental.ENOTEMPTY
	}
	f.drop(p.dir, p.name, p.node, f.now())
	return 0
}

// Link implements sys.FS: there are no hard links, as one file would then
// leave the sandbox as many.
func (f *FS) Link(oldPath, newPath string) experimental.Errno {
	if _, errno := f.existing(oldPath, false); errno != 0 {
		return errno
	}
	p, errno := f.resolve(newPath, false)
	switch {
	case errno != 0:
		return errno
	case p.node != nil:
		return experimental.EEXIST
	case p.fixed():
		return experimental.EROFS
	}
	return experimental.EPERM
}

// Symlink implements sys.FS. The target may be anything that could be a path;
// it is only ever followed inside this file system.
func (f *FS) Symlink(target, path string) experimental.Errno {
	switch {
	case target == "":
		return experimental.ENOENT
	case len(target) > MaxPath:
		return experimental.ENAMETOOLONG
	case strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target):
		return experimental.EINVAL
	}
	p, errno := f.resolve(path, false)
	switch {
	case errno != 0:
		return errno
	case p.node != nil:
		return experimental.EEXIST
	case p.fixed():
		return experimental.EROFS
	case p.slash:
		return experimental.ENOENT
	case int64(len(target)) > f.room():
		return f.fail(ENOSPC)
	}
	n, errno := f.create(p.dir, p.name, fs.ModeSymlink|0o777)
	if errno != 0 {
		return errno
	}
	// wazero hands over a string that lies in the guest's memory: it changes
	// when the guest writes there, and dies with the guest.
	n.target = strings.Clone(target)
	f.bytes += int64(len(target))
	return 0
}

// Readlink implements sys.FS.
func (f *FS) Readlink(path string) (string, experimental.Errno) {
	p, errno := f.existing(path, false)
	switch {
	case errno != 0:
		return "", errno
	case !p.node.isLink():
		return "", experimental.EINVAL
	}
	return p.node.target, 0
}

// FollowTimes says whether Utimens sets the times of what a symbolic link leads
// to, which it does unless told otherwise, or those of the link. sys.FS has no
// way to say so.
func (f *FS) FollowTimes(follow bool) { f.timesOfLinks = !follow }

// Utimens implements sys.FS.
func (f *FS) Utimens(path string, atim, mtim int64) experimental.Errno {
	p, errno := f.existing(path, !f.timesOfLinks)
	if errno != 0 {
		return errno
	}
	return f.setTimes(p.node, atim, mtim)
}
