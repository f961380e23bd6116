//go:build linux && (amd64 || arm64)

package process

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

func TestOutcome(t *testing.T) {
	small := Limits{Timeout: time.Minute, MaxOutput: 1000, MaxValue: 1000}
	type outcome struct {
		Status         sandbox.Status
		Value          string
		Stdout, Stderr string
		ErrorType      string
		ExitCode       int
		Signal         string
	}
	tests := []struct {
		name string
		args []string
		spec Spec
		want outcome
	}{
		{"input", []string{"echo"}, Spec{Input: sandbox.RawJSON(`{"a":1}`)}, outcome{Status: sandbox.StatusOK, Value: `{"input":"{\"a\":1}"}`}},
		{"no input", []string{"echo"}, Spec{}, outcome{Status: sandbox.StatusOK, Value: `{"input":""}`}},
		{"prints beside the value", []string{"prints"}, Spec{}, outcome{Status: sandbox.StatusOK, Value: "42", Stdout: "on standard output\n", Stderr: "on standard error\n"}},
		{"no value", []string{"silent"}, Spec{}, outcome{Status: sandbox.StatusOK, Value: "null"}},
		{"no value on stdout", []string{"silent"}, Spec{Output: OutputStdout}, outcome{Status: sandbox.StatusError, ErrorType: "value"}},
		{"value on stdout, with a print", []string{"prints"}, Spec{Output: OutputStdout}, outcome{Status: sandbox.StatusError, ErrorType: "value", Stderr: "on standard error\n"}},
		{"a name twice", []string{"invalid"}, Spec{}, outcome{Status: sandbox.StatusError, ErrorType: "value"}},
		{"exit code", []string{"exit"}, Spec{}, outcome{Status: sandbox.StatusError, ErrorType: "exit", ExitCode: 7}},
		{"signal", []string{"killed"}, Spec{}, outcome{Status: sandbox.StatusError, ErrorType: "signal", ExitCode: -1, Signal: "SIGKILL"}},
		{"threads", []string{"threads"}, Spec{}, outcome{Status: sandbox.StatusOK, Value: "64"}},
		{"timeout", []string{"hang"}, Spec{Limits: Limits{Timeout: 300 * time.Millisecond}}, outcome{Status: sandbox.StatusTimeout, ErrorType: "timeout", ExitCode: -1, Signal: "SIGKILL"}},
		{"value too large", []string{"flood", "value"}, Spec{Limits: small}, outcome{Status: sandbox.StatusOutputLimit, ErrorType: "output_limit", ExitCode: -1, Signal: "SIGKILL"}},
		{"flood of output", []string{"flood", "stdout"}, Spec{Limits: small}, outcome{Status: sandbox.StatusOutputLimit, ErrorType: "output_limit", ExitCode: -1, Signal: "SIGKILL", Stdout: strings.Repeat("x", 1000)}},
		{"flood of errors", []string{"flood", "stderr"}, Spec{Limits: small}, outcome{Status: sandbox.StatusOutputLimit, ErrorType: "output_limit", ExitCode: -1, Signal: "SIGKILL", Stderr: strings.Repeat("x", 1000)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forTiers(t, func(t *testing.T, mode Namespaces) {
				spec := tt.spec
				spec.Namespaces = mode
				if spec.Limits == (Limits{}) {
					spec.Limits.Timeout = time.Minute
				}
				r := run(t, spec, tt.args...)
				got := outcome{Status: r.Status, Value: string(r.Value), Stdout: string(r.Stdout), Stderr: string(r.Stderr), ExitCode: r.ExitCode, Signal: r.Signal}
				if r.Error != nil {
					got.ErrorType = r.Error.Type
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s%+v", diff, r.Error)
				}
			})
		})
	}
}

// What a program is: without rights, without anything of its host's.
func TestState(t *testing.T) {
	t.Setenv("LEAKED_SECRET", "sentinel")
	forTiers(t, func(t *testing.T, mode Namespaces) {
		var got struct {
			CapInh, CapPrm, CapEff, CapBnd, CapAmb, NoNewPrivs, Seccomp, Groups string

			Open         []int    `json:"open"`
			Env          []string `json:"env"`
			UID          int      `json:"uid"`
			Session, PID int
			Dir          string `json:"dir"`
		}
		r := run(t, Spec{Namespaces: mode, Env: map[string]string{"MINE": "x"}}, "state")
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatalf("%v: %s %+v", err, r.Value, r.Error)
		}
		if diff := cmp.Diff([]int{0, 1, 2, 3}, got.Open); diff != "" {
			t.Errorf("open descriptors (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"HOME=/tmp", "LANG=C.UTF-8", "MINE=x", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp"}, got.Env); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
		if got.UID == 0 || got.UID != r.Enforced.UID {
			t.Errorf("user %d, reported %d", got.UID, r.Enforced.UID)
		}
		if got.Session != got.PID || got.Dir != "/" {
			t.Errorf("session %d of process %d in %s", got.Session, got.PID, got.Dir)
		}
		if !slices.Contains(r.Enforced.Layers, LayerProc) {
			return // it cannot look up the rest
		}
		none := strings.Repeat("0", 16)
		for name, value := range map[string]string{"CapInh": got.CapInh, "CapPrm": got.CapPrm, "CapEff": got.CapEff, "CapBnd": got.CapBnd, "CapAmb": got.CapAmb} {
			if value != none {
				t.Errorf("%s is %s", name, value)
			}
		}
		if got.NoNewPrivs != "1" || got.Seccomp != "2" {
			t.Errorf("no_new_privs %s, seccomp %s", got.NoNewPrivs, got.Seccomp)
		}
	})
}

