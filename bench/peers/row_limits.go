package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// The limits that each peer is given, as far as it has them.
const (
	limitMS     = 20_000
	limitMemory = 64 << 20
)

// probe is code that tries to get past a limit. Its value says how far it came;
// what the table says is taken from the answer alone.
type probe struct {
	name string
	code map[string]request
	// through gives the word for code that ended well; "" if that was no way out.
	through func(a answer, reached bool) string
}

// limits finds out what happens at each limit.
func limits(b *bench) error {
	secret := filepath.Join(b.scratch, "canary")
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
		return err
	}
	if err := os.Chmod(b.scratch, 0o755); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	var reached atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			c.Close()
		}
	}()
	for _, probe := range probes(secret, l.Addr().(*net.TCPAddr).Port) {
		b.say("  %s", probe.name)
		r := row{Name: probe.name, Cells: make(map[string]cell)}
		for _, p := range b.peers {
			q, ok := probe.code[p.language]
			if !ok {
				continue
			}
			before := reached.Load()
			q.Op, q.Memory = "run", limitMemory
			q.TimeoutMS = cmp.Or(q.TimeoutMS, limitMS)
			a, err := b.ask(p, q)
			if errors.Is(err, errDied) {
				a = answer{Status: "host died", How: reason(err)}
			} else if err != nil {
				return fmt.Errorf("%s of %s: %w", probe.name, p.name, err)
			}
			a.Value = a.Value[:min(len(a.Value), 200)]
			r.Cells[p.name] = cell{Word: word(probe, a, reached.Load() > before), Observed: &a}
		}
		b.report.Rows = append(b.report.Rows, r)
	}
	return nil
}

// word says in short what was observed.
func word(p probe, a answer, reached bool) string {
	switch a.Status {
	case "ok":
		if w := p.through(a, reached); w != "" {
			return w
		}
		return "ended with " + a.Value
	case "error":
		return a.Error.Type
	case "timeout":
		if a.How == a.Status {
			return "stopped"
		}
		return "stopped: " + a.How
	}
	if a.How != "" && a.How != a.Status {
		return a.Status + ": " + a.How
	}
	return a.Status
}

// reason is the first line of how a driver died.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), errDied.Error()+": ")
	first, _, _ := strings.Cut(text, "\n")
	return first
}
