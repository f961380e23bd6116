package wasm

import "github.com/mayfly-run/mayfly/sandbox"

// output collects what a guest writes, both streams against one budget. It
// counts while it is written, so the host never holds more than the budget.
type output struct {
	stdout, stderr stream
	budget         int64 // bytes that may still be kept
	floodAt        int64 // bytes after which the call is stopped
	total          int64
}

// stream is one of the two, as an io.Writer for wazero.
type stream struct {
	all     *output
	kept    []byte
	written int64
}

// minFlood keeps a small output limit from making ordinary chatter a flood.
const minFlood = 1 << 20

func (o *output) reset(limit int64) {
	*o = output{budget: limit, floodAt: max(limit*sandbox.FloodFactor, minFlood)}
	o.stdout.all, o.stderr.all = o, o
}

// Write implements io.Writer. It never fails: what is over the limit is
// counted and dropped, so that a chatty guest still gets to its result.
func (s *stream) Write(p []byte) (int, error) {
	o := s.all
	keep := min(int64(len(p)), o.budget)
	if keep > 0 {
		s.kept = append(s.kept, p[:keep]...)
		o.budget -= keep
	}
	s.written += int64(len(p))
	o.total += int64(len(p))
	if o.total > o.floodAt {
		panic(&stop{sandbox.StatusOutputLimit, "the code wrote far more than its output limit"})
	}
	return len(p), nil
}

// truncated reports what was cut, nil if nothing was.
func (o *output) truncated(value int64) *sandbox.Truncated {
	t := sandbox.Truncated{Value: value}
	if s := &o.stdout; s.written > int64(len(s.kept)) {
		t.Stdout = s.written
	}
	if s := &o.stderr; s.written > int64(len(s.kept)) {
		t.Stderr = s.written
	}
	if t == (sandbox.Truncated{}) {
		return nil
	}
	return &t
}
