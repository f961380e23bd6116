//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// devices are what a program finds in /dev.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// staging is where the new root is put together. Whatever it held is out of
// reach by then: everything that is granted has been opened before.
const staging = "/tmp"

// tree is a part of the host's file system, held by a descriptor, and where it
// goes.
type tree struct {
	fd    int
	path  string
	isDir bool
}

// enterView makes a root with nothing but what is granted and makes it this
// process's. It reports whether there is a /proc.
func enterView(grants []grant, links []link, items []item, tempBytes int64) (proc bool, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return false, fmt.Errorf("make mounts private: %w", err)
	}
	trees, err := openTrees(grants)
	if err != nil {
		return false, err
	}
	if err := unix.Mount("tmpfs", staging, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=4m,nr_inodes=16384"); err != nil {
		return false, fmt.Errorf("mount the new root: %w", err)
	}
	root, err := unix.Open(staging, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open the new root: %w", err)
	}
	if err := mountTemp(tempBytes); err != nil {
		return false, err
	}
	for _, i := range items {
		if err := i.make(); err != nil {
			return false, fmt.Errorf("make %s: %w", i.path, err)
		}
	}
	for i, t := range trees {
		if !within(trees[:i], t.path) {
			if err := t.makePlace(); err != nil {
				return false, fmt.Errorf("make a place for %s: %w", t.path, err)
			}
		}
		if err := t.attach(root); err != nil {
			return false, fmt.Errorf("attach %s: %w", t.path, err)
		}
	}
	for _, l := range links {
		if !within(trees, l.path) {
			if err := l.make(); err != nil {
				return false, err
			}
		}
	}
	if proc, err = mountProc(); err != nil {
		return false, err
	}
	if err := unix.MountSetattr(root, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return false, fmt.Errorf("make the new root read-only: %w", err)
	}
	return proc, pivot()
}

// openTrees takes a copy of each granted tree, already restricted. Nothing is
// attached yet: no program has ever seen these mounts.
func openTrees(grants []grant) ([]tree, error) {
	var trees []tree
	for _, path := range devices {
		t, err := openTree(path, unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_NOSUID)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		trees = append(trees, t)
	}
	for i, g := range grants {
		if covered(grants[:i], g) {
			continue
		}
		attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if g.Rights&mayWrite == 0 {
			attr |= unix.MOUNT_ATTR_RDONLY
		}
		if g.Rights&mayExec == 0 {
			attr |= unix.MOUNT_ATTR_NOEXEC
		}
		t, err := openTree(g.Path, attr)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", g.Path, err)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// covered reports whether a directory above brings g along with the same
// rights. The nearest one above counts: its mount is the one that is seen.
func covered(before []grant, g grant) bool {
	var nearest grant
	for _, b := range before {
		if strings.HasPrefix(g.Path, b.Path+"/") && len(b.Path) > len(nearest.Path) {
			nearest = b
		}
	}
	return nearest.Path != "" && nearest.Rights == g.Rights
}

func openTree(path string, attr uint64) (tree, error) {
	// No link is followed: the path was resolved before, and one that has
	// become a link since was exchanged by somebody.
	at, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return tree{}, err
	}
	defer unix.Close(at)
	var stat unix.Stat_t
	if err := unix.Fstat(at, &stat); err != nil {
		return tree{}, err
	}
	fd, err := unix.OpenTree(at, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return tree{}, os.NewSyscallError("open_tree", err)
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr}); err != nil {
		return tree{}, errors.Join(os.NewSyscallError("mount_setattr", err), unix.Close(fd))
	}
	return tree{fd, path, stat.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

// within reports whether a path lies in one of the trees. Nothing is ever made
// there: whoever may write to it could have put a link in the way, and it would
// be made somewhere else on the host.
func within(trees []tree, path string) bool {
	for _, t := range trees {
		if t.path == path || strings.HasPrefix(path, t.path+"/") {
			return true
		}
	}
	return false
}

// attach puts the tree at its path below root.
func (t tree) attach(root int) error {
	defer unix.Close(t.fd)
	to, err := unix.Openat2(root, strings.TrimPrefix(t.path, "/"), &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_BENEATH,
	})
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return os.NewSyscallError("move_mount", unix.MoveMount(t.fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
}

// makePlace makes what the tree is attached to, in the new root's own memory.
func (t tree) makePlace() error {
	place := staging + t.path
	if t.isDir {
		return os.MkdirAll(place, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444)
	if err != nil {
		return err
	}
	return f.Close()
}

// make makes the link, once.
func (l link) make() error {
	place := staging + l.path
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(l.target, place); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func mountTemp(size int64) error {
	const place = staging + "/tmp"
	if err := os.Mkdir(place, 0o755); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=1777,size=%d,nr_inodes=4096", size)
	if err := unix.Mount("tmpfs", place, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("mount the private /tmp: %w", err)
	}
	return nil
}

// mountProc mounts a /proc that shows no process but those of the call. A
// container that hides parts of its own does not allow it.
func mountProc() (bool, error) {
	const place = staging + "/proc"
	if err := os.Mkdir(place, 0o555); err != nil {
		return false, err
	}
	err := unix.Mount("proc", place, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "subset=pid,hidepid=invisible")
	if errors.Is(err, unix.EPERM) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("mount /proc: %w", err)
	}
	return true, nil
}

// pivot makes the staging directory the root and lets go of the old one.
func pivot() error {
	if err := unix.Chdir(staging); err != nil {
		return err
	}
	// The old root is stacked on top of the new one and taken off again.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	return unix.Chdir("/")
}
