package memfs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// testTime is what the clock of these tests shows.
var testTime = time.Unix(1_700_000_000, 0)

func testFS() *FS {
	return New(Config{MaxFiles: 1000, MaxBytes: 1 << 20, Clock: func() time.Time { return testTime }})
}

const (
	read      = sys.O_RDONLY
	readWrite = sys.O_RDWR
	create    = sys.O_RDWR | sys.O_CREAT
	noFollow  = sys.O_NOFOLLOW
)

func open(t *testing.T, f *FS, path string, flag sys.Oflag) sys.File {
	t.Helper()
	h, errno := f.OpenFile(path, flag, 0)
	if errno != 0 {
		t.Fatalf("OpenFile(%s, %#x): %v", path, flag, errno)
	}
	return h
}

func write(t *testing.T, f *FS, path, text string) {
	t.Helper()
	h := open(t, f, path, create|sys.O_TRUNC)
	if n, errno := h.Write([]byte(text)); n != len(text) || errno != 0 {
		t.Fatalf("Write(%s) = %d, %v", path, n, errno)
	}
	succeed(t, "Close", h.Close())
}

func contentOf(t *testing.T, f *FS, path string) string {
	t.Helper()
	h := open(t, f, path, read)
	defer h.Close()
	var all bytes.Buffer
	buf := make([]byte, 777)
	for {
		n, errno := h.Read(buf)
		succeed(t, "Read "+path, errno)
		if n == 0 {
			return all.String()
		}
		all.Write(buf[:n])
	}
}

func succeed(t *testing.T, what string, errno sys.Errno) {
	t.Helper()
	if errno != 0 {
		t.Fatalf("%s: %v", what, errno)
	}
}

// names lists a directory by way of pieces of size n.
func names(t *testing.T, h sys.File, n int) string {
	t.Helper()
	var all []string
	for {
		entries, errno := h.Readdir(n)
		succeed(t, "Readdir", errno)
		for _, e := range entries {
			all = append(all, e.Name)
		}
		if len(entries) == 0 || n <= 0 {
			return strings.Join(all, " ")
		}
	}
}
