package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// progressDelay is how long a start may take before anything is said of it.
const progressDelay = 300 * time.Millisecond

// progress shows what a slow start is doing: on a terminal one line that is
// rewritten and counts the seconds, elsewhere a line for each thing said.
type progress struct {
	out   output
	start time.Time

	mu      sync.Mutex // guards what follows and the writing
	waiting []string   // said, but not shown yet
	shown   string     // the line on the terminal
	visible bool       // the delay has passed

	quit, done chan struct{}
}

// newProgress starts to listen; end must be called.
func newProgress(out output) *progress {
	p := &progress{out: out, start: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	go p.tick()
	return p
}

// say takes one line.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, line)
	if p.visible {
		p.show()
	}
}

// end stops the clock and leaves the terminal at the start of a line.
func (p *progress) end() {
	close(p.quit)
	<-p.done
	if p.out.terminal && p.shown != "" {
		fmt.Fprint(p.out, "\n")
	}
}

func (p *progress) tick() {
	defer close(p.done)
	select {
	case <-p.quit:
		return
	case <-time.After(progressDelay):
	}
	p.mu.Lock()
	p.visible = true
	p.show()
	p.mu.Unlock()
	if !p.out.terminal {
		return
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-second.C:
			p.mu.Lock()
			p.show()
			p.mu.Unlock()
		}
	}
}

// show writes what waits. Preconditions: mu is held.
func (p *progress) show() {
	if !p.out.terminal {
		for _, line := range p.waiting {
			p.out.note("%s", line)
		}
		p.waiting = nil
		return
	}
	for _, line := range p.waiting {
		// A line about the same thing takes the place of the last one; another
		// one, such as a warning, leaves it standing.
		if p.shown != "" && topic(line) != topic(p.shown) {
			fmt.Fprint(p.out, "\n")
		}
		p.shown = line
		p.draw()
	}
	if p.waiting == nil && p.shown != "" {
		p.draw()
	}
	p.waiting = nil
}

// draw writes the line on the terminal. Preconditions: mu is held.
func (p *progress) draw() {
	line := visible(fmt.Appendf(nil, "mayfly: %s (%d s)", p.shown, int(time.Since(p.start).Seconds())))
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
}

// topic is the first word or two of a line, which say what it is about.
func topic(line string) string {
	words := strings.SplitN(line, " ", 3)
	return strings.Join(words[:min(2, len(words))], " ")
}
