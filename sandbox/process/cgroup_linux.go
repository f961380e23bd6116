//go:build amd64 || arm64

package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A control group holds all processes of a call together, whatever they do to
// get apart: what they use is counted and bounded as one. Version 2 has one
// directory for everything, version 1 one for each controller.

// groupPrefix starts the name of every directory that is ours.
const groupPrefix = "mayfly-"

// groups is where this process may make control groups.
type groups struct {
	version int
	// In version 2 all of these are the same.
	memory, pids, cpu string
}

// dirs are the directories, each once. The one that can be emptied comes first:
// it has the same processes as the others.
func (g *groups) dirs() []string {
	var dirs []string
	for _, dir := range []string{g.pids, g.memory, g.cpu} {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// group is the control group of one call.
type group struct {
	groups            // the call's own directories
	locks  []*os.File // the directories, locked for as long as this host lives
	// enter are, in version 1, files: a thread that writes "0" there is in the
	// group. In version 2 it is the directory, to be born in.
	enter []*os.File
}

// groupUse is what a group has used.
type groupUse struct {
	cpu   time.Duration
	peak  uint64
	kills uint64 // processes that were killed for lack of memory
}

// errTaken says that somebody else has the directory, or has removed it.
var errTaken = errors.New("the directory is somebody else's")

// open makes the group of one call. What it holds is bounded before anything is
// in it.
func (g *groups) open(memory int64, processes int) (*group, error) {
	for range 3 {
		c, err := g.try(memory, processes)
		if !errors.Is(err, errTaken) {
			return c, err
		}
	}
	return nil, errTaken
}

func (g *groups) try(memory int64, processes int) (c *group, err error) {
	var name [8]byte
	_, _ = rand.Read(name[:]) // never fails
	below := func(dir string) string { return filepath.Join(dir, groupPrefix+hex.EncodeToString(name[:])) }
	c = &group{groups: groups{g.version, below(g.memory), below(g.pids), below(g.cpu)}}
	defer func() {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) { // removed before it was locked
			err = errors.Join(errTaken, err)
		}
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	for _, dir := range c.dirs() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return c, err
		}
		lock, err := lockDir(dir)
		if err != nil {
			return c, errors.Join(errTaken, err)
		}
		c.locks = append(c.locks, lock)
	}
	if err := c.bound(memory, processes); err != nil {
		return c, err
	}
	for _, dir := range c.dirs() {
		f, err := g.openEntry(dir)
		if err != nil {
			return c, err
		}
		c.enter = append(c.enter, f)
	}
	return c, nil
}

// openEntry opens what a process needs to get into a group. To write to
// cgroup.procs takes a lock that waits for a grace period of the kernel's, 5 ms
// or more. A thread that moves itself does not need it, in version 1, and the
// process that will be the program has only one.
func (g *groups) openEntry(dir string) (*os.File, error) {
	if g.version == 2 {
		return os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	}
	return os.OpenFile(filepath.Join(dir, "tasks"), os.O_WRONLY, 0)
}

