package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
)

// admission bounds how many calls run and wait.
type admission struct {
	slots    chan struct{}
	waiting  atomic.Int64
	maxQueue int64
}

func newAdmission(calls, queue int) *admission {
	return &admission{slots: make(chan struct{}, calls), maxQueue: int64(queue)}
}

// enter waits for a place. It reports false if too many wait already, or ctx ends.
func (a *admission) enter(ctx context.Context) bool {
	select {
	case a.slots <- struct{}{}:
		return true
	default:
	}
	if a.waiting.Add(1) > a.maxQueue {
		a.waiting.Add(-1)
		return false
	}
	defer a.waiting.Add(-1)
	select {
	case a.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (a *admission) leave() { <-a.slots }

// busy is what a client is told for whom there is no room.
func (s *Server) busy(why string) *refused {
	if s.config.Metrics != nil {
		s.config.Metrics.busy.Inc()
	}
	return refuse(http.StatusServiceUnavailable, "busy", "", "%s; nothing was done; send the request again a little later", why).retry(1)
}
