package httpapi

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/internal/room"
)

// retryAfter is how many seconds a client is asked to wait when the host is busy.
const retryAfter = 1

// refusals remembers who was told that the host is busy, and when.
type refusals struct {
	waiting atomic.Int64 // those that are told later

	mu   sync.Mutex
	last map[room.Caller]time.Time
}

// maxRefused is how many callers are remembered.
const maxRefused = 4096

// again notes a refusal down, and reports whether the last one was within the time
// that the caller was asked to wait.
func (r *refusals) again(c room.Caller, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.last[c]
	if r.last == nil || len(r.last) >= maxRefused {
		r.last = make(map[room.Caller]time.Time)
	}
	r.last[c] = now
	return known && now.Sub(last) < retryAfter*time.Second
}

// refuse counts a caller who is told that the host is busy, and has one who did not
// wait wait now. Preconditions: the request has no place.
func (s *Server) refuse(ctx context.Context, c room.Caller) {
	if s.config.Metrics != nil {
		s.config.Metrics.busy.Inc()
	}
	if !s.refusals.again(c, s.config.Now()) {
		return
	}
	s.refusals.waiting.Add(1)
	defer s.refusals.waiting.Add(-1)
	later := time.NewTimer(s.config.BusyDelay)
	defer later.Stop()
	select {
	case <-later.C:
	case <-ctx.Done():
	case <-s.stopping:
	}
}

// busy is what a client is told for whom there is no room.
func (s *Server) busy(why string) *refused {
	r := refuse(http.StatusServiceUnavailable, "busy", "", "%s; nothing was done; send the request again a little later", why).retry(retryAfter)
	r.busy = true
	return r
}
