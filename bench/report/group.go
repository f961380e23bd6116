package main

import (
	"fmt"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// grouper has a guest group records, and counts everything, from the records as
// they are to the result.
type grouper struct {
	b      *bench
	engine *wasm.Engine
	want   string // the result, and a line break
}

// run gives one side of a comparison: code, and the value that it has by a name.
func (g *grouper) run(code, name string, value any) func() (float64, error) {
	return func() (float64, error) {
		start := time.Now()
		r, err := g.engine.Run(g.b.ctx, sandbox.Spec{
			Code: code, Globals: map[string]any{name: value},
			Limits: sandbox.Limits{Timeout: time.Minute, MaxMemory: 256 << 20},
		})
		ms := measure.Millis(time.Since(start))
		if err != nil {
			return 0, err
		}
		if string(r.Value)+"\n" != g.want {
			return 0, fmt.Errorf("ended %s with %.300s, want %.300s; %+v", r.Status, r.Value, g.want, r.Error)
		}
		return ms, nil
	}
}

// native gives the other side: a process that reads the records as JSON, and
// whose result is the one to get.
func (g *grouper) native(text []byte, program string, args ...string) func() (float64, error) {
	return func() (ms float64, err error) {
		ms, g.want, err = measure.Process(g.b.ctx, text, program, args...)
		return ms, err
	}
}