// bound writes the limits.
func (g *groups) bound(memory int64, processes int) error {
	type setting struct {
		dir, file string
		value     int64
		optional  bool // kernels without swap do not have it
	}
	settings := []setting{{g.pids, "pids.max", int64(processes), false}}
	if g.version == 2 {
		settings = append(settings, setting{g.memory, "memory.max", memory, false},
			setting{g.memory, "memory.swap.max", 0, true}, setting{g.memory, "memory.oom.group", 1, false})
	} else {
		// Both together may not be more than memory alone, so that none is swapped.
		settings = append(settings, setting{g.memory, "memory.limit_in_bytes", memory, false},
			setting{g.memory, "memory.memsw.limit_in_bytes", memory, true})
	}
	for _, s := range settings {
		err := writeControl(filepath.Join(s.dir, s.file), strconv.FormatInt(s.value, 10))
		if err != nil && (!s.optional || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// use reads what the group has used up to now.
func (c *group) use() (u groupUse, err error) {
	if c.version == 2 {
		cpu, err1 := readControl(filepath.Join(c.cpu, "cpu.stat"), "usage_usec")
		kills, err2 := readControl(filepath.Join(c.memory, "memory.events"), "oom_kill")
		peak, err3 := readControl(filepath.Join(c.memory, "memory.peak"), "")
		if errors.Is(err3, fs.ErrNotExist) { // before Linux 5.19
			peak, err3 = 0, nil
		}
		return groupUse{time.Duration(cpu) * time.Microsecond, peak, kills}, errors.Join(err1, err2, err3)
	}
	cpu, err1 := readControl(filepath.Join(c.cpu, "cpuacct.usage"), "")
	kills, err2 := readControl(filepath.Join(c.memory, "memory.oom_control"), "oom_kill")
	peak, err3 := readControl(filepath.Join(c.memory, "memory.max_usage_in_bytes"), "")
	return groupUse{time.Duration(cpu), peak, kills}, errors.Join(err1, err2, err3)
}

// end kills whatever is left in the group, and returns when nothing is.
func (c *group) end() error {
	deadline := time.Now().Add(grace)
	for {
		left, err := c.members()
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes of the control group do not end", len(left))
		}
		if err := c.kill(left, deadline); err != nil {
			return err
		}
	}
}

// kill kills all members, and waits for those that it was told of. None is added
// meanwhile.
func (c *group) kill(members []int, deadline time.Time) error {
	open := make(map[int]int32) // pidfds
	defer func() {
		for _, fd := range open {
			_ = unix.Close(int(fd)) // never written to
		}
	}()
	for _, pid := range members {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue // gone
		}
		if err != nil {
			return os.NewSyscallError("pidfd_open", err)
		}
		open[pid] = int32(fd)
	}
	err := fs.ErrNotExist // version 1, or before Linux 5.14
	if c.version == 2 {
		err = writeControl(filepath.Join(c.pids, "cgroup.kill"), "1")
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = c.killEach(open)
	}
	if err != nil {
		return err
	}
	for _, fd := range open {
		// Whoever is not waited for, members names once more.
		_, _ = unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLIN}}, int(max(time.Until(deadline), 0).Milliseconds()))
	}
	return nil
}

// killEach kills processes by their descriptors, if they are members still: the
// numbers may have been others' when they were opened.
func (c *group) killEach(open map[int]int32) error {
	// With no process allowed, none of those that are there can start another.
	if err := writeControl(filepath.Join(c.pids, "pids.max"), "0"); err != nil {
		return err
	}
	now, err := c.members()
	if err != nil {
		return err
	}
	for _, pid := range now {
		if fd, ok := open[pid]; ok {
			if err := unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
				return os.NewSyscallError("pidfd_send_signal", err)
			}
		}
	}
	return nil
}

// members are the processes in the group.
func (c *group) members() ([]int, error) { return readMembers(c.pids) }

func readMembers(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil || pid <= 0 { // 0 is a process of another namespace, and everybody to kill
			return nil, fmt.Errorf("the control group has a member %q", word)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// close removes the group. Nothing may be in it any more.
func (c *group) close() error {
	var errs []error
	for _, f := range c.enter {
		errs = append(errs, f.Close())
	}
	for _, dir := range c.dirs() {
		errs = append(errs, removeGroup(dir))
	}
	for _, f := range c.locks {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// removeGroup removes a directory that nobody is in.
func removeGroup(dir string) error {
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// lockDir takes a directory for as long as the file is open, in this process
// alone. The kernel gives it back when the host dies, in whatever way.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(&os.PathError{Op: "flock", Path: dir, Err: err}, f.Close())
	}
	return f, nil
}

// removeStale ends and removes the groups of hosts that are dead.
func (g *groups) removeStale() {
	for _, dir := range g.dirs() {
		names, err := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
		if err != nil {
			continue
		}
		for _, name := range names {
			lock, err := lockDir(name)
			if err != nil {
				continue // its host lives
			}
			stale := &group{groups: groups{g.version, name, name, name}, locks: []*os.File{lock}}
			if g.version == 2 || dir == g.pids {
				_ = stale.end() // tried again by the next host
			}
			_ = stale.close()
		}
	}
}

// writeControl writes a file of a control group, which must be there.
func writeControl(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// readControl reads a number from a file of a control group: the only one, or
// the one with that name.
func readControl(path, name string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	if name == "" {
		return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s does not name %s", filepath.Base(path), name)
}
