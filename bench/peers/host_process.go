package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

//go:embed drivers/run.py
var runPython string

//go:embed drivers/run.cjs
var runNode string

// process hosts an interpreter as a process of its own for each call. It has
// no limits but that it is killed when its time is over.
type process struct {
	// line is the program with all that goes before the code.
	line     []string
	language dialect
	named    map[string][]string // name of a version, and the command that prints it
}

// dialect is how an interpreter is told what to do.
type dialect struct {
	first string // prints 1+1
	echo  string // evaluates each line of its input
	wait  string // prints 1+1 and waits for the end of its input
	run   string // runs a request, which is the next argument
}

var pythonDialect = dialect{
	first: "print(1+1)",
	echo:  "import sys\nfor line in sys.stdin: print(eval(line), flush=True)",
	wait:  "import sys\nprint(1+1, flush=True)\nsys.stdin.read()",
	run:   runPython,
}

var nodeDialect = dialect{
	first: "console.log(1+1)",
	echo:  "require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(eval(line)))",
	wait:  "console.log(1+1); process.stdin.resume()",
	run:   runNode,
}

// ended is the mark before the answer on the last line of output.
const ended = "\x1e"

func (p *process) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.line[0], append(p.line[1:len(p.line):len(p.line)], args...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func (p *process) versions() (map[string]string, error) {
	all := make(map[string]string)
	for name, line := range p.named {
		out, err := exec.Command(line[0], line[1:]...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(line, " "), err)
		}
		fields := strings.Fields(string(out))
		if len(fields) == 0 {
			return nil, fmt.Errorf("%s printed nothing", strings.Join(line, " "))
		}
		all[name] = fields[len(fields)-1]
	}
	return all, nil
}

func (p *process) start() error {
	var stderr bytes.Buffer
	cmd := p.command(context.Background(), p.language.first)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", p.line[0], err, stderr.String())
	}
	if string(out) != "2\n" {
		return fmt.Errorf("1+1 printed %q", out)
	}
	return nil
}

// talk is a process that takes lines and gives lines.
type talk struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (p *process) talk(code string) (*talk, error) {
	cmd := p.command(context.Background(), code)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &talk{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// two reads the line that is the result of 1+1.
func (t *talk) two() error {
	line, err := t.out.ReadString('\n')
	if err == nil && line != "2\n" {
		err = fmt.Errorf("1+1 printed %q", line)
	}
	return err
}

func (t *talk) close() {
	t.in.Close()
	_ = t.cmd.Wait()
}

func (p *process) run(q request) (answer, error) {
	var stdin io.Reader
	if q.Input != "" {
		text, err := os.ReadFile(q.Input)
		if err != nil {
			return answer{}, err
		}
		stdin = bytes.NewReader(text)
	}
	argument, err := requestArgument(q)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(q.TimeoutMS)*time.Millisecond)
	defer cancel()
	cmd := p.command(ctx, p.language.run, argument)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	begin := time.Now()
	out, err := cmd.Output()
	total := float64(time.Since(begin)) / float64(time.Millisecond)
	if err != nil {
		return diedProcess(ctx, err, cmd, total)
	}
	return parseRun(out, total)
}

// requestArgument is what run.py and run.cjs read.
func requestArgument(q request) (string, error) {
	text, err := json.Marshal(map[string]any{"body": q.Body, "expr": q.Expr, "input": q.Input != ""})
	return string(text), err
}

// diedProcess tells why a process ended without an answer.
func diedProcess(ctx context.Context, err error, cmd *exec.Cmd, total float64) (answer, error) {
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || cmd.ProcessState == nil {
		return answer{}, err
	} else if ctx.Err() != nil {
		return answer{Status: "timeout", How: "process killed", RunMS: total}, nil
	} else if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return answer{Status: "died", How: s.Signal().String(), RunMS: total}, nil
	} else if code := exit.ExitCode(); code > 128 && code < 128+65 { // bwrap says a signal so
		return answer{Status: "died", How: syscall.Signal(code - 128).String(), RunMS: total}, nil
	}
	return answer{Status: "died", How: err.Error(), RunMS: total}, nil
}

// parseRun reads the answer from the last line of what a process printed.
func parseRun(out []byte, total float64) (answer, error) {
	printed, last, ok := bytes.Cut(out, []byte("\n"+ended))
	var a answer
	if !ok {
		return a, fmt.Errorf("a process ended without an answer: %.200q", out)
	}
	if err := json.Unmarshal(last, &a); err != nil {
		return a, fmt.Errorf("the answer of a process: %w", err)
	}
	a.Stdout = int64(len(printed))
	a.StartMS = total - a.RunMS
	return a, nil
}

// again asks one process every time.
func (p *warmProcess) again() error {
	if p.warm == nil {
		t, err := p.talk(p.language.echo)
		if err != nil {
			return err
		}
		p.warm = t
	}
	if _, err := io.WriteString(p.warm.in, "1+1\n"); err != nil {
		return err
	}
	return p.warm.two()
}

// warmProcess is a process that also keeps one running.
type warmProcess struct {
	process
	warm *talk
}

func (p *process) hold(count int) (func(), error) {
	var all []*talk
	drop := func() {
		for _, t := range all {
			t.close()
		}
	}
	for range count {
		t, err := p.talk(p.language.wait)
		if err != nil {
			drop()
			return nil, err
		}
		all = append(all, t)
		if err := t.two(); err != nil {
			drop()
			return nil, err
		}
	}
	return drop, nil
}
