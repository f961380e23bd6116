//go:build linux && (amd64 || arm64)

package process

import (
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// paper is a kernel on paper: it takes the steps of a launcher one by one, keeps
// what they do to files, rights and limits, and does nothing. A step that a real
// kernel would refuse, it reports; one that it does not know, too.
type paper struct {
	testing.TB
	policy *policy
	// lenient: the policy is no host's; what it leads to need not work.
	lenient bool

	memory map[uintptr]any // what steps point to
	fds    map[int32]*thing
	next   int32

	// The new root, by the paths that it will have.
	made  map[string]string // "dir", "file", or a link
	trees []*thing          // attached, in order
	moved bool              // it is the root now

	rules     []paperRule
	handledFS uint64

	own     map[string]bool // what every program finds
	limits  map[int]unix.Rlimit
	user    [2]int
	dir     string
	order   []string
	command string
	args    []string
	env     []string
	filter  []unix.SockFilter
}

// thing is what a descriptor stands for.
type thing struct {
	kind string // "host", "tree", "made", "box", "other"
	path string // on the host, or in the new root
	attr uint64 // of a tree: how it is mounted
}

type paperRule struct {
	path   string
	access landlock.AccessFSSet
}

func newPaper(t testing.TB, p *policy) *paper {
	return &paper{
		TB: t, policy: p, fds: make(map[int32]*thing), next: 100, limits: make(map[int]unix.Rlimit),
		made: map[string]string{"/": "dir"}, own: map[string]bool{"/tmp": true, "/proc": true, "/etc/passwd": true, "/etc/group": true},
	}
}

// run takes the steps of a list.
func (k *paper) run(l *list) {
	k.memory = make(map[uintptr]any)
	for _, v := range l.keep {
		k.memory[reflect.ValueOf(v).Pointer()] = v
	}
	for i := range l.steps {
		k.take(&l.steps[i])
	}
}

// at is what an argument points to.
func at[T any](k *paper, address uintptr) *T {
	v, ok := k.memory[address].(*T)
	if !ok {
		k.Fatalf("a step points to a %T", k.memory[address])
	}
	return v
}

func (k *paper) text(address uintptr) string {
	first := at[byte](k, address)
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(first, n))
}

func (k *paper) texts(address uintptr) (list []string) {
	first := at[uintptr](k, address)
	for i := 0; ; i++ {
		one := *(*uintptr)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(*first)))
		if one == 0 {
			return list
		}
		list = append(list, k.text(one))
	}
}

// opens gives a step's result a descriptor of its own.
func (k *paper) opens(s *step, what *thing) {
	if s.into == nil {
		k.Errorf("%s: nobody keeps what is opened", s.says)
		return
	}
	k.next++
	k.fds[k.next] = what
	*s.into = k.next
}

func (k *paper) fd(s *step, i int) *thing {
	if s.from[i] == nil || k.fds[*s.from[i]] == nil {
		k.Fatalf("%s: argument %d is no descriptor", s.says, i)
	}
	return k.fds[*s.from[i]]
}

// inRoot is the path that something in the staging directory will have.
func (k *paper) inRoot(s *step, path string) string {
	if path == staging {
		return "/"
	}
	below, ok := strings.CutPrefix(path, staging+"/")
	if !ok || k.moved {
		k.Errorf("%s: %s is not in the new root", s.says, path)
	}
	return "/" + below
}

// makes notes that something is made in the new root, where it must stay.
func (k *paper) makes(s *step, path, what string) {
	if k.lenient {
		return
	}
	if filepath.Clean(path) != path {
		k.Errorf("%s: the path %s", s.says, path)
	}
	if k.made[path] != "" {
		k.Errorf("%s: %s is there already", s.says, path)
	}
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if k.made[above] != "dir" {
			k.Errorf("%s: %s lies below %s, which is %q", s.says, path, above, k.made[above])
		}
		for _, t := range k.trees {
			if t.path == above {
				k.Errorf("%s: %s is made in a tree of the host", s.says, path)
			}
		}
		if above == "/" {
			break
		}
	}
	k.made[path] = what
}

