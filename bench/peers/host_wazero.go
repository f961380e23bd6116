package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/bench/peers/wazero"
)

// stock hosts Python in wazero as it comes.
type stock struct {
	module, cache string
	opened        map[stockConfig]*wazero.Python
	echo          *instance
}

type stockConfig struct {
	memory      uint64
	unstoppable bool
}

// standard is how the instances are made of which nothing special is asked. The
// module starts with 10 MiB of its own, which the limit has to cover.
var standard = stockConfig{memory: stockOwn + 64<<20}

// stockOwn is what the interpreter has for itself.
const stockOwn = 32 << 20

func openStock(module, cache string) (*stock, error) {
	s := &stock{module: module, cache: filepath.Join(cache, "wazero"), opened: make(map[stockConfig]*wazero.Python)}
	_, err := s.python(standard)
	return s, err
}

func (s *stock) python(c stockConfig) (*wazero.Python, error) {
	if p := s.opened[c]; p != nil {
		return p, nil
	}
	p, err := wazero.Open(context.Background(), s.module, s.cache, c.memory, !c.unstoppable)
	if err == nil {
		s.opened[c] = p
	}
	return p, err
}

func (s *stock) versions() (map[string]string, error) {
	var out bytes.Buffer
	err := s.opened[standard].Run(context.Background(), strings.NewReader(""), &out, io.Discard, "--version")
	return map[string]string{"wazero": wazero.Version(), "python": strings.TrimPrefix(strings.TrimSpace(out.String()), "Python ")}, err
}

func (s *stock) start() error {
	var out, stderr bytes.Buffer
	err := s.opened[standard].Run(context.Background(), strings.NewReader(""), &out, &stderr, "-I", "-c", pythonDialect.first)
	if err == nil && out.String() != "2\n" {
		err = fmt.Errorf("1+1 printed %q", out.String())
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return err
}

// instance is one that takes lines and gives lines.
type instance struct {
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

func (s *stock) talk(code string) *instance {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	i := &instance{in, bufio.NewReader(out), make(chan error, 1)}
	go func() {
		err := s.opened[standard].Run(context.Background(), stdin, stdout, io.Discard, "-I", "-c", code)
		stdout.CloseWithError(errors.Join(err, io.EOF))
		i.ended <- err
	}()
	return i
}

func (i *instance) two() error {
	line, err := i.out.ReadString('\n')
	if err == nil && line != "2\n" {
		err = fmt.Errorf("1+1 printed %q", line)
	}
	return err
}

func (s *stock) again() error {
	if s.echo == nil {
		s.echo = s.talk(pythonDialect.echo)
	}
	if _, err := io.WriteString(s.echo.in, "1+1\n"); err != nil {
		return err
	}
	return s.echo.two()
}

func (s *stock) hold(count int) (func(), error) {
	var all []*instance
	drop := func() {
		for _, i := range all {
			i.in.Close()
			<-i.ended
		}
	}
	for range count {
		i := s.talk(pythonDialect.wait)
		all = append(all, i)
		if err := i.two(); err != nil {
			drop()
			return nil, err
		}
	}
	return drop, nil
}

func (s *stock) run(q request) (answer, error) {
	p, err := s.python(stockConfig{stockOwn + q.Memory, q.Unstoppable})
	if err != nil {
		return answer{}, err
	}
	stdin := []byte{}
	if q.Input != "" {
		if stdin, err = os.ReadFile(q.Input); err != nil {
			return answer{}, err
		}
	}
	argument, err := requestArgument(q)
	if err != nil {
		return answer{}, err
	}
	ctx := context.Background()
	if !q.Unstoppable {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	var out, stderr bytes.Buffer
	begin := time.Now()
	err = p.Run(ctx, bytes.NewReader(stdin), &out, &stderr, "-I", "-c", runPython, argument)
	total := float64(time.Since(begin)) / float64(time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return answer{Status: "timeout", How: "instance closed", RunMS: total}, nil
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return answer{Status: "died", How: first, Error: &guestError{"", stderr.String()}, RunMS: total}, nil
	}
	return parseRun(out.Bytes(), total)
}
