//go:build linux && (amd64 || arm64)

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// outcome is what the victim says of an attack.
type outcome struct {
	Worked bool
	Detail string
}

func readOutcome(t *testing.T, text []byte) outcome {
	t.Helper()
	var o outcome
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("the victim says %q: %v", text, err)
	}
	return o
}

// arguments are an attack's, with this world's names in them.
func (a attack) arguments(w *world) []string {
	var args []string
	for _, arg := range a.args {
		args = append(args, w.names.Replace(arg))
	}
	return args
}

// grant gives a call what the attacks start from.
func (w *world) grant(mode Namespaces, a attack) Spec {
	return Spec{
		Read: []string{w.granted}, Write: []string{w.granted}, Namespaces: mode,
		Process: a.name != "start a process", Limits: Limits{Timeout: time.Minute},
	}
}

// No attack works.
func TestAttacks(t *testing.T) {
	w := newWorld(t)
	forTiers(t, func(t *testing.T, mode Namespaces) {
		for _, a := range attacks {
			if a.only == namespacesOnly && mode == NamespacesOff {
				continue // TestWithoutNamespaces says so
			}
			t.Run(a.name, func(t *testing.T) {
				if a.args[0] == "int80" && runtime.GOARCH != "amd64" {
					t.Skip("this architecture has one entry only")
				}
				r := run(t, w.grant(mode, a), a.arguments(w)...)
				if a.signal != "" {
					if r.Signal != a.signal {
						t.Errorf("signal %q, status %s, value %s; want %s", r.Signal, r.Status, r.Value, a.signal)
					}
					return
				}
				if r.Status != sandbox.StatusOK {
					t.Fatalf("status %s: %+v\n%s", r.Status, r.Error, r.Stderr)
				}
				o := readOutcome(t, r.Value)
				if o.Worked {
					t.Errorf("it works: %s", o.Detail)
				}
				if a.answer != "" && o.Detail != a.answer {
					t.Errorf("answer %s, want %s", o.Detail, a.answer)
				}
			})
		}
	})
	w.intact(t)
}

// Every attack does work without confinement: what stops it is ours.
func TestAttacksUnconfined(t *testing.T) {
	w := newWorld(t)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			switch {
			case a.needs == elsewhere:
				t.Skip("this kernel does not have what it attacks")
			case a.needs == root && os.Geteuid() != 0:
				t.Skip("needs root")
			case a.args[0] == "int80" && runtime.GOARCH != "amd64":
				t.Skip("this architecture has one entry only")
			}
			out, err := exec.Command(victim, a.arguments(w)...).Output()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if o := readOutcome(t, out); !o.Worked {
				t.Errorf("it does not work: %s", o.Detail)
			}
		})
	}
}

// What Landlock leaves open, where there are no namespaces: the attack works,
// and the Result names the layer that is missing.
func TestWithoutNamespaces(t *testing.T) {
	w := newWorld(t)
	a := attack{args: []string{"stat", "{outside}/secret"}}
	r := run(t, w.grant(NamespacesOff, a), a.arguments(w)...)
	if o := readOutcome(t, r.Value); !o.Worked {
		t.Errorf("%s: this could be in the table for both ways", o.Detail)
	}
	missing := false
	for _, layer := range r.Enforced.Missing {
		missing = missing || layer == LayerFileSystem
	}
	if !missing {
		t.Errorf("missing layers %v do not name %s", r.Enforced.Missing, LayerFileSystem)
	}
}

