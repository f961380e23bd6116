package governor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
)

// maxVerdictBytes is how long a judge's answer may be.
const maxVerdictBytes = 64 << 10

// HTTPJudge asks a judge behind a URL: it posts {"args", "tool"} as JSON and
// reads the answer with [ParseVerdict]. Every status but 200 is a failure;
// redirects are not followed, since the arguments go where the harness says and
// nowhere else.
type HTTPJudge struct {
	url     string
	headers http.Header
	client  *http.Client
}

// NewHTTPJudge makes a judge. The headers are sent with each request. A nil
// transport is one of its own, without proxies from the environment.
func NewHTTPJudge(url string, headers http.Header, transport http.RoundTripper) (*HTTPJudge, error) {
	if _, err := http.NewRequest(http.MethodPost, url, nil); err != nil {
		return nil, errors.New("the judge's URL cannot be used")
	}
	if transport == nil {
		transport = &http.Transport{ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8}
	}
	return &HTTPJudge{url: url, headers: headers.Clone(), client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Judge implements [Judge]. The context bounds the whole exchange.
func (j *HTTPJudge) Judge(ctx context.Context, r JudgeRequest) (Verdict, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.url, bytes.NewReader(r.JSON()))
	if err != nil {
		return "", fmt.Errorf("make the judge's request: %w", err)
	}
	maps.Copy(req.Header, j.headers)
	req.Header.Set("Content-Type", "application/json")
	resp, err := j.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask the judge: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask the judge: status %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxVerdictBytes+1))
	if err != nil {
		return "", fmt.Errorf("read the judge's answer: %w", err)
	}
	if len(text) > maxVerdictBytes {
		return "", fmt.Errorf("read the judge's answer: longer than %d bytes", maxVerdictBytes)
	}
	return ParseVerdict(text), nil
}
