//go:build linux && (amd64 || arm64)

package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-run/mayfly/sandbox"
)

// unconfined runs the victim as an ordinary user would.
func unconfined(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(victim, args...).Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// What lives on without a process does not outlive the call: a namespace goes
// with it, and without one it cannot be made.
func TestNothingLeftBehind(t *testing.T) {
	gets := map[string]uintptr{"memory": unix.SYS_SHMGET, "semaphores": unix.SYS_SEMGET, "messages": unix.SYS_MSGGET}
	removes := map[string]uintptr{"memory": unix.SYS_SHMCTL, "semaphores": unix.SYS_SEMCTL, "messages": unix.SYS_MSGCTL}
	// take removes what has the key, and reports whether it was there.
	take := func(kind string, key int) bool {
		id, _, errno := syscall.RawSyscall(gets[kind], uintptr(key), 0, 0)
		if errno != 0 {
			return false
		}
		args := []uintptr{id, unix.IPC_RMID, 0}
		if kind == "semaphores" {
			args = []uintptr{id, 0, unix.IPC_RMID}
		}
		if _, _, errno := syscall.RawSyscall(removes[kind], args[0], args[1], args[2]); errno != 0 {
			t.Errorf("%s cannot be removed: %v", kind, errno)
		}
		return true
	}
	for kind := range gets {
		key := int(time.Now().UnixNano() & 0x7fffffff)
		unconfined(t, "leave behind", kind, strconv.Itoa(key))
		if !take(kind, key) {
			t.Errorf("%s: unconfined nothing is left: the attack does not work", kind)
		}
		forTiers(t, func(t *testing.T, mode Namespaces) {
			r := run(t, Spec{Namespaces: mode}, "leave behind", kind, strconv.Itoa(key))
			if o := readOutcome(t, r.Value); mode == NamespacesOff && o.Worked {
				t.Errorf("%s can be made", kind)
			}
			if take(kind, key) {
				t.Errorf("%s is left", kind)
			}
		})
	}
}

// The kernel sends signals on a program's behalf, too; they go no further than
// its own.
func TestSignalByDescriptor(t *testing.T) {
	alive := func(pid int) bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && !bytes.Contains(state, []byte(") Z"))
	}
	forTiers(t, func(t *testing.T, mode Namespaces) {
		pid := bystander(t)
		run(t, Spec{Namespaces: mode}, "signal by descriptor", strconv.Itoa(pid))
		if !alive(pid) {
			t.Error("the signal arrived")
		}
		unconfined(t, "signal by descriptor", strconv.Itoa(pid))
		if !eventually(func() bool { return !alive(pid) }) {
			t.Error("unconfined the signal does not arrive: the attack does not work")
		}
	})
}

// A program that runs as its owner for everybody else does not in a call.
func TestSetUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, whose program it is")
	}
	dir := openDir(t)
	program := dir + "/program"
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(program, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	who := func(text []byte) (w struct{ UID, EUID int }) {
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return w
	}
	cmd := exec.Command(program, "who runs")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if w := who(out); w.EUID != 0 || w.UID != ordinary {
		t.Errorf("unconfined: %+v, want that it is root: the attack does not work", w)
	}
	forTiers(t, func(t *testing.T, mode Namespaces) {
		r, err := Run(t.Context(), Spec{Command: program, Args: []string{"who runs"}, Namespaces: mode, Limits: Limits{Timeout: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		if w := who(r.Value); w.EUID != w.UID || w.EUID == 0 {
			t.Errorf("%+v", w)
		}
	})
}

// A call that wants everything gets what its limits say, ends in time, and the
// next call finds nothing of it.
func TestExhaustion(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		spec   Spec
		tier   string // the only one that has it
		status sandbox.Status
	}{
		{"processes that spin", []string{"spin", "8"}, Spec{Process: true, Limits: Limits{Timeout: time.Second}}, "", sandbox.StatusTimeout},
		{"threads that spin", []string{"spin threads"}, Spec{Limits: Limits{Timeout: time.Second}}, "", sandbox.StatusTimeout},
		{"a flood of errors", []string{"flood", "stderr"}, Spec{}, "", sandbox.StatusOutputLimit},
		{"a flood of output", []string{"flood", "stdout"}, Spec{}, "", sandbox.StatusOutputLimit},
		{"a flood of value", []string{"flood", "value"}, Spec{}, "", sandbox.StatusOutputLimit},
		{"input that is not read", []string{"prints"}, Spec{Input: sandbox.RawJSON(`"` + string(bytes.Repeat([]byte("x"), 20<<20)) + `"`)}, "", sandbox.StatusOK},
		{"input that is held", []string{"hang"}, Spec{Input: sandbox.RawJSON(`"` + string(bytes.Repeat([]byte("x"), 20<<20)) + `"`), Limits: Limits{Timeout: time.Second}}, "", sandbox.StatusTimeout},
		{"a fork bomb", []string{"tree", "bomb", "hang", "respawn", "daemon", "reaper"}, Spec{Process: true, Limits: Limits{Timeout: 2 * time.Second, MaxProcesses: 40}}, "", sandbox.StatusTimeout},
		{"files without end", []string{"make files", "/tmp", "100000"}, Spec{}, "namespaces", sandbox.StatusOK},
		{"a core dump", []string{"core size"}, Spec{}, "", sandbox.StatusOK},
	}
	most := map[string]int{"files without end": 4096, "a core dump": 0}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forTiers(t, func(t *testing.T, mode Namespaces) {
				if mode == NamespacesOff && (tt.tier == "namespaces" || tt.spec.Limits.MaxProcesses > 0 && os.Geteuid() != 0) {
					t.Skip("refused or not there without namespaces")
				}
				spec := tt.spec
				spec.Namespaces = mode
				if spec.Limits.Timeout == 0 {
					spec.Limits.Timeout = time.Minute
				}
				r := run(t, spec, tt.args...)
				if r.Status != tt.status {
					t.Errorf("status %s, %+v, want %s\n%s", r.Status, r.Error, tt.status, r.Stderr)
				}
				if limit, ok := most[tt.name]; ok {
					if n, err := strconv.Atoi(string(r.Value)); err != nil || n > limit {
						t.Errorf("value %s, want at most %d", r.Value, limit)
					}
				}
				if kept := len(r.Stdout) + len(r.Stderr); int64(kept) > sandbox.DefaultMaxOutput {
					t.Errorf("%d bytes of output were kept", kept)
				}
				if r := run(t, Spec{Namespaces: mode, Limits: Limits{Timeout: time.Minute}}, "prints"); r.Status != sandbox.StatusOK || string(r.Value) != "42" {
					t.Errorf("the next call: status %s, %+v", r.Status, r.Error)
				}
			})
		})
	}
	if left := marked(t, "bomb"); len(left) > 0 {
		t.Errorf("processes %v survive", left)
	}
}
