package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// made gives the path of a store with something of everything in it, that is
// closed, and whose log is empty.
func made(t *testing.T) string {
	t.Helper()
	image, err := makeOnce()
	ok(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	ok(t, os.WriteFile(path, image, 0o600))
	ok(t, os.WriteFile(path+"-lock", []byte(markMade), 0o600))
	for _, name := range companionsOf(path)[:2] {
		ok(t, os.WriteFile(name, nil, 0o600))
	}
	return path
}

var makeOnce = sync.OnceValues(func() (image []byte, err error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "store.db")
	s, err := Open(path)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	for i := range 60 {
		id := fmt.Sprint(i)
		err = errors.Join(err, s.CreateRun(ctx, Run{ID: id, Task: strings.Repeat("t", 500), Created: start}),
			s.Grant(ctx, Grant{RunID: id, Tool: "t", Granted: start}))
	}
	err = errors.Join(err, s.CreateRun(ctx, Run{ID: "r", Created: start}))
	_, approvalErr := s.CreateApproval(ctx, Approval{ID: "p", RunID: "r", CallHash: "h", Tool: "t", Created: start})
	_, effectErr := s.BeginEffect(ctx, Effect{Key: "k", Tool: "t", Begun: start})
	_, reserveErr := s.Reserve(ctx, Reservation{ID: "i", Windows: []Window{{"k", 9, time.Hour}}}, start)
	err = errors.Join(err, approvalErr, effectErr, reserveErr, s.Close(), execute(path, "PRAGMA wal_checkpoint(TRUNCATE)"))
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// other runs statements as another program would.
func other(t *testing.T, path, sql string) {
	t.Helper()
	ok(t, execute(path, sql))
}

func execute(path, sql string) error {
	db, err := sqlite3.Open(path)
	if err != nil {
		return err
	}
	_, err = db.FileControl("main", sqlite3.FCNTL_PERSIST_WAL, true)
	if err == nil {
		err = db.Exec(sql)
	}
	return errors.Join(err, db.Close())
}

func companionsOf(path string) []string {
	return []string{path + "-wal", path + "-shm", path + "-lock"}
}

func TestFilesAreOurs(t *testing.T) {
	old := syscall.Umask(0) // the most that others could be given
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(dir, "store.db")
	s := openTest(t, path)
	ok(t, s.CreateRun(t.Context(), Run{ID: "r", Created: start}))
	modes := func() map[string]os.FileMode {
		m := make(map[string]os.FileMode)
		es, err := os.ReadDir(dir)
		ok(t, err)
		for _, e := range es {
			info, err := e.Info()
			ok(t, err)
			m[e.Name()] = info.Mode()
		}
		return m
	}
	want := map[string]os.FileMode{"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600, "store.db-lock": 0o600}
	equal(t, "modes", modes(), want)
	ok(t, s.Close())
	equal(t, "modes when closed", modes(), want)
	info, err := os.Stat(dir)
	ok(t, err)
	equal(t, "mode of the folder", info.Mode().Perm(), 0o700)
}

func TestUnsafeFiles(t *testing.T) {
	elsewhere := func(t *testing.T, path string) string {
		to := filepath.Join(t.TempDir(), "elsewhere")
		ok(t, os.Rename(path, to))
		return to
	}
	tests := map[string]func(t *testing.T, path string){
		"others may read":        func(t *testing.T, path string) { ok(t, os.Chmod(path, 0o640)) },
		"others may write":       func(t *testing.T, path string) { ok(t, os.Chmod(path, 0o602)) },
		"others may read log":    func(t *testing.T, path string) { ok(t, os.Chmod(path+"-wal", 0o644)) },
		"others may write index": func(t *testing.T, path string) { ok(t, os.Chmod(path+"-shm", 0o666)) },
		"others may lock":        func(t *testing.T, path string) { ok(t, os.Chmod(path+"-lock", 0o644)) },
		"folder of all":          func(t *testing.T, path string) { ok(t, os.Chmod(filepath.Dir(path), 0o1777)) },
		"folder of the group":    func(t *testing.T, path string) { ok(t, os.Chmod(filepath.Dir(path), 0o770)) },
		"link":                   func(t *testing.T, path string) { ok(t, os.Symlink(elsewhere(t, path), path)) },
		"link to nothing": func(t *testing.T, path string) {
			ok(t, os.Remove(path))
			ok(t, os.Symlink("nowhere", path))
		},
		"log is a link":  func(t *testing.T, path string) { ok(t, os.Symlink(elsewhere(t, path+"-wal"), path+"-wal")) },
		"lock is a link": func(t *testing.T, path string) { ok(t, os.Symlink(elsewhere(t, path+"-lock"), path+"-lock")) },
		"hard link":      func(t *testing.T, path string) { ok(t, os.Link(path, path+".2")) },
		"folder": func(t *testing.T, path string) {
			ok(t, os.Remove(path))
			ok(t, os.Mkdir(path, 0o700))
		},
		"pipe": func(t *testing.T, path string) {
			ok(t, os.Remove(path))
			ok(t, syscall.Mkfifo(path, 0o600))
		},
		"of another user": func(t *testing.T, path string) {
			if err := os.Chown(path, os.Geteuid()+1, -1); err != nil {
				t.Skip("needs root to give a file away: ", err)
			}
		},
		"folder of another user": func(t *testing.T, path string) {
			if err := os.Chown(filepath.Dir(path), os.Geteuid()+1, -1); err != nil {
				t.Skip("needs root to give a folder away: ", err)
			}
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			path := made(t)
			spoil(t, path)
			if s, err := Open(path); !errors.Is(err, ErrPermission) {
				t.Errorf("Open = %v, %v", s, err)
			}
		})
	}
	t.Run("folder without parent", func(t *testing.T) {
		if s, err := Open(filepath.Join(t.TempDir(), "a", "b", "store.db")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Open = %v, %v", s, err)
		}
	})
	t.Run("linked folder", func(t *testing.T) { // says where it is, and is checked there
		path := made(t)
		link := filepath.Join(t.TempDir(), "link")
		ok(t, os.Symlink(filepath.Dir(path), link))
		_, err := openTest(t, filepath.Join(link, filepath.Base(path))).Run(t.Context(), "r")
		ok(t, err)
	})
	t.Run("name of many kinds of characters", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a?vfs=x%20#b c ä;&.db")
		ok(t, openTest(t, path).CreateRun(t.Context(), Run{ID: "r", Created: start}))
		info, err := os.Stat(path)
		ok(t, err)
		if info.Size() == 0 {
			t.Error("the store is in another file")
		}
	})
}

// TestBadFiles: what is not a sound store of ours is refused, with what to do,
// and left as it is.
func TestBadFiles(t *testing.T) {
	rewrite := func(change func(b []byte) []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			t.Helper()
			b, err := os.ReadFile(path)
			ok(t, err)
			ok(t, os.WriteFile(path, change(b), 0o600))
		}
	}
	header := func(at int, v uint32) func(t *testing.T, path string) {
		return rewrite(func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b })
	}
	alone := func(t *testing.T, path string) {
		for _, name := range companionsOf(path) {
			ok(t, os.Remove(name))
		}
	}
	both := func(fs ...func(t *testing.T, path string)) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			for _, f := range fs {
				f(t, path)
			}
		}
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  error
		says  string
	}{
		{"empty", rewrite(func([]byte) []byte { return nil }), ErrCorrupt, "delete"},
		{"gone", func(t *testing.T, path string) { ok(t, os.Remove(path)) }, ErrCorrupt, "delete"},
		{"one byte", rewrite(func(b []byte) []byte { return b[:1] }), ErrCorrupt, "backup"},
		{"less than a header", rewrite(func(b []byte) []byte { return b[:99] }), ErrCorrupt, "backup"},
		{"only a header", rewrite(func(b []byte) []byte { return b[:100] }), ErrCorrupt, "backup"},
		{"one page", rewrite(func(b []byte) []byte { return b[:4096] }), ErrCorrupt, "backup"},
		{"half", rewrite(func(b []byte) []byte { return b[:len(b)/2] }), ErrCorrupt, "backup"},
		{"without the last page", rewrite(func(b []byte) []byte { return b[:len(b)-4096] }), ErrCorrupt, "backup"},
		{"zeros", rewrite(func(b []byte) []byte { clear(b); return b }), ErrCorrupt, "another file"},
		{"text", rewrite(func([]byte) []byte { return bytes.Repeat([]byte("text\n"), 1000) }), ErrCorrupt, "another file"},
		{"text without companions", both(rewrite(func([]byte) []byte { return bytes.Repeat([]byte("text\n"), 1000) }), alone), ErrCorrupt, "another file"},
		{"another program's", header(68, 0x47504b47), ErrForeign, "another file"},
		{"another program's without companions", both(header(68, 0), alone), ErrForeign, "another file"},
		{"another program's in the log", func(t *testing.T, path string) { other(t, path, "PRAGMA application_id=7") }, ErrForeign, "another file"},
		{"newer", header(60, version+1), ErrVersion, "newer Mayfly"},
		{"newer without companions", both(header(60, 1<<31), alone), ErrVersion, "newer Mayfly"},
		{"newer in the log", func(t *testing.T, path string) { other(t, path, "PRAGMA user_version=2") }, ErrVersion, "newer Mayfly"},
		{"of no version", header(60, 0), ErrCorrupt, "backup"},
		{"another lock", func(t *testing.T, path string) {
			ok(t, os.WriteFile(path+"-lock", []byte("pid 7\n"), 0o600))
		}, ErrForeign, "another file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := made(t)
			tt.spoil(t, path)
			before, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for range 2 { // and the first refusal does not make the second one different
				s, err := Open(path)
				if s != nil || !errors.Is(err, tt.want) {
					t.Fatalf("Open = %v, %v; want %v", s, err, tt.want)
				}
				if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("Open = %v; want it to name the file and say %q", err, tt.says)
				}
			}
			after, err := os.ReadFile(path)
			ok(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestWithoutCompanions: a copy of the file alone, as from a backup, is good.
func TestWithoutCompanions(t *testing.T) {
	path := made(t)
	for _, name := range companionsOf(path) {
		ok(t, os.Remove(name))
	}
	_, err := openTest(t, path).Run(t.Context(), "r")
	ok(t, err)
	// And from now on it is known to be there.
	ok(t, os.Truncate(path, 0))
	_, err = Open(path)
	fails(t, err, ErrCorrupt)
}

// TestNewerWhileOpen: somebody migrates the file while we use it.
func TestNewerWhileOpen(t *testing.T) {
	path := made(t)
	s := openTest(t, path)
	other(t, path, "PRAGMA user_version=2")
	for name, err := range methods(t.Context(), s) {
		if !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedPages overwrites each page in turn. Whatever the methods find, it
// is one of the errors that they may give, and no panic.
func TestDamagedPages(t *testing.T) {
	path := made(t)
	sound, err := os.ReadFile(path)
	ok(t, err)
	const page = 4096
	found := make(map[string]bool)
	junks := []func(b []byte){
		func(b []byte) { clear(b) },
		func(b []byte) {
			for i := range b {
				b[i] = 0xff
			}
		},
		func(b []byte) { copy(b, b[page/2:]) },
		func(b []byte) {
			for i := range b[:200] {
				b[i] ^= byte(i*7 + 1)
			}
		},
	}
	if testing.Short() {
		junks = junks[3:]
	}
	for at := 0; at < len(sound); at += page {
		for _, junk := range junks {
			b := bytes.Clone(sound)
			if at == 0 {
				junk(b[100:page]) // the header has tests of its own
			} else {
				junk(b[at : at+page])
			}
			ok(t, os.WriteFile(path, b, 0o600))
			for _, name := range companionsOf(path)[:2] {
				ok(t, os.Truncate(name, 0))
			}
			s, err := Open(path)
			if err != nil {
				fails(t, err, ErrCorrupt)
				found["Open"] = true
				continue
			}
			for name, err := range methods(t.Context(), s) {
				if err == nil {
					continue
				}
				known := []error{ErrCorrupt, ErrNotFound, ErrExists, ErrFinished, ErrDecided}
				if !slices.ContainsFunc(known, func(want error) bool { return errors.Is(err, want) }) {
					t.Errorf("page at %d, %s: %v", at, name, err)
				}
				if errors.Is(err, ErrCorrupt) {
					found[name] = true
				}
			}
			if err := s.Close(); err != nil {
				fails(t, err, ErrCorrupt)
			}
		}
	}
	if len(found) < 5 {
		t.Errorf("damage was found by %v only: the test does not test much", slices.Sorted(maps.Keys(found)))
	}
}

// TestCutFiles cuts off files of a store that is open. A mapped one faults when
// it is touched, which must not end the program.
func TestCutFiles(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		t.Run("store.db"+suffix, func(t *testing.T) {
			path := made(t)
			s := openTest(t, path)
			ok(t, s.CreateRun(t.Context(), Run{ID: "in the log", Created: start}))
			ok(t, os.Truncate(path+suffix, 0))
			failed := 0
			for range 2 {
				for name, err := range methods(t.Context(), s) {
					if err == nil {
						continue
					}
					failed++
					known := []error{ErrCorrupt, ErrIO, ErrVersion, ErrNotFound, ErrExists, ErrFinished, ErrDecided}
					if !slices.ContainsFunc(known, func(want error) bool { return errors.Is(err, want) }) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			t.Logf("%d calls failed", failed)
			if err := s.Close(); err != nil {
				t.Log("Close: ", err)
			}
		})
	}
}

// TestEngineGivesUp: whatever a connection was doing when its engine gave up is
// taken back, its lock is given back at once, and the next call works.
func TestEngineGivesUp(t *testing.T) {
	path := made(t)
	s, err := open(path, 50*time.Millisecond)
	ok(t, err)
	defer s.Close()
	other, err := sqlite3.Open(path)
	ok(t, err)
	defer other.Close()
	ok(t, other.Exec("BEGIN IMMEDIATE; ROLLBACK")) // it opens all its files

	write := func(c *conn) { ok(t, c.run("UPDATE run SET id = 'lost' WHERE id = 'r'")) }
	ways := map[string]func(pick func(*sqlite) *conn) error{
		"in a transaction": func(pick func(*sqlite) *conn) error {
			return s.transaction(t.Context(), pick, func(c *conn) error {
				write(c)
				// Control: the lock is held.
				fails(t, other.Exec("BEGIN IMMEDIATE"), sqlite3.BUSY)
				panic("out of memory")
			})
		},
		"a transaction is left open": func(pick func(*sqlite) *conn) error {
			c := pick(s)
			ok(t, c.guard(t.Context(), func() error {
				ok(t, c.run("BEGIN IMMEDIATE"))
				write(c)
				return nil
			}))
			fails(t, other.Exec("BEGIN IMMEDIATE"), sqlite3.BUSY)
			return s.transaction(t.Context(), pick, func(*conn) error { return nil })
		},
	}
	files := descriptors(t)
	n := 0
	for name, way := range ways {
		for _, pick := range []func(*sqlite) *conn{inFile, onDisk} {
			n++
			fails(t, way(pick), ErrIO)
			if err := errors.Join(other.Exec("BEGIN IMMEDIATE"), other.Exec("ROLLBACK")); err != nil {
				t.Errorf("%s: the lock is still held: %v", name, err)
			}
			// One commits to the file, the other to the disk.
			id := fmt.Sprint("new", n)
			ok(t, s.CreateRun(t.Context(), Run{ID: id, Created: start}))
			_, err := s.CreateApproval(t.Context(), Approval{ID: id, RunID: id, CallHash: id, Tool: "t", Created: start})
			ok(t, err)
			_, err = s.Run(t.Context(), "lost")
			fails(t, err, ErrNotFound)
		}
	}
	// Reading too.
	fails(t, s.read(t.Context(), func(*conn) error { panic("out of memory") }), ErrIO)
	_, err = s.Run(t.Context(), "r")
	ok(t, err)
	if n := descriptors(t); n > files {
		t.Errorf("%d descriptors before, %d after", files, n)
	}
	// Not to another file of that name.
	ok(t, os.Rename(path, path+".away"))
	copied, err := os.ReadFile(path + ".away")
	ok(t, err)
	ok(t, os.WriteFile(path, copied, 0o600))
	fails(t, s.transaction(t.Context(), inFile, func(*conn) error { panic("out of memory") }), ErrIO)
	fails(t, s.CreateRun(t.Context(), Run{ID: "elsewhere", Created: start}), ErrIO)
	ok(t, os.Rename(path+".away", path))
	ok(t, s.CreateRun(t.Context(), Run{ID: "here", Created: start}))
	// Nor with a log of its own, which others do not read.
	for _, companion := range s.files.companions() {
		ok(t, os.Rename(companion, companion+".away"))
		fails(t, s.transaction(t.Context(), inFile, func(*conn) error { panic("out of memory") }), ErrIO)
		fails(t, s.CreateRun(t.Context(), Run{ID: "apart", Created: start}), ErrIO)
		if _, err := os.Lstat(companion); err == nil {
			t.Errorf("%s was made anew", companion)
		}
		ok(t, os.Rename(companion+".away", companion))
		ok(t, s.CreateRun(t.Context(), Run{ID: "with " + companion, Created: start}))
	}
	// Not without end.
	give := func() error {
		return s.transaction(t.Context(), inFile, func(*conn) error { panic("out of memory") })
	}
	for range maxReplaced {
		fails(t, give(), ErrIO)
	}
	fails(t, s.CreateRun(t.Context(), Run{ID: "new", Created: start}), ErrIO)
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	ok(t, err)
	return len(entries)
}

func TestBusy(t *testing.T) {
	path := made(t)
	s, err := open(path, 20*time.Millisecond)
	ok(t, err)
	defer s.Close()
	ok(t, s.Grant(t.Context(), Grant{RunID: "r", Tool: "t", Granted: start}))
	db, err := sqlite3.Open(path)
	ok(t, err)
	defer db.Close()
	ok(t, db.Exec("BEGIN IMMEDIATE"))

	writers := []string{
		"CreateRun", "AddLabels", "TakeCall", "Reserve", "Release", "CreateApproval", "Decide", "Consume",
		"Grant", "Revoke", "BeginEffect", "FinishEffect", "RetryEffect", "Recover",
	}
	for name, err := range methods(t.Context(), s) {
		var want error // readers do not wait for writers
		if slices.Contains(writers, name) {
			want = ErrBusy
		}
		if !errors.Is(err, want) {
			t.Errorf("%s while another process writes: %v, want %v", name, err, want)
		}
	}
	// The context may end before that.
	patient, err := open(path, time.Hour)
	ok(t, err)
	defer patient.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	fails(t, patient.CreateRun(ctx, Run{ID: "new", Created: start}), context.DeadlineExceeded)

	ok(t, db.Exec("ROLLBACK"))
	ok(t, s.CreateRun(t.Context(), Run{ID: "new", Created: start}))
	ok(t, patient.AddLabels(t.Context(), "new", Labels{PrivateSeen: true}))
}

// TestBusyOpening: somebody hangs in Open.
func TestBusyOpening(t *testing.T) {
	path := made(t)
	o, err := newOwner(path + "-lock")
	ok(t, err)
	defer o.close()
	ok(t, o.lockSetup(time.Second))
	_, err = open(path, 10*time.Millisecond)
	fails(t, err, ErrBusy)
	ok(t, o.unlockSetup())
	openTest(t, path)
}

// TestFull: there is no room for one more page.
func TestFull(t *testing.T) {
	s := openTest(t, made(t)).(*sqlite)
	ok(t, s.quick.db.Exec("PRAGMA max_page_count=1"))
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = s.CreateRun(t.Context(), Run{ID: fmt.Sprint("new", n), Task: strings.Repeat("x", MaxName), Created: start})
	}
	fails(t, err, ErrFull)
	_, err = s.Run(t.Context(), fmt.Sprint("new", n-1))
	fails(t, err, ErrNotFound)
	ok(t, s.quick.db.Exec("PRAGMA max_page_count=100000"))
	ok(t, s.CreateRun(t.Context(), Run{ID: "new", Created: start}))
}

// TestInterrupted: a context that ends in the middle of a transaction takes all
// of it back.
func TestInterrupted(t *testing.T) {
	s := openTest(t, made(t)).(*sqlite)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.transaction(ctx, inFile, func(c *conn) error {
		if err := c.run("UPDATE run SET calls = 7"); err != nil {
			return err
		}
		cancel()
		return nil
	})
	fails(t, err, context.Canceled)
	err = s.transaction(t.Context(), inFile, func(c *conn) error {
		if err := c.run("UPDATE run SET calls = 7"); err != nil {
			return err
		}
		return ErrInvalid
	})
	fails(t, err, ErrInvalid)
	r, err := s.Run(t.Context(), "r")
	ok(t, err)
	equal(t, "calls", r.Calls, 0)
}

// TestSynchronous: what is promised to be on the disk is written by the
// connection that waits for the disk.
func TestSynchronous(t *testing.T) {
	s := openTest(t, made(t)).(*sqlite)
	for _, tt := range []struct {
		c    *conn
		want int64
	}{{s.durable, 2}, {s.quick, 1}} {
		for pragma, want := range map[string]int64{"synchronous": tt.want, "trusted_schema": 0} {
			got, err := tt.c.pragma("PRAGMA " + pragma)
			ok(t, err)
			equal(t, pragma, got, want)
		}
	}
	durable := map[string]bool{"CreateApproval": true, "Decide": true, "Consume": true, "BeginEffect": true, "FinishEffect": true, "RetryEffect": true}
	for name := range durable {
		before := s.durable.db.TotalChanges()
		ctx := t.Context()
		var err error
		switch name {
		case "CreateApproval":
			_, err = s.CreateApproval(ctx, Approval{ID: "new", RunID: "r", CallHash: "new", Tool: "t", Created: start})
		case "Decide":
			_, err = s.Decide(ctx, "p", Decision{Approve: true, Approver: "ann", At: start})
		case "Consume":
			_, err = s.CreateApproval(ctx, Approval{ID: "c", RunID: "r", CallHash: "c", Tool: "t", Created: start})
			ok(t, err)
			_, err = s.Decide(ctx, "c", Decision{Approve: true, Approver: "ann", At: start})
			ok(t, err)
			before = s.durable.db.TotalChanges()
			_, err = s.Consume(ctx, "c", "r", start)
		case "BeginEffect":
			_, err = s.BeginEffect(ctx, Effect{Key: "new", Tool: "t", Begun: start})
		case "FinishEffect":
			_, err = s.BeginEffect(ctx, Effect{Key: "f", Tool: "t", Begun: start})
			ok(t, err)
			before = s.durable.db.TotalChanges()
			err = s.FinishEffect(ctx, "f", EffectFailed, "", start)
		case "RetryEffect":
			_, err = s.BeginEffect(ctx, Effect{Key: "re", Tool: "t", Begun: start})
			ok(t, err)
			ok(t, s.FinishEffect(ctx, "re", EffectFailed, "", start))
			before = s.durable.db.TotalChanges()
			_, err = s.RetryEffect(ctx, "re", start)
		}
		ok(t, err)
		if s.durable.db.TotalChanges() == before {
			t.Errorf("%s did not write through the durable connection", name)
		}
	}
}

// TestPlacesAreSwept: places that are out do not pile up in the file.
func TestPlacesAreSwept(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "store.db")).(*sqlite)
	now := start
	for i := range 300 {
		now = now.Add(time.Second)
		_, err := s.Reserve(t.Context(), Reservation{ID: fmt.Sprint(i), Windows: []Window{{fmt.Sprint(i), 1, time.Second}}}, now)
		ok(t, err)
	}
	equal(t, "places kept", countPlaces(t, s), 1)
}

// TestPlacesFromTheFutureAreSwept: also they are out some day.
func TestPlacesFromTheFutureAreSwept(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "store.db")).(*sqlite)
	w := Window{"k", 9, time.Minute}
	for i, at := range []time.Time{start.AddDate(50, 0, 0), start, start.Add(time.Minute)} {
		_, err := s.Reserve(t.Context(), Reservation{ID: fmt.Sprint(i), Windows: []Window{w}}, at)
		ok(t, err)
	}
	equal(t, "places kept", countPlaces(t, s), 1)
}

