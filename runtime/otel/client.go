package otel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// tracesPath is where collectors take spans, below their URL.
const tracesPath = "/v1/traces"

// maxAnswer is how much of a collector's answer is read.
const maxAnswer = 64 << 10

// client sends batches: an otlptrace.Client. The SDK's own one for HTTP links all
// of gRPC, reads the environment, and puts what the collector answers into its
// errors; see RATIONALE.md.
type client struct {
	url     string
	host    string // for those who read the log: a path can be a secret
	header  http.Header
	http    *http.Client
	config  Config
	closing chan struct{} // closed when nothing is sent again
	life    context.Context
	cut     context.CancelFunc // ends what is under way

	broken atomic.Bool // the last batch was not taken
}

func newClient(config Config) (*client, error) {
	u, err := url.Parse(config.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("otel: the endpoint is no http or https URL")
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	c := &client{
		url: u.String(), host: u.Host, header: config.Headers.Clone(), config: config, closing: make(chan struct{}),
		// A redirect would take the headers elsewhere.
		http: &http.Client{Transport: config.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	c.life, c.cut = context.WithCancel(context.Background())
	return c, nil
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client. The exporter's Close has sent what there was.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

func (c *client) isClosing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// UploadTraces sends a batch, again if need be, until ctx ends.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	// The request of the protocol is this message by another name.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return &sendError{reason: "the spans cannot be written"}
	}
	wait := c.config.Backoff
	for {
		err := c.send(ctx, body)
		failed, ok := errors.AsType[*sendError](err)
		if !ok || !failed.again || c.isClosing() {
			return err
		}
		timer := time.NewTimer(max(wait, failed.after))
		select {
		case <-timer.C:
		case <-c.closing: // once more, at once
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		wait *= 2
	}
}

// sendError says why a batch was not taken: never in the collector's words.
type sendError struct {
	reason string
	again  bool // it may be, the next time
	after  time.Duration
	lost   int64 // of the batch; 0: all of it
}

func (e *sendError) Error() string { return e.reason }

func (c *client) send(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return &sendError{reason: "the request cannot be made"}
	}
	maps.Copy(r.Header, c.header)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "mayfly")
	var reached atomic.Bool
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }}))
	resp, err := c.http.Do(r)
	if err != nil {
		return &sendError{reason: unanswered(ctx, err, reached.Load()), again: true}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests, s == http.StatusBadGateway, s == http.StatusServiceUnavailable, s == http.StatusGatewayTimeout:
		return &sendError{reason: "it answers with the status " + strconv.Itoa(s), again: true, after: retryAfter(resp.Header)}
	case s < 200 || s > 299:
		return &sendError{reason: "it answers with the status " + strconv.Itoa(s)}
	case err != nil:
		return nil // it took them; what else it wanted to say is lost
	}
	if n := rejected(answer); n > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/x-protobuf") {
		return &sendError{reason: fmt.Sprintf("it rejects %d spans", n), lost: n}
	}
	return nil
}

// unanswered says why there is no answer, without what the collector's URL has beside
// the host. Of one that was reached, an error may repeat what it sent, which may be the
// headers that it was sent.
func unanswered(ctx context.Context, err error, reached bool) string {
	if ctx.Err() != nil {
		return "it did not answer in time"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case isOp:
		return fmt.Sprintf("it cannot be reached: %s: %v", op.Op, op.Err)
	case reached && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return "it closes the connection without an answer"
	case reached:
		return "it does not answer with HTTP that can be read"
	}
	return "it cannot be reached: " + err.Error()
}

// retryAfter is how long a collector wants to be left alone, in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// rejected reads how many spans a collector did not take of a batch: field 1 of
// field 1 of its answer.
func rejected(answer []byte) int64 {
	partial := field(answer, 1, protowire.BytesType)
	text, n := protowire.ConsumeBytes(partial)
	if n < 0 {
		return 0
	}
	count, n := protowire.ConsumeVarint(field(text, 1, protowire.VarintType))
	if n < 0 || count > 1<<32 {
		return 0
	}
	return int64(count)
}

// field gives what follows the tag of a field of a message; nil: there is none.
func field(message []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if num == number && typ == kind {
			return message
		}
		if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}

// outcome gives how many of a batch of n spans are lost. The operator is told when
// that begins and when it ends, not each time.
func (c *client) outcome(err error, n int64) (lost int64) {
	if err == nil {
		if c.broken.Swap(false) {
			c.config.Logger.Info("the collector takes spans again", "collector", c.host)
		}
		return 0
	}
	lost = n
	reason := "the batch was not sent"
	if failed, ok := errors.AsType[*sendError](err); ok {
		reason = failed.reason
		if failed.lost > 0 {
			lost = min(n, failed.lost)
		}
	}
	if !c.broken.Swap(true) {
		c.config.Logger.Warn("the collector does not take spans; calls go on without", "collector", c.host, "reason", reason, "lost", lost)
	}
	return lost
}
