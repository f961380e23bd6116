package memfs

import (
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// world is what most cases find.
func world(t *testing.T) *FS {
	t.Helper()
	f := testFS()
	for _, d := range []string{"tmp/empty", "tmp/dir", "tmp/dir/sub"} {
		succeed(t, "Mkdir "+d, f.Mkdir(d, 0))
	}
	write(t, f, "tmp/file", "content")
	write(t, f, "tmp/dir/file", "inner")
	for link, target := range map[string]string{
		"tmp/tofile": "file", "tmp/todir": "dir", "tmp/dangling": "new", "tmp/abs": "/tmp/dir/file",
		"tmp/loop": "loop", "tmp/ping": "pong", "tmp/pong": "ping", "tmp/up": "../../../../tmp/file", "tmp/toroot": "/",
	} {
		succeed(t, "Symlink "+link, f.Symlink(target, link))
	}
	return f
}

func TestErrors(t *testing.T) {
	long := strings.Repeat("n", MaxName+1)
	longPath := strings.Repeat("d/", MaxPath)
	opens := func(path string, flag experimental.Oflag) func(*FS) experimental.Errno {
		return func(f *FS) experimental.Errno {
			h, errno := f.OpenFile(path, flag, 0)
			if errno == 0 {
				return h.Close()
			}
			return errno
		}
	}
	tests := []struct {
		name string
		do   func(*FS) experimental.Errno
		want experimental.Errno
	}{
		{"open file", opens("tmp/file", read), 0},
		{"open file to write", opens("tmp/file", readWrite), 0},
		{"open file with slash", opens("tmp/file/", read), experimental.ENOTDIR},
		{"open file as directory", opens("tmp/file", experimental.O_DIRECTORY), experimental.ENOTDIR},
		{"open below file", opens("tmp/file/x", create), experimental.ENOTDIR},
		{"open missing", opens("tmp/none", read), experimental.ENOENT},
		{"open below missing", opens("tmp/none/x", create), experimental.ENOENT},
		{"open directory", opens("tmp/dir/", read|experimental.O_DIRECTORY), 0},
		{"open directory to write", opens("tmp/dir", readWrite), experimental.EISDIR},
		{"open directory to truncate", opens("tmp/dir", experimental.O_TRUNC), experimental.EISDIR},
		{"open with all access bits", opens("tmp/file", accessMode), experimental.EINVAL},
		{"create existing", opens("tmp/file", create), 0},
		{"create existing exclusively", opens("tmp/file", create|experimental.O_EXCL), experimental.EEXIST},
		{"create over link exclusively", opens("tmp/dangling", create|experimental.O_EXCL), experimental.EEXIST},
		{"create through link", opens("tmp/dangling", create), 0},
		{"create with slash", opens("tmp/x/", create), experimental.EISDIR},
		{"create in root", opens("x", create), experimental.EROFS},
		{"create in dev", opens("dev/x", create), experimental.EROFS},
		{"create with long name", opens("tmp/"+long, create), experimental.ENAMETOOLONG},
		{"create with long path", opens("tmp/"+longPath, create), experimental.ENAMETOOLONG},
		{"create with NUL", opens("tmp/a\x00b", create), experimental.EINVAL},
		{"open root", opens(".", read), 0},
		{"open root to write", opens(".", readWrite), experimental.EISDIR},
		{"open null", opens("dev/null", readWrite|experimental.O_TRUNC), 0},
		{"open null as directory", opens("dev/null/", read), experimental.ENOTDIR},
		{"open link", opens("tmp/tofile", read), 0},
		{"open link, not following", opens("tmp/tofile", noFollow), experimental.ELOOP},
		{"open link with slash, not following", opens("tmp/todir/", noFollow), experimental.ELOOP},
		{"open loop", opens("tmp/loop", read), experimental.ELOOP},
		{"open loop of two", opens("tmp/ping/x", read), experimental.ELOOP},
		{"open link out of the root", opens("tmp/up", read), 0},
		{"open absolute link", opens("tmp/abs", read), 0},
		{"open through link to root", opens("tmp/toroot/tmp/toroot/tmp/file", read), 0},
		{"create through link to root", opens("tmp/toroot/x", create), experimental.EROFS},

		{"mkdir", func(f *FS) experimental.Errno { return f.Mkdir("tmp/new/", 0) }, 0},
		{"mkdir existing", func(f *FS) experimental.Errno { return f.Mkdir("tmp/dir", 0) }, experimental.EEXIST},
		{"mkdir over link", func(f *FS) experimental.Errno { return f.Mkdir("tmp/dangling", 0) }, experimental.EEXIST},
		{"mkdir tmp", func(f *FS) experimental.Errno { return f.Mkdir("tmp", 0) }, experimental.EEXIST},
		{"mkdir in root", func(f *FS) experimental.Errno { return f.Mkdir("new", 0) }, experimental.EROFS},
		{"mkdir below file", func(f *FS) experimental.Errno { return f.Mkdir("tmp/file/x", 0) }, experimental.ENOTDIR},

		{"unlink", func(f *FS) experimental.Errno { return f.Unlink("tmp/file") }, 0},
		{"unlink link", func(f *FS) experimental.Errno { return f.Unlink("tmp/loop") }, 0},
		{"unlink link with slash", func(f *FS) experimental.Errno { return f.Unlink("tmp/todir/") }, experimental.ENOTDIR},
		{"unlink with slash", func(f *FS) experimental.Errno { return f.Unlink("tmp/file/") }, experimental.ENOTDIR},
		{"unlink directory", func(f *FS) experimental.Errno { return f.Unlink("tmp/dir") }, experimental.EISDIR},
		{"unlink missing", func(f *FS) experimental.Errno { return f.Unlink("tmp/none") }, experimental.ENOENT},
		{"unlink tmp", func(f *FS) experimental.Errno { return f.Unlink("tmp") }, experimental.EROFS},
		{"unlink null", func(f *FS) experimental.Errno { return f.Unlink("dev/null") }, experimental.EROFS},

		{"rmdir", func(f *FS) experimental.Errno { return f.Rmdir("tmp/empty/") }, 0},
		{"rmdir full", func(f *FS) experimental.Errno { return f.Rmdir("tmp/dir") }, experimental.ENOTEMPTY},
		{"rmdir file", func(f *FS) experimental.Errno { return f.Rmdir("tmp/file") }, experimental.ENOTDIR},
		{"rmdir link", func(f *FS) experimental.Errno { return f.Rmdir("tmp/todir/") }, experimental.ENOTDIR},
		{"rmdir missing", func(f *FS) experimental.Errno { return f.Rmdir("tmp/none") }, experimental.ENOENT},
		{"rmdir tmp", func(f *FS) experimental.Errno { return f.Rmdir("tmp") }, experimental.EROFS},
		{"rmdir root", func(f *FS) experimental.Errno { return f.Rmdir(".") }, experimental.EROFS},

		{"rename file", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "tmp/x") }, 0},
		{"rename over file", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "tmp/dir/file") }, 0},
		{"rename to itself", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp/dir/") }, 0},
		{"rename directory", func(f *FS) experimental.Errno { return f.Rename("tmp/dir/", "tmp/empty/") }, 0},
		{"rename directory over full", func(f *FS) experimental.Errno { return f.Rename("tmp/empty", "tmp/dir") }, experimental.ENOTEMPTY},
		{"rename directory over file", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp/file") }, experimental.ENOTDIR},
		{"rename directory over link", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp/todir") }, experimental.ENOTDIR},
		{"rename file over directory", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "tmp/empty") }, experimental.EISDIR},
		{"rename file with slash", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "tmp/x/") }, experimental.ENOTDIR},
		{"rename into itself", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp/dir/sub/x") }, experimental.EINVAL},
		{"rename into itself by link", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp/todir/x") }, experimental.EINVAL},
		{"rename missing", func(f *FS) experimental.Errno { return f.Rename("tmp/none", "tmp/x") }, experimental.ENOENT},
		{"rename to below missing", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "tmp/none/x") }, experimental.ENOENT},
		{"rename out of tmp", func(f *FS) experimental.Errno { return f.Rename("tmp/file", "x") }, experimental.EROFS},
		{"rename tmp", func(f *FS) experimental.Errno { return f.Rename("tmp", "tmp/x") }, experimental.EROFS},
		{"rename over tmp", func(f *FS) experimental.Errno { return f.Rename("tmp/dir", "tmp") }, experimental.EROFS},
		{"rename null", func(f *FS) experimental.Errno { return f.Rename("dev/null", "tmp/x") }, experimental.EROFS},

		{"symlink existing", func(f *FS) experimental.Errno { return f.Symlink("x", "tmp/loop") }, experimental.EEXIST},
		{"symlink empty", func(f *FS) experimental.Errno { return f.Symlink("", "tmp/x") }, experimental.ENOENT},
		{"symlink to NUL", func(f *FS) experimental.Errno { return f.Symlink("a\x00", "tmp/x") }, experimental.EINVAL},
		{"symlink to no UTF-8", func(f *FS) experimental.Errno { return f.Symlink("\xff", "tmp/x") }, experimental.EINVAL},
		{"symlink too long", func(f *FS) experimental.Errno { return f.Symlink(longPath, "tmp/x") }, experimental.ENAMETOOLONG},
		{"symlink in root", func(f *FS) experimental.Errno { return f.Symlink("tmp", "x") }, experimental.EROFS},
		{"symlink with slash", func(f *FS) experimental.Errno { return f.Symlink("tmp", "tmp/x/") }, experimental.ENOENT},
		{"readlink file", func(f *FS) experimental.Errno { _, e := f.Readlink("tmp/file"); return e }, experimental.EINVAL},

		{"link", func(f *FS) experimental.Errno { return f.Link("tmp/file", "tmp/x") }, experimental.EPERM},
		{"link missing", func(f *FS) experimental.Errno { return f.Link("tmp/none", "tmp/x") }, experimental.ENOENT},
		{"link existing", func(f *FS) experimental.Errno { return f.Link("tmp/file", "tmp/dir") }, experimental.EEXIST},
		{"link in root", func(f *FS) experimental.Errno { return f.Link("tmp/file", "x") }, experimental.EROFS},

		{"chmod", func(f *FS) experimental.Errno { return f.Chmod("tmp/file", 0) }, experimental.ENOTSUP},
		{"chmod root", func(f *FS) experimental.Errno { return f.Chmod(".", 0) }, experimental.EROFS},
		{"utimens", func(f *FS) experimental.Errno { return f.Utimens("tmp/tofile", 1, 2) }, 0},
		{"utimens tmp", func(f *FS) experimental.Errno { return f.Utimens("tmp", 1, 2) }, 0},
		{"utimens root", func(f *FS) experimental.Errno { return f.Utimens(".", 1, 2) }, experimental.EROFS},
		{"utimens null", func(f *FS) experimental.Errno { return f.Utimens("dev/null", 1, 2) }, experimental.EROFS},
		{"utimens missing", func(f *FS) experimental.Errno { return f.Utimens("tmp/none", 1, 2) }, experimental.ENOENT},
		{"lstat loop", func(f *FS) experimental.Errno { _, e := f.Lstat("tmp/loop"); return e }, 0},
		{"lstat loop with slash", func(f *FS) experimental.Errno { _, e := f.Lstat("tmp/loop/"); return e }, experimental.ELOOP},
		{"stat loop", func(f *FS) experimental.Errno { _, e := f.Stat("tmp/loop"); return e }, experimental.ELOOP},
		{"stat file with slash", func(f *FS) experimental.Errno { _, e := f.Stat("tmp/file/"); return e }, experimental.ENOTDIR},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := world(t)
			files, bytes := f.Used()
			if got := tt.do(f); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			checkAccounts(t, f)
			if f.open != 0 {
				t.Errorf("%d handles stay open", f.open)
			}
			if after, _ := f.Used(); tt.want != 0 && after != files {
				t.Errorf("a failed operation left %d files, before %d", after, files)
			}
			if _, after := f.Used(); tt.want != 0 && after != bytes {
				t.Errorf("a failed operation left %d bytes, before %d", after, bytes)
			}
		})
	}
}

