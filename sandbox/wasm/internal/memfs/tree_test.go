package memfs

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

// treeFiles are what most cases show as /mnt.
func treeFiles() fstest.MapFS {
	return fstest.MapFS{
		"a.txt":        {Data: []byte("content"), ModTime: testTime.Add(-time.Hour)},
		"dir/big":      {Data: bytes.Repeat([]byte("0123456789"), 20_000)},
		"dir/deep/one": {Data: []byte("1")},
		"empty":        {Mode: fs.ModeDir | 0o755},
	}
}

func treeFS(t *testing.T, tree *Tree) *FS {
	t.Helper()
	return New(Config{MaxFiles: 10, MaxBytes: 1 << 20, Clock: func() time.Time { return testTime }, Tree: tree})
}

func newTree(t *testing.T, files fs.FS) *Tree {
	t.Helper()
	tree, err := NewTree(files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func listed(t *testing.T, f *FS, dir string) []string {
	t.Helper()
	h := open(t, f, dir, read|experimental.O_DIRECTORY)
	defer h.Close()
	entries, errno := h.Readdir(-1)
	if errno != 0 {
		t.Fatal(errno)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}

func TestTreeIsRead(t *testing.T) {
	files := treeFiles()
	tree := newTree(t, files)
	f := treeFS(t, tree)
	for dir, want := range map[string][]string{
		"/": {"dev", "mnt", "tmp"}, "/mnt": {"a.txt", "dir", "empty"}, "/mnt/dir/deep": {"one"}, "/mnt/empty": nil,
		"/mnt/dir/../../mnt/dir": {"big", "deep"},
	} {
		if got := listed(t, f, dir); !cmp.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", dir, got, want)
		}
	}
	for name, file := range files {
		if file.Mode.IsDir() {
			continue
		}
		h := open(t, f, "/mnt/"+name, read)
		got := make([]byte, len(file.Data)+1)
		n, errno := h.Read(got)
		if errno != 0 || !bytes.Equal(got[:n], file.Data) {
			t.Errorf("%s: read %d bytes (%v), want its %d", name, n, errno, len(file.Data))
		}
		succeed(t, "Close", h.Close())
	}
	st, errno := f.Stat("/mnt/a.txt")
	if errno != 0 || st.Size != 7 || !st.Mode.IsRegular() || st.Mtim != testTime.Add(-time.Hour).UnixNano() || st.Nlink != 1 {
		t.Errorf("Stat = %+v, %v", st, errno)
	}
	if files, size := f.Used(); files != 0 || size != 0 {
		t.Errorf("the tree counts as %d files, %d bytes", files, size)
	}

	if _, errno := treeFS(t, nil).Stat("/mnt"); errno != experimental.ENOENT {
		t.Errorf("without a tree, Stat(/mnt) = %v, want ENOENT", errno)
	}
}

// No guest changes what another one sees.
func TestTreeCannotBeChanged(t *testing.T) {
	tree := newTree(t, treeFiles())
	f := treeFS(t, tree)
	write(t, f, "tmp/own", "own")
	opens := func(path string, flag experimental.Oflag) experimental.Errno {
		h, errno := f.OpenFile(path, flag, 0)
		if errno == 0 {
			h.Close()
		}
		return errno
	}
	tests := []struct {
		name  string
		errno experimental.Errno
	}{
		{"open to write", opens("mnt/a.txt", readWrite)},
		{"open to write only", opens("mnt/a.txt", experimental.O_WRONLY|experimental.O_APPEND)},
		{"truncate", opens("mnt/a.txt", experimental.O_TRUNC)},
		{"create", opens("mnt/dir/new", create)},
		{"mkdir", f.Mkdir("mnt/new", 0)},
		{"unlink", f.Unlink("mnt/a.txt")},
		{"rmdir", f.Rmdir("mnt/empty")},
		{"remove the tree", f.Rmdir("mnt")},
		{"rename within", f.Rename("mnt/a.txt", "mnt/b.txt")},
		{"rename out", f.Rename("mnt/a.txt", "tmp/a.txt")},
		{"rename into", f.Rename("tmp/own", "mnt/own")},
		{"rename over", f.Rename("tmp/own", "mnt/a.txt")},
		{"rename a directory into", f.Rename("mnt/empty", "tmp/empty")},
		{"link", f.Link("tmp/own", "mnt/own")},
		{"symlink", f.Symlink("/tmp/own", "mnt/own")},
		{"times", f.Utimens("mnt/a.txt", 1, 1)},
		{"chmod", f.Chmod("mnt/a.txt", 0o777)},
	}
	for _, tt := range tests {
		if tt.errno != experimental.EROFS {
			t.Errorf("%s: %v, want EROFS", tt.name, tt.errno)
		}
	}
	h := open(t, f, "mnt/a.txt", read)
	if n, errno := h.Pwrite([]byte("x"), 0); n != 0 || errno != experimental.EBADF {
		t.Errorf("Pwrite on a file open for reading = %d, %v", n, errno)
	}
	if errno := h.Truncate(0); errno == 0 {
		t.Error("Truncate on a file open for reading succeeds")
	}
	if errno := h.Utimens(1, 1); errno != experimental.EROFS {
		t.Errorf("Utimens = %v, want EROFS", errno)
	}
	// The control: the same on a file of the guest's own.
	succeed(t, "Rename", f.Rename("tmp/own", "tmp/renamed"))

	other := treeFS(t, tree)
	got := make([]byte, 100)
	n, errno := open(t, other, "mnt/a.txt", read).Read(got)
	if errno != 0 || string(got[:n]) != "content" {
		t.Errorf("another file system reads %q, %v", got[:n], errno)
	}
	if got := listed(t, other, "mnt"); !cmp.Equal(got, []string{"a.txt", "dir", "empty"}) {
		t.Errorf("another file system lists %v", got)
	}
}

func TestTreeRefuses(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"a symbolic link": {"link": {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink}},
		"a device":        {"device": {Mode: fs.ModeDevice}},
		"a long name":     {strings.Repeat("n", MaxName+1): {}},
		"a deep one":      {strings.Repeat("d/", MaxDepth) + "file": {}},
	} {
		if _, err := NewTree(files); err == nil {
			t.Errorf("a tree with %s is taken", name)
		}
	}
}
