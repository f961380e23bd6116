package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime"
)

// plain is the client of everything that is not measured.
var plain = newHTTPClient(16)

func newHTTPClient(conns int) *http.Client {
	return &http.Client{
		Transport: &http.Transport{MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns, DisableCompression: true},
		Timeout:   5 * time.Minute,
	}
}

// client is one connection, and whose calls go over it.
type client struct {
	w             *world
	ledger        *ledger
	name          string
	who, tenant   string
	http          *http.Client
	random        *rand.Rand
	patient       bool // waits as long as a busy server asks it to
	run           string
	calls, inRun  int
	stats         *stats
	sent, refused int
}

// reply is an answer of the server: of a call, or a problem.
type reply struct {
	Run      string          `json:"run"`
	Call     string          `json:"call"`
	Outcome  runtime.Outcome `json:"outcome"`
	Output   jsontext.Value  `json:"output"`
	Approval string          `json:"approval"`
	Repeated bool            `json:"repeated"`
	Error    struct {
		Type string `json:"type"`
	} `json:"error"`
	Decision struct {
		Code string `json:"code"`
	} `json:"decision"`
	Type string `json:"type"` // of a problem
	ID   string `json:"id"`   // of a run

	status int
	retry  string
	text   []byte
}

const busyProblem = "urn:mayfly:problem:busy"

// post sends one request, and reads what is answered.
func post(ctx context.Context, h *http.Client, url, token string, body any) (reply, error) {
	var got reply
	status, header, text, err := postText(ctx, h, url, token, body)
	if err != nil {
		return got, err
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return got, fmt.Errorf("%w: %s", err, text)
	}
	got.status, got.retry, got.text = status, header.Get("Retry-After"), bytes.TrimSpace(text)
	return got, nil
}

func postText(ctx context.Context, h *http.Client, url, token string, body any) (int, http.Header, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := h.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, answer, err
}

// errStopped is of a call that was never let in.
var errStopped = errors.New("it was never let in")

// send sends a request until the server is not too busy for it, or until ends.
func (c *client) send(until context.Context, path string, body any) (reply, error) {
	for {
		c.sent++
		got, err := post(context.Background(), c.http, c.w.url+path, c.w.tokens[c.who], body)
		if err != nil || got.status != http.StatusServiceUnavailable || got.Type != busyProblem && got.Outcome != runtime.Busy {
			return got, err
		}
		c.refused++
		seconds, err := strconv.Atoi(got.retry)
		if err != nil || seconds < 1 {
			return got, fmt.Errorf("busy, with Retry-After %q", got.retry)
		}
		var wait <-chan time.Time
		if c.patient {
			// Those that were refused together do not come again together.
			wait = time.After(time.Duration(seconds)*time.Second + time.Duration(c.random.IntN(500))*time.Millisecond)
		} else {
			wait = time.After(0)
		}
		select {
		case <-until.Done():
			return got, errStopped
		case <-wait:
		}
	}
}

// callsPerRun is how many calls a client makes in a run before it starts another.
const callsPerRun = 40

// work makes calls until ctx ends; a call that was let in is waited for.
func (c *client) work(until context.Context, pick func(*rand.Rand) call) {
	for until.Err() == nil {
		if c.inRun == 0 {
			got, err := c.send(until, "/v1/runs", map[string]any{})
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil || got.status != http.StatusCreated {
				c.stats.fault("a run", "lost", fmt.Sprintf("%v %d %s", err, got.status, got.text))
				return
			}
			c.run, c.inRun = got.ID, callsPerRun
		}
		c.inRun--
		run := c.run
		if c.calls%8 == 7 {
			run = "" // one of its own
		}
		c.whole(until, pick(c.random), run)
	}
}

// whole makes a call with what belongs to it: the approval, the repetition.
func (c *client) whole(until context.Context, k call, run string) {
	if !k.ask {
		got, ok := c.one(until, k, run, "")
		if ok && k.again {
			repeated := k
			repeated.output, repeated.repeated = "", true
			c.one(until, repeated, got.Run, "")
		}
		return
	}
	asked := k
	asked.outcome, asked.output = runtime.ApprovalRequired, ""
	got, ok := c.one(until, asked, run, "")
	if !ok {
		return
	}
	path := "/v1/approvals/" + got.Approval + "/approve"
	status, _, text, err := postText(context.Background(), plain, c.w.url+path, c.w.tokens[approverOf(c.tenant)], map[string]any{})
	if err != nil || status != http.StatusOK {
		c.stats.fault(k.kind, "wrong", fmt.Sprintf("the approval: %v %d %s", err, status, text))
		return
	}
	c.one(until, k, got.Run, got.Approval)
}

// one makes one call, checks the answer, and writes it down.
func (c *client) one(until context.Context, k call, run, approval string) (reply, bool) {
	c.calls++
	id := fmt.Sprintf("%s-%d", c.name, c.calls)
	path, body := k.request(id, run, approval)
	before := c.refused
	start := time.Now()
	got, err := c.send(until, path, body)
	took := time.Since(start)
	if errors.Is(err, errStopped) {
		c.ledger.refused(id)
		return got, false
	}
	if err != nil {
		c.stats.fault(k.kind, "lost", err.Error())
		c.ledger.lost(id)
		return got, false
	}
	c.ledger.answered(id, c.who, k, got, approval != "")
	if wrong := k.wrong(id, got); wrong != "" {
		c.stats.fault(k.kind, "wrong", wrong)
		return got, false
	}
	if c.refused == before {
		c.stats.add(k.kind, took)
	} else {
		c.stats.later()
	}
	return got, true
}

// request is what is sent for a call: where, and with what body. Code of the
// caller's own belongs to no run.
func (k call) request(id, run, approval string) (path string, body map[string]any) {
	body = map[string]any{"call": id}
	if approval != "" {
		body["approval"] = approval
	}
	if k.tool == ownCode {
		maps.Copy(body, k.args)
		return "/v1/exec", body
	}
	if body["args"] = k.args; k.args == nil {
		body["args"] = map[string]any{}
	}
	if run != "" {
		body["run"] = run
	}
	return "/v1/tools/" + k.tool + "/call", body
}

// wrong says what is wrong with an answer; empty: nothing.
func (k call) wrong(id string, got reply) string {
	switch {
	case got.Outcome != k.outcome:
	case got.Call != id:
	case k.output != "" && !same(string(got.Output), k.output):
	case got.Repeated != k.repeated:
	case k.code != "" && got.Decision.Code != k.code:
	case k.errorType != "" && got.Error.Type != k.errorType:
	default:
		return ""
	}
	return fmt.Sprintf("call %s: want %s %s, got %d %s", id, k.outcome, k.output, got.status, got.text)
}