func countPlaces(t *testing.T, s *sqlite) (n int64) {
	t.Helper()
	ok(t, s.read(t.Context(), func(c *conn) error {
		_, err := c.one(func(r *row) { n = r.int() }, "SELECT count(*) FROM place")
		return err
	}))
	return n
}

// TestHalfMade: a process was killed while it made the file. The next one makes
// it anew if it was not done.
func TestHalfMade(t *testing.T) {
	image, err := makeOnce()
	ok(t, err)
	runs := 61
	for name, tt := range map[string]struct {
		files map[string][]byte
		runs  int
		err   error
	}{
		"no file":      {map[string][]byte{}, 0, nil},
		"nothing":      {map[string][]byte{"": nil}, 0, nil},
		"only journal": {map[string][]byte{"": nil, "-journal": []byte("journal")}, 0, nil},
		"some pages":   {map[string][]byte{"": make([]byte, 3*4096), "-journal": []byte("journal")}, 0, nil},
		"page cut off": {map[string][]byte{"": image[:4000], "-journal": nil}, 0, nil},
		"all":          {map[string][]byte{"": image}, runs, nil},
		"all and log":  {map[string][]byte{"": image, "-wal": nil, "-shm": []byte("index")}, runs, nil},
		"not ours":     {map[string][]byte{"": make([]byte, 3*4096)}, 0, ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			ok(t, os.WriteFile(path+"-lock", []byte(markMaking), 0o600))
			for suffix, b := range tt.files {
				ok(t, os.WriteFile(path+suffix, b, 0o600))
			}
			if tt.err != nil {
				_, err := Open(path)
				fails(t, err, tt.err)
				return
			}
			s := openTest(t, path)
			rs, err := s.Runs(t.Context(), RunFilter{})
			ok(t, err)
			equal(t, "number of runs", len(rs), tt.runs)
			ok(t, s.CreateRun(t.Context(), Run{ID: "new", Created: start}))
			ok(t, s.Close())
			_, err = openTest(t, path).Run(t.Context(), "new")
			ok(t, err)
			if _, err := os.Stat(path + "-journal"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the journal: %v", err)
			}
		})
	}
}

// TestFirstTransactionHasJournal: TestHalfMade and what it tests rest on it.
func TestFirstTransactionHasJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	ok(t, os.WriteFile(path, nil, 0o600))
	c, err := connect(path, time.Second, "PRAGMA cache_size=1")
	ok(t, err)
	ok(t, c.db.Exec("BEGIN EXCLUSIVE;"+schema))
	if _, err := os.Stat(path + "-journal"); err != nil {
		t.Errorf("before the commit: %v", err)
	}
	ok(t, c.db.Exec("COMMIT"))
	if _, err := os.Stat(path + "-journal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the commit: %v", err)
	}
	ok(t, c.close())
}