// writeOnlyDir is a directory outside of /tmp that every user can write to.
func writeOnlyDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "granted")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyProgram makes a copy of the victim.
func copyProgram(to string) error {
	text, err := os.ReadFile(victim)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// grantTest is a change of what is granted, and whether an act then works.
type grantTest struct {
	name   string
	change func(*Spec)
	args   []string
	works  bool
}

// What is granted works, and no more.
func TestGrants(t *testing.T) {
	w := newWorld(t)
	read, write, both := filepath.Join(w.outside, "secret"), writeOnlyDir(t), w.granted
	if err := errors.Join(
		os.Mkdir(both+"/bin", 0o777), os.Chmod(both+"/bin", 0o777), os.Symlink(read, both+"/link"),
		copyProgram(both+"/bin/victim"), copyProgram(both+"/victim"),
	); err != nil {
		t.Fatal(err)
	}
	forTiers(t, func(t *testing.T, mode Namespaces) {
		spec := Spec{Read: []string{w.outside, both}, Write: []string{write, both}, Namespaces: mode, Limits: Limits{Timeout: time.Minute}}
		tests := []grantTest{
			{"read", nil, []string{"read", read}, true},
			{"list", nil, []string{"list", w.outside}, true},
			{"write what may be read", nil, []string{"write", read}, false},
			{"create where it may be read", nil, []string{"write", w.outside + "/new"}, false},
			{"write", nil, []string{"write", write + "/file"}, true},
			{"truncate", nil, []string{"truncate", write + "/file"}, true},
			{"read what may be written", nil, []string{"read", write + "/file"}, false},
			{"list where it may be written", nil, []string{"list", write}, false},
			{"remove", nil, []string{"remove", write + "/file"}, true},
			{"rename", nil, []string{"rename out", both, both + "/renamed"}, true},
			{"read one file", func(s *Spec) { s.Read = []string{read, both} }, []string{"read", read}, true},
			{"read beside it", func(s *Spec) { s.Read = []string{read, both} }, []string{"read", w.outside + "/chmod"}, false},
			{"write one file", func(s *Spec) { s.Write = []string{both + "/one"} }, []string{"write", both + "/one"}, true},
			{"start a process", func(s *Spec) { s.Process = true }, []string{"fork"}, true},
			{"start no process", nil, []string{"fork"}, false},
			{"a child is confined too", func(s *Spec) { s.Process = true }, []string{"execute", "/bin/true"}, false},
			{"execute in a directory within", func(s *Spec) { s.Process, s.Exec = true, []string{both + "/bin"} }, []string{"execute", both + "/bin/victim", "silent"}, true},
			{"execute beside it", func(s *Spec) { s.Process, s.Exec = true, []string{both + "/bin"} }, []string{"execute", both + "/victim", "silent"}, false},
			{"write in a directory within", func(s *Spec) { s.Exec = []string{both + "/bin"} }, []string{"write", both + "/bin/new"}, true},
			{"read through a link that is granted", func(s *Spec) { s.Read = []string{both + "/link", both} }, []string{"read", both + "/link"}, true},
			{"connect", func(s *Spec) { s.Network = NetworkAll }, []string{"dial", "tcp", w.names.Replace("{tcp}")}, true},
			{"connect 6", func(s *Spec) { s.Network = NetworkAll }, []string{"dial", "tcp", w.names.Replace("{tcp6}")}, true},
			{"listen", func(s *Spec) { s.Network = NetworkAll }, []string{"listen", "tcp", "127.0.0.1:0"}, true},
			{"datagram", func(s *Spec) { s.Network = NetworkAll }, []string{"datagram", "udp", w.names.Replace("{udp}")}, true},
			{"raw, with a network", func(s *Spec) { s.Network = NetworkAll }, []string{"syscall", fmt.Sprint(unix.SYS_SOCKET), "2", "3", "1"}, false},
			{"abstract socket, with a network", func(s *Spec) { s.Network = NetworkAll }, []string{"dial", "unix", w.names.Replace("{abstract}")}, false},
			{"socket, with a network", func(s *Spec) { s.Network = NetworkAll }, []string{"dial", "unix", w.names.Replace("{socket}")}, false},
		}
		if err := os.WriteFile(both+"/one", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(both+"/one", 0o666); err != nil {
			t.Fatal(err)
		}
		if mode != NamespacesOff {
			socket := w.names.Replace("{socket}")
			tests = append(tests,
				grantTest{"granted socket", func(s *Spec) { s.Read, s.UnixSockets = []string{both}, []string{socket} }, []string{"dial", "unix", socket}, true},
				grantTest{"another socket", func(s *Spec) { s.Read, s.UnixSockets = []string{both}, []string{socket} }, []string{"datagram", "unixgram", w.names.Replace("{datagrams}")}, false},
				grantTest{"network, with a granted socket", func(s *Spec) { s.UnixSockets = []string{socket} }, []string{"dial", "tcp", w.names.Replace("{tcp}")}, false},
				grantTest{"abstract, with a granted socket and the network", func(s *Spec) { s.Network, s.UnixSockets = NetworkAll, []string{socket} }, []string{"dial", "unix", w.names.Replace("{abstract}")}, false},
			)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				spec := spec
				if tt.change != nil {
					tt.change(&spec)
				}
				r := run(t, spec, tt.args...)
				if r.Status != sandbox.StatusOK {
					t.Fatalf("status %s: %+v\n%s", r.Status, r.Error, r.Stderr)
				}
				if o := readOutcome(t, r.Value); o.Worked != tt.works {
					t.Errorf("works: %v (%s), want %v", o.Worked, o.Detail, tt.works)
				}
			})
		}
	})
	w.intact(t)
}

// A descriptor that the host forgot to close on exec does not reach a program.
func TestInheritedDescriptor(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(secret); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	cmd := exec.Command(victim, "read descriptor")
	cmd.ExtraFiles = []*os.File{readOnly, readOnly} // the first one is where it would leave its value
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if o := readOutcome(t, out); !o.Worked {
		t.Errorf("unconfined: %s", o.Detail)
	}
	fd, err := unix.Dup(int(f.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	forTiers(t, func(t *testing.T, mode Namespaces) {
		r := run(t, Spec{Namespaces: mode}, "read descriptor")
		if o := readOutcome(t, r.Value); o.Worked {
			t.Errorf("confined: %s", o.Detail)
		}
	})
}