func (k *paper) take(s *step) {
	a := s.args
	switch s.nr {
	case unix.SYS_LANDLOCK_CREATE_RULESET:
		attr := at[ll.RulesetAttr](k, a[0])
		k.handledFS |= attr.HandledAccessFS
		if attr.HandledAccessFS != 0 && k.policy.ABI >= 4 && (attr.HandledAccessNet != 0) != (k.policy.Network != NetworkAll) {
			k.Errorf("network %d: handled are rights %b", k.policy.Network, attr.HandledAccessNet)
		}
		k.opens(s, &thing{kind: "other"})
	case unix.SYS_LANDLOCK_ADD_RULE:
		if a[1] != landlockPathBeneath {
			if r := at[portRule](k, a[2]); r.port != proxyPort || r.access != ll.AccessNetConnectTCP || k.policy.Network != NetworkProxy {
				k.Errorf("the rule %+v", *r)
			}
			return
		}
		o := at[opened](k, a[2])
		t := k.fds[o.fd]
		if t == nil || t.kind == "other" || o.access == 0 || landlock.AccessFSSet(o.access)&^handledFiles(k.policy.ABI) != 0 {
			k.Fatalf("%s: a rule for %+v, access %b", s.says, t, o.access)
		}
		k.rules = append(k.rules, paperRule{t.path, landlock.AccessFSSet(o.access)})
	case unix.SYS_OPENAT2:
		how := at[unix.OpenHow](k, a[2])
		const links = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
		if how.Resolve&links != links || how.Flags&unix.O_PATH == 0 {
			k.Errorf("%s: links are followed", s.says)
		}
		path := k.text(a[1])
		if s.from[0] != nil {
			if how.Resolve&unix.RESOLVE_BENEATH == 0 || k.fd(s, 0).path != "/" {
				k.Errorf("%s: %s may lead out of the root", s.says, path)
			}
			k.opens(s, &thing{kind: "target", path: filepath.Join("/", path)})
			return
		}
		k.opens(s, &thing{kind: "host", path: path})
	case unix.SYS_OPEN_TREE:
		if s.from[0] == nil { // a box
			name := strings.TrimPrefix(k.inRoot(s, k.text(a[1])), boxRoot+"/")
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(k.policy.Boxes) {
				k.Fatalf("%s: the box %q", s.says, name)
			}
			k.opens(s, &thing{kind: "box", path: k.policy.Boxes[i], attr: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC})
			return
		}
		if a[2]&unix.OPEN_TREE_CLONE == 0 || a[2]&unix.AT_RECURSIVE == 0 {
			k.Errorf("%s: it is the host's own mount", s.says)
		}
		k.opens(s, &thing{kind: "tree", path: k.fd(s, 0).path})
	case unix.SYS_MOUNT_SETATTR:
		t := k.fd(s, 0)
		attr := at[unix.MountAttr](k, a[3])
		if t.kind == "tree" && a[2]&unix.AT_RECURSIVE == 0 {
			k.Errorf("%s: mounts within it are not restricted", s.says)
		}
		if attr.Attr_clr != 0 {
			k.Errorf("%s: %b is taken off", s.says, attr.Attr_clr)
		}
		t.attr |= attr.Attr_set
	case unix.SYS_MOVE_MOUNT:
		t := k.fd(s, 0)
		path := filepath.Join("/", k.text(a[3]))
		to := k.fd(s, 2)
		if to.kind == "target" {
			path = to.path
		} else if k.made[path] == "" && !k.lenient {
			k.Errorf("%s: there is no %s to attach it to", s.says, path)
		}
		if path != t.path {
			k.Errorf("%s is attached to %s", t.path, path)
		}
		within := slices.ContainsFunc(k.trees, func(o *thing) bool { return reaches(o.path, path) })
		if within != (to.kind == "target") {
			k.Errorf("%s: in a tree of the host: %v, by way of a descriptor: %v", s.says, within, !within)
		}
		k.trees = append(k.trees, t)
	case unix.SYS_MOUNT:
		target, flags := k.text(a[1]), a[3]
		if target == "/" && flags == unix.MS_REC|unix.MS_PRIVATE {
			return
		}
		const must = unix.MS_NOSUID | unix.MS_NODEV
		if flags&must != must || target != staging && flags&unix.MS_NOEXEC == 0 {
			k.Errorf("%s: flags %b", s.says, flags)
		}
		k.inRoot(s, target)
	case unix.SYS_OPENAT:
		path := k.text(a[1])
		switch {
		case strings.HasPrefix(path, "/proc/self/"): // the maps of users
			k.opens(s, &thing{kind: "other"})
		case a[2]&unix.O_CREAT != 0:
			path = k.inRoot(s, path)
			k.makes(s, path, "file")
			k.opens(s, &thing{kind: "made", path: path})
		default:
			k.opens(s, &thing{kind: "made", path: k.inRoot(s, path)})
		}
	case unix.SYS_MKDIRAT:
		path := k.inRoot(s, k.text(a[1]))
		if !strings.HasPrefix(path, boxRoot) {
			k.makes(s, path, "dir")
		}
	case unix.SYS_MKNODAT:
		if a[2]&unix.S_IFMT != unix.S_IFREG {
			k.Errorf("%s: mode %o", s.says, a[2])
		}
		k.makes(s, k.inRoot(s, k.text(a[1])), "file")
	case unix.SYS_SYMLINKAT:
		k.makes(s, k.inRoot(s, k.text(a[2])), "-> "+k.text(a[0]))
	case unix.SYS_PIVOT_ROOT:
		k.moved = true
	case unix.SYS_CHDIR:
		k.dir = k.text(a[0])
	case unix.SYS_CLOSE:
		delete(k.fds, *s.from[0])
	case unix.SYS_SOCKET:
		k.opens(s, &thing{kind: "other"})
	case unix.SYS_PRLIMIT64:
		if a[0] != 0 {
			k.Errorf("%s: of process %d", s.says, a[0])
		}
		k.limits[int(a[1])] = *at[unix.Rlimit](k, a[2])
	case unix.SYS_SETRESUID:
		k.user[0] = int(a[0])
	case unix.SYS_SETRESGID:
		k.user[1] = int(a[0])
	case unix.SYS_PRCTL:
		if a[0] == unix.PR_SET_NO_NEW_PRIVS {
			k.order = []string{"no new privileges"}
		}
	case unix.SYS_LANDLOCK_RESTRICT_SELF:
		k.order = append(k.order, "landlock")
	case unix.SYS_SECCOMP:
		k.order = append(k.order, "filter")
		program := at[unix.SockFprog](k, a[2])
		k.filter = unsafe.Slice(program.Filter, program.Len)
	case unix.SYS_EXECVE:
		k.order = append(k.order, "program")
		k.command, k.args, k.env = k.text(a[0]), k.texts(a[1]), k.texts(a[2])
	case unix.SYS_DUP3, unix.SYS_CLOSE_RANGE, unix.SYS_SETSID, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_UMASK,
		unix.SYS_WRITE, unix.SYS_SENDMSG, unix.SYS_IOCTL, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_UMOUNT2, unix.SYS_UNLINKAT,
		unix.SYS_FCHOWNAT, unix.SYS_SETHOSTNAME, unix.SYS_CAPSET, unix.SYS_SETGROUPS, unix.SYS_KILL:
		// These change nothing that is looked at here.
	default:
		k.Fatalf("%s: system call %d is not on paper", s.says, s.nr)
	}
}

