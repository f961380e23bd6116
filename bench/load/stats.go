package main

import (
	"sync"
	"time"
)

// stats are what the clients of a phase saw.
type stats struct {
	mu       sync.Mutex
	took     map[string][]float64 // by kind, in ms; of calls that were let in at once
	waited   int                  // calls that were told to come again, and did
	faults   map[string]int       // wrong, lost
	examples []string
	elapsed  time.Duration
	requests int
	refusals int
}

func newStats() *stats {
	return &stats{took: make(map[string][]float64), faults: make(map[string]int)}
}

func (s *stats) add(kind string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took[kind] = append(s.took[kind], float64(d)/1e6)
}

func (s *stats) later() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited++
}

// fault counts what went wrong, and keeps the first few.
func (s *stats) fault(kind, what, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what]++
	if len(s.examples) < 5 {
		s.examples = append(s.examples, what+", "+kind+": "+why)
	}
}

// answered is how many calls were answered, and rightly.
func (s *stats) answered() int {
	n := s.waited
	for _, took := range s.took {
		n += len(took)
	}
	return n
}

func (s *stats) perSecond() float64 { return float64(s.answered()) / s.elapsed.Seconds() }
