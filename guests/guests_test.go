package guests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

func TestByNameUnknown(t *testing.T) {
	_, err := ByName("pyhton")
	if !errors.Is(err, ErrUnknown) {
		t.Fatalf("err = %v, want ErrUnknown", err)
	}
	for _, name := range Names() {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not say that there is %q", err, name)
		}
	}
}

// TestEmbedded looks at the guests of this very program.
func TestEmbedded(t *testing.T) {
	infos, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(infos) == 0 {
		t.Skip("no guest was built; run `make guests`")
	}
	for _, info := range infos {
		guest, err := ByName(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if guest.Name != info.Name || guest.Version != info.Version || guest.DefaultName == "" || guest.EncodeGlobals == nil {
			t.Errorf("%s: the guest is incomplete: %+v", info.Name, info)
		}
		if !bytes.HasPrefix(guest.Module, []byte("\x00asm\x01\x00\x00\x00")) {
			t.Errorf("%s: the module is not WebAssembly", info.Name)
		}
		packed, err := fs.ReadFile(artefacts, "artefacts/"+info.Name+".wasm.zst")
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(packed); hex.EncodeToString(sum[:]) != info.Compressed.SHA256 {
			t.Errorf("%s: the packed module is not the one described", info.Name)
		}
	}
}

// TestGuestIsAFolderAndALine: every folder with a recipe has its line in
// recipes(), and every line a folder with all that a guest is made of; no list
// elsewhere names the guests.
func TestGuestIsAFolderAndALine(t *testing.T) {
	folders, err := filepath.Glob("*/recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range folders {
		found = append(found, filepath.Dir(f))
	}
	known := Names()
	slices.Sort(known)
	if !slices.Equal(found, known) {
		t.Errorf("folders with a recipe: %q; lines in recipes(): %q", found, known)
	}
	for _, name := range known {
		for _, file := range []string{"README.md", "VALUES.md", "SHA256SUMS", "versions.env", "flags.env", "exports.txt", "shim", "testdata/cases"} {
			if _, err := os.Stat(filepath.Join(name, file)); err != nil {
				t.Errorf("guest %s: %v", name, err)
			}
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "\nGUESTS := $(patsubst guests/%/recipe.sh,%,$(wildcard guests/*/recipe.sh))\n") {
		t.Error("the Makefile does not build what has a recipe")
	}
}

// files gives a file system with one guest called python, which is content.
func files(t *testing.T, content string, edit func(json string) string) fstest.MapFS {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(content))
	description := fmt.Sprintf(`{"name":"python","version":"1.2","module":{"sha256":"%x","bytes":%d}}`, sum, len(content))
	return fstest.MapFS{
		"artefacts/python.json":     {Data: []byte(edit(description))},
		"artefacts/python.wasm.zst": {Data: encoder.EncodeAll([]byte(content), nil)},
	}
}

func TestGuestFromFiles(t *testing.T) {
	const content = "a module, and some more of it"
	same := func(s string) string { return s }
	without := func(name string) fstest.MapFS {
		m := files(t, content, same)
		delete(m, "artefacts/"+name)
		return m
	}
	cut := files(t, content, same)
	cut["artefacts/python.wasm.zst"].Data = cut["artefacts/python.wasm.zst"].Data[:20]
	flipped := files(t, content, same)
	flipped["artefacts/python.wasm.zst"].Data[15] ^= 0x40

	tests := []struct {
		name  string
		files fs.FS
		want  string // part of the error; empty: the module comes back
	}{
		{"whole", files(t, content, same), ""},
		{"no description", without("python.json"), ErrMissing.Error()},
		{"no module", without("python.wasm.zst"), ErrMissing.Error()},
		{"nothing", fstest.MapFS{}, ErrMissing.Error()},
		{"cut", cut, "is damaged"},
		{"flipped", flipped, "is damaged"},
		{"longer", files(t, content, func(s string) string { return strings.Replace(s, `"bytes":29`, `"bytes":28`, 1) }), "longer than described"},
		{"shorter", files(t, content, func(s string) string { return strings.Replace(s, `"bytes":29`, `"bytes":30`, 1) }), "is damaged"},
		{"other digest", files(t, content, func(s string) string { return strings.Replace(s, `"sha256":"`, `"sha256":"00`, 1) }), "digest"},
		{"huge", files(t, content, func(s string) string { return strings.Replace(s, `"bytes":29`, `"bytes":29000000000`, 1) }), "does not describe"},
		{"negative", files(t, content, func(s string) string { return strings.Replace(s, `"bytes":29`, `"bytes":-29`, 1) }), "does not describe"},
		{"other name", files(t, content, func(s string) string { return strings.Replace(s, "python", "perl", 1) }), "does not describe"},
		{"unknown member", files(t, content, func(s string) string { return strings.Replace(s, `{"name"`, `{"nam":1,"name"`, 1) }), "python.json"},
		{"name twice", files(t, content, func(s string) string { return strings.Replace(s, `{"name"`, `{"name":"a","name"`, 1) }), "python.json"},
		{"not JSON", files(t, content, func(string) string { return "{" }), "python.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			guest, err := recipe{name: "python", defaultName: "main.py"}.guest(tt.files)
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want == "" && string(guest.Module) != content:
				t.Errorf("module = %q, want %q", guest.Module, content)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
			if tt.want == ErrMissing.Error() && !errors.Is(err, ErrMissing) {
				t.Errorf("%v is not ErrMissing", err)
			}
		})
	}
}
