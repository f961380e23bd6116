package memfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

func TestReaddir(t *testing.T) {
	f := testFS()
	for _, n := range []string{"c", "a", "b", "d"} {
		write(t, f, "tmp/"+n, "")
	}
	h := open(t, f, "tmp", read)
	for _, size := range []int{-1, 0, 1, 2, 3, 4, 5, 1 << 40} {
		h.Seek(0, io.SeekStart)
		if got := names(t, h, size); got != "c a b d" {
			t.Errorf("in pieces of %d: %s", size, got)
		}
	}
	h.Seek(0, io.SeekStart)
	h.Readdir(2)
	succeed(t, "Unlink", f.Unlink("tmp/a"))
	succeed(t, "Unlink", f.Unlink("tmp/b"))
	write(t, f, "tmp/e", "")
	succeed(t, "Rename", f.Rename("tmp/c", "tmp/f"))
	if got := names(t, h, 1); got != "d e f" {
		t.Errorf("after changes: %s, want d e f", got)
	}
	succeed(t, "Mkdir", f.Mkdir("tmp/gone", 0))
	gone := open(t, f, "tmp/gone", read)
	succeed(t, "Rmdir", f.Rmdir("tmp/gone"))
	if _, errno := gone.Readdir(1); errno != experimental.ENOENT {
		t.Errorf("reading a removed directory: %v", errno)
	}
}

func TestReaddirFixed(t *testing.T) {
	f := testFS()
	for path, want := range map[string][]experimental.Dirent{
		".":   {{Ino: inoDev, Name: "dev", Type: fs.ModeDir}, {Ino: inoTmp, Name: "tmp", Type: fs.ModeDir}},
		"dev": {{Ino: inoNull, Name: "null", Type: fs.ModeDevice | fs.ModeCharDevice}},
		"tmp": nil,
	} {
		h := open(t, f, path, read)
		got, errno := h.Readdir(-1)
		succeed(t, "Readdir", errno)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestFiles(t *testing.T) {
	f := testFS()
	for _, d := range []string{"tmp/out", "tmp/out/sub", "tmp/out/empty", "tmp/other"} {
		succeed(t, "Mkdir", f.Mkdir(d, 0))
	}
	big := bytes.Repeat([]byte("0123456789"), 20_000)
	write(t, f, "tmp/out/b", "second")
	write(t, f, "tmp/out/a", "first")
	write(t, f, "tmp/out/sub/big", string(big))
	write(t, f, "tmp/other/c", "not this")
	succeed(t, "Symlink", f.Symlink("../other/c", "tmp/out/link"))
	succeed(t, "Symlink", f.Symlink("/tmp/other", "tmp/out/linkdir"))
	succeed(t, "Symlink", f.Symlink("out", "tmp/alias"))

	var got []string
	for name, c := range f.Files("/tmp/out") {
		var w bytes.Buffer
		n, err := c.WriteTo(&w)
		if err != nil || n != c.Size() || !bytes.Equal(w.Bytes(), c.Bytes()) {
			t.Errorf("%s: WriteTo gives %d, %v; Size is %d", name, n, err, c.Size())
		}
		got = append(got, fmt.Sprintf("%s %d", name, w.Len()))
	}
	if diff := cmp.Diff([]string{"a 5", "b 6", "sub/big 200000"}, got); diff != "" {
		t.Errorf("Files (-want +got):\n%s", diff)
	}
	for _, dir := range []string{"/tmp/none", "/tmp/alias", "/tmp/out/a", "/tmp/out/linkdir", "/dev", "/tmp/out/../other"} {
		for name := range f.Files(dir) {
			t.Errorf("Files(%s) gives %s", dir, name)
		}
	}
	for range f.Files("/tmp") {
		break
	}
}

// TestNoSharing runs file systems next to each other for the race detector:
// the fixed directories are the same nodes in all of them.
func TestNoSharing(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			f := world(t)
			for range 50 {
				for _, path := range []string{".", "dev", "dev/null", "tmp", "tmp/file"} {
					h := open(t, f, path, read)
					h.Stat()
					h.Utimens(1, 1)
					h.Readdir(-1)
					succeed(t, "Close", h.Close())
				}
			}
		})
	}
}

func TestProvide(t *testing.T) {
	f := New(Config{MaxFiles: 1, MaxBytes: 10})
	f.Provide("out")
	write(t, f, "tmp/out/a", "x")
	if _, errno := f.OpenFile("tmp/b", create, 0); errno == 0 {
		t.Error("a second file was made, the limit is 1")
	}
	succeed(t, "Unlink", f.Unlink("tmp/out/a"))
	succeed(t, "Rmdir", f.Rmdir("tmp/out"))
	if files, bytes := f.Used(); files != 0 || bytes != 0 {
		t.Errorf("%d files with %d bytes are left", files, bytes)
	}
}

func TestEntries(t *testing.T) {
	f := testFS()
	f.Provide("out")
	if got, err := f.Entries("/tmp/out"); len(got) != 0 || err != nil {
		t.Errorf("Entries of an empty directory = %v, %v", got, err)
	}
	write(t, f, "tmp/out/b", "text")
	succeed(t, "Mkdir", f.Mkdir("tmp/out/a", 0))
	succeed(t, "Symlink", f.Symlink("/tmp/out/b", "tmp/out/c"))
	got, err := f.Entries("/tmp/out")
	if err != nil || len(got) != 3 {
		t.Fatalf("Entries = %v, %v", got, err)
	}
	for i, want := range []string{"a d", "b -", "c L"} {
		if s := got[i].Name + " " + got[i].Mode.Type().String()[:1]; s != want {
			t.Errorf("entry %d is %s, want %s", i, s, want)
		}
	}
	if s := string(got[1].Content.Bytes()); s != "text" {
		t.Errorf("b has %q", s)
	}
	succeed(t, "Symlink", f.Symlink("/tmp/out", "tmp/link"))
	for path, want := range map[string]error{
		"/tmp/none": fs.ErrNotExist, "/tmp/none/a": fs.ErrNotExist, "/tmp/link": fs.ErrInvalid, "/tmp/out/b": fs.ErrInvalid, "/tmp/out/b/x": fs.ErrInvalid,
	} {
		if _, err := f.Entries(path); !errors.Is(err, want) {
			t.Errorf("Entries(%s): %v, want %v", path, err, want)
		}
	}
}
