package fuzz

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

//go:embed driver.py
var driver string

// Outcome is what a program did.
type Outcome struct {
	Stdout string `json:"stdout"`
	// Value is the text of the program's last expression; nil if it raised.
	Value *string `json:"value"`
	// Error is the type of the exception that ended the program; empty if none.
	Error string `json:"error"`
}

// ErrSlow says that a program did not end in its time.
var ErrSlow = errors.New("the program did not end in its time")

// Native runs programs, one after another, in a Python process.
type Native struct {
	path string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// NewNative gives one for a Python interpreter, the program at path.
func NewNative(path string) *Native { return &Native{path: path} }

func (n *Native) start() error {
	n.cmd = exec.Command(n.path, "-I", "-X", "utf8", "-c", driver)
	in, err := n.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	n.in, n.out = in, bufio.NewReader(out)
	return n.cmd.Start()
}

// Run runs one program. One that takes longer than limit gives ErrSlow.
func (n *Native) Run(program string, limit time.Duration) (Outcome, error) {
	if n.cmd == nil {
		if err := n.start(); err != nil {
			return Outcome{}, fmt.Errorf("native Python: %w", err)
		}
	}
	text, err := json.Marshal(program)
	if err != nil {
		return Outcome{}, err
	}
	var slow atomic.Bool
	kill := time.AfterFunc(limit, func() {
		slow.Store(true)
		_ = n.cmd.Process.Kill() // fails if it has just ended, which Run sees
	})
	defer kill.Stop()
	_, err = n.in.Write(append(text, '\n'))
	var line []byte
	if err == nil {
		line, err = n.out.ReadBytes('\n')
	}
	if err != nil {
		ended := n.Close()
		if slow.Load() {
			return Outcome{}, ErrSlow
		}
		return Outcome{}, fmt.Errorf("native Python: %w", errors.Join(err, ended))
	}
	var o Outcome
	return o, json.Unmarshal(line, &o)
}

// Close ends the process, if there is one.
func (n *Native) Close() error {
	if n.cmd == nil {
		return nil
	}
	err := errors.Join(n.in.Close(), n.cmd.Wait())
	n.cmd = nil
	return err
}
