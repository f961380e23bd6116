package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// files are the store's files, by name.
type files struct {
	path string // the database, in a folder without links
	lock string
}

// checkFiles makes the folder if it is missing and checks it, and the files
// that are there. It makes none.
func checkFiles(path string) (*files, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make its folder: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	switch uid := info.Sys().(*syscall.Stat_t).Uid; {
	case !info.IsDir():
		return nil, fmt.Errorf("%w: %s is no folder", ErrPermission, dir)
	case int(uid) != os.Geteuid() && uid != 0:
		return nil, fmt.Errorf("%w: the folder %s belongs to another user; use a folder of your own", ErrPermission, dir)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%w: others may write to the folder %s; use one of your own, or run chmod go-w on it", ErrPermission, dir)
	}
	path = filepath.Join(dir, filepath.Base(path))
	f := &files{path: path, lock: path + "-lock"}
	for _, name := range append(f.companions(), f.path, f.lock) {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := checkFile(name, info); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *files) companions() []string { return []string{f.path + "-wal", f.path + "-shm"} }

// journal is what the engine uses while it makes the file.
func (f *files) journal() string { return f.path + "-journal" }

func checkFile(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no plain file, or a link; name the file itself", ErrPermission, name)
	}
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to another user", ErrPermission, name)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: others may use %s; run chmod 600 on it", ErrPermission, name)
	case st.Nlink > 1:
		// Under two names it would have two logs, and lose one.
		return fmt.Errorf("%w: %s has another name too (a hard link); copy it to a file of its own", ErrPermission, name)
	}
	return nil
}

// openFile opens or makes a file that only we can use. What is opened is what
// is checked.
func openFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: %s is a link; name the file itself", ErrPermission, name)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// prepare looks at the file before the engine does, and says whether the
// database is yet to be made. It needs the setup lock.
func (f *files) prepare(o *owner) (fresh bool, err error) {
	db, err := openFile(f.path)
	if err != nil {
		return false, err
	}
	// Locks are of the open file and not of the process, so that closing this one
	// does not let go of those of another connection.
	header, err := readHeader(db)
	if err := errors.Join(err, db.Close()); err != nil {
		return false, err
	}
	mark, err := o.mark()
	if err != nil {
		return false, err
	}
	_, journalErr := os.Lstat(f.journal())
	switch {
	case mark == markMaking && journalErr == nil:
		// Whoever was making it was killed: the engine's journal is there until all
		// is. Nothing was promised yet.
		fresh, err = true, f.clear()
	case len(header) > 0:
		err = checkBytes(header)
	case mark == markMade:
		// Starting anew would forget which effects were begun.
		err = fmt.Errorf("%w: it was emptied or deleted, but %s is still there; restore it, or delete its -wal, -shm and -lock files too to start anew", ErrCorrupt, f.lock)
	default:
		fresh, err = true, o.setMark(markMaking)
	}
	return fresh, err
}

// makeCompanions makes those that are missing: the engine would let others read
// them. The database must not be empty, or the engine removes them first.
func (f *files) makeCompanions() error {
	for _, name := range f.companions() {
		c, err := openFile(name)
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what is left of a database that was never finished. The
// database itself stays, empty.
func (f *files) clear() error {
	for _, name := range append(f.companions(), f.journal()) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Truncate(f.path, 0)
}

// made writes down that the database is there, once that is on the disk.
func (f *files) made(o *owner) error {
	if mark, err := o.mark(); err != nil || mark == markMade {
		return err
	}
	dir, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return err
	}
	return o.setMark(markMade)
}
