//go:build amd64 || arm64

package process

import (
	"fmt"
	"path/filepath"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// item is something that programs expect in every file system and that no
// grant brings along: a small file, or a symbolic link if it has a target.
type item struct{ path, text, target string }

// userName is what the call's user is called in the private tree.
const userName = "mayfly"

// furniture is what a private tree holds beside what is granted. Interpreters
// and tools look up the user that they run as, share memory below /dev/shm,
// and name their streams by path.
func furniture(uid, gid int) []item {
	return []item{
		{path: "/etc/passwd", text: fmt.Sprintf("root:x:0:0::/:/bin/false\n%s:x:%d:%d:%s:/tmp:/bin/false\n", userName, uid, gid, userName)},
		{path: "/etc/group", text: fmt.Sprintf("root:x:0:\n%s:x:%d:\n", userName, gid)},
		// One size bounds both.
		{path: "/dev/shm", target: "/tmp"},
		{path: "/dev/fd", target: "/proc/self/fd"},
		{path: "/dev/stdin", target: "/proc/self/fd/0"},
		{path: "/dev/stdout", target: "/proc/self/fd/1"},
		{path: "/dev/stderr", target: "/proc/self/fd/2"},
	}
}

// fitting leaves out what a grant brings along, or would bring along: a grant
// counts more, and nothing is ever made below a granted directory or a link.
func fitting(items []item, places []place, links []link) []item {
	var fit []item
	for _, i := range items {
		taken := false
		for _, p := range places {
			taken = taken || reaches(p.Path, i.path)
		}
		for _, l := range links {
			taken = taken || reaches(l.Path, i.path)
		}
		if !taken {
			fit = append(fit, i)
		}
	}
	return fit
}

// reaches reports whether path is at or below above.
func reaches(above, path string) bool {
	return path == above || strings.HasPrefix(path, above+"/")
}

// furnish makes an item in the new root, before anything else of the host is
// attached there, and lets the program read it.
func (v *view) furnish(i item) {
	if i.target != "" {
		v.link(link{i.path, i.target})
		return
	}
	what, o := "make "+i.path, new(opened)
	v.mkdir(filepath.Dir(i.path), 0o755)
	v.add(LayerFileSystem, what, unix.SYS_OPENAT, here, v.text(staging+i.path), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o444).into = &o.fd
	v.add(LayerFileSystem, what, unix.SYS_WRITE, 0, v.text(i.text), uintptr(len(i.text))).takes(0, &o.fd)
	v.allow(v.ruleset, o, "allow "+i.path, ll.AccessFSReadFile, false, v.policy.ABI)
	v.close(&o.fd)
}

// allowListing lets the program list the directories of its tree. A rule holds
// for all that is below it, so there is none for the root if something may be
// written and not read.
func (v *view) allowListing(places []place) {
	for _, p := range places {
		if p.Rights&mayWrite != 0 && p.Rights&(mayRead|mayExec) == 0 {
			return
		}
	}
	v.allow(v.ruleset, &v.root, "allow to list the root", ll.AccessFSReadDir, true, v.policy.ABI)
}
