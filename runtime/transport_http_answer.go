package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

const (
	// maxAnswer bounds an answer, in bytes, after decompression.
	maxAnswer = 8 << 20
	// maxComplaint is how much of the body of a failure is kept, in bytes.
	maxComplaint = 4 << 10
	// maxRetryAfter bounds how far off a service may put the next call.
	maxRetryAfter = 366 * 24 * time.Hour
)

// answer is the reply for a service's answer.
func (x *exchange) answer(ctx context.Context, h *hop, resp *http.Response) reply {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return x.complaint(h, resp)
	}
	rep := reply{outcome: OK}
	var err error
	switch rep.json, err = readAnswer(resp); {
	case err == nil:
		// 202: the service has taken the call, and will see. The result, which
		// may say where to ask, is kept.
		rep.broke = resp.StatusCode == http.StatusAccepted && !x.done
	case errors.Is(err, errTooLong):
		rep.outcome, rep.failure = OutputLimit, &Failure{Type: "OutputLimit", Message: err.Error()}
	case ctx.Err() != nil:
		rep.outcome, rep.failure = ended(ctx), &Failure{Type: "TimeoutError", Message: "the answer did not end in time"}
	default:
		rep.outcome, rep.broke, rep.failure = ToolError, true, &Failure{Type: invalidResult, Message: err.Error()}
		if errors.Is(err, errBroken) {
			rep.failure.Type = connectionLost
		}
	}
	return rep
}

// complaint is the reply for a status that says that the call failed.
func (x *exchange) complaint(h *hop, resp *http.Response) reply {
	rep := reply{outcome: ToolError}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		if h.known && len(x.headers) > 0 {
			rep.outcome = CredentialExpired
		}
	case http.StatusTooManyRequests:
		rep.outcome, rep.retryAt = RateLimited, x.retryAfter(resp)
	case http.StatusServiceUnavailable:
		rep.outcome, rep.retryAt = Unavailable, x.retryAfter(resp)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		// Somebody in between does not know what the service did.
		rep.broke = true
	default:
		rep.broke = resp.StatusCode < 400 || resp.StatusCode > 599
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxComplaint)) // what there is will do
	message := "status " + strconv.Itoa(resp.StatusCode)
	if len(said) > 0 {
		message += ": " + string(bytes.ToValidUTF8(said, []byte("\uFFFD")))
	}
	rep.failure = &Failure{Type: "HTTP" + strconv.Itoa(resp.StatusCode), Message: message}
	return rep
}

// retryAfter is when a service wants to be asked again; zero if it does not say.
func (x *exchange) retryAfter(resp *http.Response) time.Time {
	text := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return x.now().Add(min(time.Duration(seconds)*time.Second, maxRetryAfter))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	now := x.now()
	return now.Add(min(max(at.Sub(now), 0), maxRetryAfter))
}

var (
	errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	errBroken  = errors.New("the answer broke off")
)

// readAnswer gives the result in an answer as JSON: a JSON body as it is, text as
// a string, no body as null. What could be read in two ways is an error.
func readAnswer(resp *http.Response) ([]byte, error) {
	if resp.StatusCode == http.StatusPartialContent {
		return nil, errors.New("status 206: only a part was sent, and the whole was asked for")
	}
	if given := resp.Header.Get("Content-Encoding"); given != "" && !strings.EqualFold(given, "identity") {
		return nil, errors.New("the answer is encoded in a way that was not asked for; gzip can be read")
	}
	if resp.ContentLength > maxAnswer {
		return nil, errTooLong
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case len(body) > maxAnswer:
		return nil, errTooLong
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	case len(body) == 0:
		return []byte("null"), nil
	}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || len(resp.Header.Values("Content-Type")) != 1 {
		return nil, errors.New("the answer does not say what it is; the service has to send one Content-Type, application/json or text/plain")
	}
	if charset := strings.ToLower(params["charset"]); charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return nil, errors.New("the answer is in another character set than UTF-8")
	}
	if !utf8.Valid(body) {
		return nil, errors.New("the answer is not UTF-8")
	}
	// Without a length nobody can tell a whole answer from the beginning of one,
	// unless it has an end of its own.
	open := resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && !resp.Uncompressed
	switch {
	case kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		if _, err := canonjson.Parse(body, canonjson.Limits{MaxBytes: maxAnswer}); err != nil {
			return nil, fmt.Errorf("the answer is not JSON: %w", err)
		}
		if body = bytes.TrimSpace(body); open && !strings.ContainsRune(`{["`, rune(body[0])) {
			return nil, errors.New("the answer has neither a length nor an end of its own")
		}
		return body, nil
	case kind == "text/html":
		return nil, errors.New("the answer is a page for people, mostly a login or an error; the service has to send application/json or text/plain")
	case !strings.HasPrefix(kind, "text/"):
		return nil, errors.New("the answer is neither JSON nor text")
	case open:
		return nil, errors.New("the answer has neither a length nor an end of its own")
	}
	return jsontext.AppendQuote(nil, string(body))
}
