package canonjson

import (
	"bufio"
	"encoding/base64"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// oracle is a Python process that answers with the canonical form of a text.
type oracle struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// startOracle starts Python, or skips the test where there is none.
func startOracle(t testing.TB) *oracle {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("needs python3, whose json module defines the canonical form: %v", err)
	}
	cmd := exec.Command(python, "-I", "testdata/oracle.py")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("oracle: %v", err)
		}
	})
	return &oracle{in: in, out: bufio.NewReaderSize(out, 1<<16)}
}

// canonical gives the canonical text, or the code of the refusal.
func (o *oracle) canonical(t testing.TB, text []byte) (canonical string, refused Code) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := io.WriteString(o.in, base64.StdEncoding.EncodeToString(text)+"\n"); err != nil {
		t.Fatalf("ask the oracle: %v", err)
	}
	line, err := o.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the oracle's answer: %v", err)
	}
	line = strings.TrimSuffix(line, "\n")
	if line[0] == '!' {
		return "", Code(line[1:])
	}
	return line[1:], ""
}

// check holds what Parse and Append make of text against the oracle.
func (o *oracle) check(t *testing.T, text []byte) {
	t.Helper()
	want, refused := o.canonical(t, text)
	v, err := Parse(text, Limits{})
	if err != nil {
		if refused == "" {
			t.Fatalf("%q: refused with %v, the oracle writes %s", text, err, want)
		}
		return
	}
	if refused != "" {
		t.Fatalf("%q: accepted, the oracle refuses with %s", text, refused)
	}
	got, err := Append(nil, v)
	if err != nil {
		t.Fatalf("%q: parsed but not written: %v", text, err)
	}
	if string(got) != want {
		t.Fatalf("%q:\n got %s\nwant %s", text, got, want)
	}
	// The canonical form is a fixed point.
	again, err := Parse(got, Limits{MaxBytes: len(got)})
	if err != nil {
		t.Fatalf("%q: its canonical form %s is refused: %v", text, got, err)
	}
	if twice, err := Append(nil, again); err != nil || string(twice) != want {
		t.Fatalf("%q: canonical form of its canonical form is %s (%v), want %s", text, twice, err, want)
	}
}
