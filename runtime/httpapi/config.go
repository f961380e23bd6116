package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Config says how requests are served. The zero value lets nobody in.
type Config struct {
	// Tokens say who a request is from. nil: Anonymous, if that is given, else
	// nobody.
	Tokens *Tokens
	// Anonymous is who everybody is where there are no Tokens. [Server.Serve]
	// takes it on a loopback address only.
	Anonymous *Caller
	// Hosts are the names, without port, by which clients may address the server,
	// beside those of the loopback addresses.
	Hosts []string
	// Trace is what the runtime tells its notes; nil: there is no stream.
	Trace *Trace
	// Metrics are what the runtime tells its notes too; nil: there are none.
	Metrics *Metrics
	// Exec lets callers run code of their own, under ExecLimits at most.
	Exec bool
	// ExecLimits bound a piece of code; zero fields have their defaults.
	ExecLimits sandbox.Limits
	// MCP serves /mcp, to callers with a token. [CallerOf] says who that is. nil:
	// there is none.
	MCP http.Handler
	// MaxBody is how long a request may be, in bytes. Default 8 MiB.
	MaxBody int64
	// MaxMemory is how many bytes of memory all requests may take together that are
	// being read, wait or are answered: twice their length, and what their arguments
	// take as values, which can be thirty times their length. What a call is given,
	// and not what it does with it. Default 256 MiB, or four times MaxBody if that is
	// more.
	MaxMemory int64
	// MaxCalls is how many calls run at once, over HTTP and over MCP. Default 16. As
	// many other requests are answered at once, whatever calls run.
	MaxCalls int
	// MaxCallsEach is how many of them one caller may have. Default: with Tokens
	// three quarters of MaxCalls, so that nobody can keep everybody else waiting;
	// without, all. MaxMemory is shared in the same proportion.
	MaxCallsEach int
	// MaxQueue is how many more calls may wait, and a quarter of how many more other
	// requests, which do not take long. One more is told that the host is busy.
	// Default 64; -1: none may wait.
	MaxQueue int
	// BusyDelay is how long a caller waits to be told that the host is busy who comes
	// again within the second of Retry-After. To say so costs as much as to serve
	// something short, and who asks again at once would have nothing else served.
	// Default 500ms.
	BusyDelay time.Duration
	// MaxConns is how many connections there may be at once. Default 1024.
	MaxConns int
	// MaxStreams is how many streams of the trace there may be. Default 64.
	MaxStreams int
	// HeaderTimeout, BodyTimeout and WriteTimeout bound how long the client may
	// take to send the header and the body, and to take an answer or one event.
	// Defaults 10s, 30s, 30s. IdleTimeout ends a connection without requests.
	// Default 60s.
	HeaderTimeout, BodyTimeout, WriteTimeout, IdleTimeout time.Duration
	// Grace is how long calls may go on when the server is to stop; then they are
	// cancelled. Default 20s.
	Grace time.Duration
	// Version is what the API's description says. Default "0".
	Version string
	// Now is the clock of tokens and of Retry-After. Default time.Now.
	Now func() time.Time
	// Logger is told of what an operator has to know. Default: nobody.
	Logger *slog.Logger
}

const (
	// maxHeader is how many bytes the header of a request may have.
	maxHeader = 32 << 10
	// maxText is how long a name or a reason may be.
	maxText = 4 << 10
	// keepAlive is how often a stream without events shows that it is alive, and
	// that its token still holds.
	keepAlive = 15 * time.Second
)

func (c Config) withDefaults() (Config, error) {
	var errs []error
	set := func(v *time.Duration, d time.Duration) {
		if *v < 0 {
			errs = append(errs, fmt.Errorf("httpapi: a negative duration, %v", *v))
		}
		if *v == 0 {
			*v = d
		}
	}
	set(&c.HeaderTimeout, 10*time.Second)
	set(&c.BodyTimeout, 30*time.Second)
	set(&c.WriteTimeout, 30*time.Second)
	set(&c.IdleTimeout, time.Minute)
	set(&c.Grace, 20*time.Second)
	set(&c.BusyDelay, 500*time.Millisecond)
	count := func(v *int, d int) {
		if *v < 0 {
			errs = append(errs, fmt.Errorf("httpapi: a negative limit, %d", *v))
		}
		if *v == 0 {
			*v = d
		}
	}
	count(&c.MaxCalls, 16)
	each := c.MaxCalls
	if c.Tokens != nil {
		each -= c.MaxCalls / 4
	}
	count(&c.MaxCallsEach, each)
	count(&c.MaxConns, 1024)
	count(&c.MaxStreams, 64)
	switch {
	case c.MaxQueue == -1:
		c.MaxQueue = 0
	default:
		count(&c.MaxQueue, 64)
	}
	for v, d := range map[*int64]int64{&c.MaxBody: 8 << 20, &c.MaxMemory: max(256<<20, 4*c.MaxBody)} {
		if *v < 0 {
			errs = append(errs, fmt.Errorf("httpapi: a negative limit, %d", *v))
		}
		if *v == 0 {
			*v = d
		}
	}
	if c.MaxMemory/4 < c.MaxBody {
		errs = append(errs, errors.New("httpapi: all requests together may take less memory than one needs: four times its length"))
	}
	if c.Tokens != nil && c.Anonymous != nil {
		errs = append(errs, errors.New("httpapi: where there are tokens, nobody is anonymous"))
	}
	if a := c.Anonymous; a != nil && a.Principal == "" {
		errs = append(errs, errors.New("httpapi: the anonymous caller has no principal"))
	}
	if c.Version == "" {
		c.Version = "0"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.ExecLimits = c.ExecLimits.WithDefaults()
	return c, errors.Join(errs...)
}
