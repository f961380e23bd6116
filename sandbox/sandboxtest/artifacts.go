package sandboxtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// artifactCases are about the files that a call hands back. Each kind that is
// refused is a way to get at something where the files are written.
var artifactCases = []Case{
	{
		Name: "files are handed back by name", Code: py("open('/tmp/out/b.csv', 'w').write('a,b\\n')", "open('out/a.svg', 'wb').write(b'\\xff\\0')", "open('/tmp/other', 'w').write('x')"),
		Status: ok, Check: handsBack("a.svg image/svg+xml \"\\xff\\x00\"", "b.csv text/csv \"a,b\\n\""),
	},
	{
		Name: "JavaScript has a function for it", Code: js("mayfly.artifact('b.csv', 'a,ö\\n');", "mayfly.artifact('a.svg', new Uint8Array([255, 0]));", "mayfly.artifact('c', new ArrayBuffer(2))"),
		Status: ok, Check: handsBack("a.svg image/svg+xml \"\\xff\\x00\"", "b.csv text/csv \"a,ö\\n\"", "c application/octet-stream \"\\x00\\x00\""),
	},
	{Name: "the last of one name counts", Code: py("from mayfly import artifact", "artifact('a', 'longer')", "artifact('a', b'x')").js("mayfly.artifact('a', 'longer');", "mayfly.artifact('a', 'x')"), Status: ok, Check: handsBack(`a application/octet-stream "x"`)},
	{Name: "a way up by the function", Code: py("import mayfly", "mayfly.artifact('../a', 'x')").js("mayfly.artifact('../a', 'x')"), Status: raised, ErrorType: pyError("ValueError").js("RangeError"), Check: handsBack()},
	{Name: "a hidden file by the function", Code: py("import mayfly", "mayfly.artifact('.a', 'x')").js("mayfly.artifact('.a', 'x')"), Status: raised, Check: handsBack()},
	{Name: "NUL by the function", Code: py("import mayfly", "mayfly.artifact('a\\0b', 'x')").js("mayfly.artifact('a\\0b', 'x')"), Status: raised, Check: handsBack()},
	{Name: "no text and no bytes", Code: py("import mayfly", "mayfly.artifact('a', 5)").js("mayfly.artifact('a', 5)"), Status: raised, ErrorType: pyError("TypeError").js("TypeError"), Check: handsBack()},
	{Name: "more than files may have", Code: py("import mayfly", "mayfly.artifact('a', bytes(2 << 20))").js("mayfly.artifact('a', new Uint8Array(2 << 20))"), Limits: sandbox.Limits{MaxFileBytes: 1 << 20}, Status: raised, Check: handsBack()},
	{Name: "there are none", Code: py("1"), Status: ok, Check: handsBack()},
	{Name: "the directory may go", Code: py("import os", "os.rmdir('/tmp/out')"), Status: ok, Check: handsBack()},
	{Name: "and come back", Code: py("import os", "os.rmdir('/tmp/out')", "os.mkdir('/tmp/out')", "open('/tmp/out/a', 'w').close()"), Status: ok, Check: handsBack("a application/octet-stream \"\"")},
	{Name: "a call that fails hands nothing back", Code: py("open('/tmp/out/a', 'w').write('x')", "1/0"), Status: raised, Check: handsBack()},
	{Name: "a file that was removed", Code: py("import os", "f = open('/tmp/out/a', 'w')", "f.write('x')", "os.unlink('/tmp/out/a')"), Status: ok, Check: handsBack()},

	{Name: "a link as a file", Code: py("import os", "os.symlink('/etc/passwd', '/tmp/out/a')"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a link to a file of its own", Code: py("import os", "open('/tmp/x', 'w').write('x')", "os.symlink('/tmp/x', '/tmp/out/a')"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a link as the directory", Code: py("import os", "os.rmdir('/tmp/out')", "os.mkdir('/tmp/o')", "open('/tmp/o/a', 'w').close()", "os.symlink('/tmp/o', '/tmp/out')"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a file as the directory", Code: py("import os", "os.rmdir('/tmp/out')", "open('/tmp/out', 'w').write('x')"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a directory as a file", Code: py("import os", "os.mkdir('/tmp/out/a')"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a hidden file", Code: py("open('/tmp/out/.bashrc', 'w').close()"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "an option as a name", Code: py("open('/tmp/out/-rf', 'w').close()"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a backslash", Code: py("open('/tmp/out/..\\\\x', 'w').close()"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "a line end", Code: py("open('/tmp/out/a\\nb', 'w').close()"), Status: raised, ErrorType: artifactError, Check: mentions(`"a\nb"`)},
	{Name: "an escape", Code: py("open('/tmp/out/\\x1b[2Jb', 'w').close()"), Status: raised, ErrorType: artifactError, Check: mentions(`"\x1b[2Jb"`)},
	{Name: "right to left", Code: py("open('/tmp/out/a\\u202egvs.exe', 'w').close()"), Status: raised, ErrorType: artifactError, Check: mentions(`\u202e`)},
	{Name: "a device", Code: py("open('/tmp/out/NUL.txt', 'w').close()"), Status: raised, ErrorType: artifactError, Check: handsBack()},
	{Name: "two names in one", Code: py("open('/tmp/out/A.csv', 'w').close()", "open('/tmp/out/a.csv', 'w').close()"), Status: raised, ErrorType: artifactError, Check: handsBack()},

	{Name: "too many", Code: py("for i in range(33): open(f'/tmp/out/{i}', 'w').close()"), Status: overOutput, ErrorType: artifactError, Check: handsBack()},
	{Name: "as many as may be", Code: py("for i in range(32): open(f'/tmp/out/{i:02}', 'w').close()"), Status: ok, Check: func(t *testing.T, r sandbox.Result) {
		if len(r.Artifacts) != 32 {
			t.Errorf("%d artifacts, want 32", len(r.Artifacts))
		}
	}},
	{
		Name: "very many", Code: py("for i in range(100000): open(f'/tmp/out/{i}', 'w').close()"),
		Limits: sandbox.Limits{MaxFiles: 200_000, Timeout: time.Minute}, Status: overOutput, ErrorType: artifactError, Check: handsBack(),
	},
	{Name: "too much", Code: py("open('/tmp/out/a', 'wb').write(bytes(600))", "open('/tmp/out/b', 'wb').write(bytes(600))"), Limits: sandbox.Limits{MaxArtifactBytes: 1000}, Status: overOutput, ErrorType: artifactError, Check: handsBack()},
	{Name: "as much as may be", Code: py("open('/tmp/out/a', 'wb').write(bytes(1000))"), Limits: sandbox.Limits{MaxArtifactBytes: 1000}, Status: ok},
	{Name: "a huge hole to hand back", Code: py("f = open('/tmp/out/a', 'wb')", "f.truncate(20 << 20)"), Status: overOutput, ErrorType: artifactError, Check: handsBack()},
	{
		Name: "the same every time", Code: py("import random", "open('/tmp/out/a', 'w').write(str(random.random()))"),
		Deterministic: &sandbox.Deterministic{Seed: 7, Clock: fixedClock}, Status: ok, Check: handsBack(`a application/octet-stream "0.04203145824418708"`),
	},
}

var (
	overOutput    = []sandbox.Status{sandbox.StatusOutputLimit}
	artifactError = pyError(sandbox.ErrorArtifact)
)

// handsBack expects exactly these artifacts: name, media type, quoted content.
func handsBack(want ...string) func(*testing.T, sandbox.Result) {
	return func(t *testing.T, r sandbox.Result) {
		t.Helper()
		var got []string
		for _, a := range r.Artifacts {
			got = append(got, fmt.Sprintf("%s %s %q", a.Name, a.MediaType, a.Bytes))
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
			t.Errorf("artifacts (-want +got):\n%s", diff)
		}
	}
}