// may says what rules let be done with a path once the program runs, and what
// mounts do; and whether it is there: with namespaces, what lies in no tree is not.
func (k *paper) may(path string, isDir bool) (byRule, byMount rights, visible bool) {
	var access landlock.AccessFSSet
	for _, r := range k.rules {
		if r.path == "/" || reaches(r.path, path) {
			access |= r.access
		}
	}
	writes := landlock.AccessFSSet(ll.AccessFSWriteFile)
	if isDir {
		writes |= ll.AccessFSMakeReg | ll.AccessFSRemoveFile | ll.AccessFSMakeDir
	}
	if access&ll.AccessFSReadFile != 0 {
		byRule |= mayRead
	}
	if access&writes != 0 {
		byRule |= mayWrite
	}
	if access&ll.AccessFSExecute != 0 {
		byRule |= mayExec
	}
	byMount = mayRead | mayWrite | mayExec
	if !k.policy.Spaces {
		return byRule, byMount, true
	}
	var nearest *thing
	for _, t := range k.trees {
		if reaches(t.path, path) && (nearest == nil || len(t.path) >= len(nearest.path)) {
			nearest = t
		}
	}
	if nearest == nil {
		return byRule, 0, false
	}
	const always = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if nearest.attr&always != always {
		k.Errorf("%s: mounted with %b", nearest.path, nearest.attr)
	}
	if nearest.attr&unix.MOUNT_ATTR_RDONLY != 0 {
		byMount &^= mayWrite
	}
	if nearest.attr&unix.MOUNT_ATTR_NOEXEC != 0 {
		byMount &^= mayExec
	}
	return byRule, byMount, true
}

// checkOwn looks at rights that no grant gave: those of what every program finds.
func (k *paper) checkOwn(s *Spec) {
	k.Helper()
	granted := make(map[string]bool)
	for _, list := range [][]string{s.Read, s.Write, s.Exec, s.UnixSockets, {s.Command}} {
		for _, path := range list {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				granted[real] = true
			}
		}
	}
	writeOnly := slices.ContainsFunc(k.policy.Places, func(p place) bool {
		return p.Rights&mayWrite != 0 && p.Rights&(mayRead|mayExec) == 0
	})
	for _, r := range k.rules {
		var most landlock.AccessFSSet
		switch {
		case granted[r.path]:
			continue // seen by its rights
		case slices.Contains(devices, r.path):
			most = ll.AccessFSReadFile | ll.AccessFSWriteFile
		case !k.policy.Spaces:
		case r.path == "/" && !writeOnly:
			most = ll.AccessFSReadDir
		case r.path == "/tmp":
			most = accessRead | accessWrite
		case r.path == "/proc":
			most = accessRead
		case r.path == "/etc/passwd" || r.path == "/etc/group":
			most = ll.AccessFSReadFile
		}
		if more := r.access &^ most; more != 0 {
			k.Errorf("%s, which nobody granted, has the rights %v", r.path, more)
		}
	}
}
