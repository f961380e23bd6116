package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
)

// books compares what the server wrote down with what this program sent: its
// metrics, its trace, and each run in its store. It ends the server.
func (m *measurement) books(ctx context.Context) error {
	m.say("comparing the server's records with %d calls", len(m.ledger.calls))
	counted, err := m.world.metrics(ctx)
	if err != nil {
		return err
	}
	if n := m.said.count(); n > 0 {
		m.say("mayfly serve said: %s", m.said)
	}
	m.must("lines that mayfly serve logged", "", float64(m.said.count()), 0, m.said.count() == 0)
	if err := m.stop(); err != nil {
		return err
	}
	var d differences
	if err := m.checkTrace(&d, counted); err != nil {
		return err
	}
	if err := m.checkRuns(ctx, &d); err != nil {
		return err
	}
	for _, e := range d.examples {
		m.say("records: %s", e)
	}
	m.figure("calls that the records were compared for", "", float64(len(m.ledger.calls)))
	m.figure("runs that the records were compared for", "", float64(len(m.ledger.runs)))
	m.must("differences between the records and what was sent", "", float64(d.n), 0, d.n == 0)
	return nil
}

type differences struct {
	n        int
	examples []string
}

func (d *differences) add(format string, args ...any) {
	if d.n++; len(d.examples) < 10 {
		d.examples = append(d.examples, fmt.Sprintf(format, args...))
	}
}

// checkTrace compares the trace, and the metrics, with the calls: each call that was
// answered was decided once, and ended once if it was let through; of one that was
// always refused there is nothing.
func (m *measurement) checkTrace(d *differences, counted map[string]float64) error {
	f, err := os.Open(filepath.Join(m.harness, ".mayfly", "trace.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	decided, ended := make(map[string]int), make(map[string]string)
	nested, perOutcome := 0, make(map[string]float64)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n runtime.Note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return fmt.Errorf("the trace: %w", err)
		}
		_, ours := m.ledger.calls[n.Call]
		switch {
		case n.Name == runtime.NoteGovernor && ours:
			decided[n.Call]++
		case n.Name == runtime.NoteGovernor:
			nested++
		default:
			perOutcome[fmt.Sprintf(`mayfly_calls_total{outcome=%q,tool=%q}`, n.Outcome, n.Tool)]++
			if !ours {
				break
			}
			if _, twice := ended[n.Call]; twice {
				d.add("call %s ended twice", n.Call)
			}
			ended[n.Call] = n.Outcome
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the trace: %w", err)
	}
	wantNested := 0
	for id, e := range m.ledger.calls {
		wantNested += e.nested
		want, outcome := 1, string(e.outcome)
		switch {
		case e.state == stateLost:
			continue // counted as lost
		case e.state == stateRefused:
			want, outcome = 0, ""
		case e.outcome == runtime.InvalidArguments, e.outcome == runtime.Denied, e.outcome == runtime.ApprovalRequired:
			outcome = "" // it was not let through
		}
		if decided[id] != want {
			d.add("call %s of %s was decided %d times, want %d", id, e.tool, decided[id], want)
		}
		if ended[id] != outcome {
			d.add("call %s of %s ended %q in the trace, want %q", id, e.tool, ended[id], outcome)
		}
	}
	if nested != wantNested {
		d.add("%d calls were decided that nobody sent, want the %d that code made", nested, wantNested)
	}
	for name, n := range counted {
		if strings.HasPrefix(name, "mayfly_calls_total{") && perOutcome[name] != n {
			d.add("%s is %v, the trace has %v", name, n, perOutcome[name])
		}
	}
	return nil
}

// checkRuns compares the store with the calls, run by run, and the journal of
// effects with what the service was asked for.
func (m *measurement) checkRuns(ctx context.Context, d *differences) error {
	s, err := store.Open(filepath.Join(m.harness, ".mayfly", "store.db"))
	if err != nil {
		return err
	}
	defer s.Close()
	paid := make(map[string]int)
	for id, want := range m.ledger.runs {
		run, err := s.Run(ctx, id)
		if err != nil {
			d.add("run %s: %v", id, err)
			continue
		}
		effects, err := s.Effects(ctx, store.EffectFilter{RunID: id, Limit: store.MaxLimit})
		if err != nil {
			return err
		}
		if run.Calls != want.calls || run.Principal != want.owner || len(effects) != want.effects {
			d.add("run %s of %s has %d calls and %d effects; sent were %d and %d by %s", id, run.Principal, run.Calls, len(effects), want.calls, want.effects, want.owner)
		}
		for _, e := range effects {
			paid[e.Key]++
			if e.State != store.EffectConfirmed || e.Attempts != 1 {
				d.add("effect %s is %s after %d attempts", e.Key, e.State, e.Attempts)
			}
		}
	}
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	for key, n := range m.service.paid {
		if n != 1 || paid[key] != 1 {
			d.add("the service was paid %d times for %s, the journal has it %d times", n, key, paid[key])
		}
	}
	if len(m.service.paid) != len(paid) {
		d.add("the service was paid for %d keys, the journal has %d", len(m.service.paid), len(paid))
	}
	return nil
}
