//go:build amd64 || arm64

package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// devices are what a program finds in /dev.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// staging is where the new root is put together. Whatever it held is out of
// reach by then: everything that is granted has been opened before.
const staging = "/tmp"

// view writes down how a root comes to be that holds what is granted and
// nothing else.
type view struct {
	*list
	policy  *policy
	ruleset *int32
	root    opened
	made    map[string]bool // directories and links of the new root
	trees   []string        // what is mounted in it, apart from /tmp and /proc
}

// enterView makes that root and makes it the process's own. Whatever may be
// used gets its rule of Landlock from the same descriptor that it is mounted by.
func (l *list) enterView(p *policy, ruleset *int32, control uintptr) {
	v := &view{list: l, policy: p, ruleset: ruleset, made: map[string]bool{"/": true}}
	v.add(LayerFileSystem, "make mounts private", unix.SYS_MOUNT, v.text(""), v.text("/"), 0, unix.MS_REC|unix.MS_PRIVATE, 0)
	trees := v.openTrees(p.Places)
	v.mount("the new root", "tmpfs", staging, unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=4m,nr_inodes=16384")
	v.openMounted(&v.root, staging)
	v.allowListing(p.Places)
	v.temp(p.TempBytes)
	for _, i := range fitting(furniture(p.UID, p.GID), p.Places, p.Links) {
		v.furnish(i)
	}
	v.boxes(trees, control)
	for _, t := range trees {
		v.attach(t)
	}
	for _, link := range p.Links {
		v.link(link)
	}
	v.proc()
	v.setattr("make the new root read-only", &v.root.fd, 0, unix.MOUNT_ATTR_RDONLY)
	v.pivot()
}

// tree is a part of the host's file system, and where it goes.
type tree struct {
	opened
	path   string
	isDir  bool
	rights rights // of a box
}

// openTrees takes a copy of each granted tree, already restricted. Nothing is
// attached yet: no program has ever seen these mounts.
func (v *view) openTrees(places []place) []*tree {
	var trees []*tree
	take := func(path string, isDir bool, access landlock.AccessFSSet, attr uint64) {
		t := &tree{path: path, isDir: isDir}
		var at opened
		v.open(&at, LayerFileSystem, path)
		v.add(LayerFileSystem, "open the tree "+path, unix.SYS_OPEN_TREE, 0, v.text(""), unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC).takes(0, &at.fd).into = &t.fd
		v.close(&at.fd)
		v.setattr("restrict "+path, &t.fd, unix.AT_RECURSIVE, attr)
		v.allow(v.ruleset, &t.opened, "allow "+path, access, isDir, v.policy.ABI)
		trees = append(trees, t)
	}
	for _, path := range devices {
		take(path, false, deviceAccess, unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_NOSUID)
	}
	for i, p := range places {
		if slices.Contains(v.policy.Boxes, p.Path) {
			trees = append(trees, &tree{path: p.Path, isDir: true, rights: p.Rights}) // made later
			continue
		}
		if covered(places[:i], p) {
			continue
		}
		attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if p.Rights&mayWrite == 0 {
			attr |= unix.MOUNT_ATTR_RDONLY
		}
		if p.Rights&mayExec == 0 {
			attr |= unix.MOUNT_ATTR_NOEXEC
		}
		take(p.Path, p.IsDir, p.Rights.access(), attr)
	}
	return trees
}

// covered reports whether a directory above brings a place along with the same
// rights. The nearest one above counts: its mount is the one that is seen.
func covered(before []place, p place) bool {
	var nearest place
	for _, b := range before {
		if strings.HasPrefix(p.Path, b.Path+"/") && len(b.Path) > len(nearest.Path) {
			nearest = b
		}
	}
	return nearest.Path != "" && nearest.Rights == p.Rights
}

// within reports whether a path lies in one of the trees. Nothing is ever made
// there: whoever may write to it could have put a link in the way, and it would
// be made somewhere else on the host.
func (v *view) within(path string) bool {
	for _, t := range v.trees {
		if t == path || strings.HasPrefix(path, t+"/") {
			return true
		}
	}
	return false
}

// attach puts a tree at its path below the new root. What it is put onto lies
// in the new root's own memory, or in another tree: there somebody may have
// exchanged a part of the path for a link.
func (v *view) attach(t *tree) {
	what := "attach " + t.path
	to, path := &v.root, "."+t.path
	flags := uintptr(unix.MOVE_MOUNT_F_EMPTY_PATH)
	if v.within(t.path) {
		to = new(opened)
		how, size := structure(v.list, &openBeneath)
		v.add(LayerFileSystem, what, unix.SYS_OPENAT2, 0, v.text(path), how, size).takes(0, &v.root.fd).into = &to.fd
		path, flags = "", flags|unix.MOVE_MOUNT_T_EMPTY_PATH
	} else {
		v.makePlace(t)
	}
	v.add(LayerFileSystem, what, unix.SYS_MOVE_MOUNT, 0, v.text(""), 0, v.text(path), flags).takes(0, &t.fd).takes(2, &to.fd)
	v.trees = append(v.trees, t.path)
}

// makePlace makes what the tree is attached to.
func (v *view) makePlace(t *tree) {
	if t.isDir {
		v.mkdir(t.path, 0o755)
		return
	}
	v.mkdir(filepath.Dir(t.path), 0o755)
	v.add(LayerFileSystem, "make a place for "+t.path, unix.SYS_MKNODAT, here, v.text(staging+t.path), unix.S_IFREG|0o444, 0)
}

// mkdir makes a directory of the new root and those above it, once.
func (v *view) mkdir(path string, mode uintptr) {
	if v.made[path] {
		return
	}
	v.made[path] = true
	v.mkdir(filepath.Dir(path), 0o755)
	v.add(LayerFileSystem, "make the directory "+path, unix.SYS_MKDIRAT, here, v.text(staging+path), mode)
}

// link makes a link that leads to something granted, once.
func (v *view) link(l link) {
	if v.made[l.Path] || v.within(l.Path) {
		return
	}
	v.mkdir(filepath.Dir(l.Path), 0o755)
	v.made[l.Path] = true
	v.add(LayerFileSystem, "make the link "+l.Path, unix.SYS_SYMLINKAT, v.text(l.Target), here, v.text(staging+l.Path))
}

func (v *view) temp(size int64) {
	const path = "/tmp"
	v.mkdir(path, 0o755)
	v.mount("the private /tmp", "tmpfs", staging+path, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, fmt.Sprintf("mode=1777,size=%d,nr_inodes=4096", size))
	v.allowMounted(path, accessRead|accessWrite)
}

// proc mounts a /proc that shows no process but those of the call. A container
// that hides parts of its own does not allow it.
func (v *view) proc() {
	const path = "/proc"
	v.mkdir(path, 0o555)
	s := v.mount("/proc", "proc", staging+path, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "subset=pid,hidepid=invisible")
	s.unless, s.misses = unix.EPERM, []byte(LayerProc)
	at, before := len(v.steps)-1, len(v.steps)
	v.allowMounted(path, accessRead)
	v.steps[at].skip = len(v.steps) - before
}

// allowMounted adds the rule for what has just been mounted at a path.
func (v *view) allowMounted(path string, access landlock.AccessFSSet) {
	o := new(opened)
	v.openMounted(o, staging+path)
	v.allow(v.ruleset, o, "allow "+path, access, true, v.policy.ABI)
	v.close(&o.fd)
}

func (v *view) openMounted(o *opened, path string) {
	v.add(LayerFileSystem, "open what is mounted at "+path, unix.SYS_OPENAT, here, v.text(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0).into = &o.fd
}

func (v *view) mount(what, kind, path string, flags uintptr, options string) *step {
	name := v.text(kind)
	return v.add(LayerFileSystem, "mount "+what, unix.SYS_MOUNT, name, v.text(path), name, flags, v.text(options))
}

func (v *view) setattr(what string, fd *int32, flags uintptr, set uint64) {
	attr, size := structure(v.list, &unix.MountAttr{Attr_set: set})
	v.add(LayerFileSystem, what, unix.SYS_MOUNT_SETATTR, 0, v.text(""), unix.AT_EMPTY_PATH|flags, attr, size).takes(0, fd)
}

// pivot makes the staging directory the root and lets go of the old one, which
// is stacked on top of the new one and taken off again.
func (v *view) pivot() {
	dot := v.text(".")
	v.add(LayerFileSystem, "enter the new root", unix.SYS_CHDIR, v.text(staging))
	v.add(LayerFileSystem, "change the root", unix.SYS_PIVOT_ROOT, dot, dot)
	v.add(LayerFileSystem, "let go of the old root", unix.SYS_UMOUNT2, dot, unix.MNT_DETACH)
	v.add(LayerFileSystem, "enter the root", unix.SYS_CHDIR, v.text("/"))
}
