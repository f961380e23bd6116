package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// pair is native Python and the guest.
type pair struct {
	native *Native
	guest  *wasm.Engine
	// control: a program without an outcome fails the test instead of skipping it.
	control bool
}

func openPair(t testing.TB) *pair {
	t.Helper()
	python := os.Getenv("MAYFLY_NATIVE_PYTHON")
	if python == "" {
		t.Skip("MAYFLY_NATIVE_PYTHON does not name a Python of the guest's version; make test and make fuzz do it")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	guest, err := runtime.OpenSandbox(t.Context(), runtime.SandboxConfig{CacheDir: filepath.Join(cache, "mayfly")})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{native: NewNative(python), guest: guest}
	t.Cleanup(func() {
		if err := errors.Join(p.native.Close(), p.guest.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// both runs a program on both sides.
func (p *pair) both(t *testing.T, program string) (native, guest Outcome) {
	t.Helper()
	native, err := p.native.Run(program, 20*time.Second)
	if errors.Is(err, ErrSlow) && !p.control {
		t.Skip("native Python did not end within 20 s, so there is nothing to compare with: ", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, body(program))
	}
	r, err := p.guest.Run(t.Context(), sandbox.Spec{Code: program, Limits: sandbox.Limits{Timeout: time.Minute, MaxOutput: 16 << 20}})
	if err != nil {
		t.Fatalf("%v\n%s", err, body(program))
	}
	guest.Stdout = string(r.Stdout)
	switch r.Status {
	case sandbox.StatusOK:
		if err := json.Unmarshal(r.Value, &guest.Value); err != nil {
			t.Errorf("value %.200q: %v", r.Value, err)
		}
	case sandbox.StatusError:
		guest.Error = r.Error.Type
	default:
		t.Fatalf("%s: %+v\n%s", r.Status, r.Error, body(program))
	}
	for _, o := range []*Outcome{&native, &guest} {
		o.Stdout = address.ReplaceAllString(o.Stdout, "at 0x")
		if o.Value != nil {
			*o.Value = address.ReplaceAllString(*o.Value, "at 0x")
		}
	}
	return native, guest
}

// address is what an object without a text of its own is described by.
var address = regexp.MustCompile(`at 0x[0-9a-f]+`)

// FuzzPrograms compares the guest with native Python of its own version.
func FuzzPrograms(f *testing.F) {
	p := openPair(f)
	for seed := range uint64(80) {
		f.Add(seedBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		program := Program(data)
		native, guest := p.both(t, program)
		if diff := cmp.Diff(native, guest); diff != "" {
			t.Errorf("native -, guest +:\n%s\n%s", diff, body(program))
		}
	})
}

// TestDifferencesShow is the control: programs that must differ do, and most
// generated ones get far enough to say something.
func TestDifferencesShow(t *testing.T) {
	p := openPair(t)
	p.control = true
	for _, program := range []string{
		"import sys\nsys.platform", "import sys\nprint(sys.maxsize)\n'x'", "import ctypes\n'x'",
	} {
		if native, guest := p.both(t, program); cmp.Equal(native, guest) {
			t.Errorf("%q gives %+v on both sides", program, native)
		}
	}
	ends := map[string]int{}
	for seed := range uint64(60) {
		native, _ := p.both(t, Program(seedBytes(seed)))
		ends[native.Error]++
	}
	t.Log("ends of 60 programs: ", ends)
	if ends[""] < 5 || ends["SyntaxError"] > 10 || len(ends) < 5 {
		t.Errorf("programs say too little: they end as %v", ends)
	}
}

// seedBytes gives bytes for a program of some length.
func seedBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 50+r.IntN(400))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// body is a program without what all have in common.
func body(program string) string {
	_, after, _ := bytes.Cut([]byte(program), []byte(prelude))
	return string(after)
}

// TestProgramsVary fails when the generator makes hardly anything: when few
// programs get far, or all end alike.
func TestProgramsVary(t *testing.T) {
	seen := map[string]bool{}
	used := 0
	for seed := range uint64(300) {
		text := body(Program(seedBytes(seed)))
		seen[text] = true
		if len(text) > 500 {
			used++
		}
	}
	if len(seen) < 300 || used < 200 {
		t.Errorf("%d of 300 programs differ, %d are long", len(seen), used)
	}
	if a, b := Program(seedBytes(3)), Program(seedBytes(3)); a != b {
		t.Error("the same bytes give two programs")
	}
	if text := Program(nil); len(text) == 0 {
		t.Error("no bytes give no program")
	}
}
