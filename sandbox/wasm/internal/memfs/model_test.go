package memfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// FuzzModel runs the same operations on an FS and on a directory of the host,
// and wants the same outcomes, errors and content.
func FuzzModel(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		seed := make([]byte, 400)
		for i := range seed {
			seed[i] = byte(rnd.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newModel(t)
		for d := (decoder{data}); len(d.data) > 0; {
			m.step(&d)
		}
		m.compareTrees()
	})
}

// decoder turns bytes into choices. At the end of its bytes it chooses 0.
type decoder struct{ data []byte }

func (d *decoder) byte() int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b)
}

func (d *decoder) path() string {
	n := d.byte()
	parts := []string{string("abc"[n%3]), string("abc"[n/3%3]), string("abc"[n/9%3])}
	return strings.Join(parts[:1+n/27%3], "/")
}

// length is size without 0, for which os.File asks nobody.
func (d *decoder) length() int { return max(1, d.size()) }

// size favours small numbers and the borders of chunks.
func (d *decoder) size() int {
	n := d.byte()
	switch n % 4 {
	case 0:
		return n
	case 1:
		return n * 7
	case 2:
		return chunkSize - 100 + n
	}
	return 2*chunkSize - 100 + n
}

// pair is a file that is open in both systems.
type pair struct {
	ours   sys.File
	host   *os.File
	append bool
}

type model struct {
	t    *testing.T
	ours *FS
	host *os.Root
	dir  string // its path
	open []pair
	log  []string
	last string // what the step does
	fill byte   // what is written next
}

func newModel(t *testing.T) *model {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, dir: dir, ours: New(Config{MaxFiles: 1000, MaxBytes: 64 << 20}), host: root}
	t.Cleanup(func() {
		for _, p := range m.open {
			p.host.Close()
		}
		root.Close()
	})
	return m
}

func (m *model) doing(format string, args ...any) {
	m.last = fmt.Sprintf(format, args...)
	m.log = append(m.log, m.last)
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter:\n\t%s", fmt.Sprintf(format, args...), strings.Join(m.log, "\n\t"))
}

// same compares an outcome and says whether the operation succeeded.
func (m *model) same(errno sys.Errno, err error) bool {
	m.t.Helper()
	want := sys.UnwrapOSError(err)
	if errors.Is(err, syscall.ENOTEMPTY) && errno == sys.EISDIR {
		// Linux says of a file that is moved over a directory above itself
		// that the directory is not empty, where POSIX has it EISDIR.
		want = sys.EISDIR
	}
	if errno != want {
		m.failf("%s: we say %v, the host says %v (%v)", m.last, errno, want, err)
	}
	return errno == 0
}

func (m *model) step(d *decoder) {
	switch op := d.byte() % 16; op {
	case 0, 1:
		m.openFile(d)
	case 2, 3, 4, 5, 6, 7:
		if len(m.open) > 0 {
			m.useHandle(op, d)
		}
	case 8:
		path := d.path()
		m.doing("mkdir %s", path)
		m.same(m.ours.Mkdir("tmp/"+path, 0), m.host.Mkdir(path, 0o700))
	case 9:
		path := d.path()
		m.doing("remove %s", path)
		errno := m.ours.Unlink("tmp/" + path)
		if errno == sys.EISDIR {
			errno = m.ours.Rmdir("tmp/" + path)
		}
		m.same(errno, m.host.Remove(path))
	case 10, 11:
		from, to := d.path(), d.path()
		m.doing("rename %s to %s", from, to)
		// Not os.Root's, which never replaces a directory. No link here leads out.
		m.same(m.ours.Rename("tmp/"+from, "tmp/"+to), syscall.Rename(m.dir+"/"+from, m.dir+"/"+to))
	case 12:
		target, path := d.path(), d.path()
		m.doing("symlink %s to %s", path, target)
		m.same(m.ours.Symlink(target, "tmp/"+path), m.host.Symlink(target, path))
	case 13:
		path := d.path()
		m.doing("readlink %s", path)
		got, errno := m.ours.Readlink("tmp/" + path)
		want, err := m.host.Readlink(path)
		if m.same(errno, err) && got != want {
			m.failf("%s: we say %s, the host says %s", m.last, got, want)
		}
	case 14:
		m.stat(d.path(), d.byte()%2 == 0)
	case 15:
		m.compareTrees()
	}
}

func (m *model) stat(path string, follow bool) {
	m.doing("stat %s, follow %v", path, follow)
	ours, host := m.ours.Lstat, m.host.Lstat
	if follow {
		ours, host = m.ours.Stat, m.host.Stat
	}
	got, errno := ours("tmp/" + path)
	want, err := host(path)
	if !m.same(errno, err) {
		return
	}
	if got.Mode.Type() != want.Mode().Type() || (!want.IsDir() && got.Size != want.Size()) {
		m.failf("%s: we say %v, %d, the host says %v, %d", m.last, got.Mode, got.Size, want.Mode(), want.Size())
	}
}