// checkAccounts counts what there is and compares it with what Used says.
// Preconditions: nothing is open without a name.
func checkAccounts(t *testing.T, f *FS) {
	t.Helper()
	f.root()
	var count func(n *node) (int, int64)
	count = func(n *node) (files int, bytes int64) {
		for _, e := range n.order {
			if n.names[e.text] != e {
				t.Errorf("%s is listed and not found", e.text)
			}
			files++
			bytes += e.node.size()
			if e.node.isDir() {
				if e.node.parent != n || e.node.depth != n.depth+1 {
					t.Errorf("%s has a wrong parent or depth %d", e.text, e.node.depth)
				}
				a, b := count(e.node)
				files, bytes = files+a, bytes+b
			}
		}
		if len(n.order) != len(n.names) {
			t.Errorf("%d names listed, %d to be found", len(n.order), len(n.names))
		}
		return files, bytes
	}
	type used struct {
		Files int
		Bytes int64
	}
	var got, want used
	got.Files, got.Bytes = f.Used()
	want.Files, want.Bytes = count(&f.tmp)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Used (-there is +reported):\n%s", diff)
	}
}

func TestHandleErrors(t *testing.T) {
	buf := make([]byte, 4)
	tests := []struct {
		name, path string
		flag       experimental.Oflag
		do         func(experimental.File) experimental.Errno
		want       experimental.Errno
	}{
		{"read a file opened to write", "tmp/file", experimental.O_WRONLY, func(h experimental.File) experimental.Errno { _, e := h.Read(buf); return e }, experimental.EBADF},
		{"write a file opened to read", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Write(buf); return e }, experimental.EBADF},
		{"pread negative", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Pread(buf, -1); return e }, experimental.EINVAL},
		{"pread far away", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Pread(buf, math.MaxInt64); return e }, 0},
		{"pwrite negative", "tmp/file", readWrite, func(h experimental.File) experimental.Errno { _, e := h.Pwrite(buf, -1); return e }, experimental.EINVAL},
		{"pwrite over the end of numbers", "tmp/file", readWrite, func(h experimental.File) experimental.Errno { _, e := h.Pwrite(buf, math.MaxInt64-1); return e }, EFBIG},
		{"pwrite far away", "tmp/file", readWrite, func(h experimental.File) experimental.Errno { _, e := h.Pwrite(buf, 1<<40); return e }, ENOSPC},
		{"truncate a file opened to read", "tmp/file", read, func(h experimental.File) experimental.Errno { return h.Truncate(0) }, experimental.EINVAL},
		{"truncate negative", "tmp/file", readWrite, func(h experimental.File) experimental.Errno { return h.Truncate(-1) }, experimental.EINVAL},
		{"truncate to a TiB", "tmp/file", readWrite, func(h experimental.File) experimental.Errno { return h.Truncate(1 << 40) }, ENOSPC},
		{"truncate null", "dev/null", readWrite, func(h experimental.File) experimental.Errno { return h.Truncate(0) }, experimental.EINVAL},
		{"write null", "dev/null", readWrite, func(h experimental.File) experimental.Errno { _, e := h.Write(buf); return e }, 0},
		{"seek before the start", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Seek(-1, io.SeekStart); return e }, experimental.EINVAL},
		{"seek over the end of numbers", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Seek(math.MaxInt64, io.SeekEnd); return e }, experimental.EINVAL},
		{"seek from nowhere", "tmp/file", read, func(h experimental.File) experimental.Errno { _, e := h.Seek(0, 3); return e }, experimental.EINVAL},
		{"read a directory", "tmp/dir", read, func(h experimental.File) experimental.Errno { _, e := h.Read(buf); return e }, experimental.EISDIR},
		{"write a directory", "tmp/dir", read, func(h experimental.File) experimental.Errno { _, e := h.Write(buf); return e }, experimental.EBADF},
		{"truncate a directory", "tmp/dir", read, func(h experimental.File) experimental.Errno { return h.Truncate(0) }, experimental.EISDIR},
		{"seek in a directory", "tmp/dir", read, func(h experimental.File) experimental.Errno { _, e := h.Seek(1, io.SeekStart); return e }, experimental.EINVAL},
		{"set times of the root", ".", read, func(h experimental.File) experimental.Errno { return h.Utimens(1, 2) }, experimental.EROFS},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := world(t)
			h := open(t, f, tt.path, tt.flag)
			if got := tt.do(h); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			succeed(t, "Close", h.Close())
			for what, errno := range afterClose(h) {
				if errno != experimental.EBADF {
					t.Errorf("%s after Close: %v, want EBADF", what, errno)
				}
			}
			checkAccounts(t, f)
		})
	}
}

