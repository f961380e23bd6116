//go:build amd64 || arm64

package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Emptying boxes. Every process of the call is gone, so nothing in a box changes
// any more; but what is in it was put there by a hostile program, and the
// directory that it goes to may be changed by others at any time. Everything is
// opened relative to a descriptor, beneath it, and through no link.

// contentError says that a box holds what is not carried. Nothing was.
type contentError struct{ reason string }

func (e *contentError) Error() string { return e.reason }

// carrier moves the content of a call's boxes.
type carrier struct {
	to    []*os.File // the directories, in the order of the boxes
	bytes int64      // what they may be given together
	size  int64      // of the files that were found
	left  int64      // what may still be given
}

// newCarrier opens the directories before the call begins: whatever becomes of
// their paths later, these are the ones that were granted.
func newCarrier(boxes []string, bytes int64) (*carrier, error) {
	c := &carrier{bytes: bytes}
	for _, path := range boxes {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err != nil {
			c.close()
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		c.to = append(c.to, os.NewFile(uintptr(fd), path))
	}
	return c, nil
}

func (c *carrier) close() { closeAll(c.to...) }

// carry empties the boxes below root. A *contentError means that nothing was
// carried; any other error that a part may have been.
func (c *carrier) carry(root *os.File) error {
	for i := range c.to {
		if err := c.inBox(root, i, func(box *os.File) error { return c.look(box, "", maxBoxDepth) }); err != nil {
			return err
		}
	}
	c.left = c.size
	for i, to := range c.to {
		if err := c.inBox(root, i, func(box *os.File) error { return c.copyDir(box, to) }); err != nil {
			return err
		}
	}
	return nil
}

// maxBoxDepth bounds how many descriptors are open at a time.
const maxBoxDepth = 32

func (c *carrier) inBox(root *os.File, i int, f func(*os.File) error) error {
	box, err := openIn(root, strconv.Itoa(i), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer box.Close()
	return f(box)
}

// look checks everything in a directory of a box before anything is carried.
func (c *carrier) look(dir *os.File, at string, depth int) error {
	if depth == 0 {
		return &contentError{fmt.Sprintf("the program left more than %d directories within each other", maxBoxDepth)}
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := at + "/" + name
		if reason := badName(name); reason != "" {
			return &contentError{fmt.Sprintf("the program left a file whose name %s: %q", reason, path)}
		}
		var stat unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			// Holes have a size and no memory.
			if c.size += stat.Size; c.size > c.bytes {
				return &contentError{fmt.Sprintf("the files that the program left have more than %d bytes together", c.bytes)}
			}
		case unix.S_IFDIR:
			sub, err := openIn(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
			if err != nil {
				return err
			}
			err = errors.Join(c.look(sub, path, depth-1), sub.Close())
			if err != nil {
				return err
			}
		default:
			return &contentError{fmt.Sprintf("the program left %q, which is neither a file nor a directory", path)}
		}
	}
	return nil
}

// badName says what is wrong with a name; empty: nothing.
func badName(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds control characters"
	case strings.HasPrefix(name, tempPrefix):
		return "is one of Mayfly's own"
	}
	return ""
}

// tempPrefix starts the names of files that are not whole yet.
const tempPrefix = ".mayfly-"

// copyDir copies what is in a directory of a box.
func (c *carrier) copyDir(from, to *os.File) error {
	entries, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		put := c.copyFile
		if e.IsDir() {
			put = c.copySub
		}
		if err := put(from, to, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// copySub copies a directory into one that is there already, or a new one.
func (c *carrier) copySub(from, to *os.File, name string) error {
	box, err := openIn(from, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer box.Close()
	made := unix.Mkdirat(int(to.Fd()), name, 0o755)
	if made != nil && !errors.Is(made, unix.EEXIST) {
		return &os.PathError{Op: "mkdir", Path: name, Err: made}
	}
	sub, err := openIn(to, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer sub.Close()
	if made == nil {
		if err := own(sub, to); err != nil {
			return err
		}
	}
	return c.copyDir(box, sub)
}

// copyFile copies a file under a name of its own, which it loses when it is
// whole.
func (c *carrier) copyFile(from, to *os.File, name string) (err error) {
	source, err := openIn(from, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer source.Close()
	if info, err := source.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > c.left {
		return errors.Join(fmt.Errorf("%q has been changed by somebody outside of the call", name), err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	temp := tempPrefix + hex.EncodeToString(random[:])
	target, err := openIn(to, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	n, err := io.Copy(target, io.LimitReader(source, c.left))
	c.left -= n
	err = errors.Join(err, own(target, to), target.Close())
	if err == nil {
		err = unix.Renameat(int(to.Fd()), temp, int(to.Fd()), name)
	}
	if err != nil {
		_ = unix.Unlinkat(int(to.Fd()), temp, 0) // the first error counts
		return &os.PathError{Op: "carry", Path: name, Err: err}
	}
	return nil
}

// own gives a new file to the owner of the directory that it is in. Whoever is
// not root owns it already.
func own(f, dir *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return err
	}
	err := unix.Fchownat(int(f.Fd()), "", int(stat.Uid), int(stat.Gid), unix.AT_EMPTY_PATH)
	return os.NewSyscallError("fchownat", err)
}

// openIn opens what is in a directory and was not reached by any link.
func openIn(dir *os.File, name string, flags int) (*os.File, error) {
	how := &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	if flags&unix.O_CREAT != 0 {
		how.Mode = 0o644
	}
	fd, err := unix.Openat2(int(dir.Fd()), name, how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// deliver empties the boxes of a call that ended well. What any other call left
// in them is gone.
func (c *call) deliver(result Result) (Result, error) {
	defer closeAll(c.box)
	if c.carrier == nil || result.Status != sandbox.StatusOK {
		return result, nil
	}
	if c.box == nil {
		return Result{}, errors.New("a confined call: the keeper did not hand over what the program has written")
	}
	err := c.carrier.carry(c.box)
	if e, ok := errors.AsType[*contentError](err); ok {
		result.Status, result.Value = sandbox.StatusError, nil
		result.Error = &sandbox.Error{Type: "files", Message: e.reason + "; nothing was carried out"}
		return result, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("a confined call: what it wrote is carried out in part: %w", err)
	}
	result.Written = c.carrier.size
	return result, nil
}
