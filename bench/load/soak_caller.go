package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
)

// caller makes calls while things go wrong, one after the other.
type caller struct {
	w           *world
	name        string
	who, tenant string
	random      *rand.Rand
	counts      *tally
	n           int
	client      *http.Client
}

func (c *caller) work(until context.Context) {
	c.client = newHTTPClient(1)
	defer c.client.CloseIdleConnections()
	for until.Err() == nil {
		k := next(c.random)
		if k.ask {
			c.asked(k)
			continue
		}
		got, ok := c.call(k, "", "")
		if ok && k.again {
			// The same call in the same run must not happen again.
			k.output, k.repeated = "", true
			c.call(k, got.Run, "")
		}
	}
}

// asked makes a call that a person has to approve first.
func (c *caller) asked(k call) {
	first := k
	first.outcome, first.output = runtime.ApprovalRequired, ""
	got, ok := c.call(first, "", "")
	if !ok {
		return
	}
	begin := time.Now()
	status, _, text, err := postText(context.Background(), plain, c.w.url+"/v1/approvals/"+got.Approval+"/approve", c.w.tokens[approverOf(c.tenant)], map[string]any{})
	if err != nil || status != http.StatusOK {
		c.counts.failed(k.kind, begin, fmt.Sprintf("the approval: %v %d %s", err, status, text))
		return
	}
	c.call(k, got.Run, got.Approval)
}

// call makes one call. One in twenty callers gives up.
func (c *caller) call(k call, run, approval string) (reply, bool) {
	c.n++
	id := fmt.Sprintf("%s-%d", c.name, c.n)
	path, body := k.request(id, run, approval)
	ctx := context.Background()
	if c.random.IntN(20) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.random.IntN(100))*time.Millisecond)
		defer cancel()
	}
	begin := time.Now()
	got, err := post(ctx, c.client, c.w.url+path, c.w.tokens[c.who], body)
	switch {
	case err != nil && ctx.Err() != nil:
		c.counts.gaveUp()
		return got, false
	case err != nil:
		c.counts.lost(k.kind, err)
		return got, false
	}
	wrong := k.wrong(id, got)
	switch {
	case got.Outcome == runtime.EffectAmbiguous && k.outcome == runtime.EffectConfirmed:
		// Nobody knows whether it has happened. Whoever tries again is told so, and
		// nothing happens: the accounts would show it.
		c.counts.unsure()
		if k.outcome, k.output, k.repeated = runtime.EffectAmbiguous, "", got.Repeated; approval != "" {
			k.outcome, k.code = runtime.Denied, "approval_used" // it was for one call
		}
		c.call(k, got.Run, approval)
		return got, false
	case wrong == "":
		c.counts.right(k, begin, got)
		return got, true
	case slices.Contains(refusals, got.Outcome) || got.Outcome == "" && got.status >= 500 || got.status == http.StatusServiceUnavailable || got.status == http.StatusTooManyRequests:
		c.counts.failed(k.kind, begin, wrong)
	default:
		c.counts.wrong(k.kind, wrong)
	}
	return got, false
}

// refusals are the outcomes of a call that something around it kept from its
// result. They are no wrong answers: nobody is told that something is so.
var refusals = []runtime.Outcome{runtime.Unavailable, runtime.Busy, runtime.Internal, runtime.Timeout, runtime.Cancelled, runtime.EffectAmbiguous, runtime.ToolError}

// tally counts how calls ended.
type tally struct {
	chaos *chaos

	mu        sync.Mutex
	took      []moment
	excused   int // failed while something was wrong
	cancelled int
	unsureN   int // effects of which nobody knows
	lostN     int
	wrongN    int
	failedN   int             // failed while nothing was wrong
	confirmed map[string]bool // runs in which an effect was confirmed to the caller
	examples  []string
}

// moment is when a call ended well, and how long it took.
type moment struct {
	at time.Time
	ms float64
}

func newTally() *tally { return &tally{confirmed: make(map[string]bool)} }

func (t *tally) right(k call, begin time.Time, got reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.took = append(t.took, moment{now, float64(now.Sub(begin)) / 1e6})
	if k.outcome == runtime.EffectConfirmed {
		t.confirmed[got.Run] = true
	}
}

func (t *tally) unsure() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsureN++
}

func (t *tally) gaveUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelled++
}

func (t *tally) lost(kind string, err error) { t.bad(&t.lostN, "lost", kind, err.Error()) }

func (t *tally) wrong(kind, why string) { t.bad(&t.wrongN, "wrong", kind, why) }

// failed counts a call that did not have its result. That is as it should be
// while something is wrong, and not otherwise.
func (t *tally) failed(kind string, begin time.Time, why string) {
	if t.chaos.excuses(begin, time.Now()) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.excused++
		return
	}
	t.bad(&t.failedN, "failed without a reason", kind, why)
}

func (t *tally) bad(n *int, what, kind, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*n++
	if len(t.examples) < 10 {
		t.examples = append(t.examples, fmt.Sprintf("%s, %s: %.400s", what, kind, why))
	}
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("%d calls well, %d failed while something was wrong, %d given up, %d wrong, %d lost, %d failed without a reason",
		len(t.took), t.excused, t.cancelled, t.wrongN, t.lostN, t.failedN)
}