func afterClose(h experimental.File) map[string]experimental.Errno {
	var buf [1]byte
	_, dev := h.Dev()
	_, ino := h.Ino()
	_, isDir := h.IsDir()
	_, stat := h.Stat()
	_, r := h.Read(buf[:])
	_, pr := h.Pread(buf[:], 0)
	_, w := h.Write(buf[:])
	_, pw := h.Pwrite(buf[:], 0)
	_, seek := h.Seek(0, io.SeekStart)
	all := map[string]experimental.Errno{
		"Dev": dev, "Ino": ino, "IsDir": isDir, "Stat": stat, "Read": r, "Pread": pr, "Write": w, "Pwrite": pw,
		"Seek": seek, "Truncate": h.Truncate(0), "Sync": h.Sync(), "Datasync": h.Datasync(), "Utimens": h.Utimens(0, 0), "Close": h.Close(),
	}
	if d, ok := h.(*dir); ok {
		_, all["Readdir"] = d.Readdir(1)
	}
	return all
}

func TestStat(t *testing.T) {
	f := world(t)
	now := testTime.UnixNano()
	tests := []struct {
		path string
		want sys.Stat_t
	}{
		{".", sys.Stat_t{Dev: 1, Ino: 1, Mode: fs.ModeDir | 0o555, Nlink: 1}},
		{"tmp", sys.Stat_t{Dev: 1, Ino: 2, Mode: fs.ModeDir | 0o700, Nlink: 1, Mtim: now, Ctim: now}},
		{"dev/null", sys.Stat_t{Dev: 1, Ino: 4, Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, Nlink: 1}},
		{"tmp/file", sys.Stat_t{Dev: 1, Ino: 8, Mode: 0o600, Nlink: 1, Size: 7, Atim: now, Mtim: now, Ctim: now}},
	}
	for _, tt := range tests {
		got, errno := f.Stat(tt.path)
		succeed(t, "Stat "+tt.path, errno)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Stat(%s) (-want +got):\n%s", tt.path, diff)
		}
	}
	if st, _ := f.Lstat("tmp/up"); st.Mode != fs.ModeSymlink|0o777 || st.Size != int64(len("../../../../tmp/file")) {
		t.Errorf("Lstat of a link gives mode %v, size %d", st.Mode, st.Size)
	}
	a, _ := f.Stat("tmp/file")
	b, _ := f.Stat("tmp/tofile")
	if a != b {
		t.Errorf("a link's Stat %+v differs from its target's %+v", b, a)
	}
}

func TestUtimens(t *testing.T) {
	f := world(t)
	h := open(t, f, "tmp/file", read)
	succeed(t, "Utimens", h.Utimens(5, experimental.UTIME_OMIT))
	succeed(t, "Utimens", f.Utimens("tmp/file", experimental.UTIME_OMIT, 6))
	st, _ := h.Stat()
	if st.Atim != 5 || st.Mtim != 6 || st.Ctim != testTime.UnixNano() {
		t.Errorf("times are %d, %d, %d, want 5, 6, now", st.Atim, st.Mtim, st.Ctim)
	}
}
