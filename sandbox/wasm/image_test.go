package wasm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testHeader() imageHeader {
	return imageHeader{
		size: 2 * pageSize, mono: 42, scratch: span{1024, 64}, language: "python", version: "3.13",
		globals: []globalValue{{"__stack_pointer", 4096}}, hot: []span{{4096, 8192}}, read: []span{{0, 16384}},
	}
}

func testImage(t *testing.T) *image {
	t.Helper()
	memory := make([]byte, 2*pageSize)
	copy(memory[5000:], "the interpreter")
	img, err := newImage(testHeader(), memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(img.close)
	return img
}

var compareImage = cmp.AllowUnexported(imageHeader{}, span{}, globalValue{})

func TestImageHeaderRoundTrip(t *testing.T) {
	want := testHeader()
	got, rest, err := decodeHeader(append(want.encode(), "memory"...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, compareImage); diff != "" {
		t.Error(diff)
	}
	if string(rest) != "memory" {
		t.Errorf("rest %q", rest)
	}
}

func TestImageHeaderRefused(t *testing.T) {
	h := testHeader()
	whole := h.encode()
	for n := range whole {
		if _, _, err := decodeHeader(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were taken", n, len(whole))
		}
	}
	for _, c := range []struct {
		name   string
		change func(*imageHeader)
	}{
		{"no memory", func(h *imageHeader) { h.size = 0 }},
		{"part of a page", func(h *imageHeader) { h.size = 100 }},
		{"too large", func(h *imageHeader) { h.size = 1 << 40 }},
		{"scratch outside", func(h *imageHeader) { h.scratch = span{2 * pageSize, 1} }},
		{"scratch wraps", func(h *imageHeader) { h.scratch = span{0xffffffff, 0xffffffff} }},
		{"hot outside", func(h *imageHeader) { h.hot = []span{{0, 2*pageSize + 1}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := testHeader()
			c.change(&h)
			if _, _, err := decodeHeader(h.encode()); !errors.Is(err, errImage) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestEntry(t *testing.T) {
	img := testImage(t)
	fresh := func(t *testing.T) entry {
		t.Helper()
		e := entry{t.TempDir()}
		if err := os.MkdirAll(filepath.Join(e.dir, entryCode, "v"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(e.dir, entryCode, "v", "machine code"), []byte("code"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := e.write([]byte("module"), img); err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Run("whole", func(t *testing.T) {
		module, got, err := fresh(t).read()
		if err != nil {
			t.Fatal(err)
		}
		defer got.close()
		if string(module) != "module" || got.digest != img.digest || !bytes.Equal(got.bytes(), img.bytes()) {
			t.Errorf("module %q, digest %s, want %s", module, got.digest, img.digest)
		}
		if diff := cmp.Diff(img.imageHeader, got.imageHeader, compareImage); diff != "" {
			t.Error(diff)
		}
	})
	edit := func(name string, change func([]byte) []byte) func(*testing.T, entry) {
		return func(t *testing.T, e entry) {
			path := filepath.Join(e.dir, filepath.FromSlash(name))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	half := func(b []byte) []byte { return b[:len(b)/2] }
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, entry)
		want  string
	}{
		{"image with one flipped bit", edit(entryImage, flip), "not what was sealed"},
		{"truncated image", edit(entryImage, half), "not what was sealed"},
		{"module with one flipped bit", edit(entryModule, flip), "not what was sealed"},
		{"machine code with one flipped bit", edit(entryCode+"/v/machine code", flip), "not what was sealed"},
		{"truncated seal", edit(entrySeal, half), ""},
		{"empty seal", edit(entrySeal, func([]byte) []byte { return nil }), "missing"},
		{"seal that leaves the directory", edit(entrySeal, func(b []byte) []byte { return append(b, "00  ../../x\n"...) }), "malformed"},
		{"missing module", func(t *testing.T, e entry) { remove(t, e, entryModule) }, ""},
		{"writable by others", func(t *testing.T, e entry) { chmod(t, e, entryImage, 0o666) }, "others can write"},
		{"writable by the group", func(t *testing.T, e entry) { chmod(t, e, entryModule, 0o620) }, "others can write"},
		{"directory writable by others", func(t *testing.T, e entry) { chmod(t, e, ".", 0o777) }, "others can write"},
		{"belongs to somebody else", func(t *testing.T, e entry) { chown(t, e, entryImage) }, "belongs to user"},
		{"a link", func(t *testing.T, e entry) {
			path := filepath.Join(e.dir, entryImage)
			if err := os.Rename(path, path+"2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+"2", path); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"a directory in place of a file", func(t *testing.T, e entry) {
			remove(t, e, entryModule)
			if err := os.Mkdir(filepath.Join(e.dir, entryModule), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fresh(t)
			c.spoil(t, e)
			_, img, err := e.read()
			if err == nil {
				img.close()
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), e.dir) {
				t.Errorf("error %q, want the path and %q", err, c.want)
			}
		})
	}
}

func remove(t *testing.T, e entry, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(e.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, e entry, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(filepath.Join(e.dir, name), mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, e entry, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := os.Chown(filepath.Join(e.dir, name), 12345, -1); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodeHeader(f *testing.F) {
	h := testHeader()
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, _, err := decodeHeader(b)
		if err != nil {
			return
		}
		again, _, err := decodeHeader(h.encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h, again, compareImage); diff != "" {
			t.Error(diff)
		}
	})
}
