package mcp

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reportProgress tells a client that asked for it that its call still waits or runs. The
// function that it returns ends that: nothing is said after the result.
func (s *Session) reportProgress(ctx context.Context, req *sdk.CallToolRequest, t *turn) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	start := time.Now()
	go func() {
		defer close(done)
		tick := time.NewTicker(s.config.Progress)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			took, what := time.Since(start), "waiting for its turn"
			if t.come.Load() {
				what = "running"
			}
			// A client that cannot be told is found out by who reads from it.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: took.Seconds(), Message: fmt.Sprintf("%s for %v", what, took.Round(100*time.Millisecond)),
			})
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
