package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// owner is how a Store shows others that it is still there: it holds the lock
// on one byte of the lock file, which byte being its name. The kernel lets go of
// the lock when the process ends, however it ends. Other than a process ID, the
// name is never used again, and means the same in every container.
//
// The file itself is only as long as its mark; a lock needs no byte to lock.
type owner struct {
	file *os.File
	name string
}

const (
	// What the lock file says about the database: nothing yet, that it is being
	// made, that it is there.
	markNone   = ""
	markMaking = "m"
	markMade   = "mayfly store\n"

	// setupByte is locked while a store is opened. Owners lock bytes after it.
	setupByte = 0

	// Locks of open files, see fcntl(2). The package syscall has no names for
	// them.
	ofdGetLock = 36
	ofdSetLock = 37
)

func newOwner(path string) (*owner, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	b := 1 + rand.Int64N(1<<62)
	o := &owner{file: f, name: strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(b, 36)}
	if err := o.lock(syscall.F_WRLCK, b); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: cannot lock %s: %w", ErrIO, path, err), f.Close())
	}
	return o, nil
}

func (o *owner) lock(kind int16, b int64) error {
	return syscall.FcntlFlock(o.file.Fd(), ofdSetLock, &syscall.Flock_t{Type: kind, Start: b, Len: 1})
}

// alive says whether the owner of that name is still there.
func (o *owner) alive(name string) (bool, error) {
	if name == o.name {
		return true, nil // our own locks do not stop us
	}
	_, text, _ := strings.Cut(name, ".")
	b, err := strconv.ParseInt(text, 36, 64)
	if err != nil || b <= setupByte {
		return false, nil // of no owner that there ever was
	}
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: b, Len: 1}
	if err := syscall.FcntlFlock(o.file.Fd(), ofdGetLock, &l); err != nil {
		return false, fmt.Errorf("%w: cannot ask for the lock of %s: %w", ErrIO, o.file.Name(), err)
	}
	return l.Type != syscall.F_UNLCK, nil
}

func (o *owner) lockSetup(timeout time.Duration) error {
	wait := waiter(timeout)
	for n := 0; ; n++ {
		err := o.lock(syscall.F_WRLCK, setupByte)
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if !wait(context.Background(), n) {
			return fmt.Errorf("%w: another process has been opening it for too long; try again", ErrBusy)
		}
	}
}

func (o *owner) unlockSetup() error { return o.lock(syscall.F_UNLCK, setupByte) }

// mark gives what the file says about the database. It needs the setup lock.
func (o *owner) mark() (string, error) {
	b := make([]byte, 64)
	n, err := o.file.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	switch mark := string(b[:n]); mark {
	case markNone, markMaking, markMade:
		return mark, nil
	}
	return "", fmt.Errorf("%w: %s is not what Mayfly writes; name another file for the store", ErrForeign, o.file.Name())
}

// setMark needs the setup lock. Marks only ever get longer, so that one that
// was written by half is refused, or is the one before.
func (o *owner) setMark(mark string) error {
	if _, err := o.file.WriteAt([]byte(mark), 0); err != nil {
		return err
	}
	return o.file.Sync()
}

func (o *owner) close() error { return o.file.Close() }
