//go:build amd64 || arm64

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// home is where this process makes control groups, or why it cannot. It is
// looked for once; a call whose group cannot be made says so itself.
var home = sync.OnceValues(func() (*groups, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	positions := readPositions(string(text), string(own))
	g, err := positions.unified()
	if err != nil {
		old, err1 := positions.byController()
		if err1 != nil {
			return nil, fmt.Errorf("version 2: %w; version 1: %w", err, err1)
		}
		g = old
	}
	g.removeStale()
	// What can be made once can be made again.
	probe, err := g.open(minMemory, minProcesses)
	if err != nil {
		return nil, err
	}
	return g, probe.close()
})

// version2 is its name among positions.
const version2 = ""

// position is this process's own control group in one hierarchy.
type position struct {
	dir  string
	root bool // the hierarchy's root, as far as this process can see
}

// positions are those by controller.
type positions map[string]position

// readPositions puts together where hierarchies are mounted (proc_pid_mountinfo(5))
// and where this process is in them (cgroups(7)).
func readPositions(mountinfo, own string) positions {
	paths := make(map[string]string)
	for line := range strings.Lines(own) {
		if fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(fields) == 3 {
			for controller := range strings.SplitSeq(fields[1], ",") {
				paths[controller] = fields[2]
			}
		}
	}
	found := make(positions)
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 6 || len(fields) < dash+4 {
			continue
		}
		root, at := unescape(fields[3]), unescape(fields[4])
		var controllers []string
		switch fields[dash+1] {
		case "cgroup2":
			controllers = []string{version2}
		case "cgroup":
			controllers = strings.Split(fields[dash+3], ",")
		}
		for _, controller := range controllers {
			path, member := paths[controller]
			if _, have := found[controller]; have || !member {
				continue
			}
			if below, ok := cutPath(path, root); ok {
				found[controller] = position{filepath.Join(at, below), below == ""}
			}
		}
	}
	return found
}

// cutPath gives the part of path below root.
func cutPath(path, root string) (string, bool) {
	if root == "/" {
		root = ""
	}
	below, ok := strings.CutPrefix(strings.TrimSuffix(path, "/"), root)
	if !ok || below != "" && below[0] != '/' {
		return "", false
	}
	return below, !slices.Contains(strings.Split(below, "/"), "..")
}

// unescape undoes what the kernel does to blanks in paths.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// byController is version 1: calls get groups within this process's own, so that
// what bounds this process bounds its calls.
func (p positions) byController() (*groups, error) {
	g := &groups{version: 1}
	for _, c := range []struct {
		name string
		dir  *string
	}{{"memory", &g.memory}, {"pids", &g.pids}, {"cpuacct", &g.cpu}} {
		at, ok := p[c.name]
		if !ok {
			return nil, fmt.Errorf("there is no controller %s", c.name)
		}
		if err := unix.Faccessat(unix.AT_FDCWD, at.dir, unix.W_OK, unix.AT_EACCESS); err != nil {
			return nil, &os.PathError{Op: "write", Path: at.dir, Err: err}
		}
		*c.dir = at.dir
	}
	return g, nil
}

// errNotDelegated says that a subtree has another owner, who may remove what
// somebody else makes there.
var errNotDelegated = errors.New("this process's control group is not delegated to it")

// unified is version 2. Limits can be set only below a group that has no
// processes, so that calls get groups beside this process's own, or this
// process moves out of the way.
func (p positions) unified() (*groups, error) {
	own, ok := p[version2]
	if !ok {
		return nil, errors.New("it is not mounted")
	}
	parent := filepath.Dir(own.dir)
	var err error
	switch {
	case isKernelRoot(own.dir): // the only one that may have processes and limits below
		err = enable(own.dir)
		parent = own.dir
	case own.root || delegated(own.dir):
		err = makeRoom(own.dir)
		parent = own.dir
	case delegated(parent):
		err = enable(parent)
	default:
		err = errNotDelegated
	}
	if err != nil {
		return nil, err
	}
	return &groups{2, parent, parent, parent}, nil
}

// isKernelRoot reports whether dir is the root of the whole hierarchy, and not
// of the part that a container sees.
func isKernelRoot(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cgroup.type"))
	return errors.Is(err, fs.ErrNotExist)
}

// delegated reports whether the manager of the hierarchy has given a subtree
// away, as systemd marks it.
func delegated(dir string) bool {
	var value [8]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// enable lets groups below dir have limits on memory and processes.
func enable(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	have := strings.Fields(string(text))
	if slices.Contains(have, "memory") && slices.Contains(have, "pids") {
		return nil
	}
	return writeControl(filepath.Join(dir, "cgroup.subtree_control"), "+memory +pids")
}

// hostGroup is where this process goes to make room.
const hostGroup = "host"

// makeRoom moves this process and its children from dir to a group below it, if
// there are no others.
func makeRoom(dir string) error {
	members, err := readMembers(dir)
	if err != nil {
		return err
	}
	for _, pid := range members {
		if pid != os.Getpid() && parentOf(pid) != os.Getpid() {
			return errors.New("other programs are in this process's control group")
		}
	}
	room := filepath.Join(dir, hostGroup)
	if err := os.Mkdir(room, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, pid := range members {
		if err := writeControl(filepath.Join(room, "cgroup.procs"), fmt.Sprint(pid)); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return enable(dir)
}

// parentOf is a process's parent; 0: it is gone.
func parentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything; state and parent follow it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
