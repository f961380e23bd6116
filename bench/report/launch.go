package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// launchTarget is how long a confined call may take, in times of bubblewrap.
const launchTarget = 1

// ordinaryUser is a user without any rights, as whom the measurement runs again.
const ordinaryUser = 61500

// hostFlag makes this program a host that measures launches: with its heap in
// MiB, and nothing else.
const hostFlag = "-launch-host"

// launched are the medians of one program's launches from one host, in
// milliseconds.
type launched struct {
	Program                 string
	Plain, Ours, Bubblewrap float64
}

// launch compares the launch of confined programs with bubblewrap's, from hosts
// with a small and a large heap, as this user and as an ordinary one.
func launch(b *bench) error {
	users := []struct {
		name string
		cred *syscall.Credential
	}{{"", nil}}
	if os.Geteuid() == 0 {
		users[0].name = " as root"
		users = append(users, users[0])
		users[1].name, users[1].cred = " as a user", &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}
	}
	for _, user := range users {
		for _, heap := range []int{0, 1024} {
			// The host is a process like any that uses Mayfly: this program has all
			// packages that the command has.
			cmd := exec.CommandContext(b.ctx, "/proc/self/exe", hostFlag, strconv.Itoa(heap), strconv.Itoa(b.rounds))
			cmd.Dir, cmd.Stderr = "/", os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user.cred}
			out, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("the host of launches: %w", err)
			}
			var all []launched
			if err := json.Unmarshal(out, &all); err != nil {
				return err
			}
			for _, l := range all {
				name := fmt.Sprintf("launch %s%s, heap of %d MiB", l.Program, user.name, heap)
				if l.Bubblewrap > 0 {
					b.compare(name+", bubblewrap", "ms", l.Ours, l.Bubblewrap, launchTarget)
				}
				b.compare(name+", plain", "ms", l.Ours, l.Plain, 0)
			}
		}
	}
	return nil
}

// launchHost is the host of launches: it prints what they take.
func launchHost(args []string) error {
	heap, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	ballast := make([]byte, heap<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	var all []launched
	for _, program := range []struct {
		line []string
		n    int
	}{
		{[]string{"/bin/true"}, 200},
		{[]string{"/usr/bin/python3", "-I", "-c", "pass"}, 40},
		{[]string{"/usr/bin/node", "-e", "0"}, 20},
	} {
		if _, err := os.Stat(program.line[0]); err != nil {
			continue
		}
		l, err := launches(program.line, program.n*rounds)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	runtime.KeepAlive(ballast)
	return json.NewEncoder(os.Stdout).Encode(all)
}

// launches starts a program n times in each way, in turn.
func launches(line []string, n int) (l launched, err error) {
	filter, err := allowAll()
	if err != nil {
		return l, err
	}
	defer filter.Close()
	libraries, read := process.SystemLibraries()
	spec := process.Spec{
		Command: line[0], Args: line[1:], Exec: libraries, Read: read,
		Limits: process.Limits{Timeout: time.Minute, MaxMemory: 4 << 30},
	}
	wrap := append(measure.Bubblewrap(line[0]), "--seccomp", "3", "--")
	wrap = append(wrap, line...)
	ways := []struct {
		run  func() error
		into *float64
		took []float64
	}{
		{func() error {
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Env = []string{"PATH=/usr/bin:/bin"}
			return runQuiet(cmd)
		}, &l.Plain, nil},
		{func() error {
			r, err := process.Run(context.Background(), spec)
			if err == nil && r.Status != sandbox.StatusOK {
				err = fmt.Errorf("%s: %+v %s", r.Status, r.Error, r.Stderr)
			}
			return err
		}, &l.Ours, nil},
		{func() error {
			if _, err := filter.Seek(0, 0); err != nil {
				return err
			}
			cmd := exec.Command("bwrap", wrap...)
			cmd.ExtraFiles = []*os.File{filter}
			return runQuiet(cmd)
		}, &l.Bubblewrap, nil},
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		ways = ways[:2]
	}
	for i := range n + 5 {
		for w := range ways {
			start := time.Now()
			if err := ways[w].run(); err != nil {
				return l, err
			}
			if i >= 5 { // warm
				ways[w].took = append(ways[w].took, measure.Millis(time.Since(start)))
			}
		}
	}
	for _, w := range ways {
		*w.into = measure.Median(w.took)
	}
	l.Program = filepath.Base(line[0])
	return l, nil
}

func runQuiet(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Path, err, bytes.TrimSpace(out))
	}
	return nil
}

// allowAll is a seccomp filter as long as ours are, which allows everything: what
// it costs is its length.
func allowAll() (*os.File, error) {
	const rules = 90
	type instruction struct {
		Code    uint16
		Yes, No uint8
		Value   uint32
	}
	var code []instruction
	for i := range uint32(rules) {
		code = append(code,
			instruction{0x20, 0, 0, 0},              // load the number
			instruction{0x15, 0, 1, 1<<20 + i},      // a number that no call has
			instruction{0x06, 0, 0, 0x00050000 | 1}, // not permitted
		)
	}
	code = append(code, instruction{0x06, 0, 0, 0x7fff0000}) // allow
	f, err := os.CreateTemp("", "filter")
	if err != nil {
		return nil, err
	}
	return f, errors.Join(os.Remove(f.Name()), binary.Write(f, binary.NativeEndian, code))
}
