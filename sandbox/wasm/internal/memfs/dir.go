package memfs

import (
	"io"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

var _ experimental.File = (*dir)(nil)

// dir is an open directory.
type dir struct {
	experimental.UnimplementedFile // for methods that a later wazero may add

	fs     *FS
	node   *node
	age    uint64 // of the last entry that was read
	closed bool
}

// Dev implements sys.File.
func (d *dir) Dev() (uint64, experimental.Errno) { return device, d.check() }

// Ino implements sys.File.
func (d *dir) Ino() (sys.Inode, experimental.Errno) { return d.node.ino, d.check() }

// IsDir implements sys.File.
func (d *dir) IsDir() (bool, experimental.Errno) { return true, d.check() }

// SetAppend implements sys.File.
func (d *dir) SetAppend(bool) experimental.Errno { return experimental.EISDIR }

// Stat implements sys.File.
func (d *dir) Stat() (sys.Stat_t, experimental.Errno) { return d.node.stat(), d.check() }

// Read implements sys.File.
func (d *dir) Read([]byte) (int, experimental.Errno) { return 0, d.not(experimental.EISDIR) }

// Pread implements sys.File.
func (d *dir) Pread([]byte, int64) (int, experimental.Errno) { return 0, d.not(experimental.EISDIR) }

// Write implements sys.File: a directory is never open for writing.
func (d *dir) Write([]byte) (int, experimental.Errno) { return 0, experimental.EBADF }

// Pwrite implements sys.File.
func (d *dir) Pwrite([]byte, int64) (int, experimental.Errno) { return 0, experimental.EBADF }

// Truncate implements sys.File.
func (d *dir) Truncate(int64) experimental.Errno { return d.not(experimental.EISDIR) }

// Seek implements sys.File: a directory can only be read from its start again.
func (d *dir) Seek(offset position, whence int) (int64, experimental.Errno) {
	switch {
	case d.closed:
		return 0, experimental.EBADF
	case offset != 0 || whence != io.SeekStart:
		return 0, experimental.EINVAL
	}
	d.age = 0
	return 0, 0
}

// Readdir implements sys.File. Entries come in the order in which they were
// made. One that is removed or added while the directory is read is not seen
// or seen, and no other is skipped or seen twice.
func (d *dir) Readdir(n int) ([]experimental.Dirent, experimental.Errno) {
	switch {
	case d.closed:
		return nil, experimental.EBADF
	case !d.node.linked:
		return nil, experimental.ENOENT
	}
	entries := d.fs.list(d.node, d.age)
	if n > 0 {
		entries = entries[:min(n, len(entries))]
	}
	if len(entries) == 0 {
		return nil, 0
	}
	dirents := make([]experimental.Dirent, len(entries))
	for i, e := range entries {
		dirents[i] = experimental.Dirent{Ino: e.node.ino, Name: e.text, Type: e.node.mode.Type()}
	}
	d.age = entries[len(entries)-1].age
	return dirents, 0
}

// Sync implements sys.File.
func (d *dir) Sync() experimental.Errno { return d.check() }

// Datasync implements sys.File.
func (d *dir) Datasync() experimental.Errno { return d.check() }

// Utimens implements sys.File.
func (d *dir) Utimens(atim, mtim int64) experimental.Errno {
	if d.closed {
		return experimental.EBADF
	}
	return d.fs.setTimes(d.node, atim, mtim)
}

// Close implements sys.File.
func (d *dir) Close() experimental.Errno {
	if errno := d.check(); errno != 0 {
		return errno
	}
	d.closed = true
	d.fs.closed(d.node)
	return 0
}

func (d *dir) check() experimental.Errno {
	if d.closed {
		return experimental.EBADF
	}
	return 0
}

// not gives errno for what a directory cannot do while it is open.
func (d *dir) not(errno experimental.Errno) experimental.Errno {
	if d.closed {
		return experimental.EBADF
	}
	return errno
}
