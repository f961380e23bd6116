//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// inside is what a directory holds: the text of files, "dir" for directories,
// "-> target" for links.
func inside(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case path == dir:
		case e.IsDir():
			found[name] = "dir"
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			found[name] = "-> " + target
			return err
		default:
			text, err := os.ReadFile(path)
			found[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sizes(found map[string]string) (total int64) {
	for _, text := range found {
		if text != "dir" {
			total += int64(len(text))
		}
	}
	return total
}

// within bounds what a call writes.
func within(bytes int64, dirs ...string) Spec {
	return Spec{Write: dirs, Limits: Limits{Timeout: time.Minute, MaxWriteBytes: bytes}}
}

// What is written in all does not pass the limit, however it is spread, and
// without the limit the same attack does.
func TestWriteLimit(t *testing.T) {
	const limit, file = 4 << 20, 2 << 20
	attack := func(dir string) []string { return []string{"fill many", dir, "6", fmt.Sprint(file)} }

	dir := writeOnlyDir(t)
	if n := number(t, Spec{Write: []string{dir}}, attack(dir)...); n != 6*file {
		t.Errorf("without a limit %d bytes were written, want %d: the attack does not work", n, 6*file)
	}

	dir = writeOnlyDir(t)
	r := run(t, within(limit, dir), attack(dir)...)
	found := inside(t, dir)
	if total := sizes(found); r.Status != sandbox.StatusOK || total > limit || total < limit/2 || r.Written != total {
		t.Errorf("status %s, %+v: %d bytes were written and %d told of, the limit is %d", r.Status, r.Error, total, r.Written, limit)
	}

	// Two directories share it.
	dirs := []string{writeOnlyDir(t), writeOnlyDir(t)}
	for _, args := range [][]string{attack(dirs[0]), attack(dirs[1])} {
		r = run(t, within(limit, dirs...), args...)
	}
	if a, b := sizes(inside(t, dirs[0])), sizes(inside(t, dirs[1])); a > limit || b > limit || a == 0 || b == 0 {
		t.Errorf("%d and %d bytes, the limit is %d", a, b, limit)
	}

	// Empty files take no bytes.
	dir = writeOnlyDir(t)
	if n := number(t, within(limit, dir), "make files", dir, "10000"); n > maxBoxFiles || n < 1000 {
		t.Errorf("%d files were made, the limit is %d", n, maxBoxFiles)
	}
	if n := len(inside(t, dir)); n > maxBoxFiles || n < 1000 {
		t.Errorf("%d files were carried out", n)
	}
}

// The program finds nothing of the directory, and leaves files in it that are
// whole, plain, and the directory's owner's.
func TestCarriedOut(t *testing.T) {
	dir := writeOnlyDir(t)
	if err := errors.Join(
		os.WriteFile(dir+"/old", []byte("old"), 0o600), os.WriteFile(dir+"/kept", []byte("kept"), 0o600), os.Mkdir(dir+"/sub", 0o700),
	); err != nil {
		t.Fatal(err)
	}
	spec := within(1<<20, dir)
	spec.Read = []string{dir} // what it wrote itself
	if r := run(t, spec, "names", dir); string(r.Value) != "[]" {
		t.Errorf("the program finds %s", r.Value)
	}
	r := run(t, spec, "leave", dir+"/old", "file", "new", dir+"/a", "file", "text", dir+"/b", "hardlink", "a", dir+"/sub/x", "dir", "", dir+"/sub/x/y", "file", "deep")
	if r.Status != sandbox.StatusOK || r.Written != 3+4+4+4 {
		t.Fatalf("status %s, %+v, %s: %d bytes", r.Status, r.Error, r.Value, r.Written)
	}
	want := map[string]string{"old": "new", "kept": "kept", "a": "text", "b": "text", "sub": "dir", "sub/x": "dir", "sub/x/y": "deep"}
	if diff := cmp.Diff(want, inside(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	owner := func(path string) uint32 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid
	}
	for _, name := range []string{"old", "a", "sub/x/y"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o133 != 0 {
			t.Errorf("%s has mode %v (%v)", name, info.Mode(), err)
		}
		if got, want := owner(filepath.Join(dir, name)), owner(dir); got != want {
			t.Errorf("%s belongs to %d, the directory to %d", name, got, want)
		}
	}
	// Nothing of how it is done shows.
	if r := run(t, within(1<<20, dir), "list", boxRoot); readOutcome(t, r.Value).Worked {
		t.Errorf("%s is there", boxRoot)
	}
}

// What is no plain file is not carried, and nothing beside it either.
func TestNotCarriedOut(t *testing.T) {
	outside := openDir(t)
	if err := os.WriteFile(outside+"/secret", []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want sandbox.Status
	}{
		{"a link", []string{"l", "symlink", outside + "/secret"}, sandbox.StatusError},
		{"a link within", []string{"l", "symlink", "fine"}, sandbox.StatusError},
		{"a FIFO", []string{"f", "fifo", ""}, sandbox.StatusError},
		{"a link further down", []string{"d", "dir", "", "d/l", "symlink", "/etc"}, sandbox.StatusError},
		{"a name that drives a terminal", []string{"a\x1b[2Jb", "file", ""}, sandbox.StatusError},
		{"a name with a line break", []string{"a\nb", "file", ""}, sandbox.StatusError},
		{"a name that is no text", []string{"a", "no text", ""}, sandbox.StatusError},
		{"one of our names", []string{tempPrefix + "x", "file", ""}, sandbox.StatusError},
		{"a hole", []string{"h", "hole", fmt.Sprint(8 << 20)}, sandbox.StatusError},
		{"too deep", []string{"d", "deep", "40"}, sandbox.StatusError},
		{"failed", []string{"fail"}, sandbox.StatusError},
		{"timed out", []string{"hang"}, sandbox.StatusTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeOnlyDir(t)
			args := []string{"leave", dir + "/fine", "file", "text"}
			for i, arg := range tt.args {
				if len(tt.args) > 1 && i%3 == 0 {
					arg = dir + "/" + arg
				}
				args = append(args, arg)
			}
			spec := within(4<<20, dir)
			if tt.want == sandbox.StatusTimeout {
				spec.Limits.Timeout = time.Second
			}
			r := run(t, spec, args...)
			if r.Status != tt.want || r.Value != nil || r.Written != 0 || r.Error == nil {
				t.Errorf("status %s, %+v, value %s, %d bytes", r.Status, r.Error, r.Value, r.Written)
			}
			if found := inside(t, dir); len(found) > 0 {
				t.Errorf("carried out: %v", found)
			}
		})
	}
	if found := inside(t, outside); found["secret"] != secret || len(found) != 1 {
		t.Errorf("outside there is %v", found)
	}
}

// A directory that somebody has prepared with links leads nowhere.
func TestCarriedIntoLinks(t *testing.T) {
	outside, dir := openDir(t), writeOnlyDir(t)
	if err := errors.Join(
		os.WriteFile(outside+"/secret", []byte(secret), 0o600), os.Symlink(outside+"/secret", dir+"/file"), os.Symlink(outside, dir+"/sub"),
	); err != nil {
		t.Fatal(err)
	}
	r := run(t, within(1<<20, dir), "leave", dir+"/file", "file", "text")
	if r.Status != sandbox.StatusOK {
		t.Fatalf("status %s, %+v", r.Status, r.Error)
	}
	r, err := Run(t.Context(), func() Spec {
		s := within(1<<20, dir)
		s.Command, s.Args = victim, []string{"leave", dir + "/sub", "dir", "", dir + "/sub/new", "file", "text"}
		return s
	}())
	if err == nil || strings.Contains(err.Error(), "text") {
		t.Errorf("status %s, error %v; want that it could not be carried", r.Status, err)
	}
	if diff := cmp.Diff(map[string]string{"file": "text", "sub": "-> " + outside}, inside(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"secret": secret}, inside(t, outside)); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
}

// A call hands its host the socket of its proxy as well, and neither is taken
// for the other.
func TestCarriedOutBesideProxy(t *testing.T) {
	dir := writeOnlyDir(t)
	spec := within(1<<20, dir)
	spec.Network, spec.Proxy = NetworkProxy, saying(secret)
	r := run(t, spec, "leave", dir+"/a", "file", "text")
	if diff := cmp.Diff(map[string]string{"a": "text"}, inside(t, dir)); diff != "" {
		t.Errorf("status %s, %+v (-want +got):\n%s", r.Status, r.Error, diff)
	}
	if r := run(t, spec, "dial", "tcp", ownProxy); !readOutcome(t, r.Value).Worked {
		t.Errorf("the proxy is not there: %s", r.Value)
	}
}

// What the limit cannot hold for is refused, before anything starts.
func TestWriteLimitRefusals(t *testing.T) {
	dir := writeOnlyDir(t)
	if err := errors.Join(os.Mkdir(dir+"/in", 0o755), os.WriteFile(dir+"/file", nil, 0o600), copyProgram(dir+"/in/program")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*Spec)
		path   string
	}{
		{"a file", func(s *Spec) { s.Write = []string{dir + "/file"} }, "/write/0"},
		{"a file besides", func(s *Spec) { s.Write = append(s.Write, victim) }, "/write/1"},
		{"reading within", func(s *Spec) { s.Read = []string{dir + "/in"} }, "/read/0"},
		{"writing within", func(s *Spec) { s.Write = append(s.Write, dir+"/in") }, "/write/1"},
		{"executing it", func(s *Spec) { s.Exec = []string{dir} }, "/exec/0"},
		{"executing what it is in", func(s *Spec) { s.Exec = []string{filepath.Dir(dir)} }, "/exec/0"},
		{"a program within", func(s *Spec) { s.Command = dir + "/in/program" }, "/command/0"},
		{"too little", func(s *Spec) { s.Limits.MaxWriteBytes = 1 }, "/limits/maxwritebytes"},
	}
	for _, tt := range tests {
		spec := within(1<<20, dir)
		spec.Command, spec.Args = victim, []string{"prints"}
		tt.change(&spec)
		r, err := Run(t.Context(), spec)
		if err != nil || r.Status != sandbox.StatusInvalid || r.Error.Path != tt.path || len(r.Stdout) > 0 {
			t.Errorf("%s: status %s, %+v, error %v; want a refusal of %s", tt.name, r.Status, r.Error, err, tt.path)
		}
	}
	spec := within(1<<20, dir)
	spec.Command, spec.Args, spec.Namespaces = victim, []string{"prints"}, NamespacesOff
	r, err := Run(t.Context(), spec)
	if e := new(UnavailableError); !errors.As(err, &e) || e.Layer != LayerFileSystem || len(r.Stdout) > 0 {
		t.Errorf("without namespaces: status %s, error %v", r.Status, err)
	}
}