func (m *model) openFile(d *decoder) {
	path, n := d.path(), d.byte()
	var flag sys.Oflag
	var host int
	add := func(o sys.Oflag, h int) { flag, host = flag|o, host|h }
	switch n % 3 {
	case 0:
		add(sys.O_RDONLY, os.O_RDONLY)
	case 1:
		add(sys.O_RDWR, os.O_RDWR)
	case 2:
		add(sys.O_WRONLY, os.O_WRONLY)
	}
	n /= 3
	if n&1 != 0 {
		add(sys.O_CREAT, os.O_CREATE)
		if n&2 != 0 {
			add(sys.O_EXCL, os.O_EXCL)
		}
	}
	if n&4 != 0 && host&(os.O_RDWR|os.O_WRONLY) != 0 {
		add(sys.O_TRUNC, os.O_TRUNC)
	}
	if n&8 != 0 {
		add(sys.O_APPEND, os.O_APPEND)
	}
	m.doing("open %s, %#x", path, host)
	h, errno := m.ours.OpenFile("tmp/"+path, flag, 0)
	f, err := m.host.OpenFile(path, host, 0o600)
	if !m.same(errno, err) {
		return
	}
	m.open = append(m.open, pair{h, f, host&os.O_APPEND != 0})
	if len(m.open) > 6 {
		m.close(0)
	}
}

func (m *model) close(i int) {
	p := m.open[i]
	m.doing("close %d", i)
	m.same(p.ours.Close(), p.host.Close())
	m.open = slices.Delete(m.open, i, i+1)
}

func (m *model) useHandle(op int, d *decoder) {
	i := d.byte() % len(m.open)
	p := m.open[i]
	if dir, _ := p.ours.IsDir(); dir {
		m.close(i)
		return
	}
	switch op {
	case 2:
		b := m.bytes(d.length())
		m.doing("write %d bytes to %d", len(b), i)
		n, errno := p.ours.Write(b)
		want, err := p.host.Write(b)
		m.count(n, errno, want, err)
	case 3:
		b, off := m.bytes(d.length()), int64(d.size())
		m.doing("pwrite %d bytes to %d at %d", len(b), i, off)
		if p.append {
			return // os.File refuses it
		}
		n, errno := p.ours.Pwrite(b, off)
		want, err := p.host.WriteAt(b, off)
		m.count(n, errno, want, err)
	case 4:
		size := d.length()
		m.doing("read %d bytes from %d", size, i)
		got, want := make([]byte, size), make([]byte, size)
		n, errno := p.ours.Read(got)
		k, err := p.host.Read(want)
		m.count(n, errno, k, noEOF(err))
		m.sameBytes(got, want)
	case 5:
		size, off := d.length(), int64(d.size())
		m.doing("pread %d bytes from %d at %d", size, i, off)
		got, want := make([]byte, size), make([]byte, size)
		n, errno := p.ours.Pread(got, off)
		k, err := p.host.ReadAt(want, off)
		m.count(n, errno, k, noEOF(err))
		m.sameBytes(got, want)
	case 6:
		forward, back := d.size(), d.size()
		off, whence := int64(forward-back), d.byte()%3
		m.doing("seek %d from %d in %d", off, whence, i)
		got, errno := p.ours.Seek(off, whence)
		want, err := p.host.Seek(off, whence)
		if m.same(errno, err) && got != want {
			m.failf("%s: we say %d, the host says %d", m.last, got, want)
		}
	case 7:
		if n := d.byte(); n%4 == 0 {
			m.close(i)
			return
		}
		size := int64(d.size())
		m.doing("truncate %d to %d", i, size)
		m.same(p.ours.Truncate(size), p.host.Truncate(size))
	}
}

// noEOF drops io.EOF, which sys.File does not have.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// bytes gives n bytes that differ from all others written.
func (m *model) bytes(n int) []byte {
	m.fill++
	return bytes.Repeat([]byte{m.fill, m.fill ^ 0xff, 7}, n/3+1)[:n]
}

func (m *model) count(n int, errno sys.Errno, want int, err error) {
	m.t.Helper()
	if m.same(errno, err) && n != want {
		m.failf("%s: we say %d, the host says %d", m.last, n, want)
	}
}

func (m *model) sameBytes(got, want []byte) {
	m.t.Helper()
	if !bytes.Equal(got, want) {
		m.failf("%s: the bytes differ", m.last)
	}
}

// compareTrees compares all there is, and our accounts with the host's.
func (m *model) compareTrees() {
	m.t.Helper()
	m.doing("compare")
	err := fs.WalkDir(m.host.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ours := "tmp/" + path
		switch {
		case e.IsDir():
			m.sameNames(ours, path)
		case e.Type()&fs.ModeSymlink != 0:
			want, _ := m.host.Readlink(path)
			if got, errno := m.ours.Readlink(ours); got != want || errno != 0 {
				m.failf("%s leads to %s, %v, want %s", path, got, errno, want)
			}
		default:
			want, err := m.host.ReadFile(path)
			if err != nil {
				return err
			}
			p, errno := m.ours.existing(ours, false)
			if errno != 0 || !bytes.Equal(Content{&p.node.data}.Bytes(), want) {
				m.failf("%s: %v, or its content differs", path, errno)
			}
		}
		return nil
	})
	if err != nil {
		m.failf("walk: %v", err)
	}
	if len(m.open) == 0 {
		checkAccounts(m.t, m.ours)
	}
}

func (m *model) sameNames(ours, path string) {
	m.t.Helper()
	h, errno := m.ours.OpenFile(ours, sys.O_RDONLY, 0)
	if errno != 0 {
		m.failf("open %s: %v", ours, errno)
	}
	defer h.Close()
	entries, errno := h.Readdir(-1)
	if errno != 0 {
		m.failf("list %s: %v", ours, errno)
	}
	var got, want []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Name, " ", e.Type))
	}
	slices.Sort(got)
	host, err := fs.ReadDir(m.host.FS(), path)
	if err != nil {
		m.failf("list %s: %v", path, err)
	}
	for _, e := range host {
		want = append(want, fmt.Sprint(e.Name(), " ", e.Type()))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.failf("%s holds %q, want %q", path, got, want)
	}
}
