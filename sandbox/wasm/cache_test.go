package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// goodGuest answers every call with the value 7, so that the engine's own first
// call is content.
func goodGuest() sandbox.Guest {
	data := appendSection(nil, responseKind, kindValue, 0, 0, 0)
	data = appendSection(data, responseValue, []byte("7")...)
	h := hostile{alloc: i32c(8192), run: answer(dataAt, uint32(len(data))), data: data}
	return sandbox.Guest{
		Name: "good", Version: "1", Module: h.module(), DefaultName: "main",
		EncodeGlobals: func(map[string]any, int) ([]byte, error) { return nil, nil },
	}
}

// open makes an engine with a cache directory, checks that it works, and
// returns what it said on the way.
func open(t *testing.T, dir string) (said string) {
	t.Helper()
	var lines []string
	e, err := New(t.Context(), Config{
		Guest: goodGuest(), CacheDir: dir, Ready: -1,
		Progress: func(line string) { lines = append(lines, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := e.Run(t.Context(), sandbox.Spec{Code: "x"})
	if err != nil || string(r.Value) != "7" {
		t.Fatalf("status %q, value %q, error %+v, %v", r.Status, r.Value, r.Error, err)
	}
	return strings.Join(lines, "\n")
}

func TestCacheIsUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if said := open(t, dir); !strings.Contains(said, "compiling") {
		t.Errorf("the first start said %q", said)
	}
	if said := open(t, dir); said != "" {
		t.Errorf("the second start said %q", said)
	}
}

func TestCacheIsRepaired(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, e entry){
		"flipped bit in the image": func(t *testing.T, e entry) { flipByte(t, filepath.Join(e.dir, entryImage)) },
		"flipped bit in the code":  func(t *testing.T, e entry) { flipByte(t, codeFile(t, e)) },
		"image of somebody else":   func(t *testing.T, e entry) { chown(t, e, entryImage) },
		"writable by others":       func(t *testing.T, e entry) { chmod(t, e, ".", 0o777) },
		"code writable by others":  func(t *testing.T, e entry) { chmod(t, e, entryCode, 0o777) },
		"code's folder as well": func(t *testing.T, e entry) {
			folder, err := filepath.Rel(e.dir, filepath.Dir(codeFile(t, e)))
			if err != nil {
				t.Fatal(err)
			}
			chmod(t, e, folder, 0o777)
		},
		"seal is gone": func(t *testing.T, e entry) { remove(t, e, entrySeal) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			open(t, dir)
			spoil(t, onlyEntry(t, dir))
			if said := open(t, dir); !strings.Contains(said, "compiling") {
				t.Errorf("it was not built again: %q", said)
			}
			if said := open(t, dir); said != "" {
				t.Errorf("it was not repaired: %q", said)
			}
		})
	}
}

// TestCacheCannotBeUsed: whatever is wrong with the directory, calls work, and
// the reason is told.
func TestCacheCannotBeUsed(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"a file in its place": func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"writable by others": func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			open(t, dir) // what is in there is good, and still not to be trusted
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		},
		"of somebody else": func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			chown(t, entry{filepath.Dir(dir)}, filepath.Base(dir))
		},
		"below a link to nowhere": func(t *testing.T, dir string) {
			if err := os.Symlink(filepath.Join(dir, "nowhere"), dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			prepare(t, dir)
			if said := open(t, dir); !strings.Contains(said, "will be cached") {
				t.Errorf("it said %q", said)
			}
		})
	}
}

// TestCacheCannotBeFilled: a directory that takes an entry's directory and not what is
// in it, as a full disk does, costs the cache and nothing else. Here the names of
// files get too long.
func TestCacheCannotBeFilled(t *testing.T) {
	const most = 4095 // bytes of a path
	dir := t.TempDir()
	for left := most - 75 - len(dir); left > 1; left = most - 75 - len(dir) {
		dir = filepath.Join(dir, strings.Repeat("d", min(200, left-1)))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if said := open(t, dir); !strings.Contains(said, "nothing will be cached: ") || strings.Count(said, "compiling") != 2 {
		t.Errorf("it said %q", said)
	}
}

func TestCacheWiped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	open(t, dir)
	e, err := New(t.Context(), Config{Guest: goodGuest(), CacheDir: dir, Ready: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context(), sandbox.Spec{Code: "x"})
	if err != nil || string(r.Value) != "7" {
		t.Fatalf("status %q, value %q, error %+v, %v", r.Status, r.Value, r.Error, err)
	}
}

func TestCacheShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			e, err := New(t.Context(), Config{Guest: goodGuest(), CacheDir: dir, Ready: -1})
			if err != nil {
				t.Error(err)
				return
			}
			defer e.Close()
			if r, err := e.Run(t.Context(), sandbox.Spec{Code: "x"}); err != nil || string(r.Value) != "7" {
				t.Errorf("value %q, %v", r.Value, err)
			}
		})
	}
	wg.Wait()
	onlyEntry(t, dir)
	if said := open(t, dir); said != "" {
		t.Errorf("the next start said %q", said)
	}
}

// onlyEntry gives the one entry of a cache directory; nothing else may be left
// in there.
func onlyEntry(t *testing.T, dir string) entry {
	t.Helper()
	found, err := os.ReadDir(filepath.Join(dir, "engine"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d entries, want 1 (%v, %v)", len(found), found, err)
	}
	return entry{filepath.Join(dir, "engine", found[0].Name())}
}

func codeFile(t *testing.T, e entry) (path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(e.dir, entryCode, "*", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no compiled code: %v", err)
	}
	return found[0]
}

func flipByte(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
