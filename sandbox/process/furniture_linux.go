//go:build amd64 || arm64

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
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
func fitting(items []item, grants []grant, links []link) []item {
	var fit []item
	for _, i := range items {
		taken := false
		for _, g := range grants {
			taken = taken || reaches(g.Path, i.path)
		}
		for _, l := range links {
			taken = taken || reaches(l.path, i.path)
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

// make makes the item below the staging directory, before anything else of the
// host is attached there.
func (i item) make() error {
	place := staging + i.path
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if i.target != "" {
		return os.Symlink(i.target, place)
	}
	return os.WriteFile(place, []byte(i.text), 0o444)
}

// furnitureRules let the program read the items, and list the directories of
// its tree. A rule holds for all that is below it, so there is none for the
// root if something may be written and not read.
func furnitureRules(items []item, grants []grant) []pathRule {
	var rules []pathRule
	for _, i := range items {
		if i.target == "" {
			rules = append(rules, pathRule{i.path, ll.AccessFSReadFile})
		}
	}
	for _, g := range grants {
		if g.Rights&mayWrite != 0 && g.Rights&(mayRead|mayExec) == 0 {
			return rules
		}
	}
	return append(rules, pathRule{"/", ll.AccessFSReadDir})
}

// pathRule is what may be done below a path.
type pathRule struct {
	path   string
	access landlock.AccessFSSet
}
