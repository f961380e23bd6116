package memfs

import (
	"io"
	"math"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

var _ experimental.PollableFile = (*file)(nil)

// file is an open regular file, or /dev/null.
type file struct {
	experimental.UnimplementedFile // for methods that a later wazero may add

	fs                 *FS
	node               *node
	off                int64
	readable, writable bool
	append, nonblock   bool
	closed             bool
}

// Dev implements sys.File.
func (f *file) Dev() (uint64, experimental.Errno) { return device, f.check() }

// Ino implements sys.File.
func (f *file) Ino() (sys.Inode, experimental.Errno) { return f.node.ino, f.check() }

// IsDir implements sys.File.
func (f *file) IsDir() (bool, experimental.Errno) { return false, f.check() }

// IsAppend implements sys.File.
func (f *file) IsAppend() bool { return f.append }

// SetAppend implements sys.File.
func (f *file) SetAppend(enable bool) experimental.Errno {
	f.append = enable
	return f.check()
}

// IsNonblock implements sys.PollableFile. No file here ever blocks.
func (f *file) IsNonblock() bool { return f.nonblock }

// SetNonblock implements sys.PollableFile.
func (f *file) SetNonblock(enable bool) experimental.Errno {
	f.nonblock = enable
	return f.check()
}

// Poll implements sys.PollableFile: files are always ready.
func (f *file) Poll(experimental.Pflag, int32) (bool, experimental.Errno) { return true, f.check() }

// Stat implements sys.File.
func (f *file) Stat() (sys.Stat_t, experimental.Errno) { return f.node.stat(), f.check() }

// Read implements sys.File.
func (f *file) Read(p []byte) (int, experimental.Errno) {
	n, errno := f.Pread(p, f.off)
	f.off += int64(n)
	return n, errno
}

// Pread implements sys.File.
func (f *file) Pread(p []byte, off int64) (int, experimental.Errno) {
	switch {
	case f.closed || !f.readable:
		return 0, experimental.EBADF
	case off < 0:
		return 0, experimental.EINVAL
	}
	return f.node.data.readAt(p, off), 0
}

// Seek implements sys.File. Seeking behind the end changes nothing until
// something is written there.
func (f *file) Seek(offset position, whence int) (int64, experimental.Errno) {
	if f.closed {
		return 0, experimental.EBADF
	}
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = f.off
	case io.SeekEnd:
		base = f.node.data.size
	default:
		return 0, experimental.EINVAL
	}
	if offset > math.MaxInt64-base || base+offset < 0 {
		return 0, experimental.EINVAL
	}
	f.off = base + offset
	return f.off, 0
}

// Write implements sys.File.
func (f *file) Write(p []byte) (int, experimental.Errno) {
	off := f.off
	if f.append {
		off = f.node.data.size
	}
	n, errno := f.Pwrite(p, off)
	if n > 0 {
		f.off = off + int64(n)
	}
	return n, errno
}

// Pwrite implements sys.File. When there is room for a part only, that part is
// written, as POSIX has it; the next call then fails. The offset counts even
// for a file opened with O_APPEND, as in POSIX and unlike Linux.
func (f *file) Pwrite(p []byte, off int64) (int, experimental.Errno) {
	switch {
	case f.closed || !f.writable:
		return 0, experimental.EBADF
	case off < 0:
		return 0, experimental.EINVAL
	case len(p) == 0:
		return 0, 0
	case !f.node.isRegular():
		return len(p), 0 // /dev/null
	case off > math.MaxInt64-int64(len(p)):
		return 0, f.fs.fail(EFBIG)
	}
	data := &f.node.data
	if end := off + int64(len(p)); end > data.size {
		most := data.size + f.fs.room() - off
		if most <= 0 {
			return 0, f.fs.fail(ENOSPC)
		}
		p = p[:min(int64(len(p)), most)]
	}
	before := data.size
	data.writeAt(p, off)
	f.fs.bytes += data.size - before
	f.node.touch(f.fs.now())
	return len(p), 0
}

// Truncate implements sys.File.
func (f *file) Truncate(size int64) experimental.Errno {
	switch {
	case f.closed:
		return experimental.EBADF
	case !f.writable || !f.node.isRegular():
		return experimental.EINVAL
	}
	return f.fs.truncate(f.node, size)
}

// Sync implements sys.File.
func (f *file) Sync() experimental.Errno { return f.check() }

// Datasync implements sys.File.
func (f *file) Datasync() experimental.Errno { return f.check() }

// Utimens implements sys.File.
func (f *file) Utimens(atim, mtim int64) experimental.Errno {
	if f.closed {
		return experimental.EBADF
	}
	return f.fs.setTimes(f.node, atim, mtim)
}

// Close implements sys.File.
func (f *file) Close() experimental.Errno {
	if errno := f.check(); errno != 0 {
		return errno
	}
	f.closed = true
	f.fs.closed(f.node)
	return 0
}

func (f *file) check() experimental.Errno {
	if f.closed {
		return experimental.EBADF
	}
	return 0
}

// position is a plain int64. sys.File's Seek returns an Errno, and go vet takes
// every Seek(int64, int) for io.Seeker's.
type position = int64