func TestInvalid(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec Spec
		path string
	}{
		{"no command", Spec{}, "/command"},
		{"relative command", Spec{Command: "sh"}, "/command"},
		{"missing command", Spec{Command: "/no/such/program"}, "/command"},
		{"command that is no program", Spec{Command: plain}, "/command"},
		{"command that is a directory", Spec{Command: dir}, "/command"},
		{"zero byte in an argument", Spec{Command: victim, Args: []string{"a\x00b"}}, "/args/0"},
		{"an argument that is no text", Spec{Command: victim, Args: []string{"a", "\xff"}}, "/args/1"},
		{"a variable that is no text", Spec{Command: victim, Env: map[string]string{"A": "\xff"}}, "/env"},
		{"a path that is no text", Spec{Command: victim, Read: []string{"/\xff"}}, "/read/0"},
		{"too many arguments", Spec{Command: victim, Args: []string{strings.Repeat("x", 1<<20)}}, "/args"},
		{"name with =", Spec{Command: victim, Env: map[string]string{"A=B": ""}}, "/env"},
		{"dir that is a file", Spec{Command: victim, Dir: plain}, "/dir"},
		{"dir outside", Spec{Command: victim, Dir: "/nonexistent"}, "/dir"},
		{"dir that is not granted", Spec{Command: victim, Dir: dir}, "/dir"},
		{"input that is no JSON", Spec{Command: victim, Input: sandbox.RawJSON(`{"a":1,"a":2}`)}, "/input"},
		{"two values", Spec{Command: victim, Input: sandbox.RawJSON(`1 2`)}, "/input"},
		{"path that is not clean", Spec{Command: victim, Read: []string{dir, dir + "/../x"}}, "/read/1"},
		{"path that is missing", Spec{Command: victim, Write: []string{dir + "/missing"}}, "/write/0"},
		{"everything", Spec{Command: victim, Read: []string{"/"}}, "/read/0"},
		{"proc", Spec{Command: victim, Exec: []string{"/proc/self"}}, "/exec/0"},
		{"only writing below /tmp", Spec{Command: victim, Write: []string{dir}}, "/write"},
		{"/tmp itself", Spec{Command: victim, Read: []string{"/tmp"}}, "/read"},
		{"no socket", Spec{Command: victim, UnixSockets: []string{plain}}, "/unixsockets/0"},
		{"unknown network", Spec{Command: victim, Network: 9}, "/network"},
		{"unknown output", Spec{Command: victim, Output: 9}, "/output"},
		{"unknown choice", Spec{Command: victim, Namespaces: 9}, "/namespaces"},
		{"root", Spec{Command: victim, User: &User{}}, "/user"},
		{"negative limit", Spec{Command: victim, Limits: Limits{MaxValue: -1}}, "/limits/maxvalue"},
		{"too few descriptors", Spec{Command: victim, Limits: Limits{MaxDescriptors: 2}}, "/limits/maxdescriptors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(t.Context(), tt.spec)
			if err != nil || r.Status != sandbox.StatusInvalid {
				t.Fatalf("status %q, error %v; want %s", r.Status, err, sandbox.StatusInvalid)
			}
			if r.Error.Path != tt.path {
				t.Errorf("path %q (%s), want %q", r.Error.Path, r.Error.Message, tt.path)
			}
			if len(r.Enforced.Layers) != 0 {
				t.Errorf("something ran: %v", r.Enforced)
			}
		})
	}
}

// A layer that is required and missing is a refusal, before anything starts.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		spec   Spec
		root   bool
		spaces bool
		abi    int
		want   Layer
	}{
		{"no Landlock", Spec{}, true, true, 0, LayerLandlock},
		{"old Landlock with namespaces", Spec{}, false, true, 1, ""},
		{"old Landlock without", Spec{}, false, false, 5, LayerLandlock},
		{"enough", Spec{}, false, false, 6, ""},
		{"sockets without namespaces", Spec{UnixSockets: []string{"/s"}}, true, false, 7, LayerFileSystem},
		{"sockets, network, old Landlock", Spec{UnixSockets: []string{"/s"}, Network: NetworkAll}, true, true, 5, LayerLandlock},
		{"bound on /tmp without namespaces", Spec{Limits: Limits{MaxTempBytes: 1}}, true, false, 7, LayerFileSystem},
		{"bound on processes without namespaces", Spec{Limits: Limits{MaxProcesses: 20}}, false, false, 7, LayerProcesses},
		{"bound on processes as root", Spec{Limits: Limits{MaxProcesses: 20}}, true, false, 7, ""},
	}
	for _, tt := range tests {
		err := enough(&tt.spec, tt.spec.Limits, tt.root, tt.spaces, tt.abi)
		var e *UnavailableError
		errors.As(err, &e)
		if (err == nil) != (tt.want == "") || e != nil && (e.Layer != tt.want || e.Reason == "" || e.Remedy == "") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A call whose time is over before it starts does not start.
func TestOverBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Run(ctx, Spec{Command: victim, Args: []string{"prints"}})
	if err != nil || r.Status != sandbox.StatusCancelled || len(r.Stdout) != 0 {
		t.Errorf("status %s, output %q, error %v", r.Status, r.Stdout, err)
	}
}
