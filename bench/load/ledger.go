package main

import (
	"sync"

	"github.com/mayfly-run/mayfly/runtime"
)

// ledger is what this program sent and was answered: the server's own records must
// say the same.
type ledger struct {
	mu    sync.Mutex
	calls map[string]entry // by the call's ID
	runs  map[string]*runEntry
}

// entry is a call.
type entry struct {
	tool    string
	outcome runtime.Outcome
	state   state
	nested  int
}

type state uint8

const (
	stateAnswered state = iota
	stateRefused        // too busy each time: there must be no trace of it
	stateLost           // nobody knows
)

// runEntry is a run, by what was called in it.
type runEntry struct {
	owner   string
	calls   int64
	effects int
}

func newLedger() *ledger {
	return &ledger{calls: make(map[string]entry), runs: make(map[string]*runEntry)}
}

func (l *ledger) refused(id string) { l.put(id, entry{state: stateRefused}) }
func (l *ledger) lost(id string)    { l.put(id, entry{state: stateLost}) }

func (l *ledger) put(id string, e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[id] = e
}

// answered writes down a call that was answered. One that resumes an approval was
// counted when it asked.
func (l *ledger) answered(id, owner string, k call, got reply, resumed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := entry{tool: k.tool, outcome: got.Outcome, nested: k.nested}
	l.calls[id] = e
	r := l.runs[got.Run]
	if r == nil {
		r = &runEntry{owner: owner}
		l.runs[got.Run] = r
	}
	if !resumed {
		r.calls += int64(1 + k.nested)
	}
	if got.Outcome == runtime.EffectConfirmed && !got.Repeated {
		r.effects++
	}
}
