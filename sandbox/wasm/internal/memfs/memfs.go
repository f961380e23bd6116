// Package memfs is the file system that a guest sees: a read-only root with
// one private, writable directory, /tmp, held in the host's memory, and the
// device /dev/null. A host may add a directory of its own, /mnt, read-only.
//
// One [FS] serves one call and is dropped with it, so nothing a guest writes
// outlives its call. It guarantees that
//
//   - the host's own files are out of reach: nothing here opens any;
//   - what it holds is bounded by [Config], by files and by bytes, whatever
//     sizes, offsets and counts a guest asks for;
//   - everything outside /tmp refuses every change.
//
// It has regular files, directories and symbolic links, which resolve inside
// the file system only. It has no hard links, no permissions (preview 1 has no
// way to set them), and reading does not change access times.
//
// An FS is not safe for concurrent use: a guest is single-threaded, and the
// host reads the files after the guest has ended.
package memfs

import (
	"io/fs"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// Bounds that no Config changes. They keep single operations cheap and the
// tables of open files small.
const (
	// MaxPath is how many bytes a path may have, those of the directory it is
	// relative to included. Longer: ENAMETOOLONG.
	MaxPath = 4096
	// MaxName is how many bytes one name in a path may have. Longer:
	// ENAMETOOLONG.
	MaxName = 255
	// MaxDepth is how many directories below the root may lie within each
	// other. Deeper: ENAMETOOLONG.
	MaxDepth = 128
	// MaxLinks is how many symbolic links one path may lead through. More:
	// ELOOP.
	MaxLinks = 40
	// MaxOpen is how many files and directories may be open at once. More:
	// EMFILE.
	MaxOpen = 256
	// MaxOpenDirs is how many of these may be directories. More: EMFILE.
	// wazero keeps a copy of what was listed for each.
	MaxOpenDirs = 64
)

// Config bounds an [FS]. The zero value allows no file at all.
type Config struct {
	// MaxFiles is how many files, directories and symbolic links may be in
	// /tmp, at all depths. A file that is removed while it is open counts
	// until it is closed. Zero: none. Over it: ENOSPC.
	MaxFiles int
	// MaxBytes is how many bytes all files may have together, by their
	// length: a hole counts like data, and so do the targets of symbolic
	// links. Zero: none. Over it: ENOSPC.
	MaxBytes int64
	// Room, if set, is asked before files grow: how many bytes more than
	// [FS.Used] reports may there be, for reasons of the host's own? Less than
	// what is needed: ENOSPC.
	Room func() int64
	// Clock gives the time for time stamps. Default [time.Now].
	Clock func() time.Time
	// Tree, if set, is shown as /mnt, read-only. It costs the file system
	// nothing and counts against no limit. Default: there is no /mnt.
	Tree *Tree
}

// FS is one guest's file system. It implements sys.FS of wazero. The zero
// value is an FS with the zero Config.
type FS struct {
	sys.UnimplementedFS // for methods that a later wazero may add

	config Config
	files  int   // nodes below /tmp
	bytes  int64 // bytes of all files and link targets
	open   int   // open handles
	dirs   int   // those of them that are directories
	inodes uint64
	errno  uint16

	timesOfLinks bool // of what Utimens sets the times

	provided int // directories that MaxFiles does not count

	tmp node
}

// New makes an empty file system. It allocates nothing beyond the FS itself.
func New(c Config) *FS { return &FS{config: c} }

// Configure replaces the limits and the clock, for a file system that was made
// before its call was known. Files that exist stay.
func (f *FS) Configure(c Config) { f.config = c }

// Provide makes an empty directory in /tmp that counts for nothing. The guest may
// use, remove and replace it like any other. It has the time 0.
//
// Preconditions: nothing has this name yet.
func (f *FS) Provide(name string) {
	f.root()
	f.tmp.add(name, &node{ino: f.inodes, mode: fs.ModeDir | 0o700, linked: true, parent: &f.tmp, depth: f.tmp.depth + 1})
	f.inodes++
	f.files++
	f.provided++
}

// Used reports how many files, directories and symbolic links there are, and
// their bytes, as [Config] counts them. What the host spends on them is at most
// twice the bytes and about one KiB for each file.
func (f *FS) Used() (files int, bytes int64) { return f.files, f.bytes }

func (f *FS) now() int64 {
	if f.config.Clock == nil {
		return time.Now().UnixNano()
	}
	return f.config.Clock().UnixNano()
}

// room is by how many bytes the files may still grow.
func (f *FS) room() int64 {
	room := f.config.MaxBytes - f.bytes
	if f.config.Room != nil {
		room = min(room, f.config.Room())
	}
	return max(room, 0)
}
