package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/runtime"
)

// maxNotes is how many notes a [Trace] keeps. A stream that falls behind further
// than that has lost some, is told so, and ends.
const maxNotes = 4096

// Trace keeps the latest notes of a runtime for those who watch. Its memory does
// not depend on how many those are, or how slow.
type Trace struct {
	epoch string // no two processes have the same

	mu      sync.Mutex
	ring    [maxNotes]runtime.Note
	next    uint64 // the number of the next note, from 1
	changed chan struct{}
	runs    map[string]runtime.Run // whose a note is; a run's principal never changes
}

// NewTrace makes a trace. Its Note is the runtime's [runtime.Config].Notes.
func NewTrace() *Trace {
	return &Trace{epoch: rand.Text()[:10], next: 1, changed: make(chan struct{}), runs: make(map[string]runtime.Run)}
}

// Note keeps a note.
func (t *Trace) Note(n runtime.Note) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.next%maxNotes] = n
	t.next++
	close(t.changed)
	t.changed = make(chan struct{})
}

// after gives up to 64 notes from number from on, the number that follows them,
// how many were lost before, and what is closed when there are more.
func (t *Trace) after(from uint64) (notes []runtime.Note, first, lost uint64, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = from
	if oldest := t.oldest(); first < oldest {
		first, lost = oldest, oldest-first
	}
	for i := first; i < t.next && len(notes) < 64; i++ {
		notes = append(notes, t.ring[i%maxNotes])
	}
	return notes, first, lost, t.changed
}

// oldest is the number of the oldest note that is kept. Preconditions: t.mu is
// held.
func (t *Trace) oldest() uint64 {
	if t.next <= maxNotes {
		return 1
	}
	return t.next - maxNotes + 1
}

// start is where a stream begins that wants recent notes before those to come.
func (t *Trace) start(recent int) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if uint64(recent) >= t.next-t.oldest() {
		return t.oldest()
	}
	return t.next - uint64(recent)
}

// resume is where a stream goes on after the event of that ID. It reports false
// if that was in another process, or never.
func (t *Trace) resume(id string) (uint64, bool) {
	epoch, number, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || epoch != t.epoch || n >= t.next {
		return t.oldest(), false
	}
	return n + 1, true
}

// run gives the run of a note.
func (t *Trace) run(ctx context.Context, rt *runtime.Runtime, id string) (runtime.Run, bool) {
	t.mu.Lock()
	run, known := t.runs[id]
	t.mu.Unlock()
	if known {
		return run, true
	}
	run, err := rt.Run(ctx, id)
	if err != nil {
		return run, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.runs) >= maxNotes {
		clear(t.runs)
	}
	t.runs[id] = run
	return run, true
}

// seesNote reports whether the caller may know of a note. Those of runs that do not
// exist are for whoever watches all tenants.
func (q *request) seesNote(n runtime.Note) bool {
	if q.caller.watches(AllTenants) {
		return true
	}
	run, known := q.s.config.Trace.run(q.r.Context(), q.s.rt, n.Run)
	return known && q.caller.sees(run)
}

// stream sends notes as server-sent events, from the one after Last-Event-ID on.
func (q *request) stream() {
	s := q.s
	t := s.config.Trace
	if t == nil {
		s.write(q.w, no(refuse(http.StatusNotFound, "not_found", "", "there is no trace here")))
		return
	}
	values, refused := q.query("run", "tool", "recent")
	recent := 0
	if refused == nil && values["recent"] != "" {
		n, err := strconv.Atoi(values["recent"])
		if recent = n; err != nil || n < 0 || n > maxNotes {
			refused = refuse(http.StatusBadRequest, "bad_request", "recent", "recent is a number from 0 to %d", maxNotes)
		}
	}
	if refused == nil && s.streams.Add(1) > int64(s.config.MaxStreams) {
		s.streams.Add(-1)
		refused = s.busy("as many watch as may")
	}
	if refused != nil {
		s.writeFor(q, no(refused))
		return
	}
	defer s.streams.Add(-1)

	e := &events{w: q.w, control: http.NewResponseController(q.w), timeout: s.config.WriteTimeout}
	from, same := t.start(recent), true
	if id := q.r.Header.Get("Last-Event-ID"); id != "" {
		from, same = t.resume(id)
	}
	q.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	q.w.WriteHeader(http.StatusOK)
	if !same {
		e.send("", "gap", map[string]string{"why": "the server has started anew since; there may have been notes that nobody sees again"})
	}
	e.comment("the trace follows")
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for e.err == nil {
		notes, first, lost, changed := t.after(from)
		if lost > 0 {
			// Whoever reads this slowly would lose more. It can come again, and knows
			// what it lost.
			e.send(fmt.Sprintf("%s-%d", t.epoch, first-1), "dropped", map[string]uint64{"lost": lost})
			if s.config.Metrics != nil {
				s.config.Metrics.dropped.Inc()
			}
			return
		}
		for i, n := range notes {
			if (values["run"] == "" || values["run"] == n.Run) && (values["tool"] == "" || values["tool"] == n.Tool) && q.seesNote(n) {
				e.send(fmt.Sprintf("%s-%d", t.epoch, first+uint64(i)), "note", n)
			}
		}
		if from = first + uint64(len(notes)); len(notes) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-alive.C:
			if _, refused := s.authenticate(q.r); refused != nil {
				return // the token does not hold any longer
			}
			e.comment("")
		case <-q.r.Context().Done():
			return
		case <-s.stopping:
			return
		}
	}
}

// events writes server-sent events. After an error it writes nothing.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	err     error
}

func (e *events) send(id, kind string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		e.err = err
		return
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	e.write(fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, kind, text))
}

func (e *events) comment(text string) { e.write(": " + text + "\n\n") }

func (e *events) write(text string) {
	if e.err != nil {
		return
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(e.timeout)) // a writer without is one of a test
	if _, e.err = e.w.Write([]byte(text)); e.err == nil {
		e.err = e.control.Flush()
	}
}
