package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience is how long a driver may take for a sandbox, beyond what it was asked
// to wait.
const patience = 3 * time.Minute

// errDied is the error of a driver that went away while it was asked something.
var errDied = errors.New("the driver died")

// driver is a running program that hosts a peer.
type driver struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   *tail
	versions map[string]string
}

// startDriver starts a driver and waits until it is ready.
func startDriver(line []string) (*driver, error) {
	d := &driver{cmd: exec.Command(line[0], line[1:]...), stderr: &tail{}}
	d.cmd.Stderr = d.stderr
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	ready, err := d.read(patience)
	if err != nil {
		d.stop()
		return nil, fmt.Errorf("start %s: %w", strings.Join(line, " "), err)
	}
	d.versions = ready.Versions
	return d, nil
}

// ask sends a request and waits for the answer. A fault of the driver is an
// error, and so is its death (errDied).
func (d *driver) ask(q request) (answer, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("%w: %w", errDied, err)
	}
	return d.read(patience*time.Duration(1+q.Count) + time.Duration(q.TimeoutMS)*time.Millisecond)
}

// read reads one answer. A driver that takes too long is killed.
func (d *driver) read(most time.Duration) (answer, error) {
	late := time.AfterFunc(most, func() { _ = d.cmd.Process.Kill() })
	line, err := d.out.ReadBytes('\n')
	if !late.Stop() && err != nil {
		return answer{}, fmt.Errorf("%w: killed after %v without an answer", errDied, most)
	}
	if err != nil {
		_ = d.cmd.Wait()
		return answer{}, fmt.Errorf("%w: %s: %s", errDied, d.cmd.ProcessState, d.stderr)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("a driver said %.200q: %w", line, err)
	}
	if a.Fault != "" {
		return a, errors.New(a.Fault)
	}
	return a, nil
}

// stop ends the driver: by the end of its input, or by force.
func (d *driver) stop() {
	d.in.Close()
	late := time.AfterFunc(10*time.Second, func() { _ = d.cmd.Process.Kill() })
	_, _ = io.Copy(io.Discard, d.out)
	_ = d.cmd.Wait()
	late.Stop()
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 2000
	t.text = append(t.text, p...)
	if len(t.text) > most {
		t.text = t.text[len(t.text)-most:]
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.text)) }

// cold starts a program and gives the milliseconds until its first line, which
// must be the result of 1+1.
func cold(line []string) (float64, error) {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	ms := float64(time.Since(begin)) / float64(time.Millisecond)
	_ = cmd.Wait()
	if err == nil && first != "2\n" {
		err = fmt.Errorf("%s printed %q for 1+1", strings.Join(line, " "), first)
	}
	return ms, err
}
