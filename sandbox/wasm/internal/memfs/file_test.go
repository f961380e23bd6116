package memfs

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
)

// TestContent compares random reads, writes and truncations with a plain slice.
func TestContent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var c content
		var want []byte
		for step := range 60 {
			// Offsets cluster at the borders of chunks.
			off := rnd.IntN(3)*chunkSize + rnd.IntN(700) - rnd.IntN(300)
			off = max(off, 0)
			switch rnd.IntN(4) {
			case 0:
				c.truncate(int64(off))
				if off <= len(want) {
					want = want[:off]
				} else {
					want = append(want, make([]byte, off-len(want))...)
				}
			default:
				p := bytes.Repeat([]byte{byte(step + 1)}, rnd.IntN(2*chunkSize))
				if rnd.IntN(2) == 0 {
					p = p[:len(p)%600]
				}
				c.writeAt(p, int64(off))
				if end := off + len(p); end > len(want) {
					want = append(want, make([]byte, end-len(want))...)
				}
				copy(want[off:], p)
			}
			got := make([]byte, len(want)+10)
			n := c.readAt(got, 0)
			if c.size != int64(len(want)) || !bytes.Equal(got[:n], want) {
				t.Fatalf("step %d: %d bytes differ from the %d wanted", step, n, len(want))
			}
			at := rnd.IntN(len(want) + 1)
			n = c.readAt(got[:min(300, len(got))], int64(at))
			if !bytes.Equal(got[:n], want[at:at+n]) {
				t.Fatalf("step %d: a read at %d differs", step, at)
			}
			checkAllocated(t, &c)
		}
	}
}

// checkAllocated holds content to its promise: at most twice the size, and a
// little for each file.
func checkAllocated(t *testing.T, c *content) {
	t.Helper()
	var held int64
	for i, chunk := range c.chunks {
		held += int64(cap(chunk))
		for j := max(0, c.size-int64(i)*chunkSize); j < int64(len(chunk)); j++ {
			if chunk[j] != 0 {
				t.Fatalf("byte %d of chunk %d lies behind the end and is not zero", j, i)
			}
		}
	}
	if held > 2*c.size+minChunk {
		t.Fatalf("%d bytes are held for a file of %d", held, c.size)
	}
}

func TestAppend(t *testing.T) {
	f := testFS()
	write(t, f, "tmp/a", "one")
	h := open(t, f, "tmp/a", readWrite|experimental.O_APPEND)
	if !h.IsAppend() {
		t.Error("IsAppend is false")
	}
	h.Write([]byte("two"))
	h.Seek(0, io.SeekStart)
	h.Write([]byte("three"))
	h.Pwrite([]byte("O"), 0)
	succeed(t, "SetAppend", h.SetAppend(false))
	h.Seek(3, io.SeekStart)
	h.Write([]byte("T"))
	if got, want := contentOf(t, f, "tmp/a"), "OneTwothree"; got != want {
		t.Errorf("content is %q, want %q", got, want)
	}
}

// TestFailedAppendStays: a write that fails must not move to the end of the
// file.
func TestFailedAppendStays(t *testing.T) {
	f := testFS()
	write(t, f, "tmp/a", "content")
	h := open(t, f, "tmp/a", read|experimental.O_APPEND)
	if _, errno := h.Write([]byte("x")); errno != experimental.EBADF {
		t.Errorf("Write to a file opened to read: %v", errno)
	}
	if at, _ := h.Seek(0, io.SeekCurrent); at != 0 {
		t.Errorf("the position is %d, want 0", at)
	}
}

func TestOpenWithoutName(t *testing.T) {
	f := testFS()
	h := open(t, f, "tmp/a", create)
	h.Write([]byte("stays"))
	succeed(t, "Unlink", f.Unlink("tmp/a"))
	if _, errno := f.Stat("tmp/a"); errno != experimental.ENOENT {
		t.Errorf("Stat after Unlink: %v", errno)
	}
	write(t, f, "tmp/a", "other")
	buf := make([]byte, 10)
	n, errno := h.Pread(buf, 0)
	if string(buf[:n]) != "stays" || errno != 0 {
		t.Errorf("read %q, %v after Unlink", buf[:n], errno)
	}
	if st, _ := h.Stat(); st.Nlink != 0 {
		t.Errorf("Nlink is %d, want 0", st.Nlink)
	}
	if files, bytes := f.Used(); files != 2 || bytes != 10 {
		t.Errorf("Used gives %d, %d while the file is open, want 2, 10", files, bytes)
	}
	succeed(t, "Close", h.Close())
	checkAccounts(t, f)

	h = open(t, f, "tmp/a", readWrite)
	write(t, f, "tmp/b", "moved over")
	succeed(t, "Rename", f.Rename("tmp/b", "tmp/a"))
	n, _ = h.Pread(buf, 0)
	if string(buf[:n]) != "other" {
		t.Errorf("read %q from a file that was replaced", buf[:n])
	}
	succeed(t, "Close", h.Close())
	if got := contentOf(t, f, "tmp/a"); got != "moved over" {
		t.Errorf("content is %q", got)
	}
	checkAccounts(t, f)
}

func TestTruncateOnOpen(t *testing.T) {
	f := testFS()
	write(t, f, "tmp/a", "long")
	open(t, f, "tmp/a", experimental.O_RDONLY|experimental.O_TRUNC).Close()
	if got := contentOf(t, f, "tmp/a"); got != "long" {
		t.Errorf("opening to read with O_TRUNC left %q", got)
	}
	open(t, f, "tmp/a", experimental.O_WRONLY|experimental.O_TRUNC).Close()
	if got := contentOf(t, f, "tmp/a"); got != "" {
		t.Errorf("O_TRUNC left %q", got)
	}
	checkAccounts(t, f)
}

func TestSymlinkKeepsItsTarget(t *testing.T) {
	f := testFS()
	guest := []byte("target")
	succeed(t, "Symlink", f.Symlink(aliased(guest), "tmp/l"))
	copy(guest, "xxxxxx")
	if got, _ := f.Readlink("tmp/l"); got != "target" {
		t.Errorf("the target changed to %q with the guest's memory", got)
	}
}

func TestNull(t *testing.T) {
	f := testFS()
	h := open(t, f, "dev/null", readWrite)
	if n, errno := h.Write(make([]byte, 9)); n != 9 || errno != 0 {
		t.Errorf("Write gives %d, %v", n, errno)
	}
	if n, errno := h.Pread(make([]byte, 9), 0); n != 0 || errno != 0 {
		t.Errorf("Pread gives %d, %v", n, errno)
	}
	checkAccounts(t, f)
}
