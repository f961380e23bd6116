package memfs

import (
	"fmt"
	"strings"
	"testing"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

func wasi(t *testing.T, f *FS, want uint32) {
	t.Helper()
	if got := f.TakeErrno(); got != want {
		t.Errorf("TakeErrno gives %d, want %d", got, want)
	}
	if got := f.TakeErrno(); got != 0 {
		t.Errorf("TakeErrno gives %d when asked again", got)
	}
}

func TestNothingAllowed(t *testing.T) {
	var f FS
	if _, errno := f.OpenFile("tmp/a", create, 0); errno != ENOSPC {
		t.Errorf("create: %v, want ENOSPC", errno)
	}
	wasi(t, &f, wasiNospc)
	if errno := f.Mkdir("tmp/a", 0); errno != ENOSPC {
		t.Errorf("mkdir: %v, want ENOSPC", errno)
	}
	f.Configure(Config{MaxFiles: 1})
	h := open(t, &f, "tmp/a", create)
	if n, errno := h.Write([]byte("x")); n != 0 || errno != ENOSPC {
		t.Errorf("write: %d, %v, want ENOSPC", n, errno)
	}
	open(t, &f, "dev/null", readWrite)
	open(t, &f, ".", read)
}

func TestCount(t *testing.T) {
	f := New(Config{MaxFiles: 10, MaxBytes: 100})
	for i := range 5 {
		succeed(t, "Mkdir", f.Mkdir(fmt.Sprint("tmp/d", i), 0))
	}
	for i := range 4 {
		write(t, f, fmt.Sprint("tmp/f", i), "")
	}
	succeed(t, "Symlink", f.Symlink("x", "tmp/l"))
	if _, errno := f.OpenFile("tmp/more", create, 0); errno != ENOSPC {
		t.Errorf("create: %v", errno)
	}
	wasi(t, f, wasiNospc)
	if errno := f.Mkdir("tmp/more", 0); errno != ENOSPC {
		t.Errorf("mkdir: %v", errno)
	}
	if errno := f.Symlink("x", "tmp/more"); errno != ENOSPC {
		t.Errorf("symlink: %v", errno)
	}
	succeed(t, "Rename", f.Rename("tmp/f0", "tmp/f1"))
	write(t, f, "tmp/more", "")
	checkAccounts(t, f)
}

func TestBytes(t *testing.T) {
	f := New(Config{MaxFiles: 10, MaxBytes: 100})
	h := open(t, f, "tmp/a", create)
	if n, errno := h.Write(make([]byte, 90)); n != 90 || errno != 0 {
		t.Fatalf("first write: %d, %v", n, errno)
	}
	if n, errno := h.Write(make([]byte, 90)); n != 10 || errno != 0 {
		t.Errorf("write over the limit: %d, %v, want the 10 that fit", n, errno)
	}
	if n, errno := h.Write(make([]byte, 1)); n != 0 || errno != ENOSPC {
		t.Errorf("write when full: %d, %v", n, errno)
	}
	wasi(t, f, wasiNospc)
	if n, errno := h.Pwrite([]byte("over"), 0); n != 4 || errno != 0 {
		t.Errorf("write over what is there: %d, %v", n, errno)
	}
	if errno := f.Symlink("x", "tmp/l"); errno != ENOSPC {
		t.Errorf("symlink when full: %v", errno)
	}
	if errno := h.Truncate(101); errno != ENOSPC {
		t.Errorf("truncate over the limit: %v", errno)
	}
	succeed(t, "Truncate", h.Truncate(50))
	if n, errno := h.Pwrite([]byte("x"), 99); n != 1 || errno != 0 {
		t.Errorf("write behind a hole: %d, %v", n, errno)
	}
	if n, errno := h.Pwrite([]byte("x"), 100); n != 0 || errno != ENOSPC {
		t.Errorf("write behind a hole that is too large: %d, %v", n, errno)
	}
	succeed(t, "Truncate", h.Truncate(0))
	if _, bytes := f.Used(); bytes != 0 {
		t.Errorf("%d bytes are used after truncation to nothing", bytes)
	}
	checkAccounts(t, f)
}

func TestRoom(t *testing.T) {
	room := int64(30)
	f := New(Config{MaxFiles: 10, MaxBytes: 100, Room: func() int64 { return room }})
	h := open(t, f, "tmp/a", create)
	if n, errno := h.Write(make([]byte, 50)); n != 30 || errno != 0 {
		t.Errorf("write: %d, %v, want the 30 that there is room for", n, errno)
	}
	room = -5
	if n, errno := h.Write(make([]byte, 50)); n != 0 || errno != ENOSPC {
		t.Errorf("write without room: %d, %v", n, errno)
	}
	succeed(t, "Truncate", h.Truncate(10))
}

func TestHugeFilesTakeNoMemory(t *testing.T) {
	f := New(Config{MaxFiles: 10, MaxBytes: 1 << 62})
	h := open(t, f, "tmp/a", create)
	allocated := testing.AllocsPerRun(10, func() {
		succeed(t, "Truncate", h.Truncate(1<<61))
		succeed(t, "Truncate", h.Truncate(0))
	})
	if allocated != 0 {
		t.Errorf("a hole takes %v allocations", allocated)
	}
}

func TestOpenLimits(t *testing.T) {
	f := testFS()
	write(t, f, "tmp/a", "")
	handles := []experimental.File{open(t, f, ".", read)}
	for range MaxOpenDirs - 1 {
		handles = append(handles, open(t, f, "tmp", read))
	}
	if _, errno := f.OpenFile("tmp", read, 0); errno != EMFILE {
		t.Errorf("opening one directory more: %v, want EMFILE", errno)
	}
	wasi(t, f, wasiMfile)
	for range MaxOpen - MaxOpenDirs {
		handles = append(handles, open(t, f, "tmp/a", readWrite))
	}
	if _, errno := f.OpenFile("tmp/a", read, 0); errno != EMFILE {
		t.Errorf("opening one file more: %v, want EMFILE", errno)
	}
	if _, errno := f.OpenFile("tmp/new", create, 0); errno != EMFILE {
		t.Errorf("creating one file more: %v, want EMFILE", errno)
	}
	if _, errno := f.Stat("tmp/new"); errno != experimental.ENOENT {
		t.Errorf("the file that could not be opened was made: %v", errno)
	}
	for _, h := range handles {
		succeed(t, "Close", h.Close())
	}
	open(t, f, "tmp", read)
	checkAccounts(t, f)
}

func TestDepth(t *testing.T) {
	f := testFS()
	var path strings.Builder
	path.WriteString("tmp")
	for range MaxDepth - 1 {
		path.WriteString("/d")
		succeed(t, "Mkdir", f.Mkdir(path.String(), 0))
	}
	if errno := f.Mkdir(path.String()+"/d", 0); errno != experimental.ENAMETOOLONG {
		t.Errorf("one directory too deep: %v", errno)
	}
	write(t, f, path.String()+"/file", "")
	succeed(t, "Mkdir", f.Mkdir("tmp/a", 0))
	succeed(t, "Mkdir", f.Mkdir("tmp/a/b", 0))
	parent := strings.TrimSuffix(path.String(), "/d/d")
	if errno := f.Rename("tmp/a", parent+"/d/d/a"); errno != experimental.ENAMETOOLONG {
		t.Errorf("moving a directory too deep: %v", errno)
	}
	succeed(t, "Rmdir", f.Rmdir("tmp/a/b"))
	write(t, f, "tmp/f", "")
	succeed(t, "Unlink", f.Unlink(path.String()+"/file"))
	succeed(t, "Rmdir", f.Rmdir(path.String()))
	succeed(t, "Rename", f.Rename("tmp/a", path.String()))
	checkAccounts(t, f)
}

// TestManyDirectories is the attack of nesting and of flooding with
// directories: the count ends it.
func TestManyDirectories(t *testing.T) {
	f := testFS()
	made := 0
	for i := range 100_000 {
		if f.Mkdir(fmt.Sprintf("tmp/d%d", i), 0) == 0 {
			made++
		}
	}
	if made != 1000 {
		t.Errorf("%d directories were made, want 1000", made)
	}
	checkAccounts(t, f)
}

func TestNewIsCheap(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { New(Config{MaxFiles: 1}) }); n > 1 {
		t.Errorf("New takes %v allocations, want 1", n)
	}
}
